// How long large bodies hold the event loop of a server, and what memory many of them take at once. Loopback only; some seconds.
//
//   npx tsx bench/faults/bodies.ts
//
// The server runs in this process, so that its loop and its memory can be measured; the clients and the provider run in a thread of their own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createOllama } from '../../adapters/ollama/index.ts';
import { createOpenAI } from '../../adapters/openai/index.ts';
import { createCore } from '../../core/index.ts';
import { createHttpTransport } from '../../transports/http/index.ts';
import { print } from './verdict.ts';

const MIB = 1024 * 1024;
const TICK_MS = 1;

/** Runs in the thread: a provider that answers a call when it has `hold` of them, and clients. */
const THREAD = `
const { parentPort } = require('node:worker_threads');
const http = require('node:http');
let hold = 1; let held = [];
const answer = (req, res) => {
  req.resume();
  req.on('end', () => {
    held.push(() => { res.setHeader('content-type', 'application/json'); res.end('{"id":"1","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"message":{"content":"hi"},"done":true,"done_reason":"stop","embeddings":[[1]],"data":[{"embedding":[1]}],"usage":{"prompt_tokens":1,"completion_tokens":1}}'); });
    parentPort.postMessage({ held: held.length });
    if (held.length >= hold) { for (const go of held) go(); held = []; }
  });
};
const BODIES = {
  string: (n) => ({ messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,' + 'iVBORw0KGgoA'.repeat(n / 12) } }] }] }),
  prose: (n) => ({ messages: [{ role: 'user', content: 'It is "so".\\n'.repeat(n / 14) }] }),
  messages: (n) => ({ messages: Array.from({ length: Math.min(60000, n / 60 | 0) }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: ('text ' + i + ' ').repeat(Math.max(1, n / 60000 / 12 | 0)) })) }),
  tools: (n) => ({ messages: [{ role: 'user', content: 'hi' }], tools: Array.from({ length: 100 }, (_, i) => ({ type: 'function', function: { name: 'f' + i, description: 'd'.repeat(n / 200 | 0), parameters: { type: 'object', properties: Object.fromEntries(Array.from({ length: 300 }, (_, k) => ['p' + k, { type: 'string', description: 'w'.repeat(n / 60000 | 0) }])) } } })) }),
  agent: (n) => ({ messages: [{ role: 'user', content: 'hi' }, ...Array.from({ length: 500 }, (_, i) => [{ role: 'assistant', content: null, tool_calls: [{ id: 'c' + i, type: 'function', function: { name: 'read', arguments: JSON.stringify({ path: '/a/' + i }) } }] }, { role: 'tool', tool_call_id: 'c' + i, content: '  const x = "y";\\n'.repeat(n / 500 / 22 | 0) }]).flat()] }),
  numbers: (n) => ({ input: Array.from({ length: 2000 }, () => Array.from({ length: 140 }, (_, i) => i * 37)) }),
};
const post = (url, token, path, body) => new Promise((resolve, reject) => {
  const req = http.request(url + path, { method: 'POST', agent: false, headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json', 'content-length': body.length } }, (res) => {
    let text = ''; res.on('data', (d) => { if (text.length < 300) text += d; }); res.on('end', () => resolve(res.statusCode + ' ' + (res.statusCode === 200 ? '' : text.slice(0, 160))));
  });
  req.on('error', (e) => resolve(String(e.code)));
  req.end(body);
});
const server = http.createServer(answer).listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }));
parentPort.on('message', async ({ url, token, path, kind, model, bytes, count, holds }) => {
  hold = holds; held = [];
  const body = Buffer.from(JSON.stringify({ model, ...BODIES[kind](bytes) }));
  parentPort.postMessage({ size: body.length });
  const answers = await Promise.all(Array.from({ length: count }, () => post(url, token, path, body)));
  parentPort.postMessage({ answers });
});
`;

interface Said {
  readonly port?: number;
  readonly size?: number;
  readonly held?: number;
  readonly answers?: readonly string[];
}

