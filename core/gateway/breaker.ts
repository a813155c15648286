// The breaker of one destination: when call after call fails there, no more are made for a while. It has one circuit for everybody, and one for each source,
// which is a client (a key, a block, the token) and the model that it asks for.
//
// own-fault: What fails for one client alone may be the fault of what that client sends, so it pauses that client's calls to that model and nothing else. It
//   opens for everybody only once at least half as many failures as open it have come from other clients, without a success of anyone between them. The models
//   and prompts of one client are no other clients.
// one-prompt: Programs with the token share one identity. What fails for one prompt of theirs pauses that prompt alone, in the same way.
// nobodys-fault: A connection that could not be made counts for everybody, whoever asked for it.
// health-only: A refused request, a bad key, a rate limit or a caller who disconnects does not count as a failure of the destination. A rate limit does not count as a success either.
// bounded-sources: At most MAX_SOURCES sources are remembered, and the oldest are forgotten first; a model is whatever a client makes up.
import { BlockhouseError, type ErrorCode } from '../errors.ts';
import { type Admission, Circuit, NOBODY, type Opening } from './circuit.ts';
import type { BreakerState, PausedCaller } from './live.ts';

const SHORTEST_RETRY_AFTER_MS = 1000;
/** More than fail at the same time where one destination works for others. */
const MAX_SOURCES = 256;

const FAILURES: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_FAILED', 'UPSTREAM_MALFORMED']);
/** The destination has read the request and judged it, so it works. */
const ANSWERS: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_REJECTED', 'UPSTREAM_AUTH']);

/** Whose calls these are; without key and caller, those of programs with the token. */
export interface Source {
  readonly key?: string | undefined;
  readonly caller?: string | undefined;
  readonly model: string;
}

/** A call, as far as the breaker is concerned. */
export interface Sourced extends Source {
  /** The key, the block, or the token. */
  readonly client: string;
  /** Equal for calls that may fail because of what they send, although they are of one client and ask for one model. Read only when something fails. */
  readonly promptHash: string;
}

/** For whom a breaker is open: everybody, one client and its model, or one prompt of programs with the token. */
export type BreakerScope = 'all' | 'caller' | 'prompt';

/** Who is paused, or was; the source is left out for all. */
export interface Paused extends Partial<Source> {
  readonly scope: BreakerScope;
}

/** Told what the breaker does. */
export interface BreakerFacts {
  /** It has opened for `openMs`, after `failures` in a row; `code` and `error` are those of the last one. */
  opened(fact: Paused & { readonly openMs: number; readonly failures: number; readonly code: ErrorCode; readonly error: string }): void;
  /** It has closed. */
  closed(fact: Paused): void;
}

interface SourceCircuit {
  readonly source: Source;
  readonly circuit: Circuit;
}

const nobody = (): string => NOBODY;

/** Counts how the calls to one destination go, and says whether another one may be made. */
export class Breaker {
  readonly #name: string;
  readonly #now: () => number;
  readonly #facts: BreakerFacts;
  readonly #all: Circuit;
  /** Those that have failed, in the order of their first failure. */
  readonly #sources = new Map<string, SourceCircuit>();

