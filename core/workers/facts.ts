// What has happened in a worker, on its way to the primary.
//
// in-order: facts arrive in the order in which they were told, twenty times a second.
// all-when-watched: beginnings of calls, and attempts, are many, so they are sent only while somebody follows the events.
import type { CoreBus } from '../bus.ts';
import type { Link } from './link.ts';
import type { PrimarySays, WorkerFact, WorkerSays } from './says.ts';

const TELL_EVERY_MS = 50;

/** The facts of one worker. */
export class WorkerFacts {
  readonly #link: Link<WorkerSays, PrimarySays>;
  #facts: WorkerFact[] = [];
  #timer: NodeJS.Timeout | undefined;
  #tellsAll = false;

  /** The end of a call is told by who keeps its account; with `tellsEnds`, nobody else does. */
  constructor(link: Link<WorkerSays, PrimarySays>, bus: CoreBus, { tellsEnds }: { readonly tellsEnds: boolean }) {
    this.#link = link;
    bus.on('*', (name, data) => {
      // Of the files of the workspace, the primary knows itself.
      const isOurs =
        name.startsWith('adapter.') || name.startsWith('credential.') || name === 'workspace.fault' || name === 'call.retried' || name === 'loop.delayed';
      if (
        isOurs ||
        (tellsEnds && (name === 'call.finished' || name === 'call.counted')) ||
        (this.#tellsAll && (name === 'call.started' || name.startsWith('attempt.')))
      )
        this.tell({ name, data } as WorkerFact);
    });
  }

  /** all-when-watched. */
  tellAll(): void {
    this.#tellsAll = true;
  }

  tell(fact: WorkerFact): void {
    this.#facts.push(fact);
    this.#timer ??= setTimeout(() => this.flush(), TELL_EVERY_MS).unref();
  }

  /** Tells the primary all that has happened; with `now`, also if this process is killed right after. */
  flush(now = false): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#facts.length > 0) this.#link.tell('facts', this.#facts.splice(0), now);
  }
}
