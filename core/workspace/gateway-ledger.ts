// The ledger of gateway calls: `gateway-ledger.jsonl`, one line for each call of a client. It never holds a prompt or an answer. Calls of blocks are in
// ledger.jsonl instead.
//
// bounded: a file that has grown full is renamed, and the oldest of several is removed.
// few-writes: lines are written ten times a second and not flushed to the disk, because a busy gateway makes thousands of calls a second. A killed process
//   loses the lines of a tenth of a second, a power cut those of the last seconds.
// counted-at-once: the sums of a key include a call from its end on, whether or not its line could be written.
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { CoreBus } from '../bus.ts';
import type { ErrorCode } from '../errors.ts';
import { isObject, tryParseJson } from '../json.ts';
import type { KeySpend } from '../keys/named-key.ts';
import type { Usage } from '../types.ts';
import { appendText, openLedger, readBackward, readForward } from './ledger-file.ts';
import { LineBuffer } from './line-buffer.ts';

/** One call of a client. */
export interface GatewayCall {
  /** When it ended: ISO 8601, UTC. */
  readonly at: string;
  readonly requestId: string;
  /** The name of the client's key; null for the token of the workspace. */
  readonly key: string | null;
  readonly provider: string;
  readonly model: string;
  /** Null when nothing is known of it. */
  readonly usage: Usage | null;
  /** Null without a known price. */
  readonly costUsd: number | null;
  /** Milliseconds from acceptance to the first text; null when there was none. */
  readonly firstTextMs: number | null;
  readonly durationMs: number;
  /** Null when it succeeded. */
  readonly error: ErrorCode | null;
}

/** How much is kept. */
export interface GatewayLedgerLimits {
  readonly fileBytes: number;
  /** Full files besides the present one. */
  readonly files: number;
}

const NAME = 'gateway-ledger.jsonl';
const LIMITS: GatewayLedgerLimits = { fileBytes: 16 * 1024 * 1024, files: 4 };
const WRITE_EVERY_MS = 100;
/** Of the lines that wait while the disk fails, some 15,000; what is beyond is dropped, and the bus says so. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const NOTHING: KeySpend = { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0 };

/** What a ledger works with. */
export interface GatewayLedgerOptions {
  readonly workspace: string;
  readonly bus: CoreBus;
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined;
  readonly limits?: GatewayLedgerLimits | undefined;
}

/** The gateway calls of a workspace. Nothing is read or written before it is needed. */
export class GatewayLedger {
  readonly #path: string;
  readonly #bus: CoreBus;
  readonly #now: () => number;
  readonly #limits: GatewayLedgerLimits;
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #waiting = new LineBuffer(MAX_WAITING_BYTES);
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  /** The present UTC day. */
  #day: string;
  /** What each key has spent on it, in this process. */
  #spent = new Map<string, KeySpend>();
  /** What each key had spent on it before this process. */
  #before: Promise<ReadonlyMap<string, KeySpend>> | undefined;
  /** ISO 8601. Later lines are those of this process. */
  readonly #startedAt: string;

  constructor({ workspace, bus, now, limits }: GatewayLedgerOptions) {
    this.#path = join(workspace, NAME);
    this.#bus = bus;
    this.#now = now ?? Date.now;
    this.#limits = limits ?? LIMITS;
    this.#startedAt = new Date(this.#now()).toISOString();
    this.#day = this.#today();
  }

  /** Counts a call, and writes its line soon. A line that can't be written is tried again with the next ones; the bus tells of it once. */
  record(call: GatewayCall): void {
    this.#count(call); // counted-at-once
    this.#waiting.add(lineOf(call));
    this.#timer ??= setTimeout(() => void this.#queue.add(() => this.#write()), WRITE_EVERY_MS).unref(); // few-writes
  }

