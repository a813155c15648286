// Lines that are redrawn in place on a terminal.
//
// cursor-back: `end` shows the hidden cursor again; callers call it in a `finally`.
import type { Writable } from 'node:stream';
import { write } from './output.ts';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const CLEAR_BELOW = '\x1b[J';
const CLEAR_ALL = '\x1b[2J\x1b[H';

interface Terminal extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Lines on a terminal that are replaced by the next ones. */
export class LiveView {
  readonly #stream: Terminal;
  #shown = '';
  #height = 0;
  #columns: number | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    if (this.#stream.isTTY) this.#stream.write(HIDE_CURSOR);
  }

  /** Replaces the last lines by these; appends them when the stream is not a terminal. Does nothing when they are the same. */
  async show(lines: readonly string[]): Promise<void> {
    const { columns } = this.#stream;
    const text = `${this.#visible(lines).join('\n')}\n`;
    if (text === this.#shown && columns === this.#columns) return;
    // A resized terminal wraps the lines differently, so the number of drawn lines is unknown.
    const isResized = this.#columns !== undefined && this.#columns !== columns;
    this.#shown = text;
    this.#columns = columns;
    await write(this.#stream, this.#stream.isTTY ? this.#goBack(isResized) + text : text);
    this.#height = text.split('\n').length - 1;
  }

  /** cursor-back. */
  end(): void {
    if (this.#stream.isTTY) this.#stream.write(SHOW_CURSOR);
  }

  /** Lines that have scrolled off the top of the screen can't be drawn over, so only a screenful is shown. */
  #visible(lines: readonly string[]): readonly string[] {
    const { rows, isTTY } = this.#stream;
    if (!isTTY || rows === undefined || lines.length < rows) return lines;
    const room = Math.max(rows - 2, 1);
    return [...lines.slice(0, room), `… ${lines.length - room} more`];
  }

  #goBack(isResized: boolean): string {
    if (isResized) return CLEAR_ALL;
    return this.#height === 0 ? '' : `\x1b[${this.#height}A\r${CLEAR_BELOW}`;
  }
}
