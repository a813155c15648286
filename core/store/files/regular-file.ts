// Reads only regular files below a limit, never through a link, and never by waiting (FIFO, device). The folders inside a block are no links either: one in place of
// a folder would lead reads, writes and deletions out of the workspace.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { undefinedFor } from '../../base/undefined-for.ts';
import { BlockhouseError, passingFault } from '../../errors.ts';

/** Smaller files are read synchronously, which is quicker; larger ones asynchronously, so that they don't block other work. */
const SYNC_BYTES = 262_144;
/** What `linesOf` reads and splits in one turn. */
const PIECE_BYTES = 131_072;
const NEWLINE = 0x0a;
/** Flags for `open`: never through a link, and never by waiting for the other end of a pipe. */
export const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** The same, for reading. */
export const READ_SAFELY = constants.O_RDONLY | SAFELY;

/**
 * The content of a file; undefined when there is none. Throws STORAGE_FAILED when another try may succeed, and otherwise an Error for which `readFault`
 * says what is wrong with the file.
 */
export async function readRegular(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    return await read(path, maxBytes);
  } catch (error) {
    throw faultOf(path, error);
  }
}

/** STORAGE_FAILED for a failed reading where another try may succeed; otherwise the error itself. */
export function faultOf(path: string, error: unknown): unknown {
  const fault = passingFault(error);
  if (fault === undefined) return error;
  return new BlockhouseError('STORAGE_FAILED', `${basename(path)} can't be read now (${fault}); try again.`, { cause: error });
}

/** How large a file and its lines may be. */
export interface LineLimits {
  readonly maxBytes: number;
  readonly maxLineBytes: number;
}

/** The lines of a file in order; none when the file does not exist. Otherwise like `linesOf`. Throws as `readRegular` does. */
export async function* readLines(path: string, { maxBytes, maxLineBytes }: LineLimits): AsyncGenerator<readonly (string | undefined)[]> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, READ_SAFELY).catch(undefinedFor('ENOENT'));
    if (file !== undefined) yield* linesOf(file, sizeOf(await file.stat(), maxBytes), maxLineBytes);
  } catch (error) {
    throw faultOf(path, error);
  } finally {
    await file?.close();
  }
}

/**
 * The lines of the first `size` bytes in order, some at a time, so that a large file doesn't block other work. A line that is too long is undefined;
 * a last line without a newline counts.
 */
export async function* linesOf(file: FileHandle, size: number, maxLineBytes: number, from = 0): AsyncGenerator<readonly (string | undefined)[]> {
  /** The pieces of a line whose end has not been read, kept up to the limit. */
  let begun: Buffer[] = [];
  let begunBytes = 0;
  const whole = (last: Buffer): readonly (string | undefined)[] => {
    const [first, ...others] = Buffer.concat([...begun, last])
      .toString()
      .split('\n');
    return [begunBytes > maxLineBytes ? undefined : first, ...others];
  };
  for (let at = from; at < size; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, Math.min(PIECE_BYTES, size - at), at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const piece = buffer.subarray(0, bytesRead);
    const end = piece.lastIndexOf(NEWLINE);
    if (end >= 0) {
      yield whole(piece.subarray(0, end));
      begun = [];
      begunBytes = 0;
    }
    begunBytes += bytesRead - (end + 1);
    if (begunBytes <= maxLineBytes) begun.push(piece.subarray(end + 1));
    else begun = [];
  }
  if (begunBytes > 0) yield whole(Buffer.alloc(0));
}

async function read(path: string, maxBytes: number): Promise<Buffer | undefined> {
  let descriptor: number;
  try {
    descriptor = openSync(path, READ_SAFELY);
  } catch (error) {
    return undefinedFor('ENOENT')(error as NodeJS.ErrnoException);
  }
  try {
    const size = sizeOf(fstatSync(descriptor), maxBytes);
    if (size <= SYNC_BYTES) return readSmall(descriptor, size);
  } finally {
    closeSync(descriptor);
  }
  const file = await open(path, READ_SAFELY);
  try {
    sizeOf(await file.stat(), maxBytes);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function sizeOf(stats: { isFile(): boolean; readonly size: number }, maxBytes: number): number {
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  return stats.size;
}

function readSmall(descriptor: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, size - length, length);
    length += read;
    if (read === 0 || length === size) return bytes.subarray(0, length);
  }
}

/** True for what `readRegular` throws where another try may succeed. */
export function isPassingFault(error: unknown): error is BlockhouseError {
  return error instanceof BlockhouseError && error.code === 'STORAGE_FAILED';
}

/** What is wrong with a file. Leaves out its path, which the system's errors contain and which is private to this machine. */
export function readFault(error: Error): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ELOOP') return 'it is a link';
  return code !== undefined && syscall !== undefined ? `it can't be read (${code})` : error.message;
}

/** True when there is a folder at `path`, false when there is nothing. Throws BLOCK_DAMAGED for a link and for anything else, or the system's own error. */
export function hasOwnFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (stats.isDirectory()) return true;
  throw new BlockhouseError(
    'BLOCK_DAMAGED',
    `${basename(path)} ${foreignKind(stats)}, so nothing in it is read, written or deleted. Replace it with a folder.`,
  );
}

/** What stands where a folder should be, as the end of a sentence. */
export function foreignKind(stats: Stats): string {
  return stats.isSymbolicLink() ? 'is a link' : 'is not a folder';
}
