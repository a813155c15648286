// The keys of a connection with several: which one a call is made with. Pure: no I/O.
//
// same-key: A conversation keeps its key, because the provider keeps the beginning of its prompt for that key. While the key can't be used, it has another one, and then it
//   comes back.
// least-used: A new conversation gets the key with the fewest calls under way for its weight, then with the fewest tokens in the last minute for its weight. Of equal ones,
//   it is the one that every server and every process picks for this conversation.
// own-words: What a provider has said about the call of one application is for no other one, and the labels of keys are for none: without a name of their own, they are the ends of keys.
// once: No call is made twice with the same key.
// kept-for-one: A key that becomes free while calls wait is kept for the one whose turn it is by key-line.ts, until it takes a key or gives up. So no other call comes before it while it
//   notes its costs; key-turns.ts says for how long.
// pause-over: A call that waits looks again when a pause ends, not only when another call has ended.
// kept-state: An edit of the entry keeps what is known of the keys that stay, except that a refused or empty one is tried again.
import { BlockhouseError } from '../../errors.ts';
import { Conversations, type Known } from './conversations.ts';
import type { UsableKey } from './entry-keys.ts';
import { KeyLine, type KeyWaiter } from './key-line.ts';
import { type KeyFault, KeyState, type Pause } from './key-state.ts';

/** A call that needs a key. */
export interface KeyedCall {
  /** The key of the client, its block, or the token. */
  readonly client: string;
  readonly model: string;
  /** Which of the client's conversations it belongs to; undefined for none. Called at most once for each call of `take`. */
  conversation(): string | undefined;
}

/** Told of pauses of keys. Milliseconds. */
export interface KeyFacts {
  cooled(key: string, pause: Pause & { readonly model: string; readonly forMs: number }): void;
  recovered(key: string, model: string): void;
}

const SHORTEST_RETRY_AFTER_MS = 1000;

/** The keys of one connection. */
export class KeyRing {
  readonly #name: string;
  readonly #now: () => number;
  readonly #facts: KeyFacts;
  readonly #conversations = new Conversations<KeyState>();
  /** Calls that wait for a key with fewer calls under way. */
  readonly #line = new KeyLine<KeyedCall>();
  #states: readonly KeyState[] = [];

  /** `now` in monotonic milliseconds. */
  constructor(name: string, now: () => number, facts: KeyFacts) {
    this.#name = name;
    this.#now = now;
    this.#facts = facts;
  }

  get states(): readonly KeyState[] {
    return this.#states;
  }

  /** Conversations in memory. */
  get conversations(): number {
    return this.#conversations.size;
  }

  /** Clients who have a key or wait for one. */
  get clients(): number {
    return this.#line.clients;
  }

  /** Takes the keys as the entry has them now. kept-state. */
  use(keys: readonly UsableKey[]): void {
    const known = new Map(this.#states.map((state) => [state.key.value, state]));
    this.#states = keys.map((key) => {
      const state = known.get(key.value) ?? new KeyState(key);
      state.key = key;
      state.forgive();
      return state;
    });
    const kept = new Set(this.#states);
    this.#conversations.forget((state) => !kept.has(state));
    this.#wake();
  }

