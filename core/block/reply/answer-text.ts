// The growing text of one answer, held in flat pieces: adding to one long string would keep every fragment and every intermediate result alive.
// Pure: no I/O.
import { textParts } from '../../gateway/parts.ts';
import type { ContentPart } from '../../types.ts';

/** Far more than any model writes, and small enough that chat.json can hold several such answers. */
export const MAX_ANSWER_CHARACTERS = 1024 * 1024;
/** Fragments are joined as soon as they are this long together. */
const PIECE_CHARACTERS = 4096;

/** A text of at most `limit` UTF-16 units. */
export class AnswerText {
  readonly #limit: number;
  readonly #pieces: string[] = [];
  #fragments: string[] = [];
  #fragmentCharacters = 0;
  #length = 0;
  #isCut = false;

  constructor(limit: number = MAX_ANSWER_CHARACTERS) {
    this.#limit = limit;
  }

  /** UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  /** True once something did not fit. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Returns what was added: all of `fragment`, or the part that fits. After that nothing more is added. */
  append(fragment: string): string {
    const taken = this.#isCut ? '' : this.#fitting(fragment);
    if (taken.length < fragment.length) this.#isCut = true;
    if (taken === '') return taken;
    this.#length += taken.length;
    this.#fragments.push(taken);
    this.#fragmentCharacters += taken.length;
    if (this.#fragmentCharacters >= PIECE_CHARACTERS) this.#join();
    return taken;
  }

  /** The text from position `from` on. */
  slice(from: number): string {
    return this.toString().slice(from);
  }

  toString(): string {
    this.#join();
    return this.#pieces.join('');
  }

  /** The text as content of a message. */
  toParts(): readonly ContentPart[] {
    return textParts(this.toString());
  }

  /** The part that fits. A surrogate pair is never split. */
  #fitting(fragment: string): string {
    const room = this.#limit - this.#length;
    if (fragment.length <= room) return fragment;
    const isHalved = /[\ud800-\udbff]/.test(fragment.charAt(room - 1));
    return fragment.slice(0, isHalved ? room - 1 : room);
  }

  #join(): void {
    if (this.#fragments.length === 0) return;
    this.#pieces.push(this.#fragments.join(''));
    this.#fragments = [];
    this.#fragmentCharacters = 0;
  }
}
