// The keys that one call has been made with, one after the other. Pure: no I/O.
//
// once: A call is made with each key at most once, unless its failure said nothing of the key.
// given-back: A key that was taken is given back when its attempt has ended, however it did, and one that was kept for the call when it did not take it.
import type { ResolvedSettings } from '../../auth/settings.ts';
import type { BlockhouseError } from '../../errors.ts';
import type { Usage } from '../../types.ts';
import type { KeyedCall, KeyRing } from './key-ring.ts';
import type { EntryKeys } from './key-rings.ts';
import { keyFaultOf, type KeyState } from './key-state.ts';

/** So long a key is kept for a call. One that needs longer, to note its costs or to wait for another call, asks for a key as if it were new. */
const KEEP_MS = 2000;

/** The turns of one call. */
export class KeyTurns {
  readonly #call: KeyedCall;
  readonly #now: () => number;
  #ring: KeyRing | undefined;
  /** The key of the attempt that is being made, or of the last one. */
  #state: KeyState | undefined;
  #takenAt = 0;
  #isHeld = false;
  /** Kept for the next attempt. */
  #kept: { readonly ring: KeyRing; readonly state: KeyState } | undefined;
  #tried: Set<KeyState> | undefined;

  /** `now` in monotonic milliseconds. */
  constructor(call: KeyedCall, now: () => number) {
    this.#call = call;
    this.#now = now;
  }

  /** The label of the last key; undefined before there is one. */
  get label(): string | undefined {
    return this.#state?.label;
  }

  /** Makes an attempt with the next key; undefined if that must wait. Throws what `KeyRing.take` and `makeWith` throw. */
  make<T>(keys: EntryKeys, makeWith: (settings: ResolvedSettings) => Promise<T>, failed: (error: unknown) => Promise<T>): Promise<T> | undefined {
    const state = this.take(keys);
    if (state === undefined) return undefined;
    try {
      return makeWith(keys.settingsOf(state)).then((answered) => {
        this.#succeeded();
        return answered;
      }, failed);
    } catch (error) {
      this.giveBack();
      throw error;
    }
  }

  /** As `KeyRing.take`. */
  take({ ring }: EntryKeys): KeyState | undefined {
    const kept = this.#kept;
    if (kept?.ring !== ring) this.#giveUp();
    this.#kept = undefined;
    const state = ring.take(this.#call, this.#tried, kept?.ring === ring ? kept.state : undefined);
    if (state === undefined) return undefined;
    this.#ring = ring;
    this.#state = state;
    this.#takenAt = this.#now();
    this.#isHeld = true;
    return state;
  }

  /** Waits until there may be a key for another attempt, which `next` makes, or one of the signals fires. given-back. */
  async afterWait<T>({ ring }: EntryKeys, signals: readonly AbortSignal[], next: () => Promise<T>): Promise<T> {
    const state = await ring.freed(this.#call, this.#tried, ...signals);
    if (state === undefined) return next();
    this.#kept = { ring, state };
    const late = setTimeout(() => this.#giveUp(), KEEP_MS).unref();
    try {
      return await next();
    } finally {
      clearTimeout(late);
      this.#giveUp();
    }
  }

  #giveUp(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    kept?.ring.release(kept.state, this.#call.client);
  }

  #succeeded(): void {
    if (this.#state !== undefined) this.#ring?.succeed(this.#state, this.#call.model, this.#takenAt);
    this.giveBack();
  }

  /** Undefined for a failure that says nothing of the key; else that there is another one, or what the call fails with because there is none. */
  failed(failure: BlockhouseError): 'another' | BlockhouseError | undefined {
    const [ring, state] = [this.#ring, this.#state];
    this.giveBack();
    const fault = keyFaultOf(failure);
    if (ring === undefined || state === undefined || fault === undefined) return undefined;
    ring.fail(state, this.#call.model, fault, failure, this.#takenAt, this.#call.client);
    this.#tried ??= new Set();
    this.#tried.add(state); // once
    return ring.refusal(this.#call, this.#tried, failure) ?? 'another';
  }

  /** given-back. */
  giveBack(): void {
    if (!this.#isHeld || this.#state === undefined) return;
    this.#isHeld = false;
    this.#ring?.release(this.#state, this.#call.client);
  }

  /** Counts what the call has used. */
  count({ inputTokens, outputTokens, cacheReadTokens = 0 }: Usage): void {
    this.#state?.count(inputTokens, outputTokens, cacheReadTokens, this.#now());
  }
}
