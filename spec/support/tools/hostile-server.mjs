// A server of tools that does what it should not, in a process of its own. Its only argument is JSON: how it starts, and which era of the protocol it speaks. What a call does
// is the name of its tool.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const options = JSON.parse(process.argv[2] ?? '{}');
const { era = 'legacy', deaf = false, atStart, tools = 1, endless = false, note, describes, listFault } = options;

/** Adds a line to the file of the test. */
const tell = (text) => note !== undefined && appendFileSync(note, `${text}\n`);
const write = (text) => process.stdout.write(text);
const send = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }], ...(era === 'modern' && { resultType: 'complete' }) });
const cancelled = [];
/** What a legacy client has said of itself. */
let greeted;
const WHO = {
  who: {
    method: 'elicitation/create',
    params: { message: 'Who are you?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  },
};

tell(`started ${process.pid}`);
if (deaf) for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(signal, () => tell(signal));
if (atStart === 'exit') {
  process.stderr.write('No settings file was found.\n');
  process.exit(3);
}
if (atStart === 'grandchild') grandchild();
if (atStart === 'detached') grandchild(true).unref();
if (deaf) setInterval(() => undefined, 1000);

/** It is as deaf as its parent, and stays in the group unless it is detached. */
function grandchild(detached = false) {
  const code = "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000); process.stdout.write('ready');";
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'ignore'], detached });
  child.stdout.once('data', () => tell(`started ${child.pid}`));
  return child;
}

