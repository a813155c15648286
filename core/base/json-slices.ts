// Parses large JSON text in slices, with a turn of the event loop between two of them, so that one large body does not hold up other requests. Pure but for the turns.
//
// same-value: the value is the one that JSON.parse gives: every piece of the text goes through it, and only whole pieces are put together here.
// same-place: text that is no JSON is refused, with the position that V8 names for the whole text, wherever it names one.
// bounded-slice: a turn scans one slice and parses about one: the text is cut between the members of arrays and objects, however deep, and within long
//   strings. A name, a number or blanks within the text that are much longer than a slice are refused.
// counted-first: values are counted as they are scanned, and so are the fields of each object and the levels. Too many of them end the parse at once.
import { type JsonLimits, parseJson } from './json.ts';
import { type JsonOutline, newOutline, skipBlanks } from './json-members.ts';
import { nextTurn } from './next-turn.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const LETTER_U = 0x75;
const SLICE_BYTES = 128 * 1024; // some milliseconds of work at most
/** A name or a number, and the blanks beside it, may be longer by a slice at most. */
const MAX_TOKEN_BYTES = 128 * 1024;
/** Arrays and objects that a turn opens at most when they nest deep. */
const FRAMES_A_TURN = 2000;
/** Characters of a string are looked at one by one up to here; then `indexOf` is faster. */
const NEAR = 64;
const PLAIN = /^[ !#-[\]-\uffff]*$/; // it stands in JSON as it is, as base64 does
const ESCAPE_BYTES = 6; // `\u0000`

/** Thrown for text with more values or levels, with more fields in one object, or with a longer name, number or blanks than are allowed. */
export class TooMuchJson extends Error {
  readonly exceeded: keyof JsonLimits | 'token';

  constructor(exceeded: keyof JsonLimits | 'token', message: string) {
    super(message);
    this.exceeded = exceeded;
  }
}

/** How text is parsed. */
export interface SliceOptions extends JsonLimits {
  /** For text in ASCII, latin1 is three times as fast. The default is utf8. */
  readonly encoding?: 'latin1' | 'utf8';
  readonly sliceBytes?: number;
  /** Filled while the text is scanned, so that a large text needs no second scan. */
  readonly outline?: JsonOutline;
  /** Lets other work of the event loop run. */
  readonly turn?: () => Promise<void>;
}

/** An array or object that is open. `value` is undefined until a slice ends within it. */
interface Frame {
  readonly isArray: boolean;
  readonly start: number;
  /** What is before this place is in `value`. */
  from: number;
  /** The index of the last comma after `from`; -1 if there is none. */
  comma: number;
  commas: number;
  /** The index after the last array or object in it. */
  closed: number;
  value: unknown[] | Record<string, unknown> | undefined;
  /** Its name in the object around it. */
  key: string;
  /** A member ends at `from`, so that a comma or the end must come. */
  isAfterValue: boolean;
  /** A comma is before `from`, so that a member must come. */
  needsValue: boolean;
}

/** A string that is longer than a slice. */
interface LongString {
  readonly key: string;
  readonly parts: string[];
  /** What is before this place is in `parts`. */
  from: number;
}

/** The value of JSON text in UTF-8, which must be valid. Rejects with SyntaxError for other text, and with TooMuchJson. */
export function parseInSlices(bytes: Buffer, options: SliceOptions): Promise<unknown> {
  return new SlicedParse(bytes, options).run();
}

class SlicedParse {
  readonly #bytes: Buffer;
  readonly #encoding: 'latin1' | 'utf8';
  readonly #limits: Required<JsonLimits>;
  readonly #sliceBytes: number;
  readonly #turn: () => Promise<void>;
  readonly #outline: JsonOutline;
  /** The text itself is like an array of one value. */
  readonly #stack: Frame[] = [{ ...frameAt(true, -1), value: [] }];
  #at = 0;
  /** Where the string begins that is being scanned; -1 outside of one. */
  #stringAt = -1;
  #long: LongString | undefined;
  /** The fewest frames that were open since the last slice: those below have nothing new. */
  #fewest = 1;

  constructor(bytes: Buffer, { encoding = 'utf8', sliceBytes = SLICE_BYTES, turn = nextTurn, outline = newOutline(), ...limits }: SliceOptions) {
    this.#bytes = bytes;
    this.#encoding = encoding;
    this.#limits = { fields: Infinity, depth: Infinity, ...limits };
    this.#sliceBytes = sliceBytes;
    this.#turn = turn;
    this.#outline = outline;
  }

  async run(): Promise<unknown> {
    while (this.#at < this.#bytes.length) {
      await this.#turn(); // bounded-slice
      this.#scan(Math.min(this.#at + this.#sliceBytes, this.#bytes.length));
      if (this.#at < this.#bytes.length) await this.#settle();
    }
    if (this.#stack.length > 1 || this.#stringAt >= 0) await this.#settle();
    return this.#finish();
  }

  get #top(): Frame {
    return this.#stack[this.#stack.length - 1] as Frame;
  }

  /** Scans up to `until`, or a little further if an escape ends there. */
  #scan(until: number): void {
    const bytes = this.#bytes;
    const window = bytes.subarray(0, until);
    if (this.#stringAt >= 0) this.#scanString(window);
    while (this.#at < until) {
      const byte = bytes[this.#at];
      if (byte === QUOTE) {
        this.#stringAt = this.#at;
        this.#at += 1;
        this.#scanString(window);
        continue;
      }
      if (byte === COMMA) this.#comma();
      else if (byte === COLON) this.#outline.members += 1;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        this.#countValue();
        if (this.#stack.length > this.#limits.depth) throw new TooMuchJson('depth', `nests deeper than ${this.#limits.depth} levels; send a flatter one`);
        this.#stack.push(frameAt(byte === OPEN_ARRAY, this.#at));
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.#close(byte === CLOSE_ARRAY);
      this.#at += 1;
    }
  }

  #countValue(): void {
    this.#outline.values += 1;
    if (this.#outline.values > this.#limits.values) throw new TooMuchJson('values', `contains more than ${this.#limits.values} JSON values; send fewer`); // counted-first
  }

  #scanString(window: Buffer): void {
    let at = this.#at;
    const end = window.length;
    while (at < end) {
      // Also after an escaped quote: where there is one, there are more.
      for (const near = Math.min(at + NEAR, end); at < near; at += 1) {
        if (window[at] === QUOTE) {
          this.#endString(at);
          return;
        }
        if (window[at] === BACKSLASH) at += 1;
      }
      if (at >= end) break; // perhaps one further, after an escape
      const quote = window.indexOf(QUOTE, at);
      const stop = quote < 0 ? end : quote;
      let first = stop;
      while (first > at && window[first - 1] === BACKSLASH) first -= 1;
      const isEscaped = (stop - first) % 2 === 1;
      if (quote >= 0 && !isEscaped) {
        this.#endString(quote);
        return;
      }
      at = isEscaped ? stop + 1 : stop;
    }
    this.#at = at;
  }

  #endString(quote: number): void {
    this.#stringAt = -1;
    this.#at = quote + 1;
    const long = this.#long;
    if (long === undefined) return;
    this.#long = undefined;
    long.parts.push(this.#stringPart(long.from, quote));
    this.#put(this.#top, long.key, long.parts.join(''));
    this.#memberEndsAt(quote + 1);
  }

  #comma(): void {
    this.#countValue();
    const frame = this.#top;
    frame.commas += 1;
    if (this.#stack.length === 2) this.#outline.commas.push(this.#at);
    if (!frame.isArray && frame.commas >= this.#limits.fields)
      throw new TooMuchJson('fields', `has an object with more than ${this.#limits.fields} fields; send fewer`);
    if (this.#stack.length === 1) {
      if (!frame.isAfterValue) this.#parse('', frame.from, this.#at, '');
      throw this.#fault(frame.isAfterValue ? skipBlanks(this.#bytes, frame.from) : this.#at);
    }
    if (frame.isAfterValue) {
      this.#assertBlank(frame.from, this.#at);
      this.#commaAt(frame, this.#at);
    } else frame.comma = this.#at;
  }

  #commaAt(frame: Frame, at: number): void {
    frame.isAfterValue = false;
    frame.needsValue = true;
    frame.from = at + 1;
    frame.comma = -1;
  }

  #close(isArray: boolean): void {
    const frame = this.#top;
    if (this.#stack.length === 1) {
      if (!frame.isAfterValue) this.#parse('', frame.from, this.#at, '');
      throw this.#fault(frame.isAfterValue ? skipBlanks(this.#bytes, frame.from) : this.#at);
    }
    if (frame.value !== undefined) this.#endFrame(frame, isArray);
    this.#stack.pop();
    this.#fewest = Math.min(this.#fewest, this.#stack.length);
    this.#top.closed = this.#at + 1;
    if (frame.value === undefined) return;
    this.#put(this.#top, frame.key, frame.value);
    this.#memberEndsAt(this.#at + 1);
  }

  #endFrame(frame: Frame, isArray: boolean): void {
    if (frame.isAfterValue) this.#assertBlank(frame.from, this.#at);
    else if (!this.#add(frame, this.#at) && frame.needsValue) throw this.#fault(this.#at);
    if (isArray !== frame.isArray) throw this.#fault(this.#at);
  }

  #memberEndsAt(at: number): void {
    const frame = this.#top;
    frame.from = at;
    frame.comma = -1;
    frame.isAfterValue = true;
  }

  /** Parses the members that have come whole, of every open array and object. */
  async #settle(): Promise<void> {
    const first = Math.max(0, this.#fewest - 1);
    for (let depth = first; depth < this.#stack.length; depth += 1) {
      const frame = this.#stack[depth] as Frame;
      const around = this.#stack[depth - 1];
      if (frame.value === undefined && around !== undefined) {
        frame.key = this.#nameBefore(around, frame.start, '[]');
        frame.value = frame.isArray ? [] : {};
      }
      if (frame.comma >= 0) {
        if (!this.#add(frame, frame.comma)) throw this.#fault(frame.comma);
        this.#commaAt(frame, frame.comma);
      }
      if ((depth - first) % FRAMES_A_TURN === FRAMES_A_TURN - 1) await this.#turn();
    }
    this.#fewest = this.#stack.length;
    if (this.#stringAt < 0 && this.#stack.length === 1) this.#settleBlanks(this.#top);
    this.#settleString();
    if (this.#long === undefined && this.#unparsed > MAX_TOKEN_BYTES) {
      throw new TooMuchJson('token', `has a name, a number or blanks of more than ${MAX_TOKEN_BYTES} bytes`); // bounded-slice
    }
  }

  /** Some clients write blanks around the whole text. */
  #settleBlanks(frame: Frame): void {
    if (!frame.isAfterValue && frame.closed > frame.from && this.#isBlank(frame.closed, this.#at)) {
      this.#add(frame, frame.closed);
      this.#memberEndsAt(frame.closed);
    }
    if (this.#isBlank(frame.from, this.#at)) frame.from = this.#at;
  }

  /** Bytes since the last member of the innermost array or object, without the text that is its value. */
  get #unparsed(): number {
    const { from, isArray } = this.#top;
    const isValue = this.#stringAt >= 0 && (isArray || !this.#isBlank(from, this.#stringAt));
    return (isValue ? this.#stringAt : this.#at) - from;
  }

  #settleString(): void {
    if (this.#stringAt < 0) return;
    if (this.#long === undefined) {
      if (this.#at - this.#stringAt < this.#sliceBytes) return;
      const frame = this.#top;
      if (!frame.isArray && this.#isBlank(frame.from, this.#stringAt)) return; // a key
      this.#long = { key: this.#nameBefore(frame, this.#stringAt, '""'), parts: [], from: this.#stringAt + 1 };
    }
    const cut = this.#cutBefore(this.#at, this.#long.from);
    this.#long.parts.push(this.#stringPart(this.#long.from, cut));
    this.#long.from = cut;
  }

  /** The last place at or before `at` that is within no character and no escape. `from` is such a place. */
  #cutBefore(at: number, from: number): number {
    const bytes = this.#bytes;
    let cut = Math.min(at, bytes.length);
    while (cut > from && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
    for (let back = cut - 1; back >= from && back > cut - ESCAPE_BYTES; back -= 1) {
      if (bytes[back] !== BACKSLASH) continue;
      let first = back;
      while (first > from && bytes[first - 1] === BACKSLASH) first -= 1;
      const begins = (back - first) % 2 === 0;
      if (begins && (back === cut - 1 || bytes[back + 1] === LETTER_U)) return back;
      return cut;
    }
    return cut;
  }

  #stringPart(from: number, to: number): string {
    const text = this.#bytes.toString(this.#encoding, from, to);
    return PLAIN.test(text) ? text : (this.#parse('"', from, to, '"') as string);
  }

  /** The name of the member that begins at `start`. `like` is a value of its kind: V8 names the kind in some errors. */
  #nameBefore(frame: Frame, start: number, like: string): string {
    if (frame.isAfterValue) throw this.#fault(Math.min(skipBlanks(this.#bytes, frame.from), start));
    if (frame.isArray) {
      this.#parse('[', frame.from, start, `${like}]`);
      return '';
    }
    return Object.keys(this.#parse('{', frame.from, start, `${like}}`) as object)[0] ?? '';
  }

  /** Adds the members between `from` and `to`; false if there is none. */
  #add(frame: Frame, to: number): boolean {
    if (frame.isArray) {
      const more = this.#parse('[', frame.from, to, ']') as unknown[];
      const all = frame.value as unknown[];
      if (all.length === 0) frame.value = more;
      else for (let index = 0; index < more.length; index += 1) all.push(more[index]);
      return more.length > 0;
    }
    const more = this.#parse('{', frame.from, to, '}') as Record<string, unknown>;
    const names = Object.keys(more);
    for (const name of names) this.#put(frame, name, more[name]);
    return names.length > 0;
  }

  #put(frame: Frame, key: string, value: unknown): void {
    if (frame.isArray) (frame.value as unknown[]).push(value);
    else if (key === '__proto__') Object.defineProperty(frame.value, key, { value, enumerable: true, configurable: true, writable: true });
    else (frame.value as Record<string, unknown>)[key] = value;
  }

  #finish(): unknown {
    const end = this.#bytes.length;
    const frame = this.#top;
    if (this.#stack.length === 1 && this.#long === undefined) {
      if (!frame.isAfterValue) return this.#parse('', frame.from, end, '');
      this.#assertBlank(frame.from, end);
      return (frame.value as unknown[])[0];
    }
    if (this.#long !== undefined) this.#parse('"', this.#long.from, end, '');
    if (frame.isAfterValue) {
      this.#assertBlank(frame.from, end);
      throw this.#fault(end);
    }
    this.#parse(this.#stack.length === 1 ? '' : frame.isArray ? '[' : '{', frame.from, end, '');
    throw new SyntaxError('Unexpected end of JSON input');
  }

  /** Parses a piece between `before` and `after`. An error names its place in the whole text. */
  #parse(before: string, from: number, to: number, after: string): unknown {
    try {
      return parseJson(before + this.#bytes.toString(this.#encoding, from, to) + after);
    } catch (error) {
      const at = /position (\d+)/.exec((error as Error).message)?.[1];
      if (at === undefined) throw error;
      throw new SyntaxError(`Unexpected text in JSON at position ${this.#characters(from) + Number(at) - before.length}`, { cause: error });
    }
  }

  #fault(at: number): SyntaxError {
    return new SyntaxError(`Unexpected text in JSON at position ${this.#characters(at)}`);
  }

  /** The place of a byte in the text as a string. */
  #characters(at: number): number {
    if (this.#encoding === 'latin1') return at;
    return this.#bytes.toString('utf8', 0, at).length;
  }

  #isBlank(from: number, to: number): boolean {
    return skipBlanks(this.#bytes, from, to) >= to; // what follows is looked at with the slices that follow
  }

  #assertBlank(from: number, to: number): void {
    const word = skipBlanks(this.#bytes, from, to);
    if (word < to) throw this.#fault(word);
  }
}

function frameAt(isArray: boolean, start: number): Frame {
  return { isArray, start, from: start + 1, comma: -1, commas: 0, closed: -1, value: undefined, key: '', isAfterValue: false, needsValue: false };
}
