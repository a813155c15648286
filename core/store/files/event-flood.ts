// Notices that the system may have dropped events of watched folders, which it does without a word when too many wait.
//
// one-queue: on Linux all watches of a process share one queue, so a flood in one folder loses the events of others.
// one-turn: what waits is delivered in one turn of the event loop, so a turn with many events is the sign.

/** Half of what Linux keeps where nothing else is set. */
const MANY = 8192;

/** Counts the events of all watches of this process. */
export class EventFlood {
  /** Each looks for what its folder was not told of. */
  readonly looks = new Set<() => void>();
  #count = 0;

  /** Called for each event. */
  count(): void {
    if (this.#count === 0) setImmediate(() => this.#endTurn());
    this.#count += 1;
  }

  #endTurn(): void {
    const isFlood = this.#count >= MANY;
    this.#count = 0;
    if (isFlood) for (const look of [...this.looks]) look();
  }
}
