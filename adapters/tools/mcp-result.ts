// Makes content parts of what a server answers. Pure: no I/O.
//
// lenient: what is not as the protocol says becomes a line that says so. A call that has run has a result, whatever its server writes.
import { isObject } from '../../core/base/json.ts';
import type { ContentPart, ToolQuestion } from '../../core/index.ts';

/** The code of our own errors for answers that can't be taken. */
export const UNREADABLE = -32_099;
/** The most parts, and the most images, of one result. */
const MAX_PARTS = 1000;
const MAX_IMAGES = 4;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
/** Control characters besides tab, line feed and carriage return. */
const CONTROL = /[^\n\t\r\P{Cc}]/gu;
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const HALF = /\p{Surrogate}/u;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The result of a call. */
export interface ReadResult {
  readonly isError: boolean;
  readonly parts: readonly ContentPart[];
  /** The JSON object beside the text. */
  readonly structuredContent?: unknown;
}

/** A result that says in one sentence why there is no other. */
export function errorResult(text: string): ReadResult {
  return { isError: true, parts: [{ type: 'text', text: cleanText(text) }] };
}

/** What a server asks of a person in place of a result; undefined for a result. */
export function readQuestion(result: unknown): Pick<ToolQuestion, 'requests' | 'requestState'> | undefined {
  if (!isObject(result) || result['resultType'] !== 'input_required') return undefined;
  const { inputRequests, requestState } = result;
  return { requests: inputRequests ?? {}, ...(typeof requestState === 'string' && { requestState }) };
}

/** Such a result is read within a millisecond or two. */
const SHORT = { parts: 100, characters: 65_536 } as const;

/** True for a result of a few short texts, which is read at once. */
export function isShort(result: unknown): boolean {
  if (!isObject(result) || result['structuredContent'] !== undefined) return false;
  const { content } = result;
  if (!Array.isArray(content) || content.length > SHORT.parts) return false;
  let left: number = SHORT.characters;
  for (const block of content) {
    if (!isObject(block) || block['type'] !== 'text') return false;
    left -= textOf(block['text']).length;
  }
  return left >= 0;
}

/** Reads the result of `tools/call`. */
export function readResult(result: unknown): ReadResult {
  if (!isObject(result)) return errorResult('The server has answered with what is no result.');
  const content = Array.isArray(result['content']) ? result['content'] : [];
  const images = { left: MAX_IMAGES };
  const parts = content.slice(0, MAX_PARTS).map((block) => partOf(block, images));
  if (content.length > MAX_PARTS) parts.push(line(`${content.length - MAX_PARTS} further parts are left out`));
  const structured = result['structuredContent'];
  const hasText = content.some((block) => isObject(block) && block['type'] === 'text' && block['text'] !== '');
  if (structured !== undefined && !hasText) parts.push({ type: 'text', text: cleanText(JSON.stringify(structured)) });
  return { isError: result['isError'] === true, parts, ...(structured !== undefined && { structuredContent: structured }) };
}

function partOf(block: unknown, images: { left: number }): ContentPart {
  if (!isObject(block)) return line('a part that is no object');
  const { type } = block;
  if (type === 'text') return { type: 'text', text: cleanText(textOf(block['text'])) };
  if (type === 'image') return imageOf(block, images);
  if (type === 'audio') return sized('audio', block['mimeType'], block['data']);
  if (type === 'resource_link') return line(`link to ${short(block['uri'])}${named(block['name'])}${named(block['mimeType'])}`);
  if (type === 'resource' && isObject(block['resource'])) return resourceOf(block['resource']);
  return line(`a part of the kind ${short(type)}`);
}

function imageOf({ mimeType, data }: Record<string, unknown>, images: { left: number }): ContentPart {
  const isFit = typeof mimeType === 'string' && IMAGE.test(mimeType) && typeof data === 'string' && data !== '' && bytesOf(data) <= MAX_IMAGE_BYTES;
  if (!isFit || images.left === 0 || !BASE64.test(data)) return sized('image', mimeType, data);
  images.left -= 1;
  return { type: 'image', mediaType: mimeType, data };
}

function resourceOf({ uri, mimeType, text, blob }: Record<string, unknown>): ContentPart {
  if (typeof text === 'string') return { type: 'text', text: cleanText(text) };
  return sized(`resource ${short(uri)}`, mimeType, blob);
}

/** What is not shown: a line with its kind and size. */
function sized(what: string, mimeType: unknown, data: unknown): ContentPart {
  return line(`${what}${named(mimeType)}, ${typeof data === 'string' ? bytesOf(data) : 0} bytes`);
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
}

function line(text: string): ContentPart {
  return { type: 'text', text: `[${text}]` };
}

function named(value: unknown): string {
  return typeof value === 'string' && value !== '' ? `, ${short(value)}` : '';
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? cleanText(value).replaceAll(/\s+/g, ' ') : typeof value;
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Without control characters and halves of characters. */
export function cleanText(text: string): string {
  const clean = text.replace(CONTROL, '');
  return HALF.test(clean) ? Buffer.from(clean).toString() : clean; // as UTF-8, a half is U+FFFD
}
