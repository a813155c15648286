// `npm run demo`: Blockhouse as a user starts it, asked over HTTP, without a key. A loopback stand-in plays the
// Ollama daemon; its answers say so. `--once` ends after the tour.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LLMock } from '@copilotkit/aimock';
import type { ChatEntry, ChatResponse } from 'blockhouse';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLI = join(ROOT, 'dist', 'cli', 'main.js');
const PREFERRED_PORT = 8420;
/** Exit code of `serve` when the port can't be used; see docs/cli.md. */
const PORT_UNUSABLE = 5;
/** Slow enough to see the pieces arrive. */
const PIECE_MS = 45;
const PIECE_CHARACTERS = 7;

const WHOLE = [
  'Hello! I am a stand-in for the Ollama daemon, not a model: these words are fixed.',
  'But they came through Blockhouse just as the answer of a real model would.',
].join('\n');
const STREAMED = [
  'Still the stand-in, no model. You see these words come one piece after the',
  'other: each travels as a server-sent event from the stand-in through the',
  'gateway to your terminal, and none of them waits for the end.',
].join('\n');

const AS_A_BLOCK = [
  'I am ada, a block: a named agent in a folder of plain files. You put a message into my',
  'queue and left; my monitor answered on its own. (Still the stand-in, no model.)',
].join('\n');
const BLOCK = 'ada';
/** A page would listen on the WebSocket instead; see docs/websocket.md. */
const LOOK_EVERY_MS = 50;

const colored = process.stdout.isTTY && !process.env['NO_COLOR'];
const bold = (text: string): string => (colored ? `\x1b[1m${text}\x1b[0m` : text);
const dim = (text: string): string => (colored ? `\x1b[2m${text}\x1b[0m` : text);
const say = (text = ''): boolean => process.stdout.write(`${text}\n`);

async function startStandIn(): Promise<LLMock> {
  const standIn = new LLMock({ port: 0, latency: PIECE_MS, chunkSize: PIECE_CHARACTERS, logLevel: 'silent' });
  standIn.onMessage(/stream/i, { content: STREAMED });
  standIn.onMessage(/who are you/i, { content: AS_A_BLOCK });
  standIn.onMessage(/./, { content: WHOLE });
  await standIn.start();
  return standIn;
}

