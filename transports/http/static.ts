// Serves the built page below /ui/: files of its manifest and nothing else.
//
// looked-up: a path is looked up in the manifest and never joined to a folder, so no path leads out of it.
// in-memory: the files are read once, at the first request; together they are some hundred KB. Most are there compressed alone, and are unpacked for the first client
//   that does not take them so.
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import { parseJson } from '../../core/base/json.ts';
import { BlockhouseError } from '../../core/index.ts';
import { etagOfBytes, isKnown } from './wire/etag.ts';
import { type JsonReply, Written } from './wire/reply.ts';

/** Where the page is; reserved while there is one. */
export const PAGE_PATH = '/ui';
const ASSETS = `${PAGE_PATH}/assets/`;
const FOREVER = 'public, max-age=31536000, immutable';

/** The page runs its own scripts and styles, talks to its own server, and loads nothing from elsewhere. Nothing of it may become HTML by a text. */
const DOCUMENT_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
} as const;

/** What the build writes to `manifest.json` of its folder. */
interface Manifest {
  readonly index: string;
  readonly assets: readonly { readonly path: string; readonly type: string; readonly br: boolean }[];
}

/** The same content in one encoding has bytes of its own, and so a tag of its own. */
interface Encoded {
  readonly bytes: Buffer;
  readonly etag: string;
}

interface StoredFile {
  readonly type: string;
  plain(): Encoded;
  readonly brotli: Encoded | undefined;
}

/** The page of a server. */
export class Page {
  readonly #folder: URL;
  #files: ReadonlyMap<string, StoredFile> | undefined;
  #index = '';

  /** `folder` is that of the build; it ends with a slash. */
  constructor(folder: URL) {
    this.#folder = folder;
  }

  /** The reply to a request for the page, or the methods that it must have; undefined for every other path. Throws NOT_FOUND. */
  answer(req: IncomingMessage, path: string): JsonReply | { readonly allow: readonly string[] } | undefined {
    if (path === '/' && isForPeople(req)) return { status: 302, body: undefined, headers: { location: `${PAGE_PATH}/` } };
    if (path !== PAGE_PATH && !path.startsWith(`${PAGE_PATH}/`)) return undefined;
    if (req.method !== 'GET' && req.method !== 'HEAD') return { allow: ['GET', 'HEAD'] };
    if (path === PAGE_PATH) return { status: 302, body: undefined, headers: { location: `${PAGE_PATH}/` } };
    this.#files ??= this.#read();
    const name = path.slice(PAGE_PATH.length + 1);
    const found = this.#files.get(name); // looked-up
    if (found === undefined && path.startsWith(ASSETS)) throw new BlockhouseError('NOT_FOUND', 'The page has no such file. Load the page anew.');
    const file = found ?? this.#files.get(this.#index);
    if (file === undefined) throw new Error(`The folder of the page has no ${this.#index}.`);
    return replyOf(file, req, path.startsWith(ASSETS));
  }

  /** in-memory. */
  #read(): ReadonlyMap<string, StoredFile> {
    const manifest = parseJson(readFileSync(new URL('manifest.json', this.#folder), 'utf8')) as Manifest;
    this.#index = manifest.index;
    return new Map(
      manifest.assets.map(({ path, type, br }) => {
        const stored = encoded(readFileSync(new URL(br ? `${path}.br` : path, this.#folder)));
        let unpacked = br ? undefined : stored;
        const plain = (): Encoded => {
          unpacked ??= encoded(brotliDecompressSync(stored.bytes));
          return unpacked;
        };
        return [path, { type, plain, brotli: br ? stored : undefined }];
      }),
    );
  }
}

function encoded(bytes: Buffer): Encoded {
  return { bytes, etag: etagOfBytes(bytes) };
}

/** True for the requests that a person's browser makes for a page. */
export function isPagePath(path: string): boolean {
  return path === '/' || path === PAGE_PATH || path.startsWith(`${PAGE_PATH}/`);
}

function isForPeople({ method, headers: { accept = '' } }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && accept.includes('text/html');
}

function replyOf({ type, plain, brotli }: StoredFile, req: IncomingMessage, isAsset: boolean): JsonReply {
  const takesBrotli =
    brotli !== undefined && /(?:^|,)\s*br\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/.test(String(req.headers['accept-encoding'] ?? ''));
  const { bytes, etag } = takesBrotli ? brotli : plain();
  const common = {
    'cache-control': isAsset ? FOREVER : 'no-cache',
    ...(brotli !== undefined && { vary: 'accept-encoding' }),
    ...(isAsset ? { 'cross-origin-resource-policy': 'same-origin' } : { ...DOCUMENT_HEADERS, etag }),
  };
  if (!isAsset && isKnown(req, etag)) return { status: 304, body: undefined, headers: common };
  return {
    status: 200,
    body: new Written(bytes, type),
    headers: { ...common, ...(takesBrotli && { 'content-encoding': 'br' }) },
  };
}
