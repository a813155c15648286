// Reads a file that may be anything: only a regular one below a limit is read, never through a link, and never by waiting for it (FIFO, device).
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { BlockhouseError, passingFault } from '../errors.ts';

/** Larger files are read without holding up everything else. */
const SYNC_BYTES = 262_144;
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Undefined when there is no such file. Throws STORAGE_FAILED where another try may find it, and otherwise an Error whose text, by `readFault`,
 * says what is wrong with it.
 */
export async function readRegular(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    return await read(path, maxBytes);
  } catch (error) {
    const fault = passingFault(error);
    if (fault === undefined) throw error;
    throw new BlockhouseError('STORAGE_FAILED', `${basename(path)} can't be read now (${fault}); try again.`, { cause: error });
  }
}

async function read(path: string, maxBytes: number): Promise<Buffer | undefined> {
  let descriptor: number;
  try {
    descriptor = openSync(path, READ_FLAGS);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const size = sizeOf(fstatSync(descriptor), maxBytes);
    if (size <= SYNC_BYTES) return readSmall(descriptor, size);
  } finally {
    closeSync(descriptor);
  }
  const file = await open(path, READ_FLAGS);
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

/** What is wrong, without the path: the system's own errors name the whole of it, which is for nobody but this machine. */
export function readFault(error: Error): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ELOOP') return 'it is a link';
  return code !== undefined && syscall !== undefined ? `it can't be read (${code})` : error.message;
}
