// The arguments of a call that come in pieces of JSON. Pure: no I/O.
//
// parsed-once: the text is parsed when its outermost brace closes. Text that can't be parsed then will never be an object, whatever follows; neither will one that would
//   take too long to parse, which ends the answer anyway.
import { exceededLimit, isObject, MAX_OBJECT_FIELDS, tryParseJson } from '../../../../core/base/json.ts';
import { ANSWER_LIMITS } from '../../../../core/index.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `{` and `[`. */
const OPENING = new Set([0x7b, 0x5b]);
/** `}` and `]`. */
const CLOSING = new Set([0x7d, 0x5d]);
/** The blanks of JSON. */
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Those of the adapters. */
const LIMITS = { values: ANSWER_LIMITS.recordValues, depth: ANSWER_LIMITS.depth, fields: MAX_OBJECT_FIELDS };

/** The arguments of one call. */
export class ArgumentsText {
  /** What has come so far. */
  text = '';
  /** Open braces and brackets. */
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #state: 'growing' | 'closed' | 'broken' = 'growing';
  #value: Record<string, unknown> | undefined;

  add(piece: string): void {
    this.text += piece;
    for (let at = 0; at < piece.length && this.#state !== 'broken'; at += 1) this.#read(piece.charCodeAt(at));
  }

  /** The arguments, if the text is a JSON object; undefined as long as it is not. */
  value(): Record<string, unknown> | undefined {
    if (this.#state !== 'closed' || this.#value !== undefined) return this.#value;
    const value = exceededLimit(Buffer.from(this.text), LIMITS) === undefined ? tryParseJson(this.text) : undefined; // parsed-once
    if (isObject(value)) this.#value = value;
    else this.#state = 'broken';
    return this.#value;
  }

  #read(char: number): void {
    if (this.#inString) this.#readString(char);
    else if (BLANKS.has(char)) return;
    else if (this.#state === 'closed') this.#break();
    else if (OPENING.has(char)) this.#depth += 1;
    else if (this.#depth === 0) this.#break();
    else if (char === QUOTE) this.#inString = true;
    else if (CLOSING.has(char)) this.#close();
  }

  #readString(char: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (char === BACKSLASH) this.#isEscaped = true;
    else if (char === QUOTE) this.#inString = false;
  }

  #close(): void {
    this.#depth -= 1;
    if (this.#depth === 0) this.#state = 'closed';
  }

  #break(): void {
    this.#state = 'broken';
    this.#value = undefined;
  }
}
