// What do many blocks cost: their list, their memory, their monitors at rest; and how fast are messages acknowledged?
//
// Measured on the built server, from outside, over loopback. `--only list,memory,rest,messages` runs a part. Beside the messages
// stands what one writer can do on the same disk in the same run: a message is acknowledged when its file was replaced durably.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ServerClient } from '../spec/support/crash/server-client.ts';
import { ServerProcess } from '../spec/support/crash/server-process.ts';
import { cpuSeconds, quantile, replacementsPerSecond, residentKiB, writeBlocks } from './measure.ts';

const MANY = 10_000;
const SOME = 1000;
const LISTS = 300;
const LIST_PAUSE_MS = 20;
const SCRAPES = 100;
const MONITORS = 1000;
const REST_SECONDS = 30;
/** Monitors whose end is timed. */
const ENDING_MONITORS = 3000;
const ONE_BLOCK = { messages: 2000, clients: 32 };
const HUNDRED_BLOCKS = { messages: 4000, clients: 100 };
const ONE_CLIENT_MESSAGES = 300;
const PROBE_SECONDS = 3;
/** No server listens there: this bench needs no answers. */
const NO_DAEMON = 'http://127.0.0.1:9';
/** Collects garbage on request, to separate live memory from garbage. */
const COLLECTING = ['--expose-gc', '--import', 'data:text/javascript,process.on("SIGUSR2",()=>{gc();gc()})'];

const say = (question: string, figure: string): boolean => process.stdout.write(`${question.padEnd(58)}${figure}\n`);
const ms = (samples: readonly number[]): string => `${quantile(samples, 0.5).toFixed(1)} ms (median), ${quantile(samples, 0.99).toFixed(1)} ms (p99)`;

const parts: Readonly<Record<string, () => Promise<object>>> = { list, metrics, memory, rest, messages };
const { values } = parseArgs({ options: { only: { type: 'string' } } });
const figures: Record<string, object> = { node: { version: process.version } };
for (const part of values.only?.split(',') ?? Object.keys(parts)) {
  const run = parts[part];
  if (run === undefined) throw new Error(`there is no part ${part}; there are ${Object.keys(parts).join(', ')}`);
  figures[part] = await run();
}
process.stdout.write(`${JSON.stringify(figures)}\n`);

async function list(): Promise<object> {
  return onServer({ prepare: (workspace) => void writeBlocks(workspace, MANY) }, async ({ client, readyMs }) => {
    const from = performance.now();
    const { bytes } = await client.fetchBytes('/api/blocks');
    const coldMs = performance.now() - from;
    const bare = await startBareServer(bytes);
    const warm: number[] = [];
    const beside: number[] = [];
    for (let count = 0; count < LISTS; count += 1) {
      warm.push(await timeList(client));
      beside.push(await timeList(bare.client));
      await delay(LIST_PAUSE_MS);
    }
    bare.end();
    say(`start with ${MANY} blocks, to the first healthy answer`, `${readyMs.toFixed(0)} ms`);
    say(`GET /api/blocks with ${MANY} blocks, the first one`, `${coldMs.toFixed(0)} ms`);
    say(`GET /api/blocks with ${MANY} blocks, warm`, `${ms(warm)}; bar 50 ms`);
    say(`a bare node:http server with the same ${(bytes / 1024).toFixed(0)} KiB`, ms(beside));
    const both = (samples: readonly number[]): object => ({ median: quantile(samples, 0.5), p99: quantile(samples, 0.99) });
    return { blocks: MANY, bytes, readyMs, coldMs, warmMs: both(warm), bareMs: both(beside) };
  });
}

/** How late the event loop was is what the server says itself. */
async function metrics(): Promise<object> {
  return onServer({ prepare: (workspace) => void writeBlocks(workspace, MANY) }, async ({ client }) => {
    await client.fetchBytes('/api/blocks');
    const scrapes: number[] = [];
    let text = '';
    for (let count = 0; count < SCRAPES; count += 1) {
      const from = performance.now();
      text = await client.fetchText('/metrics');
      scrapes.push(performance.now() - from);
      await delay(LIST_PAUSE_MS);
    }
    const lag = Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000;
    say(`GET /metrics with ${MANY} blocks`, `${ms(scrapes)}; bar 20 ms`);
    say('the event loop was late between the last two scrapes by', `${lag.toFixed(1)} ms; bar 5 ms`);
    return { scrapeMs: { median: quantile(scrapes, 0.5), p99: quantile(scrapes, 0.99) }, lagMs: lag };
  });
}

/** Answers every request with a fixed number of bytes from memory, so that the time is that of the way between processes. */
async function startBareServer(bytes: number): Promise<{ readonly client: ServerClient; end(): void }> {
  const script = `const body = Buffer.alloc(${bytes}, 'x'); const server = require('node:http').createServer((req, res) => res.end(body));
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return { client: new ServerClient(`http://127.0.0.1:${String(port).trim()}`, 'none', 1), end };
}

async function timeList(client: ServerClient): Promise<number> {
  const from = performance.now();
  const { status } = await client.fetchBytes('/api/blocks');
  if (status !== 200) throw new Error(`GET /api/blocks: ${status}`);
  return performance.now() - from;
}

async function memory(): Promise<object> {
  const few = await residentWith(SOME);
  const many = await residentWith(MANY);
  const each = (many - few) / (MANY - SOME);
  say(
    `memory of an idle block, beyond the first ${SOME}`,
    `${each.toFixed(2)} KiB (${(few / 1024).toFixed(1)} and ${(many / 1024).toFixed(1)} MiB in all); bar 8 KB`,
  );
  return { fewKiB: few, manyKiB: many, eachKiB: each };
}

