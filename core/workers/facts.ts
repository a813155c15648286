// What has happened in a worker, on its way to the primary.
//
// in-order: facts arrive in the order in which they were told, twenty times a second.
// all-when-watched: beginnings of calls, and attempts, are many, so they are sent only while somebody follows the events.
import type { CoreBus, CoreEvents } from '../bus.ts';
import type { Link } from './link.ts';
import type { PrimarySays, WorkerFact, WorkerSays } from './says.ts';

const TELL_EVERY_MS = 50;
type Name = WorkerFact['name'];
type OfProviders = Extract<keyof CoreEvents, `adapter.${string}` | `credential.${string}`>;
/** A record, so that the compiler misses a name that is left out. */
const OF_PROVIDERS: Readonly<Record<OfProviders, true>> = {
  'adapter.paused': true,
  'adapter.recovered': true,
  'credential.cooled': true,
  'credential.recovered': true,
};
/** Of the files of the workspace, the primary knows itself. */
const ALWAYS: readonly Name[] = [...(Object.keys(OF_PROVIDERS) as OfProviders[]), 'workspace.fault', 'call.retried', 'loop.delayed'];
const ENDS: readonly Name[] = ['call.finished', 'call.counted'];
const WHEN_WATCHED: readonly Name[] = ['call.started', 'attempt.started', 'attempt.ended'];

/** The facts of one worker. */
export class WorkerFacts {
  readonly #link: Link<WorkerSays, PrimarySays>;
  readonly #bus: CoreBus;
  #facts: WorkerFact[] = [];
  #timer: NodeJS.Timeout | undefined;
  #tellsAll = false;

  /** The end of a call is told by who keeps its account; with `tellsEnds`, nobody else does. */
  constructor(link: Link<WorkerSays, PrimarySays>, bus: CoreBus, { tellsEnds }: { readonly tellsEnds: boolean }) {
    this.#link = link;
    this.#bus = bus;
    for (const name of tellsEnds ? [...ALWAYS, ...ENDS] : ALWAYS) this.#follow(name);
  }

  /** all-when-watched. */
  tellAll(): void {
    if (this.#tellsAll) return;
    this.#tellsAll = true;
    for (const name of WHEN_WATCHED) this.#follow(name);
  }

  /** By its name: who listens to all facts has those made, too, that are made only for listeners. */
  #follow(name: Name): void {
    this.#bus.on(name, (data: unknown) => this.tell({ name, data } as WorkerFact));
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
