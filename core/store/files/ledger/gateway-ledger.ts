// The ledger of gateway calls: `gateway-ledger.jsonl`, one line for each call of a client. It never holds a prompt or an answer. Calls of blocks are in
// ledger.jsonl instead.
//
// bounded: a file that has grown full is renamed, and the oldest of several is removed.
// sums-saved: what each key and group has spent is saved in a file of its own every ten seconds, before lines are removed and at the end, with the place in the ledger
//   up to which it is. So the sums of a month don't depend on lines that are gone; lines after that place are added to them.
// few-writes: lines are written ten times a second and not flushed to the disk, because a busy gateway makes thousands of calls a second. A killed process
//   loses the lines of a tenth of a second, a power cut those of the last seconds. Calls of keys with limits are noted in a journal before they are sent, so
//   that a killed process loses none of them. Lines of blocks for such keys are written at once.
// read-first: what earlier processes have left is read before anything is written, so that no line is counted twice.
// journal-first: before the sums are saved, the journal drops the calls whose lines they have. So the lines after them have the calls that both have.
// dropped-are-summed: after lines were dropped, the sums, which have their calls, are saved at once. Until then the journal keeps those that it has.
// counted-at-once: the sums of a key include a call from its end on, whether or not its line could be written.
// not-shorter: a ledger that has become shorter than it was, after a power cut or by hand, gets a new place before anything is written to it.

import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { Repeat } from '../../../base/repeat.ts';
import { later, type ReachedCap, reachedCap } from '../../../block/costs/caps.ts';
import type { CoreBus } from '../../../bus.ts';
import type { CallNote, CappedKey, Caps, GatewayBook, GatewayCall, NoRoom, NotedCall, OpenCall, PeriodSpend, UnderWay, Used } from '../../port.ts';
import { LineBuffer } from '../line-buffer.ts';
import { CallJournal } from './call-journal.ts';
import { FileSums, lineOf, parseCall } from './gateway-lines.ts';
import { appendText, linesIn, MAX_LINE_BYTES, type OpenedLedger, openLedger, readForward } from './ledger-file.ts';
import { accountOf, DaySums, dayText, type SpendAccount, SpendDays } from '../../parts/spend-days.ts';
import { fileIdOf, type LedgerPlace, readSpend, writeSpend } from './spend-file.ts';

/** How much is kept. */
export interface GatewayLedgerLimits {
  readonly fileBytes: number;
  /** Full files besides the present one. */
  readonly files: number;
}

