// The journals of a block's runs: runs/<messageId>.jsonl has the records, and runs/<messageId>.<step>.<n>.json the whole results that were too long for them.
//
// own-folder: runs/ is made with the first record, so a block without tools has none.
// undone-when-failed: after a write that failed the file is cut back to its former length, so what was refused is not there after a restart.
// same-number-same-record: a record that is there already is not written again, and another one is refused in its place. So of two writers one holds.
// newest-results: whole results take at most MAX_RESULT_BYTES together. The oldest are dropped first; their records stay.
import { constants, lstatSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { BlockhouseError } from '../../../errors.ts';
import type { RunRecord } from '../../../types.ts';
import { MAX_JOURNAL_BYTES, MAX_RESULT_BYTES, parseRunLines, REF, runFile, runLine, runName } from '../../parts/run-lines.ts';
import type { AppendOptions } from '../../port.ts';
import { replaceFileIf, storageFailure, syncFolder } from '../atomic-file.ts';
import { isPassingFault, readFault, readRegular, SAFELY } from '../regular-file.ts';

const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
const RESULT_FILE = /\.\d+\.\d+p?\.json$/;

/** What is known of a journal without reading it again. */
interface Known {
  readonly id: string;
  count: number;
  size: number;
}

/** The runs of one block. */
export class RunJournals {
  readonly #folder: string;
  /** Of the journal that was used last. */
  #known: Known | undefined;
  /** One change at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /** `folder` is the block's runs/. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All records; none without a journal. Throws BLOCK_DAMAGED with the line, STORAGE_FAILED. */
  async read(id: string): Promise<RunRecord[]> {
    await this.#last.catch(() => undefined);
    return (await this.#load(id)).records;
  }

  /** Appends the records that are not there. Throws STORAGE_FULL, STORAGE_FAILED, BLOCK_DAMAGED, and REVISION_MISMATCH where another record has the number of one. */
  append(id: string, from: number, records: readonly RunRecord[], { quiet = false }: AppendOptions = {}): Promise<void> {
    return this.#inTurn(async () => {
      const known = (await this.#still(id)) ?? (await this.#learn(id));
      const missing = from === known.count ? records : await this.#missing(id, from, records);
      if (missing.length === 0) return;
      await this.#write(known, missing, !quiet);
    });
  }

  /** A whole result; undefined if there is none, or no longer. */
  async result(id: string, ref: string): Promise<Uint8Array | undefined> {
    if (!REF.test(ref)) return undefined;
    return readRegular(this.#resultPath(id, ref), MAX_WHOLE_BYTES);
  }

  /** newest-results. */
  keepResult(id: string, ref: string, bytes: Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      await this.#makeFolder();
      await replaceFileIf(this.#resultPath(id, ref), Buffer.from(bytes).toString('utf8'), () => true, { durable: false });
      await this.#dropOldest();
    }).catch(refuse);
  }

  /** Deletes the journals and results of all messages but these. Resolves with the number of files. */
  clear(kept: Iterable<string>): Promise<number> {
    const names = new Set([...kept].map(runName));
    return this.#inTurn(async () => {
      this.#known = undefined;
      const files = (await readdir(this.#folder).catch(undefinedFor('ENOENT', 'ENOTDIR'))) ?? [];
      const gone = files.filter((file) => !names.has(file.split('.')[0] ?? ''));
      for (const file of gone) await rm(join(this.#folder, file), { force: true });
      return gone.length;
    }).catch(refuse);
  }

  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    const done = this.#last.catch(() => undefined).then(work);
    this.#last = done;
    return done;
  }

  /** What is known of this journal, unless somebody else has written into it since. */
  async #still(id: string): Promise<Known | undefined> {
    if (this.#known?.id !== id) return undefined;
    const stats = await stat(this.#path(id)).catch(undefinedFor('ENOENT'));
    return stats?.size === this.#known.size ? this.#known : undefined;
  }

  async #learn(id: string): Promise<Known> {
    const { records, size } = await this.#load(id);
    this.#known = { id, count: records.length, size };
    return this.#known;
  }

  async #load(id: string): Promise<{ readonly records: RunRecord[]; readonly size: number }> {
    try {
      const bytes = await readRegular(this.#path(id), MAX_JOURNAL_BYTES);
      return bytes === undefined ? { records: [], size: 0 } : await parseRunLines(bytes);
    } catch (error) {
      if (isPassingFault(error)) throw error;
      const text = `runs/${basename(this.#path(id))} can't be used: ${readFault(error as Error)}. Repair it by hand, or remove it: then nobody knows what its calls did.`;
      throw new BlockhouseError('BLOCK_DAMAGED', text, { cause: error });
    }
  }

  /** same-number-same-record. */
  async #missing(id: string, from: number, records: readonly RunRecord[]): Promise<readonly RunRecord[]> {
    const there = await this.#load(id);
    if (from > there.records.length) throw new Error(`The journal has ${there.records.length} records, so none can be number ${from}.`);
    for (const [index, record] of records.entries()) {
      const other = there.records[from + index];
      if (other === undefined) return records.slice(index);
      if (runLine(other) === runLine(record)) continue;
      throw new BlockhouseError('REVISION_MISMATCH', 'Somebody else has written into the journal of the run meanwhile. Read it again.');
    }
    return [];
  }

  async #write(known: Known, records: readonly RunRecord[], sync: boolean): Promise<void> {
    const bytes = Buffer.from(records.map(runLine).join(''));
    this.#known = undefined; // until the write has succeeded
    let file: FileHandle | undefined;
    try {
      file = known.size === 0 ? await this.#create(known.id) : await open(this.#path(known.id), constants.O_RDWR | constants.O_APPEND | SAFELY);
      await append(file, known.size, bytes, sync);
    } catch (error) {
      throw storageFailure(`runs/${basename(this.#path(known.id))} can't be written`, error);
    } finally {
      await file?.close();
    }
    this.#known = { id: known.id, count: known.count + records.length, size: known.size + bytes.length };
  }

  /** own-folder. Its name is durable before it has a record. */
  async #create(id: string): Promise<FileHandle> {
    await this.#makeFolder();
    const file = await open(this.#path(id), constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | SAFELY, 0o600);
    try {
      await syncFolder(this.#folder);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async #makeFolder(): Promise<void> {
    // Not `recursive`: a late write must not bring back the folder of a removed block.
    const isNew = await mkdir(this.#folder, { mode: 0o700 }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
        return false;
      },
    );
    if (!lstatSync(this.#folder).isDirectory()) throw new Error('runs is not a folder');
    if (isNew) await syncFolder(dirname(this.#folder));
  }

  async #dropOldest(): Promise<void> {
    const files = (await readdir(this.#folder)).filter((name) => RESULT_FILE.test(name));
    const found = await Promise.all(files.map(async (name) => ({ path: join(this.#folder, name), stats: await stat(join(this.#folder, name)) })));
    found.sort((a, b) => b.stats.mtimeMs - a.stats.mtimeMs);
    let total = 0;
    for (const { path, stats } of found) {
      total += stats.size;
      if (total > MAX_RESULT_BYTES) await rm(path, { force: true });
    }
  }

  #path(id: string): string {
    return join(this.#folder, runFile(runName(id)));
  }

  #resultPath(id: string, ref: string): string {
    return join(this.#folder, runFile(runName(id), ref));
  }
}

/** undone-when-failed. */
async function append(file: FileHandle, size: number, bytes: Buffer, sync: boolean): Promise<void> {
  const stats = await file.stat();
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size < size) throw new Error('it has become shorter');
  if (stats.size > size) await file.truncate(size); // a torn line
  try {
    await file.writeFile(bytes);
    if (sync) await file.sync();
  } catch (error) {
    await file.truncate(size).catch((truncateError: unknown) => {
      throw new AggregateError([error, truncateError], 'could not append to the journal, and part of it remains');
    });
    throw error;
  }
}

function refuse(error: unknown): never {
  throw storageFailure("The results of tools can't be written", error);
}