const CALLS = {
  echo: async ({ text: said = '', delayMs = 0 }) => {
    tell(`begins ${said}`);
    await delay(delayMs);
    tell(`ends ${said}`);
    return text(said);
  },
  meta: (_, { params }) => text(JSON.stringify(params._meta)),
  env: () => text(JSON.stringify({ env: process.env, cwd: process.cwd() })),
  exit: ({ code = 1 }) => {
    process.stderr.write('Something is wrong.\n');
    process.exit(code);
  },
  hang: () => new Promise(() => undefined),
  stop: () => {
    process.stdin.pause();
    return new Promise(() => undefined);
  },
  late: async ({ delayMs }) => {
    await delay(delayMs);
    return text('late');
  },
  twice: (_, { id }) => {
    send({ id, result: text('first') });
    return text('second');
  },
  foreign: (_, { id }) => {
    send({ id: 999_999, result: text('foreign') });
    send({ id: String(id), result: text('foreign') });
    return text('right');
  },
  garbage: ({ lines }) => {
    write('this is no message\n'.repeat(lines));
    return text('after garbage');
  },
  flood: async ({ bytes }) => {
    for (let left = bytes; left > 0; left -= 65_536)
      if (!process.stderr.write(`${'x'.repeat(1023)}\n`.repeat(64))) await new Promise((resolve) => process.stderr.once('drain', resolve));
    return text('after the flood');
  },
  complain: ({ words }) => {
    process.stderr.write(`${words}\n`);
    return text('told');
  },
  big: ({ bytes }) => text('x'.repeat(bytes)),
  deep: ({ levels }, { id }) => {
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${'['.repeat(levels)}${']'.repeat(levels)}}}\n`);
  },
  odd: (_, { id }) => {
    const odd =
      '"__proto__":{"polluted":true},"content":[{"type":"text","text":"half \\ud83d, bell \\u0007, null \\u0000"},{"__proto__":null,"type":"constructor"}]';
    write(`{"jsonrpc":"2.0","id":${id},"result":{${odd}${era === 'modern' ? ',"resultType":"complete"' : ''}}}\n`);
  },
  none: (_, { id }) => write(`{"jsonrpc":"2.0","id":${id},"result":[1]}\n`),
  refuse: () => {
    throw new Error('The amount is missing.');
  },
  progress: async ({ times, everyMs, ...said }, { params }) => {
    for (let at = 1; at <= times; at += 1) {
      await delay(everyMs);
      send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: at, ...said } });
    }
    return text('done');
  },
  /** Writes messages of a kind as fast as they are read, without an end of its own. */
  pour: async ({ kind, bytes = 0 }, { params }) => {
    const more = { data: 'x'.repeat(bytes) };
    const message = {
      progress: { method: 'notifications/progress', params: { progressToken: params._meta?.progressToken, progress: 1, ...more } },
      changed: { method: 'notifications/tools/list_changed' },
      log: { method: 'notifications/message', params: { level: 'info', ...more } },
      form: { id: 'f', method: 'elicitation/create', params: WHO.who.params },
      task: { method: 'notifications/tasks', params: { taskId: 't', status: 'working' } },
      foreign: { id: 999_999, result: {} },
    }[kind];
    const piece = `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`.repeat(bytes > 1000 ? 1 : 500);
    for (;;) if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  },
  changed: ({ times }) => {
    for (let at = 0; at < times; at += 1) send({ method: 'notifications/tools/list_changed' });
    return text('told');
  },
  cancelled: () => text(JSON.stringify(cancelled)),
  /** Asks in a round trip until it has `rounds` answers; a text of the state that came back is its result. */
  ask: ({ rounds = 1, state = 's', requests = WHO }, { params, id }) => {
    tell(`asked ${id} ${JSON.stringify({ responses: params.inputResponses, state: params.requestState?.slice(0, 20) })}`);
    const round = params.requestState === undefined ? 0 : Number(params.requestState.split(' ')[0]);
    if (round < rounds) return { resultType: 'input_required', inputRequests: requests, requestState: `${round + 1} ${state}` };
    return text(JSON.stringify(params.inputResponses));
  },
  capabilities: (_, { params }) => text(JSON.stringify(params._meta['io.modelcontextprotocol/clientCapabilities'] ?? greeted)),
};

const listed = (name) => ({
  name,
  description: describes ?? `The tool ${name}.`,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true, openWorldHint: false },
});
const capabilities = { tools: { listChanged: true } };
const serverInfo = { name: 'hostile', version: '1' };

const METHODS = {
  initialize: ({ params }) => {
    if (era === 'modern') throw new Error('There is no initialize.');
    greeted = params.capabilities;
    return { protocolVersion: params.protocolVersion, capabilities, serverInfo };
  },
  'server/discover': () => {
    if (era !== 'modern') throw new Error('Method not found');
    return {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities,
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
    };
  },
  ping: () => ({}),
  'tools/list': ({ params }) => {
    tell('listed');
    if (listFault !== undefined) throw new Error(listFault);
    const more = Array.from({ length: tools - 1 }, (_, at) => listed(`tool_${params?.cursor ?? 0}_${at}`));
    const all = [...(params?.cursor === undefined ? Object.keys(CALLS).map(listed) : []), ...more];
    return {
      tools: all,
      ...(endless && { nextCursor: String(Number(params?.cursor ?? 0) + 1) }),
      ...(era === 'modern' && { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }),
    };
  },
  'tools/call': (message) => CALLS[message.params.name](message.params.arguments ?? {}, message),
};

async function take(line) {
  const message = JSON.parse(line);
  if (message.method === 'notifications/cancelled') {
    tell('cancelled');
    cancelled.push(message.params.requestId);
  }
  if (message.id === undefined || message.method === undefined || atStart === 'silent') return;
  if (atStart === 'refuse') {
    send({ id: message.id, error: { code: -32000, message: `The token ${process.env.TOKEN} is wrong` } });
    return;
  }
  try {
    if (METHODS[message.method] === undefined) throw new Error('Method not found');
    const result = await METHODS[message.method](message);
    if (result !== undefined && typeof result === 'object') send({ id: message.id, result });
  } catch (error) {
    send({ id: message.id, error: { code: error.message === 'Method not found' ? -32601 : -32000, message: error.message } });
  }
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (piece) => {
  const lines = `${rest}${piece}`.split('\n');
  rest = lines.pop();
  for (const line of lines) void take(line);
});
process.stdin.on('end', () => {
  tell('end of input');
  if (!deaf) process.exit(0);
});
