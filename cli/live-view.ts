// Lines that are redrawn in place on a terminal.
//
// D1 The cursor that was hidden is shown again, however it ends.
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

export class LiveView {
  readonly #stream: Terminal;
  #shown = '';
  #height = 0;
  #columns: number | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    if (this.#stream.isTTY) this.#stream.write(HIDE_CURSOR);
  }

  /** Shows these lines instead of the last ones; where nobody looks, as further lines. Does nothing when they are the same. */
  async show(lines: readonly string[]): Promise<void> {
    const { columns } = this.#stream;
    const text = `${this.#visible(lines).join('\n')}\n`;
    if (text === this.#shown && columns === this.#columns) return;
    // A terminal of another width has broken the lines anew: how many there are now is not known.
    const isResized = this.#columns !== undefined && this.#columns !== columns;
    this.#shown = text;
    this.#columns = columns;
    await write(this.#stream, this.#stream.isTTY ? this.#goBack(isResized) + text : text);
    this.#height = text.split('\n').length - 1;
  }

  /** D1. */
  end(): void {
    if (this.#stream.isTTY) this.#stream.write(SHOW_CURSOR);
  }

  /** What has left the screen at its top can't be drawn over. */
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
