// One block as a tar.gz: one folder that holds the files of the block and nothing else, each below its limit (bundle-names.ts). Pure: no I/O.
import { once } from 'node:events';
import { createGzip, type Gzip } from 'node:zlib';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { invalidRequest } from '../../errors.ts';
import { SKILLS_FOLDER } from './block-layout.ts';
import { MAX_BUNDLE_ENTRIES } from './bundle-names.ts';

/** A file of a block. */
export interface BundleFile {
  /** Inside the block's folder. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly mtime: Date;
}

/** The files, in a folder named `prefix`. Rejects with what `files` throws. */
export async function packed(prefix: string, files: AsyncIterable<BundleFile>): Promise<Uint8Array> {
  const { readable, controller } = createTarPacker();
  const zipped = zip(readable);
  try {
    for await (const file of files) await pack(prefix, file, controller);
    controller.finalize();
  } catch (error) {
    controller.error(error);
  }
  return await zipped;
}

/** Throws INVALID_REQUEST. */
export function assertBundleSize(files: number): void {
  if (files > MAX_BUNDLE_ENTRIES) throw invalidRequest('', `The block has ${files} files, but at most ${MAX_BUNDLE_ENTRIES} can be exported. Delete old logs.`);
}

/** What to say of a file for which `room` bytes are left. */
export function tooLarge(prefix: string, path: string, size: number, room: number): Error {
  return invalidRequest(
    '',
    `The block is too large to export: ${prefix}/${path} has ${size} bytes, but only ${room} are left for it. ${path.startsWith(`${SKILLS_FOLDER}/`) ? 'Shorten it, or move it out of the skill.' : 'Delete old logs.'}`,
  );
}

async function pack(prefix: string, { path, bytes, mtime }: BundleFile, tar: TarPackController): Promise<void> {
  const writer = tar.add({ name: `${prefix}/${path}`, size: bytes.length, mode: 0o600, mtime }).getWriter();
  if (bytes.length > 0) await writer.write(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
  await writer.close();
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
