// One of several keys of a connection: what it does now, and when it may be used again. Pure: no I/O.
//
// one-model: A rate limit, or a 403, pauses the key for the model that was asked, since most providers count by model, and a client may ask for one that the key does not
//   have. An empty account and a key that is refused concern all models.
// one-probe: When the pause of an empty or refused key is over, one call of each client tries it. Its others may when that call has succeeded, or PROBE_MS later.
// one-client: A pause that the calls of one client alone have brought about holds for that client, until a call of another one fails in the same way. Else one client could
//   shut out all others: a 402 may come of a request that is too large for the account, and a 429 of one that is too large for a minute. So it is with a pause of all that is over:
//   who tries the key then and fails does not make it longer for others.
// not-older: What a call tells that was sent before a pause began neither ends the pause nor makes it longer.
import { keptText } from '../../base/kept-text.ts';
import type { BlockhouseError } from '../../errors.ts';
import type { UsableKey } from './entry-keys.ts';

/** Why a key is not used. */
export type KeyFault = 'cooling' | 'refused' | 'empty';

const SHORTEST_COOL_MS = 1000;
const LONGEST_COOL_MS = 3_600_000;
const FIRST_COOL_MS = 5000;
/** Without a wait of the provider's own. */
const MOST_DOUBLED_MS = 300_000;
const EMPTY_MS = 3_600_000;
const REFUSED_MS = 600_000;
const PROBE_MS = 60_000;
/** Names of models may be whatever a client makes up. */
const MAX_MODELS = 64;
/** Of the last minute. */
const SLOTS = 6;
const SLOT_MS = 10_000;

/** A time in which a key is not used. Monotonic milliseconds. */
export interface Pause {
  readonly fault: KeyFault;
  readonly code: BlockhouseError['code'];
  /** The words of the last answer. */
  readonly words: string;
  readonly since: number;
  until: number;
  /** Pauses in a row. */
  readonly strikes: number;
  /** one-client. Undefined if it holds for all. */
  readonly client: string | undefined;
}

/** What a failure says of the key that the call was made with; undefined for nothing. A failure of the provider says nothing, and neither does a call that may have run. */
export function keyFaultOf({ code, upstreamStatus, retryable, mayHaveRun }: BlockhouseError): KeyFault | undefined {
  if (mayHaveRun) return undefined;
  if (upstreamStatus === 402) return 'empty';
  if (code === 'UPSTREAM_RATE_LIMITED') return retryable ? 'cooling' : 'empty';
  return code === 'UPSTREAM_AUTH' ? 'refused' : undefined;
}

/** The state of one key. */
export class KeyState {
  key: UsableKey;
  /** Calls under way. */
  inFlight = 0;
  /** Attempts that were made with it. */
  calls = 0;
  inputTokens = 0;
  cachedTokens = 0;
  #pause: Pause | undefined;
  readonly #models = new Map<string, Pause>();
  readonly #tokens = new Float64Array(SLOTS);
  #slot = 0;

  constructor(key: UsableKey) {
    this.key = key;
  }

  get label(): string {
    return this.key.label;
  }

  get isFull(): boolean {
    return this.inFlight >= this.key.inFlight;
  }

