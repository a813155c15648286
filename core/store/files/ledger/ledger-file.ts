// The ledger's file: appends so that a failure leaves nothing behind, and reads lines in bounded pieces from either end.
//
// opened-anew: the file is opened for each write, never through a link. So a ledger that was removed by hand starts again.
// undone-when-failed: after a write that failed the file is cut back to its former length.
// torn-line-closed: a line that a crash has torn is closed with a newline before the next one.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { BlockhouseError } from '../../../errors.ts';
import { storageFault, syncFolder } from '../atomic-file.ts';
import { faultOf, isPassingFault, linesOf, readFault, SAFELY } from '../regular-file.ts';

/** Read at once: parsing this much takes about a millisecond. */
const CHUNK_BYTES = 128 * 1024;
/** No line that was written here is longer. A longer one is damaged to the readers. */
export const MAX_LINE_BYTES = 64 * 1024;
/** Replaces the part of a line that was too long to keep: no JSON text begins or ends with it. */
const NO_LINE = '!';
const NEWLINE = 0x0a;

/** An open ledger, and its size when it was opened. The caller closes it. */
export interface OpenedLedger {
  readonly file: FileHandle;
  readonly size: number;
}

/** Undefined when there is no file yet. Throws WORKSPACE_DAMAGED for a link, a folder or a pipe, STORAGE_FAILED when another try may succeed. */
export async function openLedger(path: string): Promise<OpenedLedger | undefined> {
  try {
    const file = await openExisting(path, constants.O_RDONLY);
    return file && { file, size: await sizeOf(file) };
  } catch (error) {
    const fault = faultOf(path, error);
    if (isPassingFault(fault)) throw fault;
    const message = `${basename(path)} can't be used: ${readFault(error as Error)}. Replace it with a readable file or remove it.`;
    throw new BlockhouseError('WORKSPACE_DAMAGED', message, { cause: error });
  }
}

/** Resolves with the size of the file. Unless `sync` is false, the text is on disk by then. Throws STORAGE_FULL, or the system's own error; the file is then as it was. */
export async function appendText(path: string, text: string | Buffer, { sync = true }: { readonly sync?: boolean } = {}): Promise<number> {
  const flags = constants.O_RDWR | constants.O_APPEND;
  const file = (await openExisting(path, flags)) ?? (await create(path, flags)); // opened-anew
  const size = await sizeOf(file);
  try {
    const lines = Buffer.from(text);
    const bytes = (await isTorn(file, size)) ? Buffer.concat([Buffer.of(NEWLINE), lines]) : lines; // torn-line-closed
    await writeWhole(file, size, bytes, sync);
    return size + bytes.length;
  } finally {
    await file.close();
  }
}

function openExisting(path: string, flags: number): Promise<FileHandle | undefined> {
  return open(path, flags | SAFELY).catch(undefinedFor('ENOENT'));
}

/** Flushes the folder before anything is written: if the file's name were lost, its lines would be too. */
async function create(path: string, flags: number): Promise<FileHandle> {
  const file = await open(path, flags | SAFELY | constants.O_CREAT | constants.O_EXCL, 0o600).catch(storageFault);
  try {
    await syncFolder(dirname(path));
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function sizeOf(file: FileHandle): Promise<number> {
  const stats = await file.stat();
  if (stats.isFile()) return stats.size;
  await file.close();
  throw new Error('it is not a regular file');
}

async function isTorn(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE;
}

async function writeWhole(file: FileHandle, size: number, bytes: Buffer, sync: boolean): Promise<void> {
  try {
    await file.writeFile(bytes);
    if (sync) await file.sync();
  } catch (error) {
    await file.truncate(size).catch((truncateError: unknown) => {
      throw new AggregateError([error, truncateError], 'could not append to the ledger, and part of it remains');
    }); // undone-when-failed
    storageFault(error);
  }
}

/** The lines that are not blank, in order, some at a time; `from` is where a line begins. A line that is too long to keep is damaged: it is not JSON. */
export async function* readForward({ file, size }: OpenedLedger, from = 0): AsyncGenerator<string[]> {
  for await (const lines of linesOf(file, size, MAX_LINE_BYTES, from)) yield lines.map((line) => line ?? NO_LINE).filter(isFilled);
}

/** The same lines from the end, the newest first. */
export async function* readBackward({ file, size }: OpenedLedger): AsyncGenerator<string[]> {
  let rest = Buffer.alloc(0);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const bytes = Buffer.concat([await readAt(file, start, end - start), rest]);
    end = start;
    const first = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1 || bytes.length;
    rest = first > MAX_LINE_BYTES ? Buffer.from(`${NO_LINE}\n`) : bytes.subarray(0, first);
    yield bytes.toString('utf8', first).split('\n').filter(isFilled).reverse();
  }
}

/** Resolves with fewer bytes only if the file has become shorter. */
async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function isFilled(line: string): boolean {
  return line.trim() !== '';
}

/** The lines of a file in pieces, the oldest first; none if there is no file. */
export async function* linesIn(path: string): AsyncGenerator<string[]> {
  const opened = await openLedger(path);
  if (opened === undefined) return;
  try {
    yield* readForward(opened);
  } finally {
    await opened.file.close();
  }
}
