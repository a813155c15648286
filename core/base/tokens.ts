// Estimates the tokens of a text before a provider has counted them. Pure: no I/O.

/** Of plain text, and of JSON. */
export const ASCII_CHARACTERS_PER_TOKEN = 4;
const OTHER_CHARACTERS_PER_TOKEN = 1.5;

/** From here on it is quicker to ask first whether there is anything but ASCII: a sentence of English takes a fifth of the time. */
const LONG_TEXT = 32;

/** The estimate of a text that comes in pieces. Counts UTF-16 units, so that an emoji is two. */
export class TokenEstimate {
  #ascii = 0;
  #others = 0;

  add(text: string): this {
    const others = othersIn(text);
    this.#others += others;
    this.#ascii += text.length - others;
    return this;
  }

  /** At least 1 for any text that is not empty. */
  get tokens(): number {
    return tokensOf(this.#ascii, this.#others);
  }
}

/** At least 1 for any text that is not empty. */
export function estimateTokens(text: string): number {
  const others = othersIn(text);
  return tokensOf(text.length - others, others);
}

function tokensOf(ascii: number, others: number): number {
  return Math.ceil(ascii / ASCII_CHARACTERS_PER_TOKEN + others / OTHER_CHARACTERS_PER_TOKEN);
}

/** True for a number of tokens that can be true: whole, and not below zero. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function othersIn(text: string): number {
  if (text.length >= LONG_TEXT && Buffer.byteLength(text) === text.length) return 0;
  let others = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) >= 0x80) others += 1;
  return others;
}
