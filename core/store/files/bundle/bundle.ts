// One block as a tar.gz: one folder that holds the files of the block and nothing else, each below its limit (bundle-names.ts). Only regular files
// are packed, never through a link.
import { once } from 'node:events';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createGzip, type Gzip } from 'node:zlib';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { undefinedFor } from '../../../base/undefined-for.ts';
import { invalidRequest } from '../../../errors.ts';
import { BLOCK_FILE_LIMITS, BLOCK_FOLDERS } from '../block/block-layout.ts';
import { hasOwnFolder } from '../own-folder.ts';
import { READ_SAFELY } from '../regular-file.ts';
import { bundledFileLimit, MAX_BUNDLE_BYTES, MAX_BUNDLE_ENTRIES } from './bundle-names.ts';

/** Files whose texts were already checked, by name: these texts are packed, and the disk is not read again. */
export type CheckedFiles = Readonly<Record<string, string>>;

/**
 * The block in `folder`, in a folder named `prefix`. Throws INVALID_REQUEST when it is too large, BLOCK_DAMAGED when one of its folders is a link,
 * otherwise the system's own error.
 */
export async function packFolder(folder: string, prefix: string, checked: CheckedFiles = {}): Promise<Uint8Array> {
  const paths = await pathsIn(folder);
  if (paths.length > MAX_BUNDLE_ENTRIES)
    throw invalidRequest('', `The block has ${paths.length} files, but at most ${MAX_BUNDLE_ENTRIES} can be exported. Delete old logs.`);
  const { readable, controller } = createTarPacker();
  const zipped = zip(readable);
  try {
    await packFiles(folder, prefix, { paths, checked }, controller);
    controller.finalize();
  } catch (error) {
    controller.error(error);
  }
  return await zipped;
}

async function packFiles(
  folder: string,
  prefix: string,
  { paths, checked }: { readonly paths: readonly string[]; readonly checked: CheckedFiles },
  tar: TarPackController,
): Promise<void> {
  let room = MAX_BUNDLE_BYTES;
  for (const path of paths) {
    const text = checked[path];
    if (text !== undefined) {
      room -= await packBytes(Buffer.from(text), { name: `${prefix}/${path}`, mtime: new Date() }, tar);
      continue;
    }
    const file = await open(join(folder, path), READ_SAFELY).catch(undefinedFor('ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'));
    if (file === undefined) continue;
    try {
      room -= await packFile(file, `${prefix}/${path}`, Math.min(room, bundledFileLimit(path) ?? 0), tar);
    } finally {
      await file.close();
    }
  }
}

/** Resolves with the number of bytes. */
async function packFile(file: FileHandle, name: string, room: number, tar: TarPackController): Promise<number> {
  const stats = await file.stat();
  if (!stats.isFile()) return 0;
  if (stats.size > room) {
    throw invalidRequest('', `The block is too large to export: ${name} has ${stats.size} bytes, but only ${room} are left for it. Delete old logs.`);
  }
  // Only what `stats` has seen: a log may grow while it is read.
  const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
  return packBytes(buffer.subarray(0, bytesRead), { name, mtime: stats.mtime }, tar);
}

async function packBytes(bytes: Buffer, { name, mtime }: { readonly name: string; readonly mtime: Date }, tar: TarPackController): Promise<number> {
  const writer = tar.add({ name, size: bytes.length, mode: 0o600, mtime }).getWriter();
  if (bytes.length > 0) await writer.write(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  await writer.close();
  return bytes.length;
}

/** The paths of files that may be packed. They need not exist. */
async function pathsIn(folder: string): Promise<string[]> {
  const paths = Object.keys(BLOCK_FILE_LIMITS);
  for (const inner of BLOCK_FOLDERS) {
    if (!hasOwnFolder(join(folder, inner))) continue;
    const entries = await readdir(join(folder, inner), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => `${inner}/${name}`);
    paths.push(...names.filter((path) => bundledFileLimit(path) !== undefined).sort());
  }
  return paths;
}

async function zip(tar: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const gzip = createGzip();
  const fed = feed(tar, gzip);
  const chunks: Buffer[] = [];
  for await (const chunk of gzip as AsyncIterable<Buffer>) chunks.push(chunk);
  await fed;
  return Buffer.concat(chunks);
}

/** Never rejects: a failure destroys `gzip`, whose reader gets the error. */
async function feed(tar: AsyncIterable<Uint8Array>, gzip: Gzip): Promise<void> {
  try {
    for await (const chunk of tar) if (!gzip.write(chunk)) await once(gzip, 'drain');
    gzip.end();
  } catch (error) {
    gzip.destroy(error as Error);
  }
}