/** The names of its files. */
export const GATEWAY_FILES = { ledger: 'gateway-ledger.jsonl', journal: 'gateway-open.jsonl', spend: 'gateway-spend.json' } as const;
const { ledger: NAME, journal: JOURNAL, spend: SPEND } = GATEWAY_FILES;
/** What is kept. */
export const GATEWAY_LIMITS: GatewayLedgerLimits = { fileBytes: 16 * 1024 * 1024, files: 4 };
const WRITE_EVERY_MS = 100;
/** Of the lines that wait while the disk fails, some 15,000; what is beyond is dropped, and the bus says so. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const DAY_MS = 86_400_000;
const SAVE_EVERY_MS = 10_000;
/** Calls under way end within moments, and then there may be room again. */
const UNDER_WAY_RETRY_MS = 1000;
const NOTHING: Used = { usd: 0, tokens: 0 };

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
  readonly #spendPath: string;
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
  #saving: NodeJS.Timeout | undefined;
  #isFailing = false;
  readonly #again = new Repeat(() => this.#queue.add(() => this.#write()));
  /** Of all calls; those of earlier processes, once they are read. */
  #spent = new SpendDays();
  /** Of the calls whose lines are in the file. */
  #written = new SpendDays();
  /** Of the calls whose lines wait. */
  #unwritten = new DaySums();
  /** Up to where `#written` has the ledger. */
  #place: LedgerPlace = { files: [], bytes: 0 };
  /** What is saved is older than `#written`. */
  #isUnsaved = false;
  /** Lines were dropped, so that only the saved sums can tell of their calls. */
  #isIncomplete = false;
  #reading: Promise<void> | undefined;
  #isRead = false;
  /** Made once a day, because each call of a key with caps asks for it several times. */
  #day = '';
  #dayStart = 0;

  constructor({ workspace, bus, now, limits, readsOnly = false }: GatewayLedgerOptions) {
    this.#readsOnly = readsOnly;
    this.#path = join(workspace, NAME);
    this.#spendPath = join(workspace, SPEND);
    this.#bus = bus;
    this.#now = now ?? Date.now;
    this.#journal = new CallJournal(join(workspace, JOURNAL), (error) => this.#fail(JOURNAL, error), this.#now);
    this.#limits = limits ?? GATEWAY_LIMITS;
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

  note(call: OpenCall, before?: CallNote): Promise<void> | undefined {
    return this.#isRead ? this.#journal.note(call, before) : this.#noteOnceRead(call, before);
  }

  /** read-first. */
  async #noteOnceRead(call: OpenCall, before: CallNote | undefined): Promise<void> {
    await this.read();
    await this.#journal.note(call, before);
  }

  noteAlone(call: OpenCall): void {
    this.#journal.noteAlone(call);
  }

  /** Counts a call, and writes its line soon. A line that can't be written is tried again with the next ones, or a second later; the bus tells of it once. */
  record(call: GatewayCall, noted?: NotedCall): void {
    const id = noted === undefined ? call.id : this.#journal.end(noted, call);
    this.#spent.count(call, this.#unwritten); // counted-at-once
    if (call.calls !== 0 && !this.#waiting.add(lineOf(call, id))) this.#isIncomplete = true;
    if (id !== undefined) this.#ended.push(id);
    this.#timer ??= this.#writing();
  }

  /** few-writes; no-context (keys/key-hold.ts). */
  #writing(): NodeJS.Timeout {
    return setTimeout(() => void this.#queue.add(() => this.#write()), WRITE_EVERY_MS).unref();
  }

  room(key: CappedKey, underWay: UnderWay, now = this.#now()): true | NoRoom | Promise<true | NoRoom> {
    return this.#isRead ? this.#roomOf(key, underWay, now) : this.#roomOnceRead(key, underWay);
  }

  async #roomOnceRead(key: CappedKey, underWay: UnderWay): Promise<true | NoRoom> {
    await this.read();
    return this.#roomOf(key, underWay, this.#now());
  }

  #roomOf(key: CappedKey, underWay: UnderWay, now: number): true | NoRoom {
    const today = this.#today(now);
    const accounts = this.#accountsOf(key);
    for (const { caps, account } of accounts)
      if (!this.#spent.isFar(account, caps, today, underWay.roughly(caps))) return this.#roomNear(accounts, underWay, now);
    return true;
  }

  /** A cap may be reached. By itself, since hardly any call comes here. */
  #roomNear(accounts: readonly CappedAccount[], underWay: UnderWay, now: number): true | NoRoom {
    let spent: ReachedCap | undefined;
    let close: ReachedCap | undefined;
    for (const { caps: bound, account } of accounts) {
      if (this.#spent.isFar(account, bound, this.#today(now), underWay.roughly(bound))) continue;
      const sums = this.#spent.spentBy(account, this.#today(now));
      spent = later(spent, reachedCap(bound, sums, NOTHING, now));
      if (spent === undefined) close ??= reachedCap(bound, sums, underWay.exactly(bound), now);
    }
    if (spent !== undefined) return { ...spent, isUnderWay: false, retryAfterMs: spent.resetsAt - now };
    return close === undefined || { ...close, isUnderWay: true, retryAfterMs: UNDER_WAY_RETRY_MS };
  }

  /** Of a key and its group, in the order of their limits; found once for each state of the key. */
  #accountsOf(key: CappedKey): readonly CappedAccount[] {
    const known = key.place as KeyAccounts | undefined;
    if (known?.spent === this.#spent) return known.accounts;
    const accounts = key.bounds.map((bound) => {
      const account = this.#spent.account(accountOf(bound));
      return { account, caps: this.#spent.sharedCaps(account, bound) };
    });
    key.place = { spent: this.#spent, accounts } satisfies KeyAccounts;
    return accounts;
  }

  async spent(kind: 'key' | 'group', name: string): Promise<PeriodSpend> {
    await this.read();
    return this.sums(kind, name);
  }

  /** In earlier processes too, once `read` has resolved. */
  sums(kind: 'key' | 'group', name: string): PeriodSpend {
    return this.#spent.spent(this.#today(this.#now()), accountOf({ kind, name }));
  }

  meanOutput(key: string): number | undefined {
    return this.#spent.meanOutput(key);
  }

  /** What each key and group has spent, by day; in earlier processes too, once `read` has resolved. */
  rows(): ReturnType<SpendDays['rows']> {
    return this.#spent.rows();
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

  readonly flush = async (): Promise<void> => void (await this.#queue.add(() => this.#write()));

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#queue.add(() => this.#write());
    this.#again.end();
    clearTimeout(this.#saving);
    await this.#queue.add(() => this.#save());
    this.#journal.close();
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0 && this.#ended.length === 0 && !this.#isIncomplete) return;
    try {
      await this.#readAll(); // read-first
      await this.#writeWaiting();
      this.#isFailing = false;
    } catch (error) {
      this.#fail(NAME, error);
      this.#again.begin();
    }
  }

  async #writeWaiting(): Promise<void> {
    const [ended, isIncomplete] = [this.#ended.splice(0), this.#isIncomplete];
    this.#isIncomplete = false;
    this.#journal.beginForget();
    try {
      const isFull = this.#waiting.size > 0 && (await this.#append()) >= this.#limits.fileBytes;
      if (isIncomplete) await this.#saveSums(); // dropped-are-summed
      this.#journal.forget(ended);
      if (isFull) await this.#rotate();
    } catch (error) {
      this.#ended = [...ended, ...this.#ended];
      this.#isIncomplete ||= isIncomplete;
      throw error;
    }
  }

  /** Resolves with the size of the file. */
  async #append(): Promise<number> {
    const [lines, spent] = [this.#waiting.take(), this.#unwritten];
    this.#unwritten = new DaySums();
    let size: number;
    try {
      size = await this.#bus.time('gateway-ledger', () => appendText(this.#path, lines, { sync: false }));
    } catch (error) {
      if (!this.#waiting.putBack(lines)) this.#isIncomplete = true;
      this.#unwritten.addAll(spent);
      throw error;
    }
    const { files } = this.#place;
    const isNewFile = size === lines.length && size > 0;
    this.#place = { files: isNewFile ? [fileIdOf(lines), ...files.slice(0, this.#limits.files)] : files, bytes: size };
    this.#written.addAll(spent);
    this.#isUnsaved = true;
    this.#saving ??= setTimeout(() => void this.#queue.add(() => this.#save()), SAVE_EVERY_MS).unref(); // sums-saved
    return size;
  }

  async #save(): Promise<void> {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    if (!this.#isUnsaved || this.#readsOnly) return;
    try {
      await this.#saveSums();
    } catch (error) {
      this.#fail(SPEND, error);
    }
  }

  async #saveSums(): Promise<void> {
    this.#journal.compact(); // journal-first
    await writeSpend(this.#spendPath, { spent: this.#written, place: this.#place });
    this.#isUnsaved = false;
  }

  #fail(what: string, error: unknown): void {
    if (!this.#isFailing) this.#bus.emit('workspace.fault', { what, error: (error as Error).message });
    this.#isFailing = true;
  }

  /** bounded, sums-saved. */
  async #rotate(): Promise<void> {
    if (this.#place.files.length > this.#limits.files) await this.#save();
    const paths = this.#paths();
    await rm(paths.at(-1) ?? '', { force: true });
    for (let index = paths.length - 2; index >= 0; index -= 1) {
      await rename(paths[index] ?? '', paths[index + 1] ?? '').catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
    }
  }

  /** The newest first. */
  #paths(): string[] {
    return [this.#path, ...Array.from({ length: this.#limits.files }, (_, index) => this.#path.replace(/\.jsonl$/, `.${index + 1}.jsonl`))];
  }

  /** Once; in the turn of the queue. */
  async #readAll(): Promise<void> {
    if (this.#isRead) return;
    const { sums, place, isShorter } = await this.#readSums();
    const left = this.#readsOnly ? [] : await this.#journal.left();
    if (isShorter && !this.#readsOnly) await writeSpend(this.#spendPath, { spent: sums.spent, place }); // not-shorter
    this.#written = sums.spent;
    this.#place = place;
    const own = this.#spent;
    this.#spent = new SpendDays();
    this.#spent.addAll(this.#written);
    this.#spent.addAll(own);
    this.#isRead = true;
    for (const call of left) if (!sums.ids.has(call.id)) this.record(interrupted(call));
    if (left.length > 0) this.#journal.forget(left.filter(({ id }) => sums.ids.has(id)).map(({ id }) => id));
  }

  /** What is saved, and the lines of the ledger that came later. */
  async #readSums(): Promise<{ readonly sums: FileSums; readonly place: LedgerPlace; readonly isShorter: boolean }> {
    const saved = await readSpend(this.#spendPath);
    const sums = new FileSums(saved?.spent);
    const files: string[] = [];
    let [bytes, isShorter] = [0, false];
    for (const path of this.#paths().reverse()) {
      const opened = await openLedger(path);
      if (opened === undefined) continue;
      try {
        if (opened.size === 0) continue;
        const id = await idOf(opened);
        files.unshift(id);
        bytes = opened.size;
        const known = saved?.place.files.indexOf(id) ?? -1;
        if (known > 0) continue;
        const from = known === 0 ? (saved?.place.bytes ?? 0) : 0;
        if (opened.size < from) isShorter = true;
        for await (const lines of readForward(opened, from)) for (const line of lines) sums.add(line);
      } finally {
        await opened.file.close();
      }
    }
    return { sums, place: { files, bytes }, isShorter };
  }

  #today(now: number): string {
    if (now < this.#dayStart || now >= this.#dayStart + DAY_MS || this.#day === '') {
      this.#dayStart = Math.floor(now / DAY_MS) * DAY_MS;
      this.#day = dayText(new Date(now).toISOString().slice(0, '2026-11-22'.length));
    }
    return this.#day;
  }
}

/** Where the ledger keeps what a key has spent. */
interface KeyAccounts {
  readonly spent: SpendDays;
  readonly accounts: readonly CappedAccount[];
}

/** A limit of a key, and what was spent under it. */
interface CappedAccount {
  readonly account: SpendAccount;
  readonly caps: Caps;
}

async function idOf({ file, size }: OpenedLedger): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(MAX_LINE_BYTES, size)), 0, Math.min(MAX_LINE_BYTES, size), 0);
  return fileIdOf(buffer.subarray(0, bytesRead));
}

/** A call that was under way when its process was killed counts what the journal noted for it. */
export function interrupted(call: OpenCall): GatewayCall {
  return { ...call, firstTextMs: null, durationMs: 0 };
}
