// What images, documents and audio count in an estimate of a request's input. Pure: no I/O.
//
// known-media: only base64 that begins as an image, a PDF or an audio does, in a field for such, is media. All else is text: a long run of letters may be,
//   and so is a file whose bytes are text, whatever it begins with.
// at-most-shown: a small file can be a large image or a long document. An image counts by the pixels that its head tells, a PDF by its pages, and the link to a
//   film as one of an hour.
// as-decoded: files and references count however they are escaped.
// data-is-text: what is data of the application is read as text, whatever it begins with and however its members are named: what tools were called with, the
//   schemas, and all else that describes a tool.
// as-declared: so is what says of itself that it is a text.
// bounded-looks: of one request, MAX_LOOKS files and MAX_SEARCHED characters of documents are looked at, which is more than any provider takes. Further files count
//   by their size, as text or as a file, whichever is more.
import { isUtf8 } from 'node:buffer';
import { isObject } from '../base/json.ts';
import { ASCII_CHARACTERS_PER_TOKEN } from '../base/tokens.ts';
import { bytesAt, isWebP, pagesOf, pixelsOf } from './media-heads.ts';
import { DATA, SCHEMAS } from './request-data.ts';

/** What an image costs about, and any file at least. Anthropic counts up to some 1,600 for an image, OpenAI and Google for one of usual size less. */
export const MEDIA_TOKENS = 1600;
/** A file by its id, a document by its URL, and a PDF whose pages can't be seen, at least: some pages. Only the provider knows how long it is. */
export const FILE_TOKENS = 10_000;
/** Of the file. A page of text has some 30 kB as PDF, and Anthropic counts 1,500 to 3,000 tokens for a page. */
const BYTES_A_TOKEN_OF_PDF = 20;
/** Of the file. Speech that is compressed well has 3 kB a second, of which Google makes 32 tokens and OpenAI 10. */
const BYTES_A_TOKEN_OF_AUDIO = 100;
/** Anthropic counts 1,500 to 3,000. */
const TOKENS_A_PAGE = 3000;
/** Of the file, where its head does not say how many pixels it has. */
const BYTES_A_TOKEN_OF_IMAGE = 500;
/** Google counts 258 tokens for each tile of 768 × 768 pixels. The others make a large image smaller. */
const PIXELS_A_TOKEN = (768 * 768) / 258;
/** Of some 8,000 × 8,000 pixels; no provider takes more. */
const MAX_IMAGE_TOKENS = 30_000;

/** How the base64 of known kinds of files begins: PNG, JPEG, GIF; PDF; RIFF (WAV, WebP), MP3 with and without a tag, Ogg, FLAC. */
const HEADS: readonly (readonly [head: string, bytesAToken: number])[] = [
  ['iVBORw0KGgo', BYTES_A_TOKEN_OF_IMAGE],
  ['/9j/', BYTES_A_TOKEN_OF_IMAGE],
  ['R0lGOD', BYTES_A_TOKEN_OF_IMAGE],
  ['JVBER', BYTES_A_TOKEN_OF_PDF],
  ['UklGR', BYTES_A_TOKEN_OF_AUDIO],
  ['SUQz', BYTES_A_TOKEN_OF_AUDIO],
  ['//', BYTES_A_TOKEN_OF_AUDIO],
  ['T2dnUw', BYTES_A_TOKEN_OF_AUDIO],
  ['ZkxhQw', BYTES_A_TOKEN_OF_AUDIO],
];

/** Types whose files may be media. Where there is none, the file tells. */
const MEDIA_TYPES = /^\s*(?:$|(?:image|audio|video)\/|application\/(?:(?:x-)?pdf|octet-stream))/i;

/** as-declared. */
function isDeclaredText(mediaType: unknown): boolean {
  return typeof mediaType === 'string' && !MEDIA_TYPES.test(mediaType);
}

const MAX_LOOKS = 4000;
const MAX_SEARCHED = 4 * 1024 * 1024;

/** How much of the files of one request may still be looked at (bounded-looks). */
export class Looks {
  #files = MAX_LOOKS;
  #characters = MAX_SEARCHED;

  /** True if one more file may be looked at. */
  take(): boolean {
    this.#files -= 1;
    return this.#files >= 0;
  }