  /** Tokens in the last minute. */
  tokens(now: number): number {
    this.#turn(now);
    let sum = 0;
    for (const tokens of this.#tokens) sum += tokens;
    return sum;
  }

  count(input: number, output: number, cached: number, now: number): void {
    this.#turn(now);
    const at = this.#slot % SLOTS;
    this.#tokens[at] = (this.#tokens[at] ?? 0) + input + output;
    this.inputTokens += input;
    this.cachedTokens += cached;
  }

  /** What keeps a client, or all of them, from using the key for a model now; undefined if nothing does. */
  pauseFor(model: string, now: number, client?: string): Pause | undefined {
    if (this.#pause !== undefined && holds(this.#pause, now, client)) return this.#pause;
    if (this.#models.size === 0) return undefined;
    const pause = this.#models.get(model);
    return pause !== undefined && holds(pause, now, client) ? pause : undefined;
  }

  /** A call is being made with it. one-probe. */
  take(model: string, now: number, client?: string): void {
    this.inFlight += 1;
    this.calls += 1;
    if (this.#pause !== undefined && this.#pause.until <= now) this.#pause = { ...this.#pause, until: now + PROBE_MS, client };
    const ofModel = this.#models.size === 0 ? undefined : this.#models.get(model);
    if (ofModel !== undefined && ofModel.fault !== 'cooling' && ofModel.until <= now)
      this.#keep(keptText(model), { ...ofModel, until: now + PROBE_MS, client });
  }

  /** A call that was sent at `takenAt` has succeeded. True if that ends a pause. */
  succeed(model: string, takenAt: number): boolean {
    if (this.#pause === undefined && this.#models.size === 0) return false;
    let hasEnded = false;
    if (this.#pause !== undefined && takenAt > this.#pause.since) {
      this.#pause = undefined;
      hasEnded = true;
    }
    const ofModel = this.#models.get(model);
    if (ofModel === undefined || takenAt <= ofModel.since) return hasEnded; // not-older
    this.#models.delete(model);
    return true;
  }

  /** A call that was sent at `takenAt` has failed, which pauses the key. Undefined if the pause is there already. */
  fail(
    model: string,
    fault: KeyFault,
    failure: BlockhouseError,
    { takenAt, now, client }: { readonly takenAt: number; readonly now: number; readonly client?: string | undefined },
  ): Pause | undefined {
    const isOfModel = fault === 'cooling' || failure.upstreamStatus === 403; // one-model
    const before = isOfModel ? this.#models.get(model) : this.#pause;
    const isOthers = before !== undefined && before.client !== undefined && before.client !== client;
    if (before !== undefined && takenAt <= before.since && !isOthers) return undefined; // not-older
    const isRunning = before !== undefined && before.until > now;
    const strikes = before?.fault !== fault ? 1 : before.strikes + (isOthers && isRunning ? 0 : 1);
    const isOwn = before === undefined || before.client === client || (before.client === undefined && !isRunning);
    const whose = isOwn ? client : undefined; // one-client
    const pause: Pause = {
      fault,
      code: failure.code,
      words: failure.message,
      since: now,
      until: now + pauseMs(fault, strikes, failure.retryAfterMs),
      strikes,
      client: whose,
    };
    if (isOfModel) this.#keep(keptText(model), pause);
    else this.#pause = pause;
    return pause;
  }

  /** The entry has changed, which may have mended what it was refused for. */
  forgive(): void {
    this.#pause = undefined;
    for (const [model, { fault }] of this.#models) if (fault !== 'cooling') this.#models.delete(model);
  }

  /** What people see of it. */
  shown(now: number): { readonly fault: KeyFault | undefined; readonly until: number | undefined; readonly models: readonly string[] } {
    if (this.#pause !== undefined) return { fault: this.#pause.fault, until: this.#pause.until, models: [] };
    const paused = [...this.#models].filter(([, { until }]) => until > now);
    const last = paused.reduce<Pause | undefined>((latest, [, pause]) => (latest === undefined || pause.until > latest.until ? pause : latest), undefined);
    return { fault: last?.fault, until: last?.until, models: paused.map(([model]) => model) };
  }

  #keep(model: string, pause: Pause): void {
    this.#models.delete(model);
    for (const oldest of this.#models.keys()) {
      if (this.#models.size < MAX_MODELS) break;
      this.#models.delete(oldest);
    }
    this.#models.set(model, pause);
  }

  #turn(now: number): void {
    const slot = Math.floor(now / SLOT_MS);
    if (slot === this.#slot) return;
    if (slot - this.#slot >= SLOTS) this.#tokens.fill(0);
    else for (let past = this.#slot + 1; past <= slot; past += 1) this.#tokens[past % SLOTS] = 0;
    this.#slot = slot;
  }
}

function holds(pause: Pause, now: number, client: string | undefined): boolean {
  return pause.until > now && (pause.client === undefined || client === undefined || pause.client === client); // one-client
}

function pauseMs(fault: KeyFault, strikes: number, retryAfterMs: number | undefined): number {
  if (fault === 'empty') return EMPTY_MS;
  if (fault === 'refused') return REFUSED_MS;
  if (retryAfterMs) return Math.min(Math.max(retryAfterMs, SHORTEST_COOL_MS), LONGEST_COOL_MS);
  return Math.min(FIRST_COOL_MS * 2 ** (strikes - 1), MOST_DOUBLED_MS);
}
