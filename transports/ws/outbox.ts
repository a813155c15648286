// The frames that wait for one client. A slow client gets fewer and larger frames, and is cut off when that does not help.
//
// high-water: the connection gets at most `highWaterBytes` at a time, except for a single larger frame. The rest waits here
// and leaves as soon as the client has read.
// left-out: lines of a log don't wait. For those that don't fit, one frame says in the end how far the log has come, and the client reads them itself.
// joined: waiting frames are joined. Refreshes of a block become one refresh, and neighbouring pieces of a reply one piece.
// cut-off: the client is cut off when more than `maxWaitingBytes` wait, or when none of them could leave for `stallMs`.
// silent-after-close: after `close` nothing is sent and no timer runs.
import type { LogLines, ReplyStep } from '../../core/index.ts';
import type { RunFrame } from '../run-steps.ts';
import type { Clock } from './clock.ts';
import { type ServerFrame, writeFrame } from './frames.ts';

/** The part of a WebSocket that the outbox needs. */
export interface Line {
  /** Bytes that were sent and have not left the process. */
  readonly bufferedAmount: number;
  /** Calls `left` when the text has left the process, or when sending has failed. */
  send(text: string, left: () => void): void;
}

/** See `WsLimits`. */
export interface OutboxLimits {
  readonly highWaterBytes: number;
  readonly maxWaitingBytes: number;
  readonly stallMs: number;
}

interface Waiting {
  /** The block of a step; undefined for a frame that concerns no block. */
  readonly block: string | undefined;
  readonly step: ReplyStep | undefined;
  readonly text: string;
  readonly bytes: number;
}

/** A frame that may leave now. */
interface Next {
  readonly text: string;
  readonly bytes: number;
  taken(): void;
}

/** Pieces are joined up to this length, so that a joined frame stays small. */
const MAX_JOINED_CHARACTERS = 16 * 1024;

/** The outgoing queue of one client. */
export class Outbox {
  readonly #line: Line;
  readonly #limits: OutboxLimits;
  readonly #clock: Clock;
  readonly #cutOff: (reason: string) => void;
  #refreshes = new Set<string>();
  /** The ends of logs whose lines were left out, by block. */
  readonly #lateLogs = new Map<string, Omit<LogLines, 'text'>>();
  #queue: Waiting[] = [];
  #waitingBytes = 0;
  #cancelStall: (() => void) | undefined;
  #closed = false;

  /** `cutOff` is called at most once, and closes the outbox. */
  constructor(line: Line, limits: OutboxLimits, clock: Clock, cutOff: (reason: string) => void) {
    this.#line = line;
    this.#limits = limits;
    this.#clock = clock;
    this.#cutOff = cutOff;
  }

