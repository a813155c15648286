// The journal of calls under way: `gateway-open.jsonl`, one line for each call of a key with limits, written before the call is sent. A process that is
// killed leaves there what its calls may have cost, and the next one counts it.
//
// noted-first: a call is sent only after the system has its line.
// ended-soon: the end of a call is written in the turn of the event loop in which its client gets the answer. All lines of one turn share one write.
// written-before-forgotten: a line is dropped only after the ledger has the line of the call's end.
// torn-line-closed: a line that a full disk or a crash has torn is closed with a newline before the next one, which is whole.

import { closeSync, constants, fstatSync, ftruncateSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { isObject, tryParseJson } from '../../../base/json.ts';
import { keptText } from '../../../base/kept-text.ts';
import type { OpenCall } from '../../port.ts';
import { storageFault } from '../atomic-file.ts';
import { readRegular, SAFELY } from '../regular-file.ts';

/** Of lines, most of them of calls that have ended. */
const MAX_BYTES = 1024 * 1024;
/** All calls that can be under way leave less. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 100;

/** The calls under way of the keys with limits. */
export class CallJournal {
  readonly #path: string;
  readonly #open = new Map<string, OpenCall>();
  #file: number | undefined;
  #bytes = 0;
  #waiting = '';
  #lookedAt = 0;
  /** The file may end in the midst of a line. */
  #mayBeTorn = false;
  /** The write of this turn. */
  #turn: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The calls that an earlier process has left, the last line of each. */
  async left(): Promise<OpenCall[]> {
    const bytes = await readRegular(this.#path, MAX_READ_BYTES);
    const calls = new Map<string, OpenCall>();
    for (const line of bytes?.toString().split('\n') ?? []) {
      const value = tryParseJson(line);
      if (!isObject(value) || typeof value['id'] !== 'string') continue; // damaged: a process may be killed while it writes
      const call = asCall({ ...calls.get(value['id']), ...value });
      if (call !== undefined) calls.set(call.id, call);
    }
    for (const call of calls.values()) this.#open.set(call.id, call); // written-before-forgotten
    return [...calls.values()];
  }

  /** Resolves when the system has the line; a later line of the same call replaces it. Rejects with STORAGE_FULL, or the system's own error. noted-first. */
  note(call: OpenCall): Promise<void> {
    this.#add(call);
    return this.#writeSoon();
  }

  /** Writes the end of a call (ended-soon). Rejects as `note` does. */
  end({ id, at, usage, costUsd, leastUsd, error }: OpenCall): Promise<void> {
    const began = this.#open.get(id);
    const ended = { id, at, usage, costUsd, leastUsd, error };
    if (began !== undefined) this.#open.set(id, { ...began, ...ended });
    this.#waiting += `${JSON.stringify(ended)}\n`; // what the first line says of the call still holds
    return this.#writeSoon();
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

  /** Drops the lines of calls whose end is in the ledger. Throws the system's own error. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.#open.delete(id);
    if (this.#open.size === 0) this.#waiting = '';
    if (this.#file === undefined && this.#open.size === 0 && ids.length > 0) this.#file = this.#opened(); // left by an earlier process
    if (this.#file === undefined) return;
    if (this.#open.size === 0) {
      ftruncateSync(this.#file, 0);
      this.#bytes = 0;
    } else if (this.#bytes > MAX_BYTES) this.#rewrite();
  }

  /** Drops what `forget` has left in the file. Throws the system's own error. */
  compact(): void {
    if (this.#bytes > 0 || this.#open.size > 0) this.#rewrite();
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #add(call: OpenCall): void {
    const kept = { ...call, requestId: keptText(call.requestId), model: keptText(call.model) };
    this.#open.set(call.id, kept);
    this.#waiting += `${JSON.stringify(kept)}\n`;
  }

  /** Closes a file that was removed by hand. */
  #lookForFile(): void {
    const now = performance.now();
    if (this.#file === undefined || now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = now;
    if (fstatSync(this.#file).nlink === 0) this.close();
  }

  #write(): void {
    const text = this.#waiting;
    if (text === '') return; // its calls are forgotten
    this.#waiting = '';
    try {
      this.#file ??= this.#opened();
      const lines = Buffer.from(this.#mayBeTorn ? `\n${text}` : text); // torn-line-closed
      this.#mayBeTorn = true;
      for (let at = 0; at < lines.length; ) at += writeSync(this.#file, lines, at);
      this.#mayBeTorn = false;
      this.#bytes += lines.length;
    } catch (error) {
      storageFault(error);
    }
  }

  #opened(): number {
    const file = openSync(this.#path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | SAFELY, 0o600);
    this.#mayBeTorn = fstatSync(file).size > 0;
    return file;
  }

  #rewrite(): void {
    const lines = [...this.#open.values()].map((call) => `${JSON.stringify(call)}\n`).join('');
    writeFileSync(`${this.#path}.tmp`, lines, { mode: 0o600 });
    renameSync(`${this.#path}.tmp`, this.#path);
    this.close();
    this.#bytes = lines.length;
    this.#file = this.#opened();
  }
}

/** Undefined for a line that says too little, such as the end of a call whose first line is lost: its line in the ledger counts. */
function asCall(value: object): OpenCall | undefined {
  const { id, at, requestId, key, provider, model, usage, costUsd } = value as Readonly<Record<string, unknown>>;
  const areTexts = [id, at, requestId, key, provider, model].every((text) => typeof text === 'string');
  const isCounted = isObject(usage) && typeof usage['totalTokens'] === 'number' && (costUsd === null || typeof costUsd === 'number');
  return areTexts && isCounted ? (value as OpenCall) : undefined;
}