  /** True if so many characters more may be searched. */
  search(characters: number): boolean {
    this.#characters -= characters;
    return this.#characters >= 0;
  }
}

/** The tokens of a file by its base64 (known-media), and by its type if it has one. */
export function fileTokens(base64: string, mediaType?: string, looks = new Looks()): number {
  const bytesAToken = isDeclaredText(mediaType) ? undefined : headOf(base64);
  const bytes = (base64.length / 4) * 3;
  const asText = Math.ceil(bytes / ASCII_CHARACTERS_PER_TOKEN);
  if (bytesAToken === undefined) return asText;
  const isPdf = bytesAToken === BYTES_A_TOKEN_OF_PDF;
  if (!looks.take()) return Math.max(isPdf ? FILE_TOKENS : MEDIA_TOKENS, asText);
  if (!isPdf && isText(base64)) return asText;
  if (bytesAToken === BYTES_A_TOKEN_OF_IMAGE || isWebP(bytesAt(base64, 0, 12))) return shownTokens(base64);
  return Math.max(isPdf ? pageTokens(base64, looks) : MEDIA_TOKENS, Math.ceil(bytes / bytesAToken));
}

/** The bytes a token of the kind of file that it begins as. */
function headOf(base64: string): number | undefined {
  for (const [head, bytesAToken] of HEADS) if (base64.startsWith(head)) return bytesAToken;
  return undefined;
}

/** The tokens of an image by its base64 (at-most-shown). */
export function imageTokens(base64: string, looks = new Looks()): number {
  return looks.take() ? shownTokens(base64) : Math.max(MEDIA_TOKENS, Math.ceil(((base64.length / 4) * 3) / BYTES_A_TOKEN_OF_IMAGE));
}

function shownTokens(base64: string): number {
  const pixels = pixelsOf(base64);
  const tokens = pixels === undefined ? ((base64.length / 4) * 3) / BYTES_A_TOKEN_OF_IMAGE : Math.min(MAX_IMAGE_TOKENS, pixels / PIXELS_A_TOKEN);
  return Math.max(MEDIA_TOKENS, Math.ceil(tokens));
}

/** at-most-shown. */
function pageTokens(base64: string, looks: Looks): number {
  const pages = looks.search(base64.length) ? pagesOf(base64) : undefined;
  return pages === undefined ? FILE_TOKENS : pages * TOKENS_A_PAGE;
}

/** Characters of base64 that are looked at: three bytes each four. */
const SAMPLE = 4096;
/** A tab; no text has a lower byte. */
const FIRST_OF_TEXT = 9;
/** The bytes of one character of UTF-8 at most, which a sample may cut. */
const CUT_BYTES = 3;

/** True if the middle of a file is text: that of an image or an audio never is. */
function isText(base64: string): boolean {
  const at = Math.floor(Math.max(0, base64.length - SAMPLE) / 8) * 4;
  const bytes = Buffer.from(base64.slice(at, at + SAMPLE), 'base64');
  for (const byte of bytes) if (byte < FIRST_OF_TEXT) return false;
  for (let cut = 0; cut <= CUT_BYTES; cut += 1)
    for (let end = 0; end <= CUT_BYTES; end += 1) if (isUtf8(bytes.subarray(cut, bytes.length - end))) return bytes.length > cut + end;
  return false;
}

