// `npx tsx bench/faults/aborts.ts [--aborts 1000]`: clients that leave, in four phases of a call. Needs a build; loopback only.
//
// Before the provider's host accepts the connection there is nobody at the other end who could see it closed: there the server's own half-open
// sockets are looked at. That host is a process that was stopped, with a full queue of connections.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { until } from '../../spec/support/until.ts';
import { percentile } from '../harness/stats.ts';
import { print, Verdict, wholeNumber } from './verdict.ts';
import { type Asked, chat, friendly, openFiles, startWorld } from './world.ts';

type Phase = 'before the connection' | 'before the first byte' | 'in the middle' | 'after the last byte';

/** How many leave at the same moment. */
const AT_ONCE = 10;
/** Of those that wait for a connection; fewer than may be at work at the same time. */
const CONNECTING_AT_ONCE = 50;
const PROMISED_MS = 100;

const { values } = parseArgs({ options: { aborts: { type: 'string' } } });
const aborts = wholeNumber('aborts', values.aborts ?? '1000', 100_000);

interface Call {
  readonly id: string;
  readonly socket: Socket;
  /** What the client has received. */
  text: string;
}

/** Moments of each call at the provider, by the name of its model. */
const arrived = new Set<string>();
const begun = new Set<string>();
const closedAt = new Map<string, number>();
/** Clients that have left. */
let ends = 0;

const idOf = (text: string): string => /abort-[a-z]+-\d+/.exec(text)?.[0] ?? '';

async function provider(asked: Asked, res: Parameters<typeof friendly>[1]): Promise<void> {
  const id = idOf(asked.path + asked.body);
  if (id === '') return await friendly(asked, res);
  res.once('close', () => closedAt.set(id, performance.now()));
  arrived.add(id);
  if (id.startsWith('abort-silent')) return;
  if (id.startsWith('abort-whole')) return await friendly(asked, res);
  const { framing, stream } = asked;
  res.writeHead(200, { 'content-type': stream ? framing.streamType : 'application/json' });
  res.write(stream ? Buffer.concat([framing.opening('m'), framing.piece('m', 'Hello')]) : '{"message":', () => begun.add(id));
}

const stopped = await startStoppedHost();
const world = await startWorld({ provider, baseURLs: { anthropic: `http://127.0.0.1:${stopped.port}` } });
const verdict = new Verdict();
try {
  const before = openFiles(world.pid);
  print(`${aborts} clients leave, ${AT_ONCE} at a time`);
  const phases: [Phase, (count: number) => Promise<number[]>][] = [
    ['before the connection', leaveBeforeConnection],
    ['before the first byte', (count) => leave(count, { kind: 'silent', isReached: ({ id }) => arrived.has(id) })],
    ['in the middle', (count) => leave(count, { kind: 'begun', isReached: ({ id, text }) => begun.has(id) && (isWhole(id) || text.includes('Hello')) })],
    [
      'after the last byte',
      (count) => leave(count, { kind: 'whole', isReached: ({ text }) => /event: done\n[^\n]*\n\n|"stopReason":"end_turn"\}/.test(text) }),
    ],
  ];
  const all: number[] = [];
  for (const [phase, run] of phases) {
    const times = await run(Math.ceil(aborts / phases.length));
    all.push(...times);
    verdict.say(
      phase,
      `p99 ${percentile(times, 0.99).toFixed(1)} ms, worst ${percentile(times, 1).toFixed(1)} ms, of ${times.length}`,
      'p99 below 100 ms',
      percentile(times, 0.99) < PROMISED_MS,
    );
  }
  verdict.say(
    'all four',
    `p99 ${percentile(all, 0.99).toFixed(1)} ms, worst ${percentile(all, 1).toFixed(1)} ms`,
    'p99 below 100 ms',
    percentile(all, 0.99) < PROMISED_MS,
  );
  await sayDescriptors(before);
  await verdict.sayInvariants(world);
} finally {
  await world.close();
  stopped.end();
}
verdict.end();

/** Connections to the provider that are kept for the next call are no loss: after a while without any, they are closed too. */
async function sayDescriptors(before: number): Promise<void> {
  await until('the descriptors are given back', () => openFiles(world.pid) <= before, 60_000).catch(() => undefined);
  const after = openFiles(world.pid);
  verdict.say('descriptors', `${before} before, ${after} after`, 'none left', after <= before);
}

