// The models that the servers of connections list themselves. Each is asked at most once in ten minutes, and not for long: a list of all models waits for all
// servers. A server that does not answer has no models for half a minute.
import { type Endpoint, isOffered } from '../../auth/endpoint.ts';
import { timeLimit } from '../../base/abort.ts';
import { toBlockhouseError } from '../../errors.ts';
import type { Adapter, AdapterCall, ListedModel, UpstreamTimeouts } from '../../ports.ts';
import type { EntryKeys } from './key-rings.ts';

const KEEP_MS = 600_000;
/** A server that was started a moment ago is found soon. */
const KEEP_FAILURE_MS = 30_000;
const PATIENCE_MS = 1500;
const TIMEOUTS: UpstreamTimeouts = { connectMs: PATIENCE_MS, firstByteMs: PATIENCE_MS, idleMs: PATIENCE_MS };
const NONE: readonly ListedModel[] = [];

interface Known {
  readonly models: Promise<readonly ListedModel[]>;
  /** Monotonic milliseconds; infinite while the server is being asked. */
  until: number;
  /** Once it is known. */
  list?: readonly ListedModel[];
}

/** A call that may have several keys to choose from. */
export type AskedCall = AdapterCall & { readonly keys?: EntryKeys | undefined };

/** How a question is asked: once, or with one key after the other. */
export type Asks = <T>(call: AskedCall, question: (call: AdapterCall) => Promise<T>) => Promise<T>;

const askOnce: Asks = (call, question) => question(call);

/** The lists by connection: an object that is another one after each change of auth.json, which forgets them. */
export class ServedModels {
  readonly #now: () => number;
  readonly #known = new WeakMap<Adapter, Known>();

  /** `now` in monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What the server of a connection lists; nothing if it does not answer, or `ready`, which gets its key, rejects. Rejects for a defect of ours alone. */
  of(adapter: Adapter, ready: () => Promise<void>, makeCall: (signal: AbortSignal) => AskedCall, asks: Asks = askOnce): Promise<readonly ListedModel[]> {
    const known = this.#known.get(adapter);
    if (known !== undefined && known.until > this.#now()) return known.models;
    const made: Known = {
      models: this.#ask(adapter, ready, makeCall, asks).then(([list, keepMs]) => this.#keep(made, list, keepMs)),
      until: Number.POSITIVE_INFINITY,
    };
    this.#known.set(adapter, made);
    return made.models;
  }

  /** How much a model can read, if the list was asked for before and says it. */
  windowOf(adapter: Adapter, model: string): number | undefined {
    return this.#known.get(adapter)?.list?.find(({ id }) => id === model)?.contextWindow;
  }

  #keep(known: Known, list: readonly ListedModel[], keepMs: number): readonly ListedModel[] {
    known.list = list;
    known.until = this.#now() + keepMs;
    return list;
  }

  async #ask(
    adapter: Adapter,
    ready: () => Promise<void>,
    makeCall: (signal: AbortSignal) => AskedCall,
    asks: Asks,
  ): Promise<readonly [list: readonly ListedModel[], keepMs: number]> {
    try {
      await ready();
      const call = makeCall(timeLimit(PATIENCE_MS));
      const list = async (each: AdapterCall) => (await adapter.listServed?.({ ...each, timeouts: TIMEOUTS })) ?? NONE;
      return [await asks(call, list), KEEP_MS];
    } catch (error) {
      if (toBlockhouseError(error).code === 'INTERNAL_ERROR') throw error;
      return [NONE, KEEP_FAILURE_MS]; // the call of a model says what is wrong
    }
  }
}

/** The ids that lists show: those of the server and those that the entry knows, as far as the entry offers them. */
export function offeredIds(endpoint: Endpoint | undefined, served: readonly ListedModel[]): string[] {
  const ids = new Set([...served.map(({ id }) => id), ...(endpoint?.named ?? [])]);
  return [...ids].filter((id) => isOffered(endpoint?.offer, id));
}