  refresh(block: string): void {
    if (this.#closed) return; // silent-after-close
    this.#refreshes.add(block); // joined
    this.#flush();
  }

  step(block: string, step: ReplyStep): void {
    this.#enqueue({ block, step, ...written({ type: 'stream', block, ...step }) });
  }

  /** left-out. */
  log(block: string, { file, offset, text }: LogLines): void {
    if (this.#closed) return; // silent-after-close
    const bytes = Buffer.byteLength(text);
    const frame = written({ type: 'log', block, file, offset, text });
    if (frame.bytes <= this.#limits.highWaterBytes && !this.#isWaiting() && this.#hasRoom(frame.bytes)) this.#enqueue({ block, step: undefined, ...frame });
    else {
      this.#lateLogs.set(block, { file, offset: offset + bytes });
      this.#flush();
    }
  }

  /** About the run of a block: dropped with its subscription. */
  run(frame: RunFrame): void {
    this.#enqueue({ block: frame.block, step: undefined, ...written(frame) });
  }

  send(frame: Exclude<ServerFrame, { readonly type: 'refresh' | 'stream' | 'log' }>): void {
    this.#enqueue({ block: undefined, step: undefined, ...written(frame) });
  }

  /** Drops the waiting frames of a block, because the subscription has ended or is made again. */
  forget(block: string): void {
    this.#refreshes.delete(block);
    this.#lateLogs.delete(block);
    this.#queue = this.#queue.filter((entry) => entry.block !== block);
    this.#waitingBytes = this.#queue.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#watchStall(false);
  }

  close(): void {
    this.#closed = true;
    this.#refreshes.clear();
    this.#lateLogs.clear();
    this.#queue = [];
    this.#watchStall(false);
  }

  #enqueue(entry: Waiting): void {
    if (this.#closed) return; // silent-after-close
    const last = this.#queue.at(-1);
    const joined = last === undefined ? undefined : join(last, entry);
    if (joined === undefined) this.#queue.push(entry);
    else this.#queue[this.#queue.length - 1] = joined; // joined
    this.#waitingBytes += (joined ?? entry).bytes - (joined === undefined ? 0 : (last?.bytes ?? 0));
    this.#flush();
    if (this.#waitingBytes > this.#limits.maxWaitingBytes) this.#end('it reads too slowly'); // cut-off
  }

  #flush(): void {
    let progress = false;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (!this.#hasRoom(next.bytes)) break;
      next.taken();
      this.#line.send(next.text, () => this.#onLeft());
      progress = true;
    }
    this.#watchStall(progress);
  }

  #onLeft(): void {
    if (!this.#closed && this.#isWaiting()) this.#flush();
  }

  /** Refreshes first: they are small, and the client fetches the content itself. */
  #next(): Next | undefined {
    for (const block of this.#refreshes) return { ...written({ type: 'refresh', block }), taken: () => this.#refreshes.delete(block) };
    const entry = this.#queue[0];
    if (entry === undefined) return this.#nextLateLog();
    const taken = (): void => {
      this.#queue.shift();
      this.#waitingBytes -= entry.bytes;
    };
    return { text: entry.text, bytes: entry.bytes, taken };
  }

  /** left-out. */
  #nextLateLog(): Next | undefined {
    for (const [block, end] of this.#lateLogs) return { ...written({ type: 'log', block, ...end, text: '' }), taken: () => this.#lateLogs.delete(block) };
    return undefined;
  }

  /** high-water. */
  #hasRoom(bytes: number): boolean {
    const { bufferedAmount } = this.#line;
    return bufferedAmount === 0 || bufferedAmount + bytes <= this.#limits.highWaterBytes;
  }

  #isWaiting(): boolean {
    return this.#refreshes.size > 0 || this.#queue.length > 0 || this.#lateLogs.size > 0;
  }

  /** Runs the stall timer while something waits, and restarts it when something has left. */
  #watchStall(progress: boolean): void {
    if (progress || !this.#isWaiting()) {
      this.#cancelStall?.();
      this.#cancelStall = undefined;
    }
    if (this.#isWaiting()) this.#cancelStall ??= this.#clock.after(this.#limits.stallMs, () => this.#end('it stopped reading')); // cut-off
  }

  #end(reason: string): void {
    this.close();
    this.#cutOff(reason);
  }
}

/** The most bytes that the header of a server's frame takes (RFC 6455, without a mask). */
const HEAD_BYTES = 10;

function written(frame: ServerFrame): { readonly text: string; readonly bytes: number } {
  const text = writeFrame(frame);
  return { text, bytes: Buffer.byteLength(text) + HEAD_BYTES };
}

/** Two neighbouring pieces of one reply as one piece; undefined for any other two frames, and when the piece would be too long. */
function join(before: Waiting, { block, step }: Waiting): Waiting | undefined {
  if (block === undefined || before.block !== block || before.step?.event !== 'content' || step?.event !== 'content') return undefined;
  if (before.step.id !== step.id || before.step.text.length + step.text.length > MAX_JOINED_CHARACTERS) return undefined;
  const joined = { ...step, text: before.step.text + step.text };
  return { block, step: joined, ...written({ type: 'stream', block, ...joined }) };
}
