// The model ids of providers that have no curated list, such as those of a local daemon, or whose credentials must be searched. Each list is asked for at most once at a time and kept for a
// short time. A provider that can't be reached has no models.
//
// in-time: A request whose name needs a list may be for another provider, so it waits for MAX_WAIT_MS at most. While a provider does not answer in that
//   time, its last list is used at once, and it is asked again meanwhile.
import { endWhenCallerLeaves } from '../base/abort.ts';

/** A model that was pulled a moment ago is found soon. */
const KEEP_MS = 30_000;
/** A daemon that was started a moment ago is found soon. */
const KEEP_FAILURE_MS = 5000;
/** in-time. */
const MAX_WAIT_MS = 3000;

/** What the lists work with. */
export interface ModelListsOptions {
  /** The model ids of an adapter. May reject. `signal` says that nobody waits any more. */
  load(adapter: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** The default is MAX_WAIT_MS. */
  readonly maxWaitMs?: number;
}

interface Known {
  readonly models: readonly string[];
  readonly until: number;
  /** The provider did not answer in time when it was asked last. */
  readonly isLate: boolean;
}

/** The live lists, by adapter. */
export class ModelLists {
  readonly #options: ModelListsOptions;
  readonly #known = new Map<string, Known>();
  readonly #asked = new Map<string, Promise<readonly string[]>>();

  constructor(options: ModelListsOptions) {
    this.#options = options;
  }

  /** The list if it is known and new enough. */
  fresh(adapter: string): readonly string[] | undefined {
    const known = this.#known.get(adapter);
    return known !== undefined && known.until > this.#options.now() ? known.models : undefined;
  }

  /** The list, which is asked for if it is too old. Empty if the provider can't be asked. */
  async of(adapter: string): Promise<readonly string[]> {
    const fresh = this.fresh(adapter);
    if (fresh !== undefined) return fresh;
    const asked = this.#asked.get(adapter) ?? this.#ask(adapter);
    this.#asked.set(adapter, asked);
    const known = this.#known.get(adapter);
    return known?.isLate === true ? known.models : asked; // in-time
  }

  async #ask(adapter: string): Promise<readonly string[]> {
    const late = new AbortController();
    const { signal } = late;
    const timer = setTimeout(() => late.abort(), this.#options.maxWaitMs ?? MAX_WAIT_MS);
    let models: readonly string[] = [];
    let keepMs = KEEP_MS;
    try {
      models = await endWhenCallerLeaves(
        () => this.#options.load(adapter, signal),
        signal,
        () => clearTimeout(timer),
      );
    } catch {
      // No daemon runs, it does not answer, or the provider has no key: the name may still be resolved in another way, and the call itself says what is wrong.
      if (signal.aborted) models = this.#known.get(adapter)?.models ?? [];
      keepMs = KEEP_FAILURE_MS;
    }
    this.#known.set(adapter, { models, until: this.#options.now() + keepMs, isLate: signal.aborted && keepMs === KEEP_FAILURE_MS });
    this.#asked.delete(adapter);
    return models;
  }
}
