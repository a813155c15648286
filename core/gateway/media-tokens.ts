// What images, documents and audio count in an estimate of a request's input. Pure: no I/O.
//
// known-media: only base64 that begins as an image, a PDF or an audio does, in a field for such, is media. All else is text: a long run of letters may be,
//   and so is a file whose bytes are text, whatever it begins with.
// at-most-shown: a small file can be a large image or a long document. An image counts by the pixels that its head tells, a PDF by its pages.
// as-decoded: names and values count however they are escaped.
import { ASCII_CHARACTERS_PER_TOKEN } from '../base/tokens.ts';
import { bytesAt, isWebP, pagesOf, pixelsOf } from './media-heads.ts';

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

/** The tokens of a file by its base64 (known-media). */
export function fileTokens(base64: string): number {
  const bytesAToken = HEADS.find(([head, each]) => base64.startsWith(head) && (each === BYTES_A_TOKEN_OF_PDF || !isText(base64)))?.[1];
  const bytes = (base64.length / 4) * 3;
  if (bytesAToken === undefined) return Math.ceil(bytes / ASCII_CHARACTERS_PER_TOKEN);
  if (bytesAToken === BYTES_A_TOKEN_OF_IMAGE || isWebP(bytesAt(base64, 0, 12))) return imageTokens(base64);
  return Math.max(bytesAToken === BYTES_A_TOKEN_OF_PDF ? pageTokens(base64) : MEDIA_TOKENS, Math.ceil(bytes / bytesAToken));
}

/** The tokens of an image by its base64 (at-most-shown). */
export function imageTokens(base64: string): number {
  const pixels = pixelsOf(base64);
  const tokens = pixels === undefined ? ((base64.length / 4) * 3) / BYTES_A_TOKEN_OF_IMAGE : Math.min(MAX_IMAGE_TOKENS, pixels / PIXELS_A_TOKEN);
  return Math.max(MEDIA_TOKENS, Math.ceil(tokens));
}

/** at-most-shown. */
function pageTokens(base64: string): number {
  const pages = pagesOf(base64);
  return pages === undefined ? FILE_TOKENS : pages * TOKENS_A_PAGE;
}

/** Characters of base64 that are looked at: three bytes each four. */
const SAMPLE = 4096;
/** A tab; no text has a lower byte. */
const FIRST_OF_TEXT = 9;
/** The bytes of one character of UTF-8 at most, which a sample may cut. */
const CUT_BYTES = 3;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** True if the middle of a file is text: that of an image or an audio never is. */
function isText(base64: string): boolean {
  const at = Math.floor(Math.max(0, base64.length - SAMPLE) / 8) * 4;
  const bytes = Buffer.from(base64.slice(at, at + SAMPLE), 'base64');
  if (bytes.some((byte) => byte < FIRST_OF_TEXT)) return false;
  for (let cut = 0; cut <= CUT_BYTES; cut += 1) {
    for (let end = 0; end <= CUT_BYTES; end += 1) {
      try {
        return utf8.decode(bytes.subarray(cut, bytes.length - end)) !== '';
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // it is no text from here to there
      }
    }
  }
  return false;
}

/** In the fields of all protocols. A shorter text is no file. */
const FILES = /"(?:data|file_data|url|image_url)"\s*:\s*"(?:data:[^",]{0,200};base64,)?([A-Za-z0-9+/]{32,}={0,2})"/g;
/** What the provider fetches, or has stored. */
const ELSEWHERE =
  /"(?:image_)?url"\s*:\s*"(?!data:)|"(file_url|file_id)"\s*:\s*"|("item_reference"|\{\s*(?:"type"\s*:\s*null\s*,\s*)?"id"\s*:\s*"[^"]*"\s*(?:,\s*"type"\s*:\s*null\s*)?\})/g;
/** Letters, digits and the like that need no escape. */
const NEEDLESS_ESCAPE = /\\u00([2-7][0-9a-f])/gi;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** as-decoded. */
function withoutNeedlessEscapes(text: string): string {
  return text.replace(NEEDLESS_ESCAPE, (written, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code === QUOTE || code === BACKSLASH ? written : String.fromCharCode(code);
  });
}

/** The tokens of a request body in any client's protocol, by its size. */
export function bodyTokens(body: Buffer): number {
  const text = withoutNeedlessEscapes(body.toString('latin1'));
  let tokens = 0;
  let plain = text.length;
  for (const [, base64 = ''] of text.matchAll(FILES)) {
    tokens += fileTokens(base64);
    plain -= base64.length;
  }
  for (const [, file, item] of text.matchAll(ELSEWHERE)) tokens += file === undefined && item === undefined ? MEDIA_TOKENS : FILE_TOKENS;
  return tokens + Math.ceil(plain / ASCII_CHARACTERS_PER_TOKEN);
}