  /** Those that could be used now first, each in the order of the entry. */
  byReadiness(): KeyState[] {
    const now = this.#now();
    const [ready, paused]: [KeyState[], KeyState[]] = [[], []];
    for (const state of this.#states) (state.shown(now).fault === undefined ? ready : paused).push(state);
    return [...ready, ...paused];
  }

  /**
   * The key for a call, which counts as under way with it until `release`. Undefined if all that it might have are as busy as they may be: `freed` says when
   * to ask again. `kept` is what that has resolved with. Throws UPSTREAM_RATE_LIMITED or UPSTREAM_AUTH if all are paused or `tried`.
   */
  take(call: KeyedCall, tried: ReadonlySet<KeyState> | undefined, kept?: KeyState): KeyState | undefined {
    if (kept === undefined) return this.#take(call, tried);
    this.#leave(kept, call.client); // it is taken again before anybody else looks
    try {
      return this.#take(call, tried);
    } finally {
      this.#wake();
    }
  }

  #take(call: KeyedCall, tried: ReadonlySet<KeyState> | undefined): KeyState | undefined {
    const now = this.#now();
    const conversation = call.conversation();
    const known = conversation === undefined ? undefined : this.#conversations.find(call.client, conversation, now);
    const state = known === undefined ? this.#least(call, conversation, tried, now) : this.#keyOf(known, call, conversation, tried, now);
    if (state === undefined) {
      const refusal = this.refusal(call, tried);
      if (refusal !== undefined) throw refusal;
      return undefined;
    }
    if (known === undefined && conversation !== undefined) this.#conversations.add(call.client, conversation, state, now);
    state.take(call.model, now, call.client);
    this.#line.take(call.client);
    return state;
  }

  /** The call of this client is over, or does not take the key that was kept for it. */
  release(state: KeyState, client: string): void {
    this.#leave(state, client);
    this.#wake();
  }