interface Gateway {
  readonly url: string;
  readonly workspace: string;
  readonly exited: Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts the real command, on a free port where the usual one is taken. */
async function startGateway(workspace: string, standIn: string): Promise<Gateway> {
  const gateway = (await tryPort(PREFERRED_PORT, workspace, standIn)) ?? (await tryPort(0, workspace, standIn));
  if (gateway === undefined) throw new Error('the server found no port.');
  return gateway;
}

async function tryPort(port: number, workspace: string, standIn: string): Promise<Gateway | undefined> {
  const flags = ['--json', '--host', '127.0.0.1', '--port', String(port), '--workspace', workspace];
  const env = { ...process.env, OLLAMA_BASE_URL: standIn, BLOCKHOUSE_LOG_LEVEL: 'error' };
  const server = spawn(process.execPath, [CLI, 'serve', ...flags], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(server, 'close');
  const talk: string[] = [];
  server.stderr.on('data', (chunk: Buffer) => talk.push(chunk.toString()));
  const line = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
  const { url } = (line.done ? {} : JSON.parse(line.value)) as { url?: string };
  if (url === undefined) {
    await exited;
    if (server.exitCode === PORT_UNUSABLE && port !== 0) return undefined;
    throw new Error(`the server did not start: ${talk.join('').trim()}`);
  }
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM');
    await exited;
  };
  return { url, workspace, exited, stop };
}

async function ask(url: string, token: string, content: string, stream: boolean): Promise<Response> {
  const response = await fetch(`${url}/v1/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ adapter: 'ollama', model: 'stand-in', messages: [{ role: 'user', content }], stream }),
  });
  if (!response.ok) throw new Error(`the gateway answered ${response.status}: ${await response.text()}`);
  return response;
}

const indented = (text: string): string => text.replaceAll('\n', '\n    ');

async function showWhole(url: string, token: string): Promise<void> {
  say(`  ${bold('1. A chat')} ${dim('(POST /v1/chat)')}\n`);
  const answer = (await (await ask(url, token, 'Hello?', false)).json()) as ChatResponse;
  say(`    ${indented(answer.message.content)}\n`);
}

async function showStreamed(url: string, token: string): Promise<void> {
  say(`  ${bold('2. The same, streamed')} ${dim('("stream": true)')}\n`);
  process.stdout.write('    ');
  const response = await ask(url, token, 'Stream something to me.', true);
  let event = '';
  for await (const line of createInterface({ input: Readable.fromWeb(response.body ?? new ReadableStream()) })) {
    if (line.startsWith('event: ')) event = line.slice('event: '.length);
    if (!line.startsWith('data: ')) continue;
    const data = JSON.parse(line.slice('data: '.length)) as { text: string; error: string };
    if (event === 'content') process.stdout.write(indented(data.text));
    if (event === 'error') throw new Error(data.error);
  }
  say('\n');
}

type Api = <T>(method: string, path: string, body?: unknown) => Promise<T>;

function apiOf(url: string, token: string): Api {
  return async <T>(method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const response = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
}

async function showBlock({ url, workspace }: Gateway, token: string): Promise<void> {
  const api = apiOf(url, token);
  say(`  ${bold('3. A block')} ${dim('(POST /api/blocks, …/start, …/chat)')}\n`);
  const adapter = { provider: 'ollama', model: 'stand-in' };
  await api('POST', '/api/blocks', { name: BLOCK, config: { description: 'answers on its own', adapter, systemPrompt: 'You are ada.' } });
  await api('POST', `/api/blocks/${BLOCK}/start`);
  const { id } = await api<{ id: string }>('POST', `/api/blocks/${BLOCK}/chat`, { message: 'Who are you?' });
  say(`    ${dim('you:')} Who are you?`);
  say(`    ${dim(`${BLOCK}:`)} ${indented(await answerTo(api, id))}\n`);
  say(`    ${dim(`Everything of it lies in ${join(workspace, 'blocks', BLOCK)}`)}\n`);
}

async function answerTo(api: Api, id: string): Promise<string> {
  for (;;) {
    const { messages } = await api<{ messages: ChatEntry[] }>('GET', `/api/blocks/${BLOCK}/chat`);
    const answer = messages.find(({ replyTo }) => replyTo === id);
    if (answer !== undefined) return answer.content;
    const { status, error } = messages.find((entry) => entry.id === id) ?? {};
    if (status === 'failed') throw new Error(`the block could not answer: ${error?.message}`);
    await delay(LOOK_EVERY_MS);
  }
}

/** Blocks at work, so that the dashboard has something to show: one answers, one waits for its start, one needs a model. */
async function furnish(api: Api): Promise<void> {
  const adapter = { provider: 'ollama', model: 'stand-in' };
  await api('POST', '/api/blocks', { name: 'release-notes', config: { description: 'Turns merged changes into notes', adapter, budget: { dailyUsd: 2 } } });
  await api('POST', '/api/blocks/release-notes/start');
  await api('POST', '/api/blocks/release-notes/chat', { message: 'What is new this week?' });
  await api('POST', '/api/blocks', { name: 'night-digest', config: { description: 'Sums up the day', adapter } });
  await api('POST', '/api/blocks', { name: 'support', config: { description: 'Has no model yet' } });
}

/** A link that signs a browser in. The fragment reaches no server. */
async function showPage(gateway: Gateway, api: Api): Promise<void> {
  const { code } = await api<{ code: string }>('POST', '/api/session/code?printed=true');
  say(`  ${bold('4. The dashboard')} ${dim('(open it in a browser; the link works once, within 10 minutes)')}\n`);
  say(`    ${bold(`${gateway.url}/ui/#code=${code}`)}\n`);
}

function showWhatNext({ url, workspace }: Gateway): void {
  const body = JSON.stringify({ adapter: 'ollama', model: 'stand-in', messages: [{ role: 'user', content: 'Hello?' }] });
  say(`  ${bold('Your turn')} ${dim('(in another terminal)')}\n`);
  say(`    TOKEN=$(cat ${workspace}/.api-token)`);
  say(`    curl -s ${url}/v1/chat -H "Authorization: Bearer $TOKEN" \\`);
  say(`      -H 'Content-Type: application/json' \\`);
  say(`      -d '${body}'\n`);
  const cli = `node dist/cli/main.js`;
  const here = `--workspace ${workspace}`;
  say(`    ${cli} send ${BLOCK} --wait "Hello?" ${here}`);
  say(`    ${cli} ls ${here}`);
  say(`    ${cli} open ${here}   ${dim('# the dashboard again')}\n`);
  say(`  ${bold('With a real model')} ${dim(`(in ${ROOT.replace(/\/$/, '')})`)}\n`);
  const row = (command: string, note: string): boolean => say(`    ${command.padEnd(56)}${dim(`# ${note}`)}`);
  row('node dist/cli/main.js auth set anthropic', 'asks for your key and stores it');
  row('node dist/cli/main.js chat --provider anthropic "Hello"', 'needs no server');
  row('npm start', 'the server, with your key');
  row('ANTHROPIC_API_KEY=… npm start', 'or so, and nothing is stored');
  say();
}

async function tour(gateway: Gateway): Promise<void> {
  const token = (await readFile(join(gateway.workspace, '.api-token'), 'utf8')).trim();
  say(`\n  ${bold('Blockhouse')} serves on ${bold(gateway.url)}`);
  say(`  ${dim('No key needed here: a stand-in on this machine plays the Ollama daemon.')}\n`);
  await showWhole(gateway.url, token);
  await showStreamed(gateway.url, token);
  await showBlock(gateway, token);
  const api = apiOf(gateway.url, token);
  await furnish(api);
  await showPage(gateway, api);
}

async function demo(stopped: Promise<unknown>): Promise<void> {
  const standIn = await startStandIn();
  const workspace = await mkdtemp(join(tmpdir(), 'blockhouse-demo-'));
  let gateway: Gateway | undefined;
  try {
    gateway = await startGateway(workspace, standIn.url);
    await Promise.race([tour(gateway), stopped]);
    if (isStopped || process.argv.includes('--once')) return;
    showWhatNext(gateway);
    say(`  ${dim('Serving until Ctrl-C.')}`);
    await Promise.race([stopped, gateway.exited]);
  } finally {
    await gateway?.stop();
    await standIn.stop();
    await rm(workspace, { recursive: true, force: true });
  }
}

/** A SIGTERM to npm ends the shell between npm and this process, which gets no signal: it only has another parent from then on. */
function onceAlone(stop: () => void): void {
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    stop();
  }, LOOK_EVERY_MS);
  look.unref();
}

let isStopped = false;
const stopped = new Promise<void>((resolve) => {
  const stop = (): void => {
    isStopped = true;
    resolve();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  if (process.env['npm_lifecycle_event'] === 'demo') onceAlone(stop);
});
await demo(stopped).catch((error: Error) => {
  // Ctrl-C reaches the server, too, and may end it before it has started.
  if (isStopped) return;
  process.stderr.write(`The demo failed: ${error.message}\n`);
  process.exitCode = 1;
});
