// Shows a reply while it is written.
//
// R1 What stood in the answer stands on stdout in the end, also when a step of it never arrived.
import type { Writable } from 'node:stream';
import type { ReplyStep } from '../core/index.ts';
import type { Outcome } from './conversation.ts';
import { oneLine, TextPrinter } from './output.ts';

export class ReplyPrinter {
  readonly #printer: TextPrinter;
  readonly #say: (text: string) => Promise<void>;
  #shown = '';

  /** `say` tells the person what the text alone does not. */
  constructor(stdout: Writable, say: (text: string) => Promise<void>) {
    this.#printer = new TextPrinter(stdout);
    this.#say = say;
  }

  async step(step: ReplyStep): Promise<void> {
    if (step.event === 'content') {
      this.#shown += step.text;
      await this.#printer.print(step.text);
    } else if (step.event === 'start') {
      await this.#discard();
    } else if (step.event === 'error') {
      await this.#printer.end();
      if (step.willRetry) await this.#say(`note: this attempt failed, and the message stays: ${oneLine(step.error)}`);
    }
  }

  /** Ends the text with a newline, and adds what is missing of it (R1). */
  async finish({ answer }: Outcome): Promise<void> {
    if (answer === undefined) return this.#printer.end();
    const { content, status, stopReason } = answer;
    if (!content.startsWith(this.#shown)) await this.#discard();
    await this.#printer.print(content.slice(this.#shown.length));
    await this.#printer.end();
    if (status === 'interrupted') await this.#say('note: the answer was interrupted.');
    else if (stopReason !== undefined && stopReason !== 'end_turn') await this.#say(`note: the answer ended with ${stopReason}.`);
  }

  /** Ends the line of a reply that goes no further. */
  async end(): Promise<void> {
    await this.#printer.end();
  }

  /** The text so far is void; it can't be taken back, only be set apart. */
  async #discard(): Promise<void> {
    if (this.#shown === '') return;
    await this.#printer.end();
    await this.#say('note: the text above is void; the answer begins again.');
    this.#shown = '';
  }
}
