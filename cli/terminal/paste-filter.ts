// Takes pasted text out of the keys of a terminal, which marks it when asked to (bracketed paste).
//
// markers-across-reads: a marker may be split between two reads, so a possible beginning of one is held for a moment.
// paste-can-be-left: Ctrl-C ends a paste whose end never comes.
import { Transform, type TransformCallback } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

const BEGIN = '\x1b[200~';
const END = '\x1b[201~';
const CTRL_C = '\x03';
/** A terminal sends a marker in one piece. */
const HOLD_MS = 50;
/** Asks the terminal to mark what is pasted, and to stop doing so. */
const PASTE_MODE = { on: '\x1b[?2004h', off: '\x1b[?2004l' } as const;

/** The input of a program: a keyboard if it is a terminal, otherwise a pipe or a file without a raw mode. */
interface Keyboard extends NodeJS.ReadableStream {
  readonly isRaw?: boolean;
  setRawMode?(mode: boolean): unknown;
}

/** Passes keys on, and gives each pasted text to `pasted` in one piece. */
export class PasteFilter extends Transform {
  readonly #keyboard: Keyboard;
  readonly #screen: NodeJS.WritableStream;
  readonly #pasted: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #held = '';
  #holding: NodeJS.Timeout | undefined;
  #paste: string | undefined;

  constructor(keyboard: Keyboard, screen: NodeJS.WritableStream, pasted: (text: string) => void) {
    super({ decodeStrings: true });
    this.#keyboard = keyboard;
    this.#screen = screen;
    this.#pasted = pasted;
    keyboard.pipe(this);
  }

  /** Leaves the keyboard as it was. */
  detach(): void {
    clearTimeout(this.#holding);
    this.#keyboard.unpipe(this);
    this.#keyboard.pause();
  }

  get isRaw(): boolean {
    return this.#keyboard.isRaw === true;
  }

  /** Readline calls this at its start and end, and around Ctrl-Z. */
  setRawMode(mode: boolean): void {
    if (this.#keyboard.setRawMode === undefined) return;
    this.#keyboard.setRawMode(mode);
    this.#screen.write(mode ? PASTE_MODE.on : PASTE_MODE.off);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let rest = this.#held + this.#decoder.write(chunk);
    this.#held = '';
    clearTimeout(this.#holding);
    while (rest !== '') rest = this.#paste === undefined ? this.#keys(rest) : this.#more(this.#paste, rest);
    done();
  }

  override _flush(done: TransformCallback): void {
    clearTimeout(this.#holding);
    this.#letGo();
    done();
  }

  /** Passes on the keys before a paste and returns what comes after them. */
  #keys(text: string): string {
    const at = text.indexOf(BEGIN);
    if (at === -1) {
      this.#held = beginningOf(BEGIN, text);
      this.#pass(text.slice(0, text.length - this.#held.length));
      if (this.#held !== '') this.#holding = setTimeout(() => this.#letGo(), HOLD_MS);
      return '';
    }
    this.#pass(text.slice(0, at));
    this.#paste = '';
    return text.slice(at + BEGIN.length);
  }

  /** Adds to a paste and returns what comes after it. */
  #more(before: string, text: string): string {
    const all = before + text;
    const end = all.indexOf(END);
    const left = all.indexOf(CTRL_C); // paste-can-be-left
    if (left !== -1 && (end === -1 || left < end)) {
      this.#paste = undefined;
      return all.slice(left);
    }
    this.#paste = end === -1 ? all : undefined;
    if (end === -1) return '';
    this.#pasted(plain(all.slice(0, end)));
    return all.slice(end + END.length);
  }

  /** What was held is no marker, but the Escape key. */
  #letGo(): void {
    this.#pass(this.#held);
    this.#held = '';
  }

  #pass(keys: string): void {
    if (keys !== '') this.push(keys);
  }
}

/** The end of `text` that may be the beginning of `marker` (markers-across-reads). */
function beginningOf(marker: string, text: string): string {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(marker.slice(0, length))) return marker.slice(0, length);
  }
  return '';
}

/** With `\n` alone between lines, and without other control characters, which would be keys. */
function plain(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\t\n]/gu, '');
}
