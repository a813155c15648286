// Where JSON text is wrong, by line and column. V8 names a place in some of its errors only, and in them it may quote the text, which may be a secret. Pure: no I/O.
//
// same-judge: text has a fault here if and only if JSON.parse refuses it.
// no-quotes: what comes out are numbers.

/** A scan of this much text takes 2 to 15 ms by what is in it, so a request may wait for it. */
export const QUICK_TEXT = 128 * 1024;

/** The line and the column of a place in a text, as an editor counts them. */
export function placeIn(text: string, at: number): string {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  return `line ${line}, column ${at - start + 1}`;
}

/** Such as `line 3, column 7`; undefined if the text is JSON. For text that ends too early it is the place behind the last character. */
export function faultPlace(text: string): string | undefined {
  const at = faultIn(text);
  return at === undefined ? undefined : placeIn(text, at);
}

/** The first character that no JSON has there; undefined if the text is JSON. */
export function faultIn(text: string): number | undefined {
  return new Scan(text).fault();
}

/** What may come next. */
type Expected = 'value' | 'first value' | 'name' | 'first name' | 'comma';

const LITERALS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };
const ESCAPED = '"\\/bfnrtu';
const HEX_DIGITS = 4;

class Scan {
  readonly #text: string;
  #at = 0;
  #expected: Expected = 'value';
  /** The brackets that are open. */
  readonly #open: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  fault(): number | undefined {
    for (;;) {
      this.#blanks();
      if (this.#at === this.#text.length && this.#expected === 'comma' && this.#open.length === 0) return undefined;
      if (!this.#step()) return this.#at;
    }
  }

  /** Goes over the next token; false, and stays at the fault, if it is none that may come here. */
  #step(): boolean {
    const char = this.#text[this.#at];
    if (char === undefined) return false;
    if (this.#expected === 'comma') return this.#afterValue(char);
    const isFirst = this.#expected.startsWith('first');
    if (isFirst && this.#closes(char)) return this.#close();
    return this.#expected.endsWith('name') ? this.#name(char) : this.#value(char);
  }

  #afterValue(char: string): boolean {
    if (this.#closes(char)) return this.#close();
    const within = this.#open.at(-1);
    if (char !== ',' || within === undefined) return false;
    this.#at += 1;
    this.#expected = within === '{' ? 'name' : 'value';
    return true;
  }

  #closes(char: string): boolean {
    return char === (this.#open.at(-1) === '{' ? '}' : ']') && this.#open.length > 0;
  }

  #close(): boolean {
    this.#open.pop();
    this.#at += 1;
    this.#expected = 'comma';
    return true;
  }

  #name(char: string): boolean {
    if (char !== '"' || !this.#string()) return false;
    this.#blanks();
    if (this.#text[this.#at] !== ':') return false;
    this.#at += 1;
    this.#expected = 'value';
    return true;
  }

  #value(char: string): boolean {
    if (char === '{' || char === '[') {
      this.#open.push(char);
      this.#at += 1;
      this.#expected = char === '{' ? 'first name' : 'first value';
      return true;
    }
    this.#expected = 'comma';
    if (char === '"') return this.#string();
    const literal = LITERALS[char];
    return literal === undefined ? this.#number() : this.#word(literal);
  }

  #blanks(): void {
    for (let code = this.#text.charCodeAt(this.#at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09; code = this.#text.charCodeAt(this.#at))
      this.#at += 1;
  }

  #word(literal: string): boolean {
    for (const char of literal) {
      if (this.#text[this.#at] !== char) return false;
      this.#at += 1;
    }
    return true;
  }

  #string(): boolean {
    const { length } = this.#text;
    for (this.#at += 1; this.#at < length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) {
        this.#at += 1;
        return true;
      }
      if (code < 0x20 || (code === 0x5c && !this.#escape())) return false;
    }
    return false;
  }

  /** Stays at the last character of the escape. */
  #escape(): boolean {
    this.#at += 1;
    const char = this.#text[this.#at];
    if (char === undefined || !ESCAPED.includes(char)) return false;
    for (let digit = 0; char === 'u' && digit < HEX_DIGITS; digit += 1) {
      this.#at += 1;
      if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? '')) return false;
    }
    return true;
  }

  #number(): boolean {
    if (this.#text[this.#at] === '-') this.#at += 1;
    if (this.#text[this.#at] === '0') this.#at += 1;
    else if (!this.#digits()) return false;
    if (this.#text[this.#at] === '.') {
      this.#at += 1;
      if (!this.#digits()) return false;
    }
    if (!/^[eE]$/.test(this.#text[this.#at] ?? '')) return true;
    this.#at += 1;
    if (/^[+-]$/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    return this.#digits();
  }

  /** At least one. */
  #digits(): boolean {
    const from = this.#at;
    for (let code = this.#text.charCodeAt(this.#at); code >= 0x30 && code <= 0x39; code = this.#text.charCodeAt(this.#at)) this.#at += 1;
    return this.#at > from;
  }
}
