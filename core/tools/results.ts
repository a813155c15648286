// What a model sees of the result of a tool: text, cut to its room. Pure: no I/O.
//
// told-first: what says that something is left out stands before the data, because at its end models take it for data.
import { estimateTokens } from '../base/tokens.ts';
import type { ContentPart } from '../types.ts';

/** Control characters besides tab and line feed. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;
/** Of the room, this part shows the beginning; the rest shows the end. */
const BEGINNING = 0.75;

/** The text of a result. Parts that are no text become a line with their type and size. */
export function resultText(parts: readonly ContentPart[]): string {
  return parts.map(partText).join('\n').replaceAll('\r\n', '\n').replaceAll(CONTROL, '');
}

function partText({ type, text, mediaType, data, name, url }: ContentPart): string {
  if (text !== undefined) return text;
  const size = data === undefined ? '' : `, ${Math.floor((data.length * 3) / 4)} bytes`;
  return `[${type}${name === undefined ? '' : ` ${name}`}: ${mediaType ?? url ?? 'of an unknown kind'}${size}]`;
}

/** A text of at most about `tokens` tokens. */
export interface CutText {
  readonly text: string;
  readonly isCut: boolean;
}

/** Keeps the beginning and the end of a text that is too long (told-first). */
export function cutText(text: string, tokens: number): CutText {
  const all = estimateTokens(text);
  if (all <= tokens) return { text, isCut: false };
  const room = Math.floor((text.length * tokens) / all);
  const head = withoutHalf(text.slice(0, Math.floor(room * BEGINNING)));
  const tail = withoutFirstHalf(text.slice(text.length - (room - Math.floor(room * BEGINNING))));
  const left = text.length - head.length - tail.length;
  const notice = `(${grouped(left)} of ${grouped(text.length)} characters are left out after character ${grouped(head.length)}.)`;
  return { text: `${notice}\n${head}\n…\n${tail}`, isCut: true };
}

function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

function withoutFirstHalf(text: string): string {
  return /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text;
}

function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** The first characters of a text, for lists and for the far past of a run. */
export function beginningOf(text: string, most: number): string {
  return text.length <= most ? text : `${withoutHalf(text.slice(0, most - 1))}…`;
}
