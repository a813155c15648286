// The ids of the entries of one block's conversation.
import { randomBytes } from 'node:crypto';

const OWN_ID = /^m([0-9a-z]{9})([0-9a-z]{4})[0-9a-f]{8}$/;

/** Makes ids that sort by time, and by order within a millisecond. They keep growing even if the clock is set back, and after a restart. */
export class EntryIds {
  #last = 0;
  #count = 0;
  readonly #now: () => number;
  readonly #ending: () => string;

  /** `ending` are eight hexadecimal digits, by which the ids of two processes differ. */
  constructor(now: () => number, ending = () => randomBytes(4).toString('hex')) {
    this.#now = now;
    this.#ending = ending;
  }

  /** Makes every later id sort after the ids of these entries. */
  follow(entries: Iterable<{ readonly id?: string }>): void {
    for (const { id } of entries) {
      const [, time, count] = OWN_ID.exec(id ?? '')?.map((digits) => Number.parseInt(digits, 36)) ?? [];
      if (time === undefined || count === undefined || time < this.#last || (time === this.#last && count <= this.#count)) continue;
      this.#last = time;
      this.#count = count;
    }
  }

  /** A new id, greater than every one before it. */
  next(): string {
    const now = Math.max(this.#now(), this.#last);
    this.#count = now === this.#last ? this.#count + 1 : 0;
    this.#last = now;
    return `m${now.toString(36).padStart(9, '0')}${this.#count.toString(36).padStart(4, '0')}${this.#ending()}`;
  }
}