async function residentWith(count: number): Promise<number> {
  return onServer({ prepare: (workspace) => void writeBlocks(workspace, count), nodeFlags: COLLECTING }, async ({ client, server }) => {
    for (let lists = 0; lists < 3; lists += 1) await client.fetchBytes('/api/blocks');
    for (let rounds = 0; rounds < 4; rounds += 1) {
      process.kill(server.pid, 'SIGUSR2');
      await delay(1000);
    }
    return residentKiB(server.pid);
  });
}

async function rest(): Promise<object> {
  const found = await atRest(MONITORS, async ({ server }) => {
    await delay(3000);
    const before = cpuSeconds(server.pid);
    await delay(REST_SECONDS * 1000);
    const share = (cpuSeconds(server.pid) - before) / REST_SECONDS;
    process.kill(server.pid, 'SIGUSR2');
    await delay(1000);
    return { share, residentMiB: residentKiB(server.pid) / 1024 };
  });
  say(`${MONITORS} monitors at rest for ${REST_SECONDS} s`, `${(found.share * 100).toFixed(2)} % of a core; bar 2 %`);
  say('their server’s resident memory, after a collection', `${found.residentMiB.toFixed(0)} MiB; bar 150 MB`);
  const endMs = await atRest(ENDING_MONITORS, async ({ server }) => {
    const from = performance.now();
    await server.kill('SIGTERM');
    return performance.now() - from;
  });
  say(`SIGTERM with ${ENDING_MONITORS} monitors, to the end of the process`, `${(endMs / 1000).toFixed(1)} s; bar 5 s`);
  return { monitors: MONITORS, seconds: REST_SECONDS, ...found, endingMonitors: ENDING_MONITORS, endMs };
}

/** A server whose monitors all run and wait for messages. */
function atRest<T>(monitors: number, work: (running: Running) => Promise<T>): Promise<T> {
  const prepare = (workspace: string): void => void writeBlocks(workspace, monitors, { enabled: true });
  return onServer({ prepare, nodeFlags: COLLECTING }, async (running) => {
    while ((await running.client.call('GET', '/api/health'))?.json['monitorsRunning'] !== monitors) await delay(200);
    return work(running);
  });
}

async function messages(): Promise<object> {
  const prepare = (workspace: string): void => void writeBlocks(workspace, 102, { queue: { cap: 10_000 } }, 0);
  return onServer({ prepare }, async ({ client, workspace }) => {
    const perSecond = await replacementsPerSecond(workspace, 4096, PROBE_SECONDS);
    say('the disk: files replaced durably by one writer', `${perSecond.toFixed(0)} a second`);
    const names = Array.from({ length: 102 }, (_, index) => `block-${String(index).padStart(5, '0')}`);
    const alone = await post(client, names.slice(100, 101), ONE_CLIENT_MESSAGES, 1);
    tellPosts('messages, one client, one block', alone, perSecond);
    const one = await post(client, names.slice(101), ONE_BLOCK.messages, ONE_BLOCK.clients);
    tellPosts(`messages, ${ONE_BLOCK.clients} clients, one block`, one, perSecond);
    const hundred = await post(client, names.slice(0, 100), HUNDRED_BLOCKS.messages, HUNDRED_BLOCKS.clients);
    tellPosts(`messages, ${HUNDRED_BLOCKS.clients} clients, 100 blocks`, hundred, perSecond);
    const after = await replacementsPerSecond(workspace, 4096, PROBE_SECONDS);
    say('the disk again, at the end', `${after.toFixed(0)} a second`);
    return { replacementsPerSecond: [perSecond, after], alone, one, hundred };
  });
}

interface Posts {
  readonly perSecond: number;
  readonly median: number;
  readonly p99: number;
}

function tellPosts(title: string, { perSecond, median, p99 }: Posts, disk: number): void {
  say(title, `${perSecond.toFixed(0)} a second (${(perSecond / disk).toFixed(1)} × the disk), ${median.toFixed(1)} ms (median), ${p99.toFixed(1)} ms (p99)`);
}

/** The blocks in turn; each client waits for its answer. */
async function post(client: ServerClient, names: readonly string[], count: number, clients: number): Promise<Posts> {
  const samples: number[] = [];
  let sent = 0;
  const work = async (): Promise<void> => {
    while (sent < count) {
      const name = names[sent % names.length] ?? '';
      sent += 1;
      const from = performance.now();
      const reply = await client.call('POST', `/api/blocks/${name}/chat`, { message: 'Some words, as long as a short question is.' });
      if (reply?.status !== 200) throw new Error(`${name}: ${JSON.stringify(reply)}`);
      samples.push(performance.now() - from);
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: clients }, work));
  return { perSecond: count / ((performance.now() - from) / 1000), median: quantile(samples, 0.5), p99: quantile(samples, 0.99) };
}

interface Running {
  readonly server: ServerProcess;
  readonly client: ServerClient;
  readonly workspace: string;
  readonly readyMs: number;
}

/** A server on a workspace of its own, which is removed afterwards. */
async function onServer<T>(
  { prepare, nodeFlags = [] }: { readonly prepare: (workspace: string) => void; readonly nodeFlags?: readonly string[] },
  work: (running: Running) => Promise<T>,
): Promise<T> {
  const workspace = mkdtempSync(join(tmpdir(), 'blockhouse-bench-'));
  let server: ServerProcess | undefined;
  try {
    prepare(workspace);
    server = new ServerProcess({ workspace, daemonUrl: NO_DAEMON, nodeFlags });
    const ready = await server.ready(128);
    if (ready === undefined) throw new Error(`the server did not start: ${server.stderr}`);
    const result = await work({ server, client: ready.client, workspace, readyMs: ready.ms });
    ready.client.close();
    return result;
  } finally {
    await server?.kill();
    rmSync(workspace, { recursive: true });
  }
}
