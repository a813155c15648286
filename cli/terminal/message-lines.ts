// Puts a message together from the lines that a person types. Pure: no I/O.

const QUOTES = '"""';

/** Lines that continue a message end with `\`, lie between `"""` and `"""`, or were pasted together. */
export class MessageLines {
  #lines: string[] = [];
  /** The message was opened by `"""` and needs another one. */
  #isQuoted = false;
  /** The next typed line ends with what was pasted before it. */
  #isContinued = false;

  /** Whether a message has begun and is not complete. */
  get isOpen(): boolean {
    return this.#isQuoted || this.#isContinued;
  }

  /** Takes a line that was pasted and ended with a newline: the message goes on, whatever the line says. */
  paste(line: string): void {
    this.#lines.push(line);
    this.#isContinued = true;
  }

  /** Takes a line that was ended with Enter. Returns the message when it is complete. */
  enter(line: string): string | undefined {
    if (this.#isQuoted) return this.#enterQuoted(line);
    if (!this.#isContinued && line.trimStart().startsWith(QUOTES)) {
      this.#isQuoted = true;
      return this.#enterQuoted(line.trimStart().slice(QUOTES.length), true);
    }
    this.#isContinued = line.endsWith('\\');
    this.#lines.push(this.#isContinued ? line.slice(0, -1) : line);
    return this.#isContinued ? undefined : this.#take();
  }

  /** Forgets what has begun. */
  clear(): void {
    this.#take();
  }

  #enterQuoted(line: string, isFirst = false): string | undefined {
    const isLast = line.trimEnd().endsWith(QUOTES);
    const text = isLast ? line.trimEnd().slice(0, -QUOTES.length) : line;
    // Quotes on a line of their own are not a line of the message.
    if (text !== '' || !(isFirst || isLast)) this.#lines.push(text);
    return isLast ? this.#take() : undefined;
  }

  #take(): string {
    const message = this.#lines.join('\n');
    this.#lines = [];
    this.#isQuoted = false;
    this.#isContinued = false;
    return message;
  }
}
