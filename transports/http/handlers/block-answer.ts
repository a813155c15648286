// The answer of a block, written in the frames of a dialect while it grows.
//
// one-text: text that went out belongs to one attempt. When that attempt fails, the stream is broken.
// held-back: what a client doesn't take yet is kept here as text, because a block writes its answer whether somebody reads it or not.
import { BlockhouseError, type ChatDone, type ChatEntry, type ReplyStep } from '../../../core/index.ts';
import type { SseWriter } from '../wire/sse.ts';

/** Writes the steps of one answer. */
export class BlockAnswer {
  /** Called when the stream can't become whole any more. */
  onBroken: (() => void) | undefined;
  /** Why; undefined while it can. */
  broken: BlockhouseError | undefined;
  readonly #writer: Pick<SseWriter, 'pieces' | 'onceWritable' | 'done'>;
  readonly #id: string;
  #held = '';
  #taken = 0;
  #isFull = false;

  constructor(writer: Pick<SseWriter, 'pieces' | 'onceWritable' | 'done'>, id: string) {
    this.#writer = writer;
    this.#id = id;
  }

  readonly step = (step: ReplyStep): void => {
    if (this.broken !== undefined) return;
    if (step.event === 'content') this.#write(step.text);
    else if (this.#taken > 0) this.#break(); // one-text
  };

  /** The end of a whole answer. What has not come as a step, such as one from before the wait, comes now. */
  finish(answer: ChatEntry): void {
    if (this.broken !== undefined) throw this.broken;
    const rest = this.#held + answer.content.slice(this.#taken);
    this.#held = '';
    if (rest !== '') this.#writer.pieces?.([{ type: 'text', text: rest }]);
    this.#writer.done(doneOf(answer));
  }

  #break(): void {
    this.broken = new BlockhouseError(
      'UPSTREAM_FAILED',
      `The attempt whose text was sent has failed. The block still answers the message ${this.#id}; send the same request again to get its answer.`,
    );
    this.#held = '';
    this.onBroken?.();
  }

  #write(text: string): void {
    this.#taken += text.length;
    this.#held += text;
    if (!this.#isFull) this.#flush();
  }

  /** held-back. */
  #flush(): void {
    const text = this.#held;
    this.#held = '';
    if (text === '' || this.#writer.pieces?.([{ type: 'text', text }]) !== false) return;
    this.#isFull = true;
    this.#writer.onceWritable(() => {
      this.#isFull = false;
      this.#flush();
    });
  }
}

/** The end of an answer, as a provider would tell it. */
export function doneOf({ usage, stopReason = 'end_turn' }: ChatEntry): ChatDone {
  return { usage: usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0, estimated: true }, stopReason };
}