  #leave(state: KeyState, client: string): void {
    state.inFlight -= 1;
    this.#line.leave(client);
  }

  /** Resolves with a key that is kept for the call, which takes or releases it; without one when there is none left for it, or `signals` fire. */
  freed(call: KeyedCall, tried: ReadonlySet<KeyState> | undefined, ...signals: readonly AbortSignal[]): Promise<KeyState | undefined> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const end = (): void => waiter.go(undefined);
      const waiter: KeyWaiter<KeyedCall> = {
        client: call.client,
        call,
        tried,
        go: (kept) => {
          clearTimeout(timer);
          this.#line.remove(waiter, kept !== undefined);
          for (const signal of signals) signal.removeEventListener('abort', end);
          resolve(kept);
        },
      };
      const look = (): void => {
        const soonest = this.#pauseEnd(call, tried);
        if (soonest !== undefined) timer = setTimeout(lookAgain, soonest - this.#now() + 1).unref(); // pause-over
      };
      const lookAgain = (): void => {
        look();
        this.#wake();
      };
      this.#line.add(waiter);
      look();
      for (const signal of signals) signal.addEventListener('abort', end);
      if (signals.some(({ aborted }) => aborted)) end();
    });
  }

  /** When the first pause ends of those that keep the call from a key. */
  #pauseEnd({ client, model }: KeyedCall, tried: ReadonlySet<KeyState> | undefined): number | undefined {
    const now = this.#now();
    const ends = this.#states.flatMap((state) => (tried?.has(state) === true ? [] : (state.pauseFor(model, now, client)?.until ?? [])));
    return ends.length === 0 ? undefined : Math.min(...ends);
  }

  succeed(state: KeyState, model: string, takenAt: number): void {
    if (state.succeed(model, takenAt)) this.#facts.recovered(state.label, model);
  }

  /** Without a `client`, it concerns all of them. */
  fail(state: KeyState, model: string, fault: KeyFault, failure: BlockhouseError, takenAt: number, client?: string): void {
    const now = this.#now();
    const pause = state.fail(model, fault, failure, { takenAt, now, client });
    if (pause !== undefined) this.#facts.cooled(state.label, { ...pause, model, forMs: pause.until - now });
  }

  /** same-key. */
  #keyOf(known: Known<KeyState>, call: KeyedCall, conversation: string | undefined, tried: ReadonlySet<KeyState> | undefined, now: number) {
    if (isUsable(known.home, call, tried, now)) return known.home;
    if (known.away !== undefined && isUsable(known.away, call, tried, now)) return known.away;
    const other = this.#least(call, conversation, tried, now);
    known.away = other ?? known.away;
    return other;
  }

  /** least-used. */
  #least(call: KeyedCall, conversation: string | undefined, tried: ReadonlySet<KeyState> | undefined, now: number): KeyState | undefined {
    let best: KeyState | undefined;
    let seed: number | undefined;
    for (const state of this.#states) {
      if (!isUsable(state, call, tried, now)) continue;
      if (best === undefined) {
        best = state;
        continue;
      }
      let difference = state.inFlight * best.key.weight - best.inFlight * state.key.weight;
      if (difference === 0) difference = state.tokens(now) * best.key.weight - best.tokens(now) * state.key.weight;
      if (difference === 0) {
        seed ??= hashOf(conversation ?? '', hashOf(call.client));
        difference = hashOf(best.label, seed) - hashOf(state.label, seed);
      }
      if (difference < 0) best = state;
    }
    return best;
  }

  /** What a call fails with if all keys are paused for it or `tried`, the last time with `own`; undefined otherwise, however busy the others are. */
  refusal(
    { client, model }: Pick<KeyedCall, 'client' | 'model'>,
    tried: ReadonlySet<KeyState> | undefined,
    own?: BlockhouseError,
  ): BlockhouseError | undefined {
    const now = this.#now();
    const pauses: Pause[] = [];
    for (const state of this.#states) {
      const pause = state.pauseFor(model, now, client);
      if (pause === undefined && tried?.has(state) !== true) return undefined;
      if (pause !== undefined) pauses.push(pause);
    }
    return this.#refused(pauses, now, client.startsWith('key ') ? { words: own?.message } : undefined);
  }

  /** `told`: what alone an application may read. own-words. */
  #refused(pauses: readonly Pause[], now: number, told: { readonly words: string | undefined } | undefined): BlockhouseError {
    const soonest = pauses.filter(({ fault }) => fault !== 'refused').sort((one, other) => one.until - other.until)[0];
    const labels = told === undefined ? ` (${this.#states.map(({ label }) => label).join(', ')})` : '';
    const last = [...pauses].sort((one, other) => other.since - one.since)[0];
    const said = told === undefined ? last?.words : told.words;
    const words = said === undefined ? '' : ` The last answer: ${said}`;
    if (soonest === undefined && pauses.length === this.#states.length) {
      const cure = `Set others: \`blockhouse auth set ${this.#name} --add\`, or ${this.#name}.keys in auth.json.`;
      return new BlockhouseError('UPSTREAM_AUTH', `All keys of ${this.#name}${labels} are refused. ${cure}${words}`);
    }
    const retryAfterMs = Math.max(soonest === undefined ? 0 : soonest.until - now, SHORTEST_RETRY_AFTER_MS);
    const when = `The next one may be used in ${Math.ceil(retryAfterMs / 1000)} s.`;
    return new BlockhouseError('UPSTREAM_RATE_LIMITED', `No key of ${this.#name}${labels} can be used for this model now. ${when}${words}`, {
      retryAfterMs,
    });
  }

  /** kept-for-one. */
  #wake(): void {
    let hasKept = true;
    while (hasKept) hasKept = this.#keepOne();
    if (this.#line.isEmpty) return;
    for (const waiter of this.#line.inTurn()) if (this.refusal(waiter.call, waiter.tried) !== undefined) waiter.go(undefined);
  }

  /** False if nobody waits who may have one of the keys now. */
  #keepOne(): boolean {
    if (this.#line.isEmpty || this.#states.every(({ isFull }) => isFull)) return false;
    const now = this.#now();
    for (const waiter of this.#line.inTurn()) {
      const state = this.#least(waiter.call, undefined, waiter.tried, now);
      if (state === undefined) continue;
      state.inFlight += 1;
      this.#line.take(waiter.client);
      waiter.go(state);
      return true;
    }
    return false;
  }
}

function isUsable(state: KeyState, { client, model }: KeyedCall, tried: ReadonlySet<KeyState> | undefined, now: number): boolean {
  return !state.isFull && state.pauseFor(model, now, client) === undefined && tried?.has(state) !== true; // once
}

/** FNV-1a with a mixed end, so that texts that differ in their last character alone are far apart. */
export function hashOf(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
