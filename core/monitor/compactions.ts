// The compactions of a workspace that are under way. Pure: no I/O.
//
// P1 One at a time for each block, whoever asks for it: two summaries of the same exchanges would be paid, and one kept.
// P2 Each can be ended from outside, and waited for until all of it is written: before its block moves, and before the ledger closes.
import { BlockhouseError } from '../errors.ts';

interface UnderWay {
  readonly controller: AbortController;
  readonly ended: Promise<unknown>;
}

export class Compactions {
  readonly #underWay = new Map<string, UnderWay>();

  /** `work` has a signal that fires with `signal`, and when it is ended. Throws WRONG_STATE (P1). */
  async run<T>(block: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#underWay.has(block)) throw new BlockhouseError('WRONG_STATE', 'Its memory is being summarised already.');
    const controller = new AbortController();
    const leave = (): void => controller.abort();
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    const working = work(controller.signal);
    this.#underWay.set(block, { controller, ended: working.catch(() => undefined) }); // its caller has the failure
    try {
      return await working;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#underWay.delete(block);
    }
  }

  /** P2. */
  async end(block: string): Promise<void> {
    const one = this.#underWay.get(block);
    one?.controller.abort();
    await one?.ended;
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#underWay.keys()].map((block) => this.end(block)));
  }
}
