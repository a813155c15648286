// What servers list while they work, for one reader that takes one list after the other.
//
// newest: of each server only the newest list waits, however many of its processes announce one.
import type { ListedTool } from './server.ts';

/** Hands lists to `take`, which never rejects. */
export class NewestLists {
  readonly #take: (server: string, tools: readonly ListedTool[]) => Promise<void>;
  readonly #waiting = new Map<string, readonly ListedTool[]>();
  #isAtWork = false;

  constructor(take: (server: string, tools: readonly ListedTool[]) => Promise<void>) {
    this.#take = take;
  }

  add(server: string, tools: readonly ListedTool[]): void {
    this.#waiting.set(server, tools); // newest
    if (!this.#isAtWork) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    for (const [server, tools] of this.#waiting) {
      this.#waiting.delete(server);
      await this.#take(server, tools);
    }
    this.#isAtWork = false;
  }
}