/** Files in all protocols. A shorter text is no file. */
const FILE_FIELDS: ReadonlySet<string> = new Set(['data', 'file_data', 'url', 'image_url']);
const MIN_FILE_LENGTH = 32;
/** So much of a long text is looked at. */
const LOOKED_AT = 4096;
const DATA_URL = /^data:([^",;]{0,100})[^",]{0,100};base64,/;
const MAX_HEAD = 300;
const BASE64 = /^[A-Za-z0-9+/]*$/;
/** What the provider fetches. */
const IMAGE_ADDRESSES: ReadonlySet<string> = new Set(['url', 'image_url']);
/** What it fetches or has stored. */
const FILES_ELSEWHERE: ReadonlySet<string> = new Set(['file_url', 'file_id']);
/** In which some services take a link in the place of a file. */
const FILE_DATA = 'file_data';
/** Films, of which one of an hour has about so many tokens. */
const FILMS: ReadonlySet<string> = new Set(['video', 'video_url', 'input_video']);
const FILM_TOKENS = 1_000_000;
const REFERENCE = 'item_reference';
/** data-is-text. Variables of a stored prompt may be images. */
const TEXTS: ReadonlySet<string> = new Set([...DATA, 'functions', 'tools'].filter((name) => name !== 'variables'));
/** The same at the top of a request, where other names of data are fields like others. */
const TEXTS_AT_TOP: ReadonlySet<string> = new Set([...SCHEMAS, 'client_metadata', 'functions', 'metadata', 'tools']);
/** Blocks and sources whose `data` is no file. */
const TYPES_OF_TEXT: ReadonlySet<unknown> = new Set(['text', 'redacted_thinking']);

/** About how many tokens the input of a request has whose body has so many bytes, in any client's protocol, by what it was parsed to (as-decoded). */
export function bodyTokens(body: unknown, bytes: number, looks = new Looks()): number {
  const size = new Size(looks);
  if (isObject(body)) size.addObject(body, TEXTS_AT_TOP);
  else size.add('', body);
  while (size.open.length > 0) size.openNext();
  return size.tokens + Math.ceil((bytes - size.fileBytes) / ASCII_CHARACTERS_PER_TOKEN);
}

class Size {
  tokens = 0;
  fileBytes = 0;
  /** Arrays and objects that are not looked into yet: a body may nest deeper than a stack of calls. */
  readonly open: object[] = [];
  readonly #looks: Looks;

  constructor(looks: Looks) {
    this.#looks = looks;
  }

  openNext(): void {
    const value = this.open.pop() ?? [];
    if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) this.add('', value[index]);
    else this.addObject(value as Readonly<Record<string, unknown>>, TEXTS);
  }

  /** Adds what stands under a name; '' in a list. */
  add(name: string, value: unknown, isText = false): void {
    if (typeof value === 'string') this.#addText(name, value, isText);
    else if (typeof value === 'object' && value !== null) this.open.push(value);
  }

  #addText(name: string, text: string, isText: boolean): void {
    const base64 = FILE_FIELDS.has(name) && !isText ? base64In(text) : undefined;
    if (base64 !== undefined) {
      this.fileBytes += base64.length;
      this.tokens += fileTokens(base64, undefined, this.#looks);
    } else if (FILES_ELSEWHERE.has(name) || text === REFERENCE || (name === FILE_DATA && isLink(text))) this.tokens += FILE_TOKENS;
    else if (IMAGE_ADDRESSES.has(name) && !text.startsWith('data:')) this.tokens += MEDIA_TOKENS;
  }

  /** Members of the names in `texts` are not looked into (data-is-text). */
  addObject(value: Readonly<Record<string, unknown>>, texts: ReadonlySet<string>): void {
    const isText = TYPES_OF_TEXT.has(value['type']) || isDeclaredText(value['media_type']);
    let others = 0;
    for (const name in value) {
      if (name !== 'id' && (name !== 'type' || value[name] !== null)) others += 1;
      if (typeof value[name] !== 'object' || !texts.has(name)) this.add(name, value[name], isText);
      if (FILMS.has(name) && isFilmElsewhere(value[name])) this.tokens += FILM_TOKENS;
    }
    if (others === 0 && typeof value['id'] === 'string') this.tokens += FILE_TOKENS; // a reference without its type
  }
}

function isLink(text: string): boolean {
  return text.slice(0, MAX_HEAD).includes('://');
}

function isFilmElsewhere(film: unknown): boolean {
  const address = isObject(film) ? film['url'] : film;
  return typeof address === 'string' && isLink(address);
}

/** The base64 of a file. Of a long one only the beginning is looked at: whatever else it has, a provider does not read it as text. */
function base64In(text: string): string | undefined {
  if (text.length < MIN_FILE_LENGTH) return undefined;
  const [head = '', mediaType] = DATA_URL.exec(text.slice(0, MAX_HEAD)) ?? [];
  if (isDeclaredText(mediaType)) return undefined;
  const base64 = text.slice(head.length);
  return base64.length >= MIN_FILE_LENGTH && BASE64.test(base64.slice(0, Math.min(base64.length, LOOKED_AT) - 2)) ? base64 : undefined;
}
