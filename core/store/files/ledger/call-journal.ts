// The journal of calls under way: `gateway-open.jsonl`, one line for each call of a key with limits, written before the call is sent. A process that is
// killed leaves there what its calls may have cost, and the next one counts it.
//
// covered-when-busy: when very many calls come, a line is written ahead for all calls of a key at one model (call-covers.ts), since a line for each of them would cost
//   as much as a fifth of a small request. That lasts for BUSY_TURNS, since calls come in bursts.
// noted-first: a call is sent only after the system has its line.
// ended-soon: the end of a call that has a line of its own is written before its client gets the answer. What is noted in one turn of the event loop shares one write.
// written-before-forgotten: a line is dropped only after the ledger has the line of the call's end.
// begins-again: a file that was removed or made shorter by hand is written again within moments, with the calls that are under way.
// torn-line-closed: a line that a full disk or a crash has torn is closed with a newline before the next one, which is whole.

import { closeSync, constants, fstatSync, ftruncateSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { isObject, tryParseJson } from '../../../base/json.ts';
import { keptText } from '../../../base/kept-text.ts';
import type { Usage } from '../../../types.ts';
import type { CallNote, GatewayCall, NotedCall, OpenCall } from '../../port.ts';
import { storageFault } from '../atomic-file.ts';
import { readRegular, SAFELY } from '../regular-file.ts';
import { CallCovers, type CoverLine, OWN_LINE, PEAK_TURNS, TURN_MS } from './call-covers.ts';

/** Of lines, most of them of calls that have ended. */
const MAX_BYTES = 1024 * 1024;
/** All calls that can be under way leave less. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 100;
const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
/** Of notes within TURN_MS; with fewer, each has a line of its own (covered-when-busy). */
const BUSY_NOTES = 32;
const BUSY_TURNS = PEAK_TURNS;

/** The calls under way of the keys with limits. */
export class CallJournal {
  readonly #path: string;
  readonly #onFault: (error: unknown) => void;
  readonly #beforeOpening: (() => void) | undefined;
  /** Those with lines of their own. */
  readonly #open = new Map<string, OpenCall>();
  readonly #covers: CallCovers;
  /** Covered calls that are to have lines of their own, as they were noted last, by id. */
  readonly #alone = new Map<string, OpenCall>();
  #file: number | undefined;
  #bytes = 0;
  #waiting = '';
  #lookedAt = 0;
  /** True if the file may have lines of calls that were dropped. */
  #hasDropped = false;
  /** Nothing is on the disk of the calls with lines of their own (begins-again). */
  #isGone = false;
  /** The file may end in the midst of a line. */
  #mayBeTorn = false;
  /** The write of this turn. */
  #turn: Promise<void> | undefined;
  /** Begins another turn of the covers. */
  #timer: NodeJS.Timeout | undefined;
  /** Notes since the last turn. */
  #noted = 0;
  /** For so many turns, calls share lines. */
  #busyTurns = 0;

  /** `onFault` gets the error of a line for which no call waits; `now` in epoch milliseconds. `beforeOpening` may make the folder of the file, or throw. */
  constructor(path: string, onFault: (error: unknown) => void, now: () => number, beforeOpening?: () => void) {
    this.#path = path;
    this.#onFault = onFault;
    this.#beforeOpening = beforeOpening;
    this.#covers = new CallCovers(now);
  }

  /** The calls that an earlier process has left, the last line of each. */
  async left(): Promise<OpenCall[]> {
    const bytes = await readRegular(this.#path, MAX_READ_BYTES);
    const calls = new Map<string, OpenCall>();
    for (const line of bytes?.toString().split('\n') ?? []) {
      const value = tryParseJson(line);
      if (!isObject(value) || typeof value['id'] !== 'string') continue; // damaged: a process may be killed while it writes
      if (value['isOver'] === true) calls.delete(value['id']);
      const call = asCall({ ...calls.get(value['id']), ...value });
      if (call !== undefined) calls.set(call.id, call);
    }
    for (const call of calls.values()) this.#open.set(call.id, call); // written-before-forgotten
    return [...calls.values()];
  }

  /**
   * Undefined if the call may be sent at once; else resolves when the system has its line. A later note of the same call replaces the one `before`. Rejects with STORAGE_FULL,
   * or the system's own error. noted-first.
   */
  note(call: OpenCall, before?: CallNote): Promise<void> | undefined {
    this.#noted += 1;
    this.#timer ??= this.#turning();
    if (this.#alone.size > 0 && this.#alone.has(call.id)) this.#alone.set(call.id, call);
    if (this.#covers.has(call) || (call.place === undefined && (this.#busyTurns > 0 || this.#noted > BUSY_NOTES)))
      return this.#covers.take(call, before) ? undefined : this.#writeSoon();
    this.#add(call);
    call.place = OWN_LINE;
    return this.#writeSoon();
  }

  /** The call lasts longer than most: it gets a line of its own in the next turn. */
  noteAlone(call: OpenCall): void {
    if (this.#covers.has(call)) this.#alone.set(call.id, call);
  }

  /** Writes the end of a call (ended-soon), and returns its id if it has a line of its own. */
  end(noted: NotedCall, call: GatewayCall): string | undefined {
    if (this.#covers.has(noted)) {
      if (!this.#covers.end(noted, call)) this.#writeSoon().catch(this.#onFault);
      return undefined;
    }
    this.#endOwnLine(noted.id, call);
    return noted.id;
  }

  #endOwnLine(id: string, call: GatewayCall): void {
    const { at, usage, costUsd, leastUsd, error } = call;
    const began = this.#open.get(id);
    const least = leastUsd ?? (costUsd === null ? null : undefined); // null replaces what was noted
    const ended = { id, at, usage: usage ?? NO_USAGE, costUsd, leastUsd: least, error };
    if (began !== undefined) this.#open.set(id, { ...began, ...ended });
    this.#waiting += `${JSON.stringify(ended)}\n`; // what the first line says of the call still holds
    try {
      this.#lookForFile();
      this.#write();
    } catch (error) {
      this.#onFault(error); // the line of the ledger waits and is tried again
    }
  }

  #writeSoon(): Promise<void> {
    this.#turn ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#turn = undefined;
        try {
          this.#lookForFile();
          this.#write();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return this.#turn;
  }

  /** The lines of all calls that have ended by now are being written to the ledger. */
  beginForget(): void {
    this.#covers.beginForget();
  }

  /** They are written: drops what is noted of them, and the lines of these calls. Throws the system's own error. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.#open.delete(id);
    if (ids.length > 0) this.#hasDropped = true;
    this.#covers.forget();
    if (this.#open.size === 0 && this.#covers.size === 0) this.#waiting = '';
    if (this.#isEmpty) {
      if (this.#file === undefined && ids.length > 0) this.#file = this.#opened(); // left by an earlier process
      this.#empty();
    } else if (this.#file !== undefined && this.#bytes > MAX_BYTES) this.#rewrite();
  }

  /** Drops what `forget` has left in the file, which is left alone if that is nothing: some disks take long to replace a file. Throws the system's own error. */
  compact(): void {
    if (this.#covers.dropUnused()) this.#hasDropped = true; // also if it can't be written now
    if (this.#hasDropped) this.#rewrite();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#covers.dropUnused();
    try {
      if (this.#isEmpty) this.#empty();
    } catch (error) {
      this.#onFault(error); // the next process counts what no call of this one has used
    }
    this.#closeFile();
  }

  /** True if no line of the file is of use. */
  get #isEmpty(): boolean {
    return this.#open.size === 0 && this.#covers.isEmpty;
  }

  #empty(): void {
    if (this.#file === undefined) return;
    ftruncateSync(this.#file, 0);
    this.#bytes = 0;
    this.#hasDropped = false;
  }

  /** no-context (key-hold.ts). */
  #turning(): NodeJS.Timeout {
    return setInterval(() => this.#beginTurn(), TURN_MS).unref();
  }

  /** covered-when-busy. */
  #beginTurn(): void {
    this.#busyTurns = this.#noted > BUSY_NOTES ? BUSY_TURNS : Math.max(0, this.#busyTurns - 1);
    if (this.#noted === 0 && this.#busyTurns === 0 && this.#isEmpty) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.#noted = 0;
    const lines = this.#covers.turn();
    const alone = [...this.#alone.values()].filter((call) => this.#covers.has(call));
    const waiting = this.#waiting;
    try {
      this.#lookForFile();
      for (const call of alone) this.#add(call);
      this.#write(lines);
      for (const call of alone) this.#covers.leave(call);
      this.#alone.clear();
      if (lines.length > 0 && this.#isEmpty) this.#empty();
    } catch (error) {
      for (const { id } of alone) this.#open.delete(id); // their cover still holds
      this.#hasDropped ||= alone.length > 0; // their lines may be on the disk
      this.#waiting = waiting;
      this.#onFault(error);
    }
  }

  #closeFile(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #add({ id, at, requestId, key, group, provider, model, usage, costUsd, leastUsd, error }: OpenCall): void {
    const kept = {
      id,
      at,
      requestId: keptText(requestId),
      key,
      group,
      provider,
      model: keptText(model),
      usage,
      costUsd,
      leastUsd: leastUsd ?? undefined,
      error,
    };
    this.#open.set(id, kept);
    this.#waiting += `${JSON.stringify(kept)}\n`;
  }

  /** begins-again. */
  #lookForFile(): void {
    const now = performance.now();
    if (this.#file === undefined || now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = now;
    const { nlink, size } = fstatSync(this.#file);
    if (nlink > 0 && size >= this.#bytes) return;
    this.#closeFile();
    this.#bytes = 0;
    this.#isGone = true;
    this.#covers.lost();
  }

  #write(turnLines: readonly CoverLine[] = []): void {
    const covers = [...turnLines, ...this.#covers.short()];
    const text = (this.#isGone ? this.#openLines() : '') + this.#waiting + covers.map(({ line }) => line).join('');
    if (text === '') return; // its calls are forgotten
    const waiting = this.#waiting;
    this.#waiting = '';
    try {
      this.#file ??= this.#opened();
      const lines = Buffer.from(this.#mayBeTorn ? `\n${text}` : text); // torn-line-closed
      this.#mayBeTorn = true;
      for (let at = 0; at < lines.length; ) at += writeSync(this.#file, lines, at);
      this.#mayBeTorn = false;
      this.#bytes += lines.length;
      this.#isGone = false;
      for (const { written } of covers) written();
    } catch (error) {
      for (const { failed } of covers) failed();
      if (this.#turn !== undefined) this.#waiting = waiting; // who waits for this turn gets the failure when it is tried again
      storageFault(error);
    }
  }

  #opened(): number {
    this.#beforeOpening?.();
    const file = openSync(this.#path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | SAFELY, 0o600);
    this.#mayBeTorn = fstatSync(file).size > 0;
    return file;
  }

  #rewrite(): void {
    const lines = this.#openLines() + this.#covers.all();
    writeFileSync(`${this.#path}.tmp`, lines, { mode: 0o600 });
    renameSync(`${this.#path}.tmp`, this.#path);
    this.#closeFile();
    this.#bytes = lines.length;
    this.#hasDropped = false;
    this.#isGone = false;
    this.#file = this.#opened();
  }

  #openLines(): string {
    return [...this.#open.values()].map((call) => `${JSON.stringify(call)}\n`).join('');
  }
}

/** Undefined for a line that says too little, such as the end of a call whose first line is lost: its line in the ledger counts. */
function asCall(value: object): OpenCall | undefined {
  const { id, at, requestId, key, provider, model, usage, costUsd } = value as Readonly<Record<string, unknown>>;
  const areTexts = [id, at, requestId, key, provider, model].every((text) => typeof text === 'string');
  const isCounted = isObject(usage) && typeof usage['totalTokens'] === 'number' && (costUsd === null || typeof costUsd === 'number');
  return areTexts && isCounted ? (value as OpenCall) : undefined;
}
