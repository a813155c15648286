// The ledger of gateway calls: `gateway-ledger.jsonl`, one line for each call of a client. It never holds a prompt or an answer. Calls of blocks are in
// ledger.jsonl instead.
//
// bounded: a file that has grown full is renamed, and the oldest of several is removed.
// carried-over: a file begins with what each key had spent before, so that the sums don't depend on older files.
// few-writes: lines are written ten times a second and not flushed to the disk, because a busy gateway makes thousands of calls a second. A killed process
//   loses the lines of a tenth of a second, a power cut those of the last seconds. Calls of keys with limits are noted in a journal before they are sent, so
//   that a killed process loses none of them.
// read-first: what earlier processes have left is read before anything is written, so that no line is counted twice.
// journal-first: before a file is full and put away, the journal drops the calls whose lines it has. So the newest file alone has the calls that both have.
// dropped-are-summed: after lines were dropped, a new file begins at once, with the sums that have their calls. Until then the journal keeps those that it has.
// counted-at-once: the sums of a key include a call from its end on, whether or not its line could be written.

import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { capReached } from '../../../block/costs/budget.ts';
import type { CoreBus } from '../../../bus.ts';
import type { CappedKey, GatewayBook, GatewayCall, KeySpend, NoRoom, OpenCall } from '../../port.ts';
import { LineBuffer } from '../line-buffer.ts';
import { CallJournal } from './call-journal.ts';
import { carriedLines, FileSums, lineOf, parseCall } from './gateway-lines.ts';
import { appendText, openLedger, readForward } from './ledger-file.ts';
import { SpendDays } from '../../parts/spend-days.ts';

/** How much is kept. */
export interface GatewayLedgerLimits {
  readonly fileBytes: number;
  /** Full files besides the present one. */
  readonly files: number;
}

const NAME = 'gateway-ledger.jsonl';
const JOURNAL = 'gateway-open.jsonl';
const LIMITS: GatewayLedgerLimits = { fileBytes: 16 * 1024 * 1024, files: 4 };
const WRITE_EVERY_MS = 100;
/** Of the lines that wait while the disk fails, some 15,000; what is beyond is dropped, and the bus says so. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const DAY_MS = 86_400_000;
/** Calls under way end within moments, and then there may be room again. */
const UNDER_WAY_RETRY_MS = 1000;

/** What a ledger works with. */
export interface GatewayLedgerOptions {
  readonly workspace: string;
  readonly bus: CoreBus;
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined;
  readonly limits?: GatewayLedgerLimits | undefined;
  /** True while another process may hold the workspace: what it has under way is left alone. */
  readonly readsOnly?: boolean | undefined;
}

/** The gateway calls of a workspace. Nothing is read or written before it is needed. */
export class GatewayLedger implements GatewayBook {
  readonly #path: string;
  readonly #bus: CoreBus;
  readonly #now: () => number;
  readonly #limits: GatewayLedgerLimits;
  readonly #journal: CallJournal;
  readonly #readsOnly: boolean;
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #waiting = new LineBuffer(MAX_WAITING_BYTES);
  /** Of the lines that wait: those whose calls are in the journal. */
  #ended: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  /** Of all calls; those of earlier processes, once they are read. */
  #spent = new SpendDays();
  /** Of the calls whose lines are in the file. */
  #written = new SpendDays();
  /** Of the calls whose lines wait. */
  #unwritten = new SpendDays();
  /** Lines were dropped, so that only the beginning of a new file can tell of their calls. */
  #isIncomplete = false;
  #reading: Promise<void> | undefined;
  #isRead = false;
  /** The next line begins a file. */
  #beginsFile = false;

  constructor({ workspace, bus, now, limits, readsOnly = false }: GatewayLedgerOptions) {
    this.#readsOnly = readsOnly;
    this.#path = join(workspace, NAME);
    this.#journal = new CallJournal(join(workspace, JOURNAL));
    this.#bus = bus;
    this.#now = now ?? Date.now;
    this.#limits = limits ?? LIMITS;
  }

  get isRead(): boolean {
    return this.#isRead;
  }

