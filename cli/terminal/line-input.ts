// Messages that a person types or that are piped in, one at a time.
//
// no-echo-between: what a person types while no message is asked for is kept for the next question, and shown then, because it
// would appear in the middle of a reply.
// own-history: the arrow keys show whole messages; readline alone would keep each line of one.
// never-while-typing: what comes unasked is written above the question, and only while nothing is typed, so that nothing moves under a person's hands.
// one-line-recalled: a message of several lines comes back as one line with marks, because readline edits one line, and each version of Node shows
//   several in its own way.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { LineHistory } from './line-history.ts';
import { MessageLines } from './message-lines.ts';
import { PasteFilter } from './paste-filter.ts';

/** The streams of a line input. */
export interface LineStreams {
  readonly input: NodeJS.ReadableStream;
  /** Shows the prompt and what is typed. */
  readonly output: NodeJS.WritableStream;
  /** True for a person's keyboard. */
  readonly terminal: boolean;
  /** What the arrow keys show, and where new messages are kept. Without it, they show what was typed in this conversation. */
  readonly history?: Pick<LineHistory, 'entries' | 'add'>;
}

/** The prompts of a message. */
export interface Prompts {
  readonly first: string;
  /** Before a line that continues a message. */
  readonly more: string;
}

/** A source of messages. */
export interface LineInput {
  /** The next message; undefined at the end of input. */
  next(prompts: Prompts): Promise<string | undefined>;
  /** Writes lines above the question, if one is asked and nothing is typed; else false (never-while-typing). */
  above(lines: readonly string[]): boolean;
  close(): void;
}

/**
 * Reads messages. Ctrl-C on an empty line, or while no message is asked for, calls `interrupted`; on a typed line it clears the line and the
 * lines before it. Without a terminal, each line is a message.
 */
export function createLineInput(streams: LineStreams, interrupted: () => void): LineInput {
  return streams.terminal ? new Keyboard(streams, interrupted) : new PipedLines(streams.input);
}

/** Hands out messages in their order. */
class MessageQueue {
  readonly #messages: string[] = [];
  #isOver = false;
  #deliver: ((message: string | undefined) => void) | undefined;

  /** Whether `next` would wait. */
  get isEmpty(): boolean {
    return this.#messages.length === 0 && !this.#isOver;
  }

  /** What `next` gives at once, if it is a message. */
  get first(): string | undefined {
    return this.#messages[0];
  }

  get isAwaited(): boolean {
    return this.#deliver !== undefined;
  }

  add(message: string): void {
    this.#messages.push(message);
    this.#settle();
  }

  end(): void {
    this.#isOver = true;
    this.#settle();
  }

  next(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#deliver = resolve;
      this.#settle();
    });
  }

  #settle(): void {
    if (this.isEmpty) return;
    const deliver = this.#deliver;
    if (deliver === undefined) return;
    this.#deliver = undefined;
    deliver(this.#messages.shift());
  }
}

class PipedLines implements LineInput {
  readonly #queue = new MessageQueue();
  readonly #readline;

  constructor(input: NodeJS.ReadableStream) {
    this.#readline = createInterface({ input, terminal: false });
    this.#readline.on('line', (line) => this.#queue.add(line));
    this.#readline.on('close', () => this.#queue.end());
  }

  next(): Promise<string | undefined> {
    return this.#queue.next();
  }

  above(): boolean {
    return false;
  }

  close(): void {
    this.#readline.close();
  }
}

const KEPT = 500;
/** Stands for a newline in a recalled message (one-line-recalled). */
const NEWLINE_MARK = '⏎';

/** A message as the arrow keys show it. */
function recalled(message: string): string {
  return message.replaceAll('\n', NEWLINE_MARK);
}

class Keyboard implements LineInput {
  readonly #queue = new MessageQueue();
  readonly #lines = new MessageLines();
  readonly #filter: PasteFilter;
  readonly #output: NodeJS.WritableStream;
  readonly #screen: Screen;
  readonly #readline;
  readonly #history: Pick<LineHistory, 'entries' | 'add'>;
  #shownHistory: string[] = [];
  #prompts: Prompts = { first: '', more: '' };
  #isPasting = false;

