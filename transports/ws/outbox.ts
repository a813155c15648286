// What is on its way to one client. A client that reads slowly gets less, later, and in the end nothing.
//
// O1 Not more than `highWaterBytes` are handed to the connection at a time (but for a single frame that is larger); the rest
//    waits here and follows as soon as the client has read.
// O2 What waits is joined: refreshes of one block are one flag, neighbouring pieces of one reply are one step.
// O3 More than `maxWaitingBytes`, or `stallMs` in which nothing of it could leave, cut the client off.
// O4 After `close` nothing is sent and no timer is left.
import type { ReplyStep } from '../../core/index.ts';
import type { Clock } from './clock.ts';
import { type ServerFrame, writeFrame } from './frames.ts';

/** What the outbox needs of a WebSocket. */
export interface Line {
  /** Bytes that were sent and have not left the process. */
  readonly bufferedAmount: number;
  /** `left` is called once the text has left the process, or never will. */
  send(text: string, left: () => void): void;
}

export interface OutboxLimits {
  readonly highWaterBytes: number;
  readonly maxWaitingBytes: number;
  readonly stallMs: number;
}

interface Waiting {
  /** Whose it is; undefined for what concerns no block. */
  readonly block: string | undefined;
  readonly step: ReplyStep | undefined;
  readonly text: string;
  readonly bytes: number;
}

/** Pieces are joined up to this length, so that a joined frame is no flood of its own. */
const MAX_JOINED_CHARACTERS = 16 * 1024;

export class Outbox {
  readonly #line: Line;
  readonly #limits: OutboxLimits;
  readonly #clock: Clock;
  readonly #cutOff: (reason: string) => void;
  #refreshes = new Set<string>();
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
    if (this.#closed) return; // O4
    this.#refreshes.add(block); // O2
    this.#flush();
  }

  step(block: string, step: ReplyStep): void {
    this.#enqueue({ block, step, ...written({ type: 'stream', block, ...step }) });
  }

  send(frame: Exclude<ServerFrame, { readonly type: 'refresh' | 'stream' }>): void {
    this.#enqueue({ block: undefined, step: undefined, ...written(frame) });
  }

  /** Drops what waits for the followers of a block: it is not followed any more, or anew. */
  forget(block: string): void {
    this.#refreshes.delete(block);
    this.#queue = this.#queue.filter((entry) => entry.block !== block);
    this.#waitingBytes = this.#queue.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#watchStall(false);
  }

  close(): void {
    this.#closed = true;
    this.#refreshes.clear();
    this.#queue = [];
    this.#watchStall(false);
  }

  #enqueue(entry: Waiting): void {
    if (this.#closed) return; // O4
    const last = this.#queue.at(-1);
    const joined = last === undefined ? undefined : join(last, entry);
    if (joined === undefined) this.#queue.push(entry);
    else this.#queue[this.#queue.length - 1] = joined; // O2
    this.#waitingBytes += (joined ?? entry).bytes - (joined === undefined ? 0 : (last?.bytes ?? 0));
    this.#flush();
    if (this.#waitingBytes > this.#limits.maxWaitingBytes) this.#end('it did not read what it asked for'); // O3
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

  /** Notices first: they are small, and what they cause is the client's own reading. */
  #next(): { readonly text: string; readonly bytes: number; taken(): void } | undefined {
    for (const block of this.#refreshes) return { ...written({ type: 'refresh', block }), taken: () => this.#refreshes.delete(block) };
    const entry = this.#queue[0];
    if (entry === undefined) return undefined;
    const taken = (): void => {
      this.#queue.shift();
      this.#waitingBytes -= entry.bytes;
    };
    return { text: entry.text, bytes: entry.bytes, taken };
  }

  /** O1 */
  #hasRoom(bytes: number): boolean {
    const { bufferedAmount } = this.#line;
    return bufferedAmount === 0 || bufferedAmount + bytes <= this.#limits.highWaterBytes;
  }

  #isWaiting(): boolean {
    return this.#refreshes.size > 0 || this.#queue.length > 0;
  }

  /** Runs while something waits; starts anew when something of it has left. */
  #watchStall(progress: boolean): void {
    if (progress || !this.#isWaiting()) {
      this.#cancelStall?.();
      this.#cancelStall = undefined;
    }
    if (this.#isWaiting()) this.#cancelStall ??= this.#clock.after(this.#limits.stallMs, () => this.#end('it stopped reading')); // O3
  }

  #end(reason: string): void {
    this.close();
    this.#cutOff(reason);
  }
}

/** The most that the head of a frame of the server takes. */
const HEAD_BYTES = 10;

function written(frame: ServerFrame): { readonly text: string; readonly bytes: number } {
  const text = writeFrame(frame);
  return { text, bytes: Buffer.byteLength(text) + HEAD_BYTES };
}

/** Two neighbouring pieces of one reply as one; undefined where they are none, or would be too long. */
function join(before: Waiting, { block, step }: Waiting): Waiting | undefined {
  if (block === undefined || before.block !== block || before.step?.event !== 'content' || step?.event !== 'content') return undefined;
  if (before.step.id !== step.id || before.step.text.length + step.text.length > MAX_JOINED_CHARACTERS) return undefined;
  const joined = { ...step, text: before.step.text + step.text };
  return { block, step: joined, ...written({ type: 'stream', block, ...joined }) };
}
