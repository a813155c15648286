// What the processes of a folder note of the calls of one workspace in a database: a journal for each process, `gateway-open/<workspace>/part-1/calls.jsonl` and so on.
//
// own-part: a process holds its part by a lock while it lives. So no other one counts what is under way there.
// taken-over: a process that starts also takes what others have left in parts that nobody holds, since there may be fewer processes than before. A part is given back once that is forgotten.
// held-again: a part that was removed while its process lives is made again, with its lock. Else calls of keys with caps would be refused until the next start.
// of-one-workspace: a folder may serve another database later, which does not count what was left of the first one.
import { mkdirSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { BlockhouseError } from '../../../errors.ts';
import type { CallNote, CallNotes, GatewayCall, NotedCall, OpenCall } from '../../port.ts';
import { WorkspaceLock } from '../lock.ts';
import { CallJournal } from './call-journal.ts';

/** The folder in the workspace. */
export const CALL_NOTES = 'gateway-open';
const JOURNAL = 'calls.jsonl';
/** The most processes that share a folder. */
const MAX_SHARERS = 256;
const TELL_EVERY_MS = 60_000;

/** What they work with. */
export interface CallPartsOptions {
  /** Gets the error of a line for which no call waits, and that of what can't be read: at most once a minute. */
  onFault(error: unknown): void;
  /** Epoch milliseconds. */
  now(): number;
}

/** A part that another process has left. */
interface LeftPart {
  readonly journal: CallJournal;
  readonly lock: WorkspaceLock;
  /** The ids of what is left. */
  readonly ids: Set<string>;
}

/** What this process notes, and what others have left. */
export class CallParts implements CallNotes {
  readonly #own: CallJournal;
  readonly #lock: WorkspaceLock;
  readonly #others: LeftPart[] = [];
  readonly #options: CallPartsOptions;
  #toldAt = Number.NEGATIVE_INFINITY;

  private constructor(part: string, lock: WorkspaceLock, options: CallPartsOptions) {
    this.#options = options;
    this.#lock = lock;
    this.#own = this.#journalAt(part, () => this.#holdAgain(part));
  }

  /** `folder` is that of one workspace, and is made. Rejects with the system's own error. */
  static async open(folder: string, options: CallPartsOptions): Promise<CallParts> {
    for (let number = 1; number <= MAX_SHARERS; number += 1) {
      const path = join(folder, `part-${number}`);
      const lock = await lockOf(path);
      if (lock === undefined) continue;
      const parts = new CallParts(path, lock, options);
      await parts.#takeOver(folder, `part-${number}`);
      return parts;
    }
    throw new Error(`More than ${MAX_SHARERS} processes note their calls in ${folder}.`);
  }

  /** taken-over. */
  async #takeOver(folder: string, own: string): Promise<void> {
    for (const name of await readdir(folder)) {
      const part = join(folder, name);
      if (name === own || !/^part-\d+$/.test(name) || !(await hasContent(join(part, JOURNAL)))) continue;
      const lock = await lockOf(part);
      if (lock !== undefined) this.#others.push({ journal: this.#journalAt(part), lock, ids: new Set() });
    }
  }

  async left(): Promise<readonly OpenCall[]> {
    try {
      const calls = await this.#own.left();
      for (const { journal, ids } of this.#others) {
        const left = await journal.left();
        for (const { id } of left) ids.add(id);
        calls.push(...left);
      }
      await this.#giveBack();
      return calls;
    } catch (error) {
      const fault = damaged(error);
      this.#tell(fault);
      throw fault;
    }
  }

  note(call: OpenCall, before?: CallNote): Promise<void> | undefined {
    return this.#own.note(call, before);
  }

  noteAlone(call: OpenCall): void {
    this.#own.noteAlone(call);
  }

  end(noted: NotedCall, call: GatewayCall): string | undefined {
    return this.#own.end(noted, call);
  }

  beginForget(): void {
    this.#own.beginForget();
  }

  forget(ids: readonly string[]): void {
    try {
      this.#own.forget(ids);
      if (this.#others.length > 0) this.#forgetLeft(ids);
    } catch (error) {
      this.#tell(error); // what the file still has is known by its ids
    }
  }

  #forgetLeft(ids: readonly string[]): void {
    for (const { journal, ids: left } of this.#others) {
      const own = ids.filter((id) => left.delete(id));
      if (own.length > 0) journal.forget(own);
    }
    this.#giveBack().catch((error: unknown) => this.#tell(error));
  }

  async #giveBack(): Promise<void> {
    const done = this.#others.filter(({ ids }) => ids.size === 0);
    for (const part of done) this.#others.splice(this.#others.indexOf(part), 1);
    for (const { journal, lock } of done) {
      journal.close();
      await lock.release();
    }
  }

  async close(): Promise<void> {
    for (const { journal, lock } of [...this.#others.splice(0), { journal: this.#own, lock: this.#lock }]) {
      journal.close();
      await lock.release();
    }
  }

  #journalAt(part: string, beforeOpening?: () => void): CallJournal {
    return new CallJournal(join(part, JOURNAL), (error) => this.#tell(error), this.#options.now, beforeOpening);
  }

  /** held-again. */
  #holdAgain(part: string): void {
    mkdirSync(part, { recursive: true, mode: 0o700 });
    this.#lock.keep().catch((error: unknown) => this.#tell(error));
  }

  #tell(error: unknown): void {
    const now = performance.now();
    if (now - this.#toldAt < TELL_EVERY_MS) return;
    this.#toldAt = now;
    this.#options.onFault(error);
  }
}

function damaged(error: unknown): unknown {
  if (error instanceof BlockhouseError) return error;
  const message = `A ${JOURNAL} in ${CALL_NOTES} of the workspace can't be used: ${(error as Error).message}. Repair it, or remove it: then what it says does not count. Until then, calls of keys with caps are refused.`;
  return new BlockhouseError('WORKSPACE_DAMAGED', message, { cause: error });
}

/** own-part. Undefined where another process has it. */
async function lockOf(path: string): Promise<WorkspaceLock | undefined> {
  return WorkspaceLock.acquire(path).catch((error: unknown) => {
    if (error instanceof BlockhouseError && error.code === 'WORKSPACE_BUSY') return undefined;
    throw error;
  });
}

async function hasContent(path: string): Promise<boolean> {
  return ((await stat(path).catch(undefinedFor('ENOENT', 'ENOTDIR')))?.size ?? 0) > 0;
}
