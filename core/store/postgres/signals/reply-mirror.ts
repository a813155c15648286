// The reply that a block is writing, as far as this server knows its steps. Pure: no I/O.
//
// whole-text: a step that does not follow the last one is refused, and the caller asks for what is missing. What comes twice is left out.
// late-readers: a reader that joins late gets the text so far as one step.
import type { Step } from './notices.ts';

type Start = Step & { readonly event: 'start' };

/** The steps of one block. */
export class ReplyMirror {
  readonly #readers = new Set<(step: Step) => void>();
  #start: Start | undefined;
  #text = '';
  #seq = 0;

  /** The number of the last step. */
  get seq(): number {
    return this.#seq;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** False if steps before it are missing. whole-text. */
  take(step: Step): boolean {
    if (step.seq <= this.#seq) return true;
    if (step.event === 'content') {
      const missing = step.seq - step.text.length - this.#seq;
      if (this.#start === undefined || missing > 0) return false;
      return this.#tell(missing === 0 ? step : { ...step, text: step.text.slice(-missing) });
    }
    return this.#tell(step);
  }

  /** The steps after `since` of the reply under way. */
  missed(since: number): Step[] {
    const start = this.#start;
    if (start === undefined) return [];
    const missed: Step[] = since < start.seq ? [start] : [];
    if (this.#seq <= Math.max(since, start.seq)) return missed;
    return [...missed, { id: start.id, seq: this.#seq, event: 'content', text: this.#text.slice(Math.max(0, since - start.seq)) }];
  }

  /** Calls `reader` with what it has missed, and then with each step. Returns a function that ends this. */
  join(reader: (step: Step) => void, since: number): () => void {
    for (const step of this.missed(since)) reader(step);
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** The writer of the reply is gone: another attempt begins from the start. */
  break(): void {
    if (this.#start === undefined) return;
    const { id } = this.#start;
    this.#tell({
      id,
      seq: this.#seq + 1,
      event: 'error',
      code: 'CRASHED',
      error: 'The server that wrote this reply is gone. Another one begins again.',
      willRetry: true,
    });
  }

  #tell(step: Step): true {
    this.#seq = step.seq;
    if (step.event === 'start') this.#start = step;
    else if (step.event !== 'content') this.#start = undefined;
    this.#text = step.event === 'content' ? this.#text + step.text : '';
    for (const reader of [...this.#readers]) reader(step);
    return true;
  }
}
