// `npx tsx bench/faults/slow-clients.ts [--headers 1000] [--readers 200]`: clients that send a byte now and then, and clients that never read.
// Needs a build; loopback only. Linux, for it looks at the server's descriptors and memory.
//
// Node can't set the size of a receive buffer, and the system lets a buffer that nobody has set grow while nobody reads: bytes go on being
// taken for minutes, one probe of the window at a time. So the clients that never read are a process of Python, which must be there.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { until } from '../../spec/support/until.ts';
import { rssMiB } from '../harness/processes.ts';
import { percentile } from '../harness/stats.ts';
import { Verdict, wholeNumber } from './verdict.ts';
import { type Asked, chat, friendly, openFiles, startWorld, watchHealth } from './world.ts';

const CLOSED_WITHIN_MS = 12_000;
const BYTE_EVERY_MS = 500;
/** More of them than wait for the system's queue of new connections would try again after a second only. */
const OPENED_AT_ONCE = 20;
const HEALTH_P99_MS = 50;
const HEALTH_EVERY_MS = 100;
const GROWN_MIB = 64;
const CUT_OFF_MS = 30_000;
/** Until the system's buffers are full the silence has not begun; the sockets are looked at now and then. */
const CUT_OFF_SLACK_MS = 8000;
/** The list of so many is larger than what a system takes in for one socket, where it is asked for some times in a row. */
const BLOCKS = 1000;
const LISTS_IN_A_ROW = 16;

const { values } = parseArgs({ options: { headers: { type: 'string' }, readers: { type: 'string' } } });
const headers = wholeNumber('headers', values.headers ?? '1000', 1900);
const readers = wholeNumber('readers', values.readers ?? '200', 1900);

let openStreams = 0;
let lastCutAt = 0;
const DEAF = `
import json, socket, sys, time
told = json.load(sys.stdin)
sockets = []
for _ in range(told["count"]):
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.connect(("127.0.0.1", told["port"]))
    one.sendall(told["request"].encode())
    sockets.append(one)
print("connected", flush=True)
time.sleep(600)
`;
const PIECE = 'x'.repeat(16_000);

/** An endless stream, as fast as it is taken. */
async function provider(asked: Asked, res: Parameters<typeof friendly>[1]): Promise<void> {
  const { framing, body } = asked;
  if (!body.includes('"endless"')) return await friendly(asked, res);
  openStreams += 1;
  res.once('close', () => {
    openStreams -= 1;
    lastCutAt = performance.now();
  });
  res.writeHead(200, { 'content-type': framing.streamType });
  res.write(framing.opening('m'));
  const piece = framing.piece('m', PIECE);
  const fill = (): void => {
    while (!res.destroyed && res.write(piece));
  };
  res.on('drain', fill);
  fill();
}

const world = await startWorld({ provider, prepare: addBlocks, env: { BLOCKHOUSE_QUEUE_CONCURRENCY: '500' } });
const verdict = new Verdict();
const sockets: Socket[] = [];
try {
  await slowHeaders();
  for (const what of ['streams', 'lists'] as const) await neverRead(what);
  await verdict.sayInvariants(world);
} finally {
  for (const socket of sockets) socket.destroy();
  await world.close();
}
verdict.end();

function addBlocks(workspace: string): void {
  for (let index = 0; index < BLOCKS; index += 1) {
    const name = `slow-${index}`;
    mkdirSync(join(workspace, 'blocks', name), { recursive: true, mode: 0o700 });
    writeFileSync(join(workspace, 'blocks', name, 'config.json'), JSON.stringify({ name, description: 'd'.repeat(200) }));
  }
}