const thread = new Worker(THREAD, { eval: true });
const heard: ((said: Said) => void)[] = [];
thread.on('message', (said: Said) => {
  for (const each of [...heard]) each(said);
});
const said = <K extends keyof Said>(key: K): Promise<NonNullable<Said[K]>> =>
  new Promise((resolve) => {
    const take = (each: Said): void => {
      const value = each[key];
      if (value === undefined) return;
      heard.splice(heard.indexOf(take), 1);
      resolve(value as NonNullable<Said[K]>);
    };
    heard.push(take);
  });

const provider = `http://127.0.0.1:${await said('port')}`;
const workspace = mkdtempSync(join(tmpdir(), 'bodies-'));
const core = await createCore({
  workspace,
  adapters: [createOpenAI(), createOllama()],
  env: { OPENAI_BASE_URL: `${provider}/v1`, OPENAI_API_KEY: 'k', OLLAMA_BASE_URL: provider },
});
await core.start();
await core.prepare();
await core.token?.ensure(workspace);
const token = core.token?.reveal() ?? '';
const transport = createHttpTransport(core);
const url = await transport.listen(0, '127.0.0.1');

/** The longest time between two turns of the loop, and the largest memory, until `work` has ended. */
async function watched<T>(work: () => Promise<T>): Promise<{ readonly longestMs: number; readonly peakMiB: number; readonly result: T }> {
  let longestMs = 0;
  let peak = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last - TICK_MS);
    last = now;
    peak = Math.max(peak, process.memoryUsage.rss());
  }, TICK_MS);
  const result = await work();
  clearInterval(timer);
  return { longestMs: Math.round(longestMs), peakMiB: Math.round(peak / MIB), result };
}

async function ask(path: string, model: string, kind: string, bytes: number, count = 1, holds = 1) {
  const size = said('size');
  const answers = said('answers');
  thread.postMessage({ url, token, path, kind, model, bytes, count, holds });
  const bodyBytes = await size;
  const { longestMs, peakMiB, result } = await watched(() => answers);
  return {
    bodyMiB: Number((bodyBytes / MIB).toFixed(1)),
    longestMs,
    peakMiB,
    answers: [...new Set(result)].map((each) => `${result.filter((one) => one === each).length} × ${each}`).join('; '),
  };
}

const CASES: [path: string, model: string, kind: string, mib: number][] = [
  ['/v1/chat/completions', 'openai/m', 'string', 30],
  ['/v1/chat/completions', 'ollama/m', 'string', 30],
  ['/v1/chat/completions', 'openai/m', 'prose', 27],
  ['/v1/chat/completions', 'ollama/m', 'prose', 27],
  ['/v1/chat/completions', 'openai/m', 'messages', 30],
  ['/v1/chat/completions', 'ollama/m', 'messages', 30],
  ['/v1/chat/completions', 'openai/m', 'tools', 10],
  ['/v1/chat/completions', 'ollama/m', 'tools', 10],
  ['/v1/chat/completions', 'openai/m', 'agent', 10],
  ['/v1/chat/completions', 'ollama/m', 'agent', 10],
  ['/v1/embeddings', 'openai/m', 'numbers', 2],
];
const only = process.argv[2];
try {
  for (const [path, model, kind, mib] of CASES) {
    if (only !== undefined && only !== 'loop') break;
    await ask(path, model, kind, mib * MIB); // the first one of a kind pays for its compilation
    const { bodyMiB, longestMs, answers } = await ask(path, model, kind, mib * MIB);
    print(`${kind} of ${bodyMiB} MiB to ${model} (${path}): the loop stood ${longestMs} ms; ${answers}`);
  }
  for (const count of [16, 64]) {
    if (only !== undefined && only !== 'memory') break;
    for (const model of ['openai/m', 'ollama/m']) {
      const before = Math.round(process.memoryUsage.rss() / MIB);
      const { peakMiB, longestMs, answers } = await ask('/v1/chat/completions', model, 'string', 30 * MIB, count, 1);
      print(`${count} bodies of 30 MiB to ${model} at once: ${before} → ${peakMiB} MiB; the loop stood ${longestMs} ms; ${answers}`);
    }
  }
} finally {
  await transport.close();
  await core.stop();
  await core.close();
  await thread.terminate();
  rmSync(workspace, { recursive: true, force: true });
}