  /** What a key has spent on this UTC day, in earlier processes too. Rejects while the file can't be read. */
  async spentToday(key: string): Promise<KeySpend> {
    this.#turnDay();
    this.#before ??= this.#readBefore();
    try {
      const before = await this.#before;
      return sum(before.get(key), this.#spent.get(key));
    } catch (error) {
      this.#before = undefined;
      throw error;
    }
  }

  /** All lines that are kept, the oldest first, read in bounded pieces. Damaged ones are left out. */
  async *lines(): AsyncGenerator<GatewayCall> {
    await this.#queue.add(() => this.#write());
    for (const path of [...this.#fullPaths()].reverse().concat(this.#path)) {
      const opened = await openLedger(path);
      if (opened === undefined) continue;
      try {
        for await (const lines of readForward(opened)) yield* lines.flatMap(parsed);
      } finally {
        await opened.file.close();
      }
    }
  }

  /** Writes the lines that wait. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#queue.add(() => this.#write());
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    const lines = this.#waiting.take();
    try {
      const size = await appendText(this.#path, lines, { sync: false });
      this.#isFailing = false;
      if (size >= this.#limits.fileBytes) await this.#rotate();
    } catch (error) {
      this.#waiting.putBack(lines);
      if (!this.#isFailing) this.#bus.emit('workspace.fault', { what: NAME, error: (error as Error).message });
      this.#isFailing = true;
    }
  }

  /** bounded. */
  async #rotate(): Promise<void> {
    const paths = [this.#path, ...this.#fullPaths()];
    await rm(paths.at(-1) ?? '', { force: true });
    for (let index = paths.length - 2; index >= 0; index -= 1) {
      await rename(paths[index] ?? '', paths[index + 1] ?? '').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    }
  }

  /** The newest first. */
  #fullPaths(): string[] {
    return Array.from({ length: this.#limits.files }, (_, index) => this.#path.replace(/\.jsonl$/, `.${index + 1}.jsonl`));
  }

  /** The calls of this day that earlier processes have recorded. */
  async #readBefore(): Promise<ReadonlyMap<string, KeySpend>> {
    const spent = new Map<string, KeySpend>();
    if (!this.#startedAt.startsWith(this.#day)) return spent;
    for (const path of [this.#path, ...this.#fullPaths()]) {
      for await (const call of newestFirst(path)) {
        if (call.at < this.#day) return spent;
        if (call.key !== null && call.at < this.#startedAt) spent.set(call.key, sum(spent.get(call.key), spendOf(call)));
      }
    }
    return spent;
  }

  #count(call: GatewayCall): void {
    if (call.key === null) return;
    this.#turnDay();
    this.#spent.set(call.key, sum(this.#spent.get(call.key), spendOf(call)));
  }

  #turnDay(): void {
    const day = this.#today();
    if (day === this.#day) return;
    this.#day = day;
    this.#spent = new Map();
    this.#before = undefined;
  }

  #today(): string {
    return new Date(this.#now()).toISOString().slice(0, 10);
  }
}

/** JSON, member by member: a busy gateway writes thousands of lines in a second. */
function lineOf({ at, requestId, key, provider, model, usage, costUsd, firstTextMs, durationMs, error }: GatewayCall): string {
  return (
    `{"at":"${at}","requestId":${quoted(requestId)},"key":${key === null ? null : quoted(key)},"provider":${quoted(provider)},"model":${quoted(model)},` +
    `"usage":${usage === null ? null : usageText(usage)},"costUsd":${costUsd},"firstTextMs":${firstTextMs},"durationMs":${durationMs},` +
    `"error":${error === null ? null : quoted(error)}}\n`
  );
}

const NEEDS_ESCAPE = /[^ !#-[\]-~]/;

/** Most names are plain, and to look is faster than to serialise. */
function quoted(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function usageText(usage: Usage): string {
  let members = '';
  for (const name in usage) {
    const value = usage[name as keyof Usage];
    if (value !== undefined) members += `${members === '' ? '' : ','}"${name}":${value}`;
  }
  return `{${members}}`;
}

/** A call that failed without usage was most likely never made, and costs nothing. */
function spendOf({ usage, costUsd, error }: GatewayCall): KeySpend {
  const isUnpriced = costUsd === null && (usage !== null || error === null);
  return { usd: costUsd ?? 0, tokens: usage?.totalTokens ?? 0, calls: 1, unpricedCalls: isUnpriced ? 1 : 0 };
}

function sum(one: KeySpend = NOTHING, other: KeySpend = NOTHING): KeySpend {
  return {
    usd: one.usd + other.usd,
    tokens: one.tokens + other.tokens,
    calls: one.calls + other.calls,
    unpricedCalls: one.unpricedCalls + other.unpricedCalls,
  };
}

/** The calls of a file, the newest first; none if there is no file. */
async function* newestFirst(path: string): AsyncGenerator<GatewayCall> {
  const opened = await openLedger(path);
  if (opened === undefined) return;
  try {
    for await (const lines of readBackward(opened)) yield* lines.flatMap(parsed);
  } finally {
    await opened.file.close();
  }
}

/** Empty for a damaged line. */
function parsed(line: string): GatewayCall[] {
  const value = tryParseJson(line);
  if (!isObject(value)) return [];
  const { at, key, provider, model, costUsd, usage } = value;
  const isCall =
    typeof at === 'string' &&
    !Number.isNaN(Date.parse(at)) &&
    typeof provider === 'string' &&
    typeof model === 'string' &&
    (key === null || typeof key === 'string') &&
    (costUsd === null || typeof costUsd === 'number') &&
    (usage === null || (isObject(usage) && typeof usage['totalTokens'] === 'number'));
  return isCall ? [value as unknown as GatewayCall] : [];
}