  /** Reads what earlier processes have counted. Rejects while a file can't be read. */
  read(): Promise<void> {
    this.#reading ??= this.#queue
      .add(() => this.#readAll())
      .catch((error: unknown) => {
        this.#reading = undefined;
        throw error;
      });
    return this.#reading;
  }

  note(call: OpenCall): Promise<void> {
    return this.#isRead ? this.#journal.note(call) : this.read().then(() => this.#journal.note(call)); // read-first
  }

  noteEnd(call: OpenCall): void {
    this.#journal.end(call);
  }

  /** Counts a call, and writes its line soon. A line that can't be written is tried again with the next ones; the bus tells of it once. */
  record(call: GatewayCall): void {
    this.#spent.count(call); // counted-at-once
    this.#unwritten.count(call);
    if (!this.#waiting.add(lineOf(call))) this.#isIncomplete = true;
    if (call.id !== undefined) this.#ended.push(call.id);
    this.#timer ??= setTimeout(() => void this.#queue.add(() => this.#write()), WRITE_EVERY_MS).unref(); // few-writes
  }

  room(key: CappedKey, underWay: Pick<KeySpend, 'usd' | 'tokens'>): true | NoRoom | Promise<true | NoRoom> {
    if (!this.#isRead) return this.read().then(() => this.#roomOf(key, underWay));
    return this.#roomOf(key, underWay);
  }

  #roomOf(key: CappedKey, underWay: Pick<KeySpend, 'usd' | 'tokens'>): true | NoRoom {
    const { usd, tokens } = this.spent(key.name);
    const cap = capReached(key, { usd, tokens });
    const now = this.#now();
    if (cap !== undefined) return { cap, isUnderWay: false, retryAfterMs: DAY_MS - (now % DAY_MS) };
    const close = capReached(key, { usd: usd + underWay.usd, tokens: tokens + underWay.tokens });
    return close === undefined || { cap: close, isUnderWay: true, retryAfterMs: UNDER_WAY_RETRY_MS };
  }

  async spentToday(key: string): Promise<KeySpend> {
    await this.read();
    return this.spent(key);
  }

  /** What a key has spent on this UTC day; in earlier processes too, once `read` has resolved. */
  spent(key: string): KeySpend {
    return this.#spent.spent(this.#time().slice(0, '2026-11-22'.length), key);
  }

  meanOutput(key: string): number | undefined {
    return this.#spent.meanOutput(key);
  }

  /** All lines that are kept, the oldest first, read in bounded pieces. Damaged ones are left out. */
  async *lines(): AsyncGenerator<GatewayCall> {
    await this.read(); // of calls that a killed process has left, too
    await this.#queue.add(() => this.#write());
    for (const path of this.#paths().reverse()) {
      for await (const lines of linesIn(path)) {
        for (const line of lines) {
          const call = parseCall(line);
          if (call !== undefined) yield call;
        }
      }
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#queue.add(() => this.#write());
    this.#journal.close();
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    try {
      await this.#readAll(); // read-first
      await this.#writeWaiting();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#bus.emit('workspace.fault', { what: NAME, error: (error as Error).message });
      this.#isFailing = true;
    }
  }

  async #writeWaiting(): Promise<void> {
    let ended = this.#ended.splice(0);
    try {
      let size = await this.#append();
      if (this.#isIncomplete) {
        await this.#rotate();
        ended = [...ended, ...this.#ended.splice(0)];
        size = await this.#append(); // dropped-are-summed
      }
      this.#journal.forget(ended);
      if (size >= this.#limits.fileBytes) await this.#rotate();
    } catch (error) {
      this.#ended = [...ended, ...this.#ended];
      throw error;
    }
  }

  /** Resolves with the size of the file. */
  async #append(): Promise<number> {
    const [lines, spent] = [this.#waiting.take(), this.#unwritten];
    this.#unwritten = new SpendDays();
    const head = Buffer.from(this.#beginsFile ? carriedLines(this.#written, this.#time()) : ''); // carried-over
    let size: number;
    try {
      size = await appendText(this.#path, head.length === 0 ? lines : Buffer.concat([head, lines]), { sync: false });
    } catch (error) {
      if (!this.#waiting.putBack(lines)) this.#isIncomplete = true;
      this.#unwritten.addAll(spent);
      throw error;
    }
    this.#beginsFile = false;
    this.#written.addAll(spent);
    return size;
  }

  /** bounded. */
  async #rotate(): Promise<void> {
    this.#journal.compact(); // journal-first
    const paths = this.#paths();
    await rm(paths.at(-1) ?? '', { force: true });
    for (let index = paths.length - 2; index >= 0; index -= 1) {
      await rename(paths[index] ?? '', paths[index + 1] ?? '').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    }
    this.#beginsFile = true;
    this.#isIncomplete = false;
  }

  /** The newest first. */
  #paths(): string[] {
    return [this.#path, ...Array.from({ length: this.#limits.files }, (_, index) => this.#path.replace(/\.jsonl$/, `.${index + 1}.jsonl`))];
  }

  /** Once; in the turn of the queue. */
  async #readAll(): Promise<void> {
    if (this.#isRead) return;
    const files = await this.#readFiles();
    const left = this.#readsOnly ? [] : await this.#journal.left();
    const ids = new Set(files.flatMap((file) => [...file.ids]));
    this.#beginsFile = files[0]?.isEmpty === true && files.some(({ isEmpty }) => !isEmpty); // it was killed right after it had renamed a full one
    for (const { spent } of files.reverse()) this.#written.addAll(spent);
    const own = this.#spent;
    this.#spent = new SpendDays();
    this.#spent.addAll(this.#written);
    this.#spent.addAll(own);
    this.#isRead = true;
    for (const call of left) if (!ids.has(call.id)) this.record(interrupted(call));
    if (left.length > 0) this.#journal.forget(left.filter(({ id }) => ids.has(id)).map(({ id }) => id));
  }

  /** The newest first, as far back as they tell of days that matter. Without what was spent before, a file needs those before it. */
  async #readFiles(): Promise<FileSums[]> {
    const files: FileSums[] = [];
    const since = new Date(this.#now() - 2 * DAY_MS).toISOString();
    for (const path of this.#paths()) {
      const file = new FileSums();
      for await (const lines of linesIn(path)) for (const line of lines) file.add(line);
      files.push(file);
      if (file.isWhole || (file.first !== undefined && file.first < since)) break;
    }
    return files;
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}

/** A call that was under way when its process was killed counts what the journal noted for it. */
function interrupted(call: OpenCall): GatewayCall {
  return { ...call, firstTextMs: null, durationMs: 0 };
}

/** The lines of a file in pieces, the oldest first; none if there is no file. */
async function* linesIn(path: string): AsyncGenerator<string[]> {
  const opened = await openLedger(path);
  if (opened === undefined) return;
  try {
    yield* readForward(opened);
  } finally {
    await opened.file.close();
  }
}
