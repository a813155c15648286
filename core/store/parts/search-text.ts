// How a text is looked for: without regard to case, accents and the width of letters, and with every run of blanks as one. Pure: no I/O.
//
// by-pieces: to know where a character comes from, each is folded alone, which takes a hundred times as long as to fold all at once. So of a long text only the piece
//   with the first of the words is looked at in this way: providers may write megabytes.
// marks-first: accents are taken off before letters are taken apart. To normalize a text puts the accents of a letter in their order, which takes as long as their number
//   squared: ten seconds for a hundred thousand.
//
// in-steps: a character may stand for eighteen in the text as it is compared, so that a quarter of a million take a third of a second. Long texts are folded
//   in steps, between which others are served.
import { nextTurn } from '../../base/next-turn.ts';
import { invalidRequest } from '../../errors.ts';

/** A part of a text around what was found in it. */
export interface Excerpt {
  readonly excerpt: string;
  /** Where the words stand in it: the index of the first character, and of the one after the last. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}

export const MAX_QUERY_CHARACTERS = 256;
const MAX_WORDS = 8;
const BEFORE = 60;
const AFTER = 180;
/** by-pieces. The longest word fits into what two neighbours share. */
const PIECE = 4096;
const SHARED = 1024;
const ASCII = /^[\x20-\x7e]*$/;
/** Accents, and signs that nobody sees. */
const UNSEEN = /[\p{M}\p{Cf}]+/gu;

/** The text as it is compared. */
export function folded(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase().replace(/ {2,}/g, ' ');
  const letters = text
    .replace(UNSEEN, '') // marks-first
    .normalize('NFKD')
    .replace(UNSEEN, '')
    .toLowerCase()
    .replaceAll('ς', 'σ');
  return letters.replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ');
}

/** in-steps. */
const STEP = 4096;
/** in-steps: what was folded when others have a turn. */
const FOLDED_A_TURN = 256 * 1024;
/** A text in which no word has come by then is shown from its beginning. */
const MOST_FOLDED = 2 * 1024 * 1024;

/** The text as it is compared, in pieces. in-steps. */
export async function* foldedInSteps(text: string): AsyncGenerator<string> {
  let sinceTurn = 0;
  let endsBlank = false;
  for (let at = 0; at < text.length; ) {
    const end = Math.min(text.length, at + STEP);
    const to = isHalf(text, end) ? end + 1 : end;
    const fold = folded(text.slice(at, to));
    const piece = endsBlank && fold.startsWith(' ') ? fold.slice(1) : fold;
    if (fold !== '') endsBlank = fold.endsWith(' ');
    at = to;
    sinceTurn += fold.length;
    yield piece;
    if (sinceTurn < FOLDED_A_TURN) continue;
    sinceTurn = 0;
    await nextTurn();
  }
}

/** Without halves of pairs, which have no bytes in UTF-8. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The words of a query; those between quotation marks are one. A text fits that has them all, also within longer words. Throws INVALID_REQUEST. */
export function wordsOf(query: string): readonly string[] {
  if (query.length > MAX_QUERY_CHARACTERS) throw invalidRequest('q', `must have at most ${MAX_QUERY_CHARACTERS} characters`);
  const words = [...query.matchAll(/"([^"]*)"|(\S+)/g)].map(([, phrase, word = '']) => (phrase ?? word).trim()).filter((word) => folded(word).trim() !== '');
  if (words.length === 0) throw invalidRequest('q', 'must have a word to look for');
  if (words.length > MAX_WORDS) throw invalidRequest('q', `must have at most ${MAX_WORDS} words`);
  return words;
}

/** The text around the first of the words, with all that stand there, and `…` where it is cut. */
export function excerptOf(text: string, words: readonly string[]): Excerpt {
  const at = pieceWith(text, words);
  const pieceEnd = at + PIECE + SHARED + AFTER;
  const { plain, places } = foldedByCharacter(text.slice(at, pieceEnd), at);
  const first = Math.min(...words.map((word) => plain.indexOf(word)).filter((at) => at >= 0));
  const start = Number.isFinite(first) ? Math.max(0, (places[first] ?? 0) - BEFORE) : 0;
  const from = isHalf(text, start) ? start - 1 : start;
  const end = Math.min(text.length, start + BEFORE + AFTER);
  const to = isHalf(text, end) ? end - 1 : end;
  const marks = words.flatMap((word) => marksOf(word, plain, places, Math.min(pieceEnd, text.length)).filter(([begin, after]) => begin >= from && after <= to));
  const before = from > 0 ? '…' : '';
  const shift = before.length - from;
  const excerpt = `${before}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
  return { excerpt, marks: apart(marks.map(([begin, after]) => [begin + shift, after + shift] as const)) };
}

/** by-pieces: where the first piece with one of the words begins. */
function pieceWith(text: string, words: readonly string[]): number {
  let length = 0;
  for (let at = 0; at < text.length && length < MOST_FOLDED; at += PIECE) {
    const from = isHalf(text, at) ? at - 1 : at;
    const plain = folded(text.slice(from, at + PIECE + SHARED));
    if (words.some((word) => plain.includes(word))) return from;
    length += plain.length;
  }
  return 0;
}

/** The folded piece of a text, and for each of its characters the index of the one that it comes from in the text, where the piece begins at `start`. */
function foldedByCharacter(piece: string, start: number): { readonly plain: string; readonly places: readonly number[] } {
  let plain = '';
  const places: number[] = [];
  let at = start;
  for (const character of piece) {
    const fold = folded(character);
    const more = fold === ' ' && plain.endsWith(' ') ? '' : fold;
    for (let index = 0; index < more.length; index += 1) places.push(at);
    plain += more;
    at += character.length;
  }
  return { plain, places };
}

function marksOf(word: string, plain: string, places: readonly number[], length: number): [number, number][] {
  const marks: [number, number][] = [];
  for (let at = plain.indexOf(word); at >= 0; at = plain.indexOf(word, at + word.length)) marks.push([places[at] ?? 0, places[at + word.length] ?? length]);
  return marks;
}

/** In their order; those that overlap are one. */
function apart(marks: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const whole: [number, number][] = [];
  for (const [from, to] of [...marks].sort(([a], [b]) => a - b)) {
    const last = whole.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else whole.push([from, to]);
  }
  return whole;
}

/** True within a pair of surrogates. */
function isHalf(text: string, at: number): boolean {
  return at > 0 && /^[\udc00-\udfff]/.test(text.charAt(at)) && /^[\ud800-\udbff]/.test(text.charAt(at - 1));
}
