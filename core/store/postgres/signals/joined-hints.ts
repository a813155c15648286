// Hints of others, of which the same one is handed on some times a second at most.
//
// first-at-once: what was not heard within EVERY_MS is handed on at once, and what is heard again meanwhile is handed on once, when that time is over. So who comes with a hint for a
//   block makes it look soon, and who repeats it without end does not keep the block from its work: each look asks the database, and a block that begins to look again and again ends nothing.
// bounded: of very many different ones, those beyond MOST are left out. They are hints, and a look behind each finds the same within a second.
const EVERY_MS = 100;
const MOST = 1000;

/** Hands hints on. */
export class JoinedHints<H extends object> {
  readonly #hand: (hint: H) => void;
  /** What was handed on lately, by its text, and the hint that has come again. */
  readonly #lately = new Map<string, H | undefined>();
  #timer: NodeJS.Timeout | undefined;

  constructor(hand: (hint: H) => void) {
    this.#hand = hand;
  }

  /** first-at-once. */
  hear(hint: H): void {
    const text = JSON.stringify(hint);
    const isNew = !this.#lately.has(text);
    if (isNew && this.#lately.size >= MOST) return; // bounded
    this.#lately.set(text, isNew ? undefined : hint);
    this.#timer ??= this.#soon();
    if (isNew) this.#hand(hint);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#lately.clear();
  }

  #soon(): NodeJS.Timeout {
    return setTimeout(() => this.#sweep(), EVERY_MS).unref();
  }

  #sweep(): void {
    for (const [text, again] of [...this.#lately]) {
      if (again === undefined) this.#lately.delete(text);
      else {
        this.#lately.set(text, undefined);
        this.#hand(again);
      }
    }
    this.#timer = this.#lately.size > 0 ? this.#soon() : undefined;
  }
}
