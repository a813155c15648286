// Load in a closed loop: a number of connections, each with one request at a time, for a given time.
//
// right-answers-only: only correct answers are counted; a wrong one ends the benchmark.
// whole-cpu-time: the processor time of the server is read before the first request and after the last answer.
import { MARK_LENGTH, MARK_START, nowMs, readMark } from '../servers/marks.ts';
import { Connection } from './connection.ts';
import { cpuMs, sleep } from './processes.ts';
import { percentile } from './stats.ts';
import { assertWhole, type StreamCall, type Target, type WholeCall } from './targets.ts';

export interface Load {
  readonly concurrency: number;
  readonly ms: number;
}

export interface WholeRound {
  readonly count: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of the server's processor time for each request. */
  readonly cpuUs: number;
}

export interface StreamRound {
  readonly streams: number;
  readonly frames: number;
  readonly framesPerSecond: number;
  /** Milliseconds from the request to the first frame. */
  readonly first: { readonly p50: number; readonly p99: number };
  /** Milliseconds from the provider's write of a frame to its arrival, the first frames of streams left out. */
  readonly frame: { readonly p50: number; readonly p99: number };
  /** Microseconds of the server's processor time for each frame. */
  readonly cpuUs: number;
}

/** Connections that stay open between rounds. */
export async function connections(target: Target, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(target.port)));
}

/** What a right answer looks like, byte for byte: none of the servers puts an id of its own into a body. */
async function learn(target: Target, call: WholeCall): Promise<Buffer> {
  const [connection] = await connections(target, 1);
  if (connection === undefined) throw new Error('no connection');
  const { body } = await readWhole(connection, target.name, call);
  connection.close();
  return body;
}

async function readWhole(connection: Connection, name: string, call: WholeCall): Promise<{ body: Buffer }> {
  const parts: Buffer[] = [];
  const { status } = await connection.exchange(call.request, (bytes) => parts.push(bytes));
  const body = Buffer.concat(parts);
  assertWhole(name, status, body.toString('utf8'), call.text);
  return { body };
}

export async function loadWhole(target: Target, call: WholeCall, { concurrency, ms }: Load): Promise<WholeRound> {
  const right = await learn(target, call);
  const open = await connections(target, concurrency);
  const times: number[] = [];
  const cpuBefore = cpuMs(target.pid);
  const startedAt = performance.now();
  const until = startedAt + ms;
  await Promise.all(open.map((connection) => repeatWhole(connection, target.name, call, { right, until, times })));
  const elapsed = performance.now() - startedAt;
  const cpu = cpuMs(target.pid) - cpuBefore; // whole-cpu-time
  for (const connection of open) connection.close();
  return {
    count: times.length,
    perSecond: (times.length * 1000) / elapsed,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    cpuUs: (cpu * 1000) / times.length,
  };
}

interface Repetition {
  readonly right: Buffer;
  readonly until: number;
  readonly times: number[];
}

async function repeatWhole(connection: Connection, name: string, call: WholeCall, { right, until, times }: Repetition): Promise<void> {
  const parts: Buffer[] = [];
  const { others = [call.request] } = call;
  let at = Math.floor(Math.random() * others.length); // the connections are in different conversations
  while (performance.now() < until) {
    parts.length = 0;
    at = (at + 1) % others.length;
    const { status, ms } = await connection.exchange(others[at] ?? call.request, (bytes) => parts.push(bytes));
    const body = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    // right-answers-only. A gateway may number its answers, so only the text is compared then.
    if (status !== 200 || !body.equals(right)) assertWhole(name, status, body.toString('utf8'), call.text);
    times.push(ms);
  }
}

/** What all streams of a round add up to. */
export class FrameTimes {
  readonly first: number[] = [];
  readonly later: number[] = [];
  streams = 0;
  frames = 0;
}

/** With `spreadMs`, connections begin spread over that time, as callers do. */
export async function loadStreams(target: Target, call: StreamCall, { concurrency, ms, spreadMs = 0 }: Load & { spreadMs?: number }): Promise<StreamRound> {
  const open = await connections(target, concurrency);
  const times = new FrameTimes();
  const cpuBefore = cpuMs(target.pid);
  const startedAt = performance.now();
  const until = startedAt + ms;
  await Promise.all(
    open.map(async (connection, index) => {
      if (spreadMs > 0) await sleep((index * spreadMs) / concurrency);
      do {
        await readStream(connection, target.name, call, times);
      } while (performance.now() < until);
    }),
  );
  const elapsed = performance.now() - startedAt;
  const cpu = cpuMs(target.pid) - cpuBefore; // whole-cpu-time
  for (const connection of open) connection.close();
  return {
    streams: times.streams,
    frames: times.frames,
    framesPerSecond: (times.frames * 1000) / elapsed,
    first: { p50: percentile(times.first, 0.5), p99: percentile(times.first, 0.99) },
    frame: { p50: percentile(times.later, 0.5), p99: percentile(times.later, 0.99) },
    cpuUs: (cpu * 1000) / times.frames,
  };
}

export async function readStream(connection: Connection, name: string, call: StreamCall, times: FrameTimes): Promise<void> {
  const reader = new FrameReader(times, call.endMark);
  const { status } = await connection.exchange(call.request, (bytes) => reader.take(bytes));
  if (status !== 200 || reader.frames !== call.frames || !reader.ended)
    throw new Error(`${name} streamed ${reader.frames} of ${call.frames} frames with status ${status}: ${reader.rest}`); // right-answers-only
  times.streams += 1;
  times.frames += reader.frames;
}

/** Finds the marks in a stream, whatever stands around them, and times their journey. */
export class FrameReader {
  frames = 0;
  ended = false;
  rest = '';
  readonly #times: FrameTimes;
  readonly #endMark: string;
  readonly #startedAt = nowMs();

  constructor(times: FrameTimes, endMark: string) {
    this.#times = times;
    this.#endMark = endMark;
  }

  take(bytes: Buffer): void {
    const text = this.rest + bytes.toString('latin1');
    const arrivedMs = nowMs();
    let from = 0;
    for (let at = text.indexOf(MARK_START); at !== -1 && at + MARK_LENGTH <= text.length; at = text.indexOf(MARK_START, from)) {
      from = at + MARK_LENGTH;
      this.#count(text.slice(at, from), arrivedMs);
    }
    if (!this.ended && this.frames > 0) this.ended = text.includes(this.#endMark, from);
    const cut = text.indexOf(MARK_START, from);
    this.rest = cut === -1 ? text.slice(Math.max(from, text.length - this.#endMark.length)) : text.slice(cut);
  }

  #count(mark: string, arrivedMs: number): void {
    const found = readMark(mark);
    if (found?.number !== this.frames) return; // counts as missing
    this.frames += 1;
    if (this.frames === 1) this.#times.first.push(arrivedMs - this.#startedAt);
    else if (found.sentMs > 0) this.#times.later.push(arrivedMs - found.sentMs);
  }
}
