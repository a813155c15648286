// The steps of the reply that a block is writing, for readers that follow it.
//
// numbered-by-character: the number of a `content` step is that of its `start` plus the characters so far. So a reader that passes the last
//   number it has seen gets exactly the rest, and the stream keeps no record of each step.
// counts-up: the numbers of a block only grow, even across restarts of the process.
// late-readers: a reader that joins late gets the text so far as one step. A reply that has ended is in chat.json.
import type { ReplyStep } from '../../store/store.ts';

export type { ReplyStep };

type WithoutSeq<S> = S extends ReplyStep ? Omit<S, 'seq'> : never;
/** A step before it has its number. */
export type ReplyFact = WithoutSeq<ReplyStep>;

/** The text of a reply as its writer holds it. */
export interface TextSoFar {
  /** The text from position `from` on. */
  slice(from: number): string;
}

/** Numbers for all blocks. They start at the process's start time in microseconds, because no process writes a million characters a second for long. */
export class StepCounter {
  #seq: number;

  constructor(epochMs: number) {
    this.#seq = Math.ceil(epochMs * 1000);
  }

  /** The last number that was given, or that a reply has reached. */
  get last(): number {
    return this.#seq;
  }

  /** A number greater than all earlier ones. */
  next(): number {
    this.#seq += 1;
    return this.#seq;
  }

  /** Makes all later numbers greater than `seq`, which may be a time with a fraction. */
  follow(seq: number): void {
    this.#seq = Math.max(this.#seq, Math.ceil(seq));
  }
}

interface Growing {
  readonly start: ReplyStep & { event: 'start' };
  readonly text: TextSoFar;
}

/** Distributes the steps of one block's replies to its readers. */
export class ReplyStream {
  readonly #counter: StepCounter;
  readonly #readers = new Set<(step: ReplyStep) => void>();
  #reply: Growing | undefined;
  #seq: number;

  constructor(counter: StepCounter) {
    this.#counter = counter;
    this.#seq = counter.last; // counts-up
  }

  /** The number of the last step, or a greater one than those of all earlier steps of the block. */
  get seq(): number {
    return this.#seq;
  }

  /** UTF-16 units of the reply under way (numbered-by-character); 0 if there is none. */
  get characters(): number {
    return this.#reply === undefined ? 0 : this.#seq - this.#reply.start.seq;
  }

  /** A reply begins. `text` must contain each fragment before it is emitted. */
  start(fact: Omit<ReplyFact & { event: 'start' }, 'event'>, text: TextSoFar): void {
    this.#seq = this.#counter.next();
    const start = { ...fact, event: 'start', seq: this.#seq } as const;
    this.#reply = { start, text };
    this.#tell(start);
  }

  /** A reply grows or ends. */
  emit(fact: ReplyFact & { event: 'content' | 'done' | 'error' }): void {
    this.#seq += fact.event === 'content' ? fact.text.length : 1; // numbered-by-character
    if (fact.event !== 'content') this.#end();
    this.#tell({ ...fact, seq: this.#seq });
  }

  /** Calls `reader` with the steps after `sinceSeq` of the reply under way, and then with each new step. Returns a function that ends this. */
  join(reader: (step: ReplyStep) => void, sinceSeq = 0): () => void {
    for (const step of this.#missed(sinceSeq)) reader(step);
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  #end(): void {
    this.#reply = undefined;
    this.#counter.follow(this.#seq); // counts-up
  }

  #tell(step: ReplyStep): void {
    for (const reader of this.#readers) reader(step);
  }

  /** late-readers. */
  #missed(sinceSeq: number): ReplyStep[] {
    if (this.#reply === undefined) return [];
    const { start, text } = this.#reply;
    const missed: ReplyStep[] = sinceSeq < start.seq ? [start] : [];
    if (this.#seq <= Math.max(sinceSeq, start.seq)) return missed;
    return [...missed, { id: start.id, seq: this.#seq, event: 'content', text: text.slice(Math.max(0, sinceSeq - start.seq)) }];
  }
}
