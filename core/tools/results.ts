// What a model sees of the result of a tool: text, cut to its room, and images. Pure: no I/O.
//
// told-first: what says that something is left out stands before the data, because at its end models take it for data.
import { isDeeperThan, MAX_JSON_DEPTH } from '../base/json.ts';
import { estimateTokens } from '../base/tokens.ts';
import type { ContentPart } from '../types.ts';
import { READ_RESULT_TOOL } from './builtin/definitions.ts';

/** Control characters besides tab and line feed. */
const CONTROL = /[^\n\t\P{Cc}]/gu;
/** Of the room, this part shows the beginning; the rest shows the end. */
const BEGINNING = 0.75;

/** As many images of one result are shown. */
const MAX_IMAGES = 4;
/** A larger one is not shown. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** What a tool has given back, as parts: its structured content is used where there is no text. Throws an Error that says why it can't be shown. */
export function wholeParts(parts: readonly ContentPart[], structuredContent: unknown): readonly ContentPart[] {
  if (structuredContent === undefined || parts.some(({ type, text }) => type === 'text' && text !== undefined && text.trim() !== '')) return parts;
  if (isDeeperThan(structuredContent, MAX_JSON_DEPTH)) throw new Error(`it nests deeper than ${MAX_JSON_DEPTH} levels`);
  return [{ type: 'text', text: JSON.stringify(structuredContent) }, ...parts.filter(({ type }) => type !== 'text')];
}

/** The images of a result that a model may see. */
export function shownImages(parts: readonly ContentPart[]): readonly ContentPart[] {
  const shown = parts.filter(
    ({ type, mediaType, data }) => type === 'image' && mediaType !== undefined && data !== undefined && bytesOf(data) <= MAX_IMAGE_BYTES,
  );
  return shown.slice(0, MAX_IMAGES).map(({ mediaType, data }) => ({ type: 'image', mediaType, data }) as ContentPart);
}

/** Of base64. */
function bytesOf(data: string): number {
  return Math.floor((data.length * 3) / 4);
}

/** The text of a result. Parts that are no text become a line with their type and size. */
export function resultText(parts: readonly ContentPart[]): string {
  return parts.map(partText).join('\n').replaceAll('\r\n', '\n').replaceAll(CONTROL, '');
}

function partText({ type, text, mediaType, data, name, url }: ContentPart): string {
  if (text !== undefined) return text;
  const size = data === undefined ? '' : `, ${bytesOf(data)} bytes`;
  return `[${type}${name === undefined ? '' : ` ${name}`}: ${mediaType ?? url ?? 'of an unknown kind'}${size}]`;
}

/** A text of at most about `tokens` tokens. */
export interface CutText {
  readonly text: string;
  /** What is left out, as a sentence without its end; undefined where nothing is. */
  readonly left: string | undefined;
}

/** Keeps the beginning and the end of a text that is too long. */
export function cutText(text: string, tokens: number): CutText {
  const all = estimateTokens(text);
  if (all <= tokens) return { text, left: undefined };
  const room = Math.floor((text.length * tokens) / all);
  const head = withoutHalf(text.slice(0, Math.floor(room * BEGINNING)));
  const tail = withoutFirstHalf(text.slice(text.length - (room - Math.floor(room * BEGINNING))));
  const left = text.length - head.length - tail.length;
  return {
    text: `${head}\n…\n${tail}`,
    left: `${grouped(left)} of ${grouped(text.length)} characters are left out after character ${grouped(head.length)}`,
  };
}

/** told-first. `ref` names the whole, where it is kept. */
export function noticeOf(left: string, ref: string | undefined): string {
  return ref === undefined ? `(${left}.)` : `(${left}; ${READ_RESULT_TOOL} reads on, ref ${ref}.)`;
}

function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

function withoutFirstHalf(text: string): string {
  return /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text;
}

/** Digits in groups of three. */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** The first characters of a text, for lists and for the far past of a run. */
export function beginningOf(text: string, most: number): string {
  return text.length <= most ? text : `${withoutHalf(text.slice(0, most - 1))}…`;
}