  constructor({ input, output, history = new Memory() }: LineStreams, interrupted: () => void) {
    this.#history = history;
    this.#output = output;
    this.#screen = new Screen(output, () => this.#queue.isAwaited);
    this.#filter = new PasteFilter(input, output, (text) => this.#paste(text));
    this.#readline = createInterface({ input: this.#filter, output: this.#screen, terminal: true, historySize: KEPT, history: history.entries.map(recalled) });
    this.#readline.on('history', (shown) => {
      this.#shownHistory = shown;
      this.#showHistory();
    });
    this.#readline.on('line', (line) => this.#take(line));
    this.#readline.on('close', () => this.#queue.end());
    this.#readline.on('SIGINT', () => this.#interrupt(interrupted));
  }

  next(prompts: Prompts): Promise<string | undefined> {
    this.#prompts = prompts;
    const { isEmpty, first } = this.#queue;
    if (first !== undefined) this.#output.write(`${prompts.first}${first.replaceAll('\n', `\n${prompts.more}`)}\n`); // no-echo-between
    const message = this.#queue.next();
    if (isEmpty) this.#prompt();
    return message;
  }

  above(lines: readonly string[]): boolean {
    if (!this.#queue.isAwaited || this.#readline.line !== '' || this.#lines.isOpen) return false;
    this.#output.write(`\r\x1b[K${lines.join('\n')}\n`);
    this.#prompt();
    return true;
  }

  close(): void {
    this.#readline.close();
    this.#filter.detach();
    this.#screen.detach();
  }

  #prompt(): void {
    this.#readline.setPrompt(this.#lines.isOpen ? this.#prompts.more : this.#prompts.first);
    this.#readline.prompt(true);
  }

  #take(line: string): void {
    if (this.#isPasting) this.#lines.paste(line);
    const message = this.#isPasting ? undefined : this.#lines.enter(line)?.replaceAll(NEWLINE_MARK, '\n');
    if (message === undefined) {
      this.#prompt();
      return;
    }
    this.#history.add(message);
    this.#showHistory();
    this.#queue.add(message);
  }

  /** Lines that end in the paste are taken; the rest is on the line, to be changed and sent. */
  #paste(text: string): void {
    this.#isPasting = true;
    this.#readline.write(text.trimEnd());
    this.#isPasting = false;
  }

  #interrupt(interrupted: () => void): void {
    if (!this.#queue.isAwaited || (this.#readline.line === '' && !this.#lines.isOpen)) {
      interrupted();
      return;
    }
    // Ctrl-E, Ctrl-U: clears the typed line.
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
    this.#lines.clear();
    this.#prompt();
  }

  /** own-history. The array is readline's own. */
  #showHistory(): void {
    this.#shownHistory.splice(0, this.#shownHistory.length, ...this.#history.entries.map(recalled));
  }
}

/** The history of one conversation. */
class Memory {
  readonly entries: string[] = [];

  add(message: string): void {
    if (message.trim() !== '') this.entries.unshift(message);
  }
}

/** Shows what is typed while a message is asked for (no-echo-between). Readline wraps lines at its `columns`. */
class Screen extends Writable {
  readonly #output: NodeJS.WritableStream;
  readonly #isShown: () => boolean;
  readonly #resized = (): void => void this.emit('resize');

  constructor(output: NodeJS.WritableStream, isShown: () => boolean) {
    super();
    this.#output = output;
    this.#isShown = isShown;
    output.on('resize', this.#resized);
  }

  get columns(): number {
    const columns = 'columns' in this.#output ? Number(this.#output.columns) : 0;
    return columns > 0 ? columns : Number.POSITIVE_INFINITY;
  }

  detach(): void {
    this.#output.removeListener('resize', this.#resized);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#isShown()) this.#output.write(chunk);
    done();
  }
}
