// block__read_result: reads on in a result that was cut, as the route of results does. Pure: no I/O.
import { estimateTokens } from '../../base/tokens.ts';
import type { ResultPage, RunResult } from '../../types.ts';
import { grouped, resultText } from '../results.ts';

const DEFAULT_LIMIT = 8000;
/** As many places of a text are given. */
const MAX_PLACES = 20;
/** Around a place. */
const NEAR = 100;
/** For the line that says what is shown. */
const TOKENS_OF_NOTICE = 60;

/** What the model asks for. */
export interface Reading {
  readonly ref: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly find?: string;
}

/** The asked part of a whole text, in at most about `tokens` tokens, with a line before it that says what it is. */
export function readOn(text: string, { ref, offset = 0, limit = DEFAULT_LIMIT, find }: Reading, tokens: number): string {
  const all = grouped(text.length);
  if (offset >= text.length) return `(The result ${ref} has ${all} characters.)`;
  if (find !== undefined) return placesOf(text, find, offset);
  const room = Math.max(1, tokens - TOKENS_OF_NOTICE);
  let shown = text.slice(offset, offset + limit);
  for (let count = estimateTokens(shown); count > room; count = estimateTokens(shown)) shown = shown.slice(0, Math.floor((shown.length * room) / count) - 1);
  const end = offset + shown.length;
  const more = end < text.length ? `; offset ${end} reads on` : '';
  return `(Characters ${grouped(offset)} to ${grouped(end)} of ${all}${more}.)\n${shown}`;
}

/** The characters of a whole result that a person or a program asks for, counted as those of `readOn`. */
export function pageOf({ isError, parts }: RunResult, { offset = 0, limit = DEFAULT_LIMIT }: ResultPage): RunResult {
  const whole = resultText(parts);
  return { isError, parts: [{ type: 'text', text: whole.slice(offset, offset + limit) }], chars: whole.length };
}

/** Without a pattern: one would try the whole text to find at each place of a text that repeats itself, which takes seconds. */
function placesOf(text: string, find: string, offset: number): string {
  const [searched, wanted] = [inSmall(text), inSmall(find)];
  const lines: string[] = [];
  for (let index = searched.indexOf(wanted, offset); index !== -1 && lines.length < MAX_PLACES; index = searched.indexOf(wanted, index + wanted.length)) {
    const near = text.slice(Math.max(0, index - NEAR), index + wanted.length + NEAR);
    lines.push(`- ${index}: ${near.replaceAll(/\s+/g, ' ')}`);
  }
  if (lines.length === 0) return `(${JSON.stringify(find)} is not in the result after character ${grouped(offset)}.)`;
  const more = lines.length === MAX_PLACES ? `; only the first ${MAX_PLACES} are shown` : '';
  return `(${JSON.stringify(find)} is at these characters${more}.)\n${lines.join('\n')}`;
}

/** In small letters, of which each stands where it stood. The dotted İ alone would become two. */
function inSmall(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase().replaceAll('ς', 'σ');
}