  /** `name` of the destination, for people; `now` in monotonic milliseconds. */
  constructor(name: string, now: () => number, facts: BreakerFacts) {
    this.#name = name;
    this.#now = now;
    this.#facts = facts;
    this.#all = new Circuit({
      now,
      opensForMember: false, // own-fault: a client has its own circuits
      opened: (opening) => this.#opened({ scope: 'all' }, opening),
      closed: () => facts.closed({ scope: 'all' }),
    });
  }

  /** Its state for all callers. */
  get state(): BreakerState {
    return { phase: this.#all.phase, opensInMs: this.#all.opensInMs };
  }

  /** Those that are paused on their own. */
  get paused(): PausedCaller[] {
    const open = [...this.#sources.values()].filter(({ circuit }) => circuit.phase !== 'closed');
    return open.map(({ source: { key, caller, model }, circuit }) => ({ key, caller, model, scope: scopeOf(circuit.refused), opensInMs: circuit.opensInMs }));
  }

  /** True when this call is among those that the breaker is open for. */
  isOpenFor(call: Sourced): boolean {
    return this.#all.phase !== 'closed' || this.#circuitOf(call)?.isOpenFor(() => call.promptHash) === true;
  }

  /** Throws what `admit` would throw now, and admits nothing. */
  assertAdmits(call: Sourced): void {
    if (this.#all.phase !== 'closed' && !this.#all.isProbeDue) throw this.#refusal(this.#all, this.#name);
    const own = this.#circuitOf(call);
    if (own?.isOpenFor(() => call.promptHash) && !own.isProbeDue) throw this.#refusal(own, `${this.#name}, asked ${inWords(call, own.refused)},`);
  }

  /** Before a call. Throws UPSTREAM_UNREACHABLE with the time until the next try while the breaker is open for it. */
  admit(call: Sourced): Permit {
    this.assertAdmits(call);
    const isProbe = this.#all.phase !== 'closed';
    if (isProbe) this.#all.letProbeThrough();
    const own = this.#circuitOf(call);
    const isOwnProbe = own?.isOpenFor(() => call.promptHash) === true;
    if (isOwnProbe) own?.letProbeThrough();
    return new Permit(this, call, this.#all.turn, isProbe, own?.turn ?? 0, isOwnProbe);
  }

  /** The call has been answered, or its answer has begun. */
  succeed(permit: Permit): void {
    this.#all.succeed(permit);
    const own = this.#circuitOf(permit.call);
    if (own === undefined) return;
    own.succeed(permit.own);
    // One that has been open is kept, so that calls from before that still recognise that their time is over.
    if (own.turn === 0) this.#sources.delete(keyOf(permit.call));
  }

  /** The call has failed. */
  fail(permit: Permit, error: BlockhouseError): void {
    if (ANSWERS.has(error.code)) this.succeed(permit);
    else if (FAILURES.has(error.code)) this.#count(permit, error);
    else {
      this.#all.passOver(permit); // health-only
      this.#circuitOf(permit.call)?.passOver(permit.own);
    }
  }

  #count(permit: Permit, error: BlockhouseError): void {
    const { call } = permit;
    const isNobodys = isOfDestination(error);
    this.#all.fail(permit, isNobodys ? nobody : () => call.client, error); // nobodys-fault
    if (isNobodys || this.#all.phase !== 'closed') this.#circuitOf(call)?.passOver(permit.own);
    else (this.#circuitOf(call) ?? this.#newCircuit(call)).fail(permit.own, () => call.promptHash, error); // own-fault
  }

  #circuitOf(call: Sourced): Circuit | undefined {
    return this.#sources.size === 0 ? undefined : this.#sources.get(keyOf(call))?.circuit;
  }

  #newCircuit(call: Sourced): Circuit {
    const source = { key: call.key, caller: call.caller, model: call.model };
    const circuit: Circuit = new Circuit({
      now: this.#now,
      opensForMember: true, // one-prompt
      opened: (opening) => this.#opened({ ...source, scope: scopeOf(opening.member) }, opening),
      closed: () => this.#facts.closed({ ...source, scope: scopeOf(circuit.refused) }),
    });
    for (const oldest of this.#sources.keys()) {
      if (this.#sources.size < MAX_SOURCES) break;
      this.#sources.delete(oldest); // bounded-sources
    }
    this.#sources.set(keyOf(call), { source, circuit });
    return circuit;
  }

  #opened(paused: Paused, { openMs, failures, error }: Opening): void {
    this.#facts.opened({ ...paused, openMs, failures, code: error.code, error: error.message });
  }

  #refusal(circuit: Circuit, subject: string): BlockhouseError {
    const retryAfterMs = Math.max(circuit.opensInMs, SHORTEST_RETRY_AFTER_MS);
    const what = circuit.refused === undefined ? `has failed ${circuit.failures} times in a row` : 'has repeatedly failed';
    const next = `The next attempt is possible in ${Math.ceil(retryAfterMs / 1000)} s`;
    const message = `${subject} ${what}, so such calls to it are paused. ${next}. The last error: ${circuit.lastError}`;
    return new BlockhouseError('UPSTREAM_UNREACHABLE', message, { retryAfterMs });
  }
}

/** A client's name has no line break. */
function keyOf({ client, model }: Sourced): string {
  return `${client}\n${model}`;
}

function scopeOf(member: string | undefined): 'caller' | 'prompt' {
  return member === undefined ? 'caller' : 'prompt';
}

function inWords({ key, caller, model }: Source, prompt: string | undefined): string {
  if (prompt !== undefined) return `with this prompt for ${model}`;
  if (key !== undefined) return `for ${model} by the key ${key}`;
  return caller === undefined ? `for ${model} with the token` : `for ${model} by ${caller}`;
}

/** nobodys-fault: nothing of the request had been sent. */
function isOfDestination({ code, mayHaveRun }: BlockhouseError): boolean {
  return code === 'UPSTREAM_UNREACHABLE' && !mayHaveRun;
}

/** One call that the breaker has admitted, and that tells the breaker how it went. */
export class Permit implements Admission {
  readonly #breaker: Breaker;
  readonly call: Sourced;
  readonly turn: number;
  readonly isProbe: boolean;
  readonly #ownTurn: number;
  readonly #isOwnProbe: boolean;

  /** `turn` and `isProbe` of the circuit for everybody, then of the source's own. */
  constructor(breaker: Breaker, call: Sourced, turn: number, isProbe: boolean, ownTurn: number, isOwnProbe: boolean) {
    this.#breaker = breaker;
    this.call = call;
    this.turn = turn;
    this.isProbe = isProbe;
    this.#ownTurn = ownTurn;
    this.#isOwnProbe = isOwnProbe;
  }

  /** How the circuit of its source has admitted it. */
  get own(): Admission {
    return { turn: this.#ownTurn, isProbe: this.#isOwnProbe };
  }

  /** The destination has begun to answer, or has answered. */
  succeed(): void {
    this.#breaker.succeed(this);
  }

  /** The call has failed with `error`. */
  fail(error: BlockhouseError): void {
    this.#breaker.fail(this, error);
  }
}