function open(): Socket {
  const socket = connect({ port: world.port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined); // a reset is one of the ends
  sockets.push(socket);
  return socket;
}

/** Whatever is sent so slowly never becomes a request. */
async function slowHeaders(): Promise<void> {
  verdict.of(`${headers} clients send a byte of their headers every ${BYTE_EVERY_MS} ms`);
  const bytes = `GET /v1/adapters HTTP/1.1\r\nHost: 127.0.0.1:${world.port}\r\nX-Slow: ${'a'.repeat(200)}`;
  const openMs: number[] = [];
  const answers: string[] = [];
  let isOver = false;
  const health = watchHealth(world, () => isOver);
  const clients = Array.from({ length: headers }, async (_, index) => {
    await delay(Math.floor(index / OPENED_AT_ONCE) * 10);
    const socket = open();
    let text = '';
    let from = 0;
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1');
    });
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
    });
    await new Promise<void>((resolve) => {
      socket.once('connect', resolve);
    });
    from = performance.now();
    socket.write(bytes.slice(0, 1)); // the server counts from here
    let sent = 1;
    const timer = setInterval(() => {
      if (socket.writable) socket.write(bytes.slice(sent, sent + 1));
      sent += 1;
    }, BYTE_EVERY_MS);
    const limit = setTimeout(() => socket.destroy(), 4 * CLOSED_WITHIN_MS);
    await closed;
    clearInterval(timer);
    clearTimeout(limit);
    openMs.push(performance.now() - from);
    answers.push(text.slice(9, 12));
    world.canaries.hear('slow headers', Buffer.from(text));
  });
  await Promise.all(clients);
  isOver = true;
  const times = await health;
  const worst = percentile(openMs, 1);
  const closed = openMs.filter((ms) => ms <= CLOSED_WITHIN_MS).length;
  verdict.say('closed', `${closed} of ${headers}, the last after ${(worst / 1000).toFixed(1)} s`, 'all within 12 s', closed === headers);
  verdict.tell('with a 408', `${answers.filter((status) => status === '408').length}`);
  sayHealth(times);
}

function sayHealth(times: readonly number[]): void {
  const p99 = percentile(times, 0.99);
  verdict.say(
    'health meanwhile',
    `p99 ${p99.toFixed(1)} ms of ${times.length}, worst ${percentile(times, 1).toFixed(0)} ms`,
    'p99 below 50 ms',
    p99 < HEALTH_P99_MS,
  );
}

async function neverRead(what: 'streams' | 'lists'): Promise<void> {
  verdict.of(`${readers} clients ask for ${what === 'streams' ? 'an endless stream each' : `${LISTS_IN_A_ROW} lists of ${BLOCKS} blocks each`} and never read`);
  // V8 keeps some memory after large answers that were read. That memory is not a cost of unread answers.
  for (let round = 0; round < 20; round += 1) await world.call('GET', '/api/blocks');
  const before = { fds: openFiles(world.pid), rss: rssMiB(world.pid) };
  const from = performance.now();
  const request = what === 'streams' ? streamRequest() : listRequest().repeat(LISTS_IN_A_ROW);
  const deaf = await startDeafClients(request);
  await until('all are connected', () => openFiles(world.pid) >= before.fds + readers).catch(() => undefined);
  if (what === 'streams') await until('all streams have begun', () => openStreams === readers);
  let isOver = false;
  let most = 0;
  // Not so often that the garbage of the checks is a part of the memory.
  const health = watchHealth(world, () => isOver, HEALTH_EVERY_MS);
  const limit = from + 3 * CUT_OFF_MS;
  /** A descriptor of the health check, and what the system needs for a moment. */
  const slack = 5;
  while (openFiles(world.pid) > before.fds + slack && performance.now() < limit) {
    most = Math.max(most, rssMiB(world.pid));
    await delay(100);
  }
  const isCut = openFiles(world.pid) <= before.fds + slack;
  const lastMs = (what === 'streams' ? Math.max(lastCutAt, from) : performance.now()) - from;
  isOver = true;
  sayHealth(await health);
  const grown = most - before.rss;
  verdict.say('memory', `grown by ${grown.toFixed(1)} MiB from ${before.rss.toFixed(0)}`, `at most ${GROWN_MIB} MiB`, grown <= GROWN_MIB);
  const inTime = isCut && lastMs >= CUT_OFF_MS - 1000 && lastMs <= CUT_OFF_MS + CUT_OFF_SLACK_MS;
  verdict.say('cut off', isCut ? `the last after ${(lastMs / 1000).toFixed(1)} s` : 'not all of them', 'after 30 s', inTime);
  deaf.kill('SIGKILL');
}

async function startDeafClients(request: string): Promise<ChildProcess> {
  const child = spawn('python3', ['-c', DEAF], { stdio: ['pipe', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  child.stdin.end(JSON.stringify({ port: world.port, count: readers, request }));
  await once(child.stdout, 'data');
  return child;
}

function streamRequest(): string {
  const body = JSON.stringify(chat({ model: 'endless', stream: true }));
  return `POST /v1/chat HTTP/1.1\r\n${common()}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

function listRequest(): string {
  return `GET /api/blocks HTTP/1.1\r\n${common()}\r\n`;
}

function common(): string {
  return `Host: 127.0.0.1:${world.port}\r\nAuthorization: Bearer ${world.token}\r\n`;
}
