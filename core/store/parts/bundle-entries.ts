// Reads the entries of a bundle one by one, and checks each header before its body is read. Writes nothing.
import { createGunzip } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry, type TarHeader } from 'modern-tar';
import { BlockhouseError, invalidRequest } from '../../errors.ts';
import { bundledFileLimit, isBundledFolder, MAX_BUNDLE_BYTES, MAX_BUNDLE_ENTRIES } from './bundle-names.ts';

/** What headers and padding may add. */
const MAX_OVERHEAD_BYTES = MAX_BUNDLE_ENTRIES * 2048;
const CHUNK_BYTES = 128 * 1024;
const SHOWN_CHARACTERS = 200;

/** One entry that a bundle may hold. Its body must be read or cancelled before the next one comes. */
export interface BundleEntry {
  /** Inside the block's folder; '' for that folder itself. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly entry: ParsedTarEntry;
}

/** Throws INVALID_REQUEST, which names the entry, for anything that is not the bundle of a block. */
export async function* bundleEntries(bytes: Uint8Array): AsyncGenerator<BundleEntry> {
  const rules = new BundleRules();
  const tar = streamOf(unzipped(bytes)).pipeThrough(createTarDecoder({ strict: true }));
  for await (const entry of readable(tar)) {
    const path = rules.accept(entry.header);
    yield { path, isFolder: entry.header.type === 'directory', entry };
  }
  rules.end();
}

/** The rules that concern more than one entry: how many there are, and that they make one block. */
class BundleRules {
  readonly #files = new Set<string>();
  #entries = 0;
  #bytes = 0;
  /** The one folder of the archive. */
  #top: string | undefined;

  /** Returns the path inside the block's folder. */
  accept(header: TarHeader): string {
    this.#entries += 1;
    if (this.#entries > MAX_BUNDLE_ENTRIES) {
      throw invalidRequest('', `The archive has more than ${MAX_BUNDLE_ENTRIES} files and folders, the limit for an import. Leave out old logs.`);
    }
    const path = this.#pathOf(header);
    if (header.type === 'file') this.#acceptFile(header, path);
    else if (header.type !== 'directory') throw refusal(header, `is a ${header.type}; only files and folders are allowed`);
    else if (path !== '' && !isBundledFolder(path)) throw refusal(header, 'is not a folder of a block');
    return path;
  }

  end(): void {
    if (!this.#files.has('config.json')) throw invalidRequest('', 'The archive contains no block: there is no config.json in its folder.');
  }

  #pathOf(header: TarHeader): string {
    const [top = '', ...rest] = header.name.replace(/\/$/, '').split('/');
    if (top === '' || top === '..') throw refusal(header, 'is not in the top folder of the archive');
    this.#top ??= top;
    if (top !== this.#top) throw refusal(header, `is not in the same top folder as the entries before it, ${shown(this.#top)}`);
    return rest.join('/');
  }

  #acceptFile(header: TarHeader, path: string): void {
    const limit = bundledFileLimit(path);
    if (limit === undefined) throw refusal(header, 'is not a file of a block');
    if (this.#files.has(path)) throw refusal(header, 'appears twice');
    // Not `>`, so that NaN is refused as well.
    if (!(header.size <= limit)) throw refusal(header, `is larger than ${limit} bytes`);
    this.#bytes += header.size;
    if (this.#bytes > MAX_BUNDLE_BYTES) throw refusal(header, `makes the block larger than ${MAX_BUNDLE_BYTES} bytes`);
    this.#files.add(path);
  }
}

/** Every fault in here comes from reading the archive. */
async function* readable(tar: ReadableStream<ParsedTarEntry>): AsyncGenerator<ParsedTarEntry> {
  const entries = tar[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await entries.next().catch(unreadable);
      if (done === true) return;
      yield value;
    }
  } finally {
    await entries.return?.();
  }
}

/** Stops as soon as the archive unpacks to more than a bundle may hold. */
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

/** Throws INVALID_REQUEST for an error of unpacking: the archive is in memory, so no disk can be the cause. */
export function unreadable(error: unknown): never {
  if (error instanceof BlockhouseError) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  throw new BlockhouseError('INVALID_REQUEST', `The archive can't be read as tar.gz: ${reason.replace(/\.$/, '')}.`, { cause: error });
}

function refusal({ name }: TarHeader, message: string): BlockhouseError {
  return invalidRequest('', `The archive's entry ${shown(name)} ${message}.`);
}

function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_CHARACTERS ? `${name.slice(0, SHOWN_CHARACTERS)}…` : name);
}

/** As `ReadableStream.from`, which types of browsers don't have: the page's specs are checked with these. */
function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
