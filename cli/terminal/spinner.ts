// A line on stderr that moves while a person waits.
//
// only-for-a-person: nothing is drawn unless the stream is a terminal and neither NO_COLOR nor CI is set.
// one-line-alone: the line is removed before anything else is written, and drawn again at the next tick.
import type { Writable } from 'node:stream';
import { span } from './format.ts';
import { fit } from './layout.ts';
import { isColored, oneLine, widthOf } from './output.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const TICK_MS = 100;
/** A shorter wait shows nothing. */
const QUIET_MS = 300;
const CLEAR = '\r\x1b[K';

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a person looks at this stream (only-for-a-person). */
export function isWatched(stream: object, env: Environment): boolean {
  return isColored(stream, env) && (env['CI'] ?? '') === '';
}

/** Shows how long a person has waited for one thing, and what for. */
export class Spinner {
  readonly #stream: Writable;
  /** Whether anything is drawn. */
  readonly isWatched: boolean;
  #began: number | undefined;
  #tick = 0;
  #isDrawn = false;
  #timer: NodeJS.Timeout | undefined;
  #text: () => string = () => '';

  constructor(stream: Writable, isWatched: boolean) {
    this.#stream = stream;
    this.isWatched = isWatched;
  }

  /** Begins, or goes on with another text. `text` is asked at each tick. */
  wait(text: () => string): void {
    this.#text = text;
    if (!this.isWatched || this.#timer !== undefined) return;
    this.#began ??= performance.now();
    this.#timer = setInterval(() => this.#draw(), TICK_MS).unref();
  }

  /** Removes the line until the next tick; call it before anything else is written (one-line-alone). */
  clear(): void {
    if (this.#isDrawn) this.#stream.write(CLEAR);
    this.#isDrawn = false;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.clear();
  }

  #draw(): void {
    const elapsed = performance.now() - (this.#began ?? 0);
    if (elapsed < QUIET_MS) return;
    this.#tick += 1;
    const line = `${FRAMES[this.#tick % FRAMES.length]} ${span(elapsed)}  ${oneLine(this.#text())}`;
    this.#stream.write(CLEAR + fit(line, widthOf(this.#stream) - 1));
    this.#isDrawn = true;
  }
}
