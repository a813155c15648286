// Which notices of a server are handed on.
//
// in-turns: in one turn of the event loop, only the first few notices of each kind are handed on, since the tenth says nothing that the first did not say. The progress of each
//   call under way is a kind of its own, since it extends the time of that call.
import { isObject } from '../../core/base/json.ts';

const PROGRESS = 'notifications/progress';
/** Notices of one kind, and kinds of notices, in a turn. */
const MAX_ALIKE = 50;
const MAX_KINDS = 20;

/** The notices of one server. */
export class Notices {
  readonly #isOpen: (request: number) => boolean;
  /** How many of a kind have come in this turn. */
  readonly #others = new Map<unknown, number>();
  /** And of the progress of an open call. */
  readonly #progress = new Map<unknown, number>();

  /** `isOpen`: whether a request of this id waits for its answer. */
  constructor(isOpen: (request: number) => boolean) {
    this.#isOpen = isOpen;
  }

  /** Whether this one is handed on. */
  take({ method, params }: Readonly<Record<string, unknown>>): boolean {
    const token = method === PROGRESS && isObject(params) ? Number(params['progressToken']) : undefined; // the client reads a text of digits, too
    const isOfCall = token !== undefined && this.#isOpen(token);
    if (this.#others.size === 0 && this.#progress.size === 0) {
      setImmediate(() => {
        this.#others.clear();
        this.#progress.clear();
      });
    }
    const counts: Map<unknown, number> = isOfCall ? this.#progress : this.#others;
    const kind = isOfCall ? token : method;
    const count = (counts.get(kind) ?? 0) + 1;
    if (count === 1 && !isOfCall && counts.size >= MAX_KINDS) return false;
    counts.set(kind, count);
    return count <= MAX_ALIKE;
  }
}
