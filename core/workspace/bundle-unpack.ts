// A bundle back into files. The archive comes from anywhere, so nothing in it is believed; the rules are in bundle.ts.
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry, type TarHeader } from 'modern-tar';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { storageFault, syncFolder } from './atomic-file.ts';
import { BUNDLED_FOLDERS, isBundledFile, MAX_BUNDLE_BYTES, MAX_BUNDLE_ENTRIES } from './bundle-names.ts';

/** What headers and padding may add. */
const MAX_OVERHEAD_BYTES = MAX_BUNDLE_ENTRIES * 2048;
const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const CHUNK_BYTES = 128 * 1024;
const SHOWN_CHARACTERS = 200;

/**
 * Writes the files of a bundle into an existing, empty folder, mode 0600. Throws INVALID_REQUEST, which names the entry, for anything that
 * is no bundle, STORAGE_FULL, or the system's own error; what was written until then stays, for the caller to remove with the folder.
 */
export async function unpackInto(bytes: Uint8Array, folder: string): Promise<void> {
  const unpacking = new Unpacking(folder);
  try {
    const tar = ReadableStream.from(unzipped(bytes)).pipeThrough(createTarDecoder({ strict: true }));
    for await (const entry of tar) await unpacking.take(entry);
    unpacking.check();
  } catch (error) {
    throw fault(error);
  }
  for (const inner of unpacking.folders) await syncFolder(join(folder, inner));
  await syncFolder(folder); // U3
}

class Unpacking {
  /** Folders that were made. */
  readonly folders = new Set<string>();
  readonly #folder: string;
  readonly #files = new Set<string>();
  #entries = 0;
  #bytes = 0;
  /** The one folder of the archive. */
  #top: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes one entry. */
  async take(entry: ParsedTarEntry): Promise<void> {
    const { header } = entry;
    this.#entries += 1;
    if (this.#entries > MAX_BUNDLE_ENTRIES) throw invalidRequest('', `The archive has more than ${MAX_BUNDLE_ENTRIES} entries.`);
    const path = this.#pathOf(header);
    if (header.type === 'directory') return await this.#takeFolder(path, entry);
    if (header.type !== 'file') throw refusal(header, `is a ${header.type}; only files and folders are taken`);
    if (!isBundledFile(path)) throw refusal(header, 'is no file of a block');
    if (this.#files.has(path)) throw refusal(header, 'is there twice');
    this.#bytes += header.size;
    if (!(this.#bytes <= MAX_BUNDLE_BYTES)) throw refusal(header, `makes the block larger than ${MAX_BUNDLE_BYTES} bytes`); // U2
    this.#files.add(path);
    const inner = path.split('/').at(-2);
    if (inner !== undefined) await this.#makeFolder(inner);
    await writeEntry(join(this.#folder, path), entry);
  }

  /** Throws when what was taken is no block. */
  check(): void {
    if (!this.#files.has('config.json')) throw invalidRequest('', 'The archive holds no block: there is no config.json in its folder.');
  }

  /** Inside the one folder of the archive (U1); '' for that folder itself. */
  #pathOf(header: TarHeader): string {
    const [top = '', ...rest] = header.name.replace(/\/$/, '').split('/');
    if (top === '' || top === '..') throw refusal(header, 'does not lie in the one folder of an archive');
    this.#top ??= top;
    if (top !== this.#top) throw refusal(header, `does not lie in the same folder as those before it, ${shown(this.#top)}`);
    return rest.join('/');
  }

  async #takeFolder(path: string, { header, body }: ParsedTarEntry): Promise<void> {
    await body.cancel();
    if (path !== '' && !BUNDLED_FOLDERS.includes(path)) throw refusal(header, 'is no folder of a block');
    if (path !== '') await this.#makeFolder(path);
  }

  async #makeFolder(inner: string): Promise<void> {
    if (this.folders.has(inner)) return;
    await mkdir(join(this.#folder, inner), { mode: 0o700 });
    this.folders.add(inner);
  }
}

/** U3. */
async function writeEntry(path: string, { header, body }: ParsedTarEntry): Promise<void> {
  const file = await open(path, WRITE, 0o600);
  try {
    for await (const chunk of body) {
      for (let offset = 0; offset < chunk.length; ) offset += (await file.write(chunk, offset)).bytesWritten;
    }
    // Logs are shown by their time.
    if (header.mtime !== undefined && !Number.isNaN(header.mtime.getTime())) await file.utimes(header.mtime, header.mtime);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** U2: a small archive that unpacks to something huge is left as soon as that shows. */
async function* unzipped(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  gunzip.end(bytes);
  let total = 0;
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > MAX_BUNDLE_BYTES + MAX_OVERHEAD_BYTES) throw invalidRequest('', `The archive unpacks to more than ${MAX_BUNDLE_BYTES} bytes.`);
    yield chunk;
  }
}

/** Errors of the system have a system call; all others come from reading the archive. */
function fault(error: unknown): unknown {
  if (error instanceof BlockhouseError) return error;
  if ((error as NodeJS.ErrnoException).syscall !== undefined) storageFault(error);
  const reason = error instanceof Error ? error.message : String(error);
  return new BlockhouseError('INVALID_REQUEST', `The archive can't be read as tar.gz: ${reason}`, { cause: error });
}

function refusal({ name }: TarHeader, message: string): BlockhouseError {
  return invalidRequest('', `The archive's entry ${shown(name)} ${message}.`);
}

function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_CHARACTERS ? `${name.slice(0, SHOWN_CHARACTERS)}…` : name);
}
