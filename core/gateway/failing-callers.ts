// The callers of one destination whose calls fail there, with a circuit for all their models and one for each.
//
// bounded-callers: At most MAX_CALLERS callers and MAX_MODELS models of each are remembered, and only while something fails or was paused. Those that are not
//   paused are forgotten first, then the oldest. A model is whatever a client makes up, so with made-up names a caller pushes out its own models and no others.
import type { Circuit } from './circuit.ts';

/** Keys and blocks that fail at the same destination at the same time. */
const MAX_CALLERS = 1024;
const MAX_MODELS = 16;

/** Whose calls these are; without key and caller, those of programs with the token. */
export interface Source {
  readonly key?: string | undefined;
  readonly caller?: string | undefined;
  readonly model: string;
}

/** A call and its caller. */
interface ClientSource extends Source {
  readonly client: string;
}

/** One caller whose calls have failed. */
export interface Caller {
  readonly key: string | undefined;
  readonly caller: string | undefined;
  /** Across models. */
  readonly circuit: Circuit;
  readonly models: Map<string, Circuit>;
}

/** Callers by name. */
export class FailingCallers {
  readonly #create: (source: Partial<Source>, since: number) => Circuit;
  readonly #callers = new Map<string, Caller>();

  /** `create` makes the circuit of a caller or, with a model, of its calls to that model; calls from before the turn `since` do not count there. */
  constructor(create: (source: Partial<Source>, since: number) => Circuit) {
    this.#create = create;
  }

  get size(): number {
    return this.#callers.size;
  }

  /** How many have a pause or are trying. */
  get paused(): number {
    return [...this.#callers.values()].filter(isPaused).length;
  }

  get all(): Iterable<Caller> {
    return this.#callers.values();
  }

  /** Of each caller, that for all its models. */
  get circuits(): Circuit[] {
    return [...this.#callers.values()].map(({ circuit }) => circuit);
  }

  /** Of each caller, that for its calls to `model`. */
  circuitsFor(model: string): Circuit[] {
    return [...this.#callers.values()].flatMap(({ models }) => models.get(model) ?? []);
  }

  /** Undefined if nothing of `client` has failed. */
  get(client: string): Caller | undefined {
    return this.#callers.get(client);
  }

  of({ client, key, caller }: ClientSource, since: number): Caller {
    const known = this.#callers.get(client);
    if (known !== undefined) return known;
    const created: Caller = { key, caller, circuit: this.#create({ key, caller }, since), models: new Map() };
    makeRoom(this.#callers, MAX_CALLERS, isPaused);
    this.#callers.set(client, created);
    return created;
  }

  /** The circuit for this caller and this model. `since` and `modelSince` are those of the circuits that all callers share. */
  modelOf(call: ClientSource, since: number, modelSince: number): Circuit {
    const { key, caller, models } = this.of(call, since);
    const known = models.get(call.model);
    if (known !== undefined) return known;
    const created = this.#create({ key, caller, model: call.model }, Math.max(since, modelSince));
    makeRoom(models, MAX_MODELS, ({ phase }) => phase !== 'closed');
    models.set(call.model, created);
    return created;
  }

  /** A shared circuit has closed with the turn `since`: nobody waits for a turn there any more. */
  release(since: number, circuitOf: (caller: Caller) => Circuit | undefined): void {
    for (const [client, caller] of this.#callers) {
      circuitOf(caller)?.release(since);
      this.forgetBlank(client, caller);
    }
  }

  /** Forgets what nothing is known of. */
  forgetBlank(client: string, { circuit, models }: Caller): void {
    for (const [model, own] of models) if (own.isBlank) models.delete(model);
    if (circuit.isBlank && models.size === 0) this.#callers.delete(client);
  }
}

/** bounded-callers: forgets one of those that are not paused or, if all are, the oldest. */
export function makeRoom<T>(map: Map<string, T>, max: number, isPaused: (entry: T) => boolean): void {
  if (map.size < max) return;
  let last: string | undefined;
  for (const [name, entry] of map) {
    last ??= name;
    if (isPaused(entry)) continue;
    last = name;
    break;
  }
  if (last !== undefined) map.delete(last);
}

function isPaused({ circuit, models }: Caller): boolean {
  return circuit.phase !== 'closed' || [...models.values()].some(({ phase }) => phase !== 'closed');
}