function isWhole(id: string): boolean {
  return Number(id.split('-').at(-1)) % 2 === 1;
}

interface Leaving {
  /** Of the provider's answer. */
  readonly kind: 'silent' | 'begun' | 'whole';
  readonly isReached: (call: Call) => boolean;
}

/** From each client's leaving to the moment at which the provider saw its connection closed, or had ended its answer before. */
async function leave(count: number, { kind, isReached }: Leaving): Promise<number[]> {
  const times: number[] = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const calls = await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => open(`abort-${kind}-${from + index}`, 'ollama')));
    await until(`${calls.length} calls are ${kind}`, () => calls.every(isReached));
    const leftAt = performance.now();
    for (const { socket } of calls) endOne(socket);
    await until('the provider sees them leave', () => calls.every(({ id }) => closedAt.has(id))).catch(() => undefined);
    for (const { id } of calls) times.push(Math.max(0, (closedAt.get(id) ?? Number.POSITIVE_INFINITY) - leftAt));
  }
  return times;
}

/** Half of them by FIN, half by RST. */
function endOne(socket: Socket): void {
  ends += 1;
  if (ends % 2 === 0) socket.destroy();
  else socket.resetAndDestroy();
}

/** From a group's leaving until no socket of theirs tries to reach the host any more. */
async function leaveBeforeConnection(count: number): Promise<number[]> {
  const times: number[] = [];
  for (let from = 0; from < count; from += CONNECTING_AT_ONCE) {
    const size = Math.min(CONNECTING_AT_ONCE, count - from);
    const calls = await Promise.all(Array.from({ length: size }, (_, index) => open(`abort-connect-${from + index}`, 'anthropic')));
    await until('each call tries to connect', () => tryingToReach(stopped.port) >= size);
    const leftAt = performance.now();
    for (const { socket } of calls) endOne(socket);
    await until('none tries any more', () => tryingToReach(stopped.port) === 0).catch(() => undefined);
    const ms = tryingToReach(stopped.port) === 0 ? performance.now() - leftAt : Number.POSITIVE_INFINITY;
    for (const _ of calls) times.push(ms);
  }
  return times;
}

async function open(id: string, adapter: string): Promise<Call> {
  const socket = connect(world.port, '127.0.0.1');
  const call: Call = { id, socket, text: '' };
  socket.on('data', (bytes: Buffer) => {
    call.text += bytes.toString('latin1');
    world.canaries.hear(id, bytes);
  });
  socket.on('error', () => undefined); // we break it ourselves
  await once(socket, 'connect');
  const body = JSON.stringify(chat({ adapter, model: id, stream: !isWhole(id) }));
  socket.write(
    `POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1:${world.port}\r\nAuthorization: Bearer ${world.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return call;
}

/** Sockets in SYN_SENT to this port. */
function tryingToReach(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')} 02 `;
  return readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .filter((line) => line.includes(remote)).length;
}

/** A host that accepts no connection: stopped, its queue of connections full, so that the system answers no further one. */
async function startStoppedHost(): Promise<{ readonly port: number; end(): void }> {
  const code = `const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))`;
  const host: ChildProcess = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = (): void => void host.kill('SIGKILL');
  process.once('exit', end);
  const [bytes] = (await once(host.stdout as NonNullable<typeof host.stdout>, 'data')) as [Buffer];
  const port = Number(bytes.toString());
  host.kill('SIGSTOP');
  await until('the host is stopped', () => /^State:\s+T/m.test(readFileSync(`/proc/${host.pid}/status`, 'latin1')));
  const fillers: Socket[] = [];
  for (let open = -1; open < fillers.filter(({ connecting }) => !connecting).length; ) {
    open = fillers.filter(({ connecting }) => !connecting).length;
    const filler = connect(port, '127.0.0.1');
    filler.on('error', () => undefined);
    fillers.push(filler);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  for (const filler of fillers.filter(({ connecting }) => connecting)) filler.destroy();
  return {
    port,
    end: () => {
      for (const filler of fillers) filler.destroy();
      process.off('exit', end);
      end();
    },
  };
}
