// Shows a reply while it is written.
//
// complete-text: at the end stdout has the whole answer, also when some of its steps never arrived.
import type { Writable } from 'node:stream';
import type { ReplyStep } from '../../core/index.ts';
import { isTerminal, oneLine } from '../terminal/output.ts';
import { TextPrinter } from '../terminal/text-printer.ts';
import type { Outcome } from './conversation.ts';

/** Prints the replies to one message. */
export class ReplyPrinter {
  readonly #printer: TextPrinter;
  readonly #say: (text: string) => Promise<void>;
  readonly #isTerminal: boolean;
  #shown = '';

  /** `say` writes remarks, such as that the answer was interrupted. */
  constructor(stdout: Writable, say: (text: string) => Promise<void>) {
    this.#printer = new TextPrinter(stdout);
    this.#say = say;
    this.#isTerminal = isTerminal(stdout);
  }

  async step(step: ReplyStep): Promise<void> {
    if (step.event === 'content') {
      this.#shown += step.text;
      await this.#printer.print(step.text);
    } else if (step.event === 'start') {
      await this.#discard();
    } else if (step.event === 'error') {
      await this.#printer.end();
      // A stop, a kill switch or a call that waits for a person is no failure; the text says which.
      const lead = step.code === 'CANCELLED' ? '' : 'this attempt failed and will be retried: ';
      if (step.willRetry) await this.#say(`note: ${lead}${oneLine(step.error)}`);
    }
  }

  /** Writes a remark while the reply goes on. Only at a terminal it needs a line of its own: a file must have the answer as it is. */
  async remark(text: string): Promise<void> {
    if (this.#isTerminal) await this.#printer.end();
    await this.#say(text);
  }

  /** Prints the missing rest of the answer and a final newline (complete-text). */
  async finish({ answer }: Outcome): Promise<void> {
    if (answer === undefined) return this.#printer.end();
    const { content, status, stopReason } = answer;
    if (!content.startsWith(this.#shown)) await this.#discard();
    await this.#printer.print(content.slice(this.#shown.length));
    await this.#printer.end();
    if (status === 'interrupted') await this.#say('note: the answer was interrupted.');
    else if (stopReason !== undefined && stopReason !== 'end_turn') await this.#say(`note: the answer ended with ${stopReason}.`);
  }

  /** Ends the current line of an incomplete reply. */
  async end(): Promise<void> {
    await this.#printer.end();
  }

  /** Marks the text so far as void, because it can't be removed from the output. */
  async #discard(): Promise<void> {
    if (this.#shown === '') return;
    await this.#printer.end();
    await this.#say('note: ignore the text above; the answer starts again.');
    this.#shown = '';
  }
}
