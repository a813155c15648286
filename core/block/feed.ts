// The reply that a block is writing, for those who want to see it grow.
//
// G1 Steps are numbered through, over restarts of the process as well, so that a reader can ask for what it has missed.
// G2 Whoever joins late gets the text so far as one step; a reply that is over is in chat.json.
import type { ReplyStep } from './api.ts';

type Fields<S> = S extends ReplyStep ? Omit<S, 'seq'> : never;
export type ReplyFact = Fields<ReplyStep>;

/** G1. Counts within a process begin at the time of its start, in microseconds: no process writes a million steps a second. */
export class StepCounter {
  #seq: number;

  constructor(epochMs: number) {
    this.#seq = epochMs * 1000;
  }

  next(): number {
    this.#seq += 1;
    return this.#seq;
  }
}

interface Piece {
  readonly seq: number;
  readonly end: number;
}

export class ReplyFeed {
  readonly #counter: StepCounter;
  readonly #readers = new Set<(step: ReplyStep) => void>();
  #start: (ReplyStep & { event: 'start' }) | undefined;
  #text = '';
  #pieces: Piece[] = [];

  constructor(counter: StepCounter) {
    this.#counter = counter;
  }

  emit(fact: ReplyFact): void {
    const step = { ...fact, seq: this.#counter.next() } as ReplyStep;
    this.#keep(step);
    for (const reader of this.#readers) reader(step);
  }

  /** Calls `reader` with what it has missed of the reply that is being written, and then with each step. */
  join(reader: (step: ReplyStep) => void, sinceSeq = 0): () => void {
    for (const step of this.#missed(sinceSeq)) reader(step);
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  #keep(step: ReplyStep): void {
    if (step.event === 'content') {
      this.#text += step.text;
      this.#pieces.push({ seq: step.seq, end: this.#text.length });
      return;
    }
    this.#start = step.event === 'start' ? step : undefined;
    this.#text = '';
    this.#pieces = [];
  }

  /** G2. */
  #missed(sinceSeq: number): ReplyStep[] {
    if (this.#start === undefined) return [];
    const missed: ReplyStep[] = sinceSeq < this.#start.seq ? [this.#start] : [];
    const from = this.#pieces.findLast(({ seq }) => seq <= sinceSeq)?.end ?? 0;
    const last = this.#pieces.at(-1);
    if (last === undefined || last.end === from) return missed;
    return [...missed, { id: this.#start.id, seq: last.seq, event: 'content', text: this.#text.slice(from) }];
  }
}
