// One block as a tar.gz: one folder that holds the files of the block and nothing else.
//
// U1 What may be in it is one list for both ways (bundle-names.ts): regular files, in the one folder of the archive. Never a link.
// U2 Sizes are bounded: by the size of each file before it is read; when unpacking by what each entry claims, and by what has come out.
// U3 Nothing is written over; every file and folder is on disk when unpacking resolves.
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createGzip, type Gzip } from 'node:zlib';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { invalidRequest } from '../errors.ts';
import { BUNDLED_FILES, BUNDLED_FOLDERS, isBundledFile, MAX_BUNDLE_BYTES, MAX_BUNDLE_ENTRIES } from './bundle-names.ts';

export { unpackInto } from './bundle-unpack.ts';

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const NO_FILE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

/** The block in `folder`, in a folder named `prefix`. Throws INVALID_REQUEST when it is too large, otherwise the system's own error. */
export async function packFolder(folder: string, prefix: string): Promise<Uint8Array> {
  const paths = await pathsIn(folder);
  if (paths.length > MAX_BUNDLE_ENTRIES)
    throw invalidRequest('', `The block has ${paths.length} files; ${MAX_BUNDLE_ENTRIES} can be exported. Delete old logs.`);
  const { readable, controller } = createTarPacker();
  const zipped = zip(readable);
  try {
    await packFiles(folder, prefix, paths, controller);
    controller.finalize();
  } catch (error) {
    controller.error(error);
  }
  return await zipped;
}

async function packFiles(folder: string, prefix: string, paths: readonly string[], tar: TarPackController): Promise<void> {
  let room = MAX_BUNDLE_BYTES;
  for (const path of paths) {
    const file = await open(join(folder, path), READ).catch(undefinedIfNoFile);
    if (file === undefined) continue;
    try {
      room -= await packFile(file, `${prefix}/${path}`, room, tar);
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
    throw invalidRequest('', `The block is larger than ${MAX_BUNDLE_BYTES} bytes, which is as much as can be exported: ${name} does not fit. Delete old logs.`);
  }
  // As much as there was: a log grows while it is read.
  const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
  const writer = tar.add({ name, size: bytesRead, mode: 0o600, mtime: stats.mtime }).getWriter();
  if (bytesRead > 0) await writer.write(new Uint8Array(buffer.buffer, buffer.byteOffset, bytesRead));
  await writer.close();
  return bytesRead;
}

/** What there may be to pack, by name; no file of the block has to exist. */
async function pathsIn(folder: string): Promise<string[]> {
  const paths = [...BUNDLED_FILES];
  for (const inner of BUNDLED_FOLDERS) {
    const entries = await readdir(join(folder, inner), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => undefinedIfNoFile(error) ?? []);
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => `${inner}/${name}`);
    paths.push(...names.filter(isBundledFile).sort());
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

/** Never rejects: what fails is told by the one that is fed. */
async function feed(tar: AsyncIterable<Uint8Array>, gzip: Gzip): Promise<void> {
  try {
    for await (const chunk of tar) if (!gzip.write(chunk)) await once(gzip, 'drain');
    gzip.end();
  } catch (error) {
    gzip.destroy(error as Error);
  }
}

function undefinedIfNoFile(error: NodeJS.ErrnoException): undefined {
  if (!NO_FILE.has(error.code)) throw error;
  return undefined;
}
