// The breaker of one destination: when call after call fails there, no more are made for a while. It has one circuit for everybody, one for each model, one for
// each caller (a key, a block, the token), and one for each caller's calls to one model.
//
// own-fault: What fails for one caller alone may be the fault of what that caller sends, so it pauses that caller's calls to that model or, if several models
//   fail for it, that caller. The models and prompts of one caller are no other callers.
// one-prompt: Programs with the token share one identity. What fails for one prompt of theirs pauses that prompt alone, in the same way.
// one-model: What fails for several callers but for one model alone pauses that model for everybody, and the destination for nobody.
// nobodys-fault: A connection that could not be made counts for everybody, whoever asked for it.
// own-probe: While a circuit of everybody's is open, each caller tries by itself, one call at a time. A success closes the circuit for all; a failure or a call
//   that hangs costs its caller alone the next turn. probe-slots.ts limits how often all of them try together.
// widest-first: A failure counts in the widest circuit that is open, and otherwise in all of them.
// health-only: A refused request, a bad key, a rate limit or a caller who disconnects does not count as a failure of the destination. A rate limit does not count as a success either.
import { BlockhouseError, type ErrorCode } from '../errors.ts';
import { type Admission, Circuit, type Opening, Turns } from './circuit.ts';
import { FailingCallers, makeRoom, type Source } from './failing-callers.ts';
import type { BreakerState, PausedSource } from './live.ts';
import { ProbeSlots } from './probe-slots.ts';
import { SharedCircuit } from './shared-circuit.ts';

const SHORTEST_RETRY_AFTER_MS = 1000;
/** bounded-callers in failing-callers.ts; more than fail at the same time where one destination works for others. */
const MAX_MODELS = 64;

const FAILURES: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_FAILED', 'UPSTREAM_MALFORMED']);
/** The destination has read the request and judged it, so it works. */
const ANSWERS: ReadonlySet<ErrorCode> = new Set(['UPSTREAM_REJECTED', 'UPSTREAM_AUTH']);

/** A call, as far as the breaker is concerned. */
export interface Sourced extends Source {
  /** The key, the block, or the token. */
  readonly client: string;
  /** Equal for calls that may fail because of what they send, although they are of one client and ask for one model. Read only when something fails. */
  readonly promptHash: string;
}

/** For whom a breaker is open: everybody, everybody who asks for one model, one caller, or one prompt of programs with the token. */
export type BreakerScope = 'all' | 'model' | 'caller' | 'prompt';

/** Who is paused, or was; the source is left out for all, and the model for a caller whose calls to several models failed. */
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

/** What a call has to pass; circuits are undefined where nothing has failed. */
interface Passage {
  /** True if everybody is paused, this caller among them. */
  readonly isAllOpen: boolean;
  readonly model: SharedCircuit | undefined;
  /** The same of everybody's calls to its model. */
  readonly isModelOpen: boolean;
  /** Of its caller, across models. */
  readonly own: Circuit | undefined;
  /** Of its caller, for its model. */
  readonly ownModel: Circuit | undefined;
  /** True if its caller has not tried since everybody was paused. */
  readonly isNewcomer: boolean;
}

/** Counts how the calls to one destination go, and says whether another one may be made. */
export class Breaker {
  readonly #name: string;
  readonly #now: () => number;
  readonly #facts: BreakerFacts;
  readonly #turns = new Turns();
  readonly #slots: ProbeSlots;
  readonly #all: SharedCircuit;
  readonly #models = new Map<string, SharedCircuit>();
  readonly #callers: FailingCallers;

  /** `name` of the destination, for people; `now` in monotonic milliseconds. */
  constructor(name: string, now: () => number, facts: BreakerFacts) {
    this.#name = name;
    this.#now = now;
    this.#facts = facts;
    this.#slots = new ProbeSlots(now);
    this.#all = this.#newShared({ scope: 'all' });
    this.#callers = new FailingCallers((source, since) => this.#newCircuit(source, since));
  }

  /** Its state for all callers. */
  get state(): BreakerState {
    if (!this.#all.isOpen) return { phase: 'closed', opensInMs: 0 };
    const own = this.#callers.circuits;
    return { phase: own.some(({ phase }) => phase === 'trying') ? 'trying' : 'open', opensInMs: nextTryMs(this.#all, own) };
  }

  /** Models that are paused for everybody, and callers that are paused on their own. */
  get paused(): PausedSource[] {
    const paused: PausedSource[] = [];
    for (const [model, shared] of this.#models)
      if (shared.isOpen)
        paused.push({ scope: 'model', key: undefined, caller: undefined, model, opensInMs: nextTryMs(shared, this.#callers.circuitsFor(model)) });
    for (const { key, caller, circuit, models } of this.#callers.all) {
      if (circuit.isOwnPause) paused.push({ scope: 'caller', key, caller, model: undefined, opensInMs: circuit.opensInMs });
      for (const [model, own] of models) if (own.isOwnPause) paused.push({ scope: scopeOf(own.refused), key, caller, model, opensInMs: own.opensInMs });
    }
    return paused;
  }

  /** True when this call is among those that the breaker is open for. */
  isOpenFor(call: Sourced): boolean {
    if (this.#hasNoFailures) return false;
    const { isAllOpen, isModelOpen, own, ownModel } = this.#passageOf(call);
    return isAllOpen || isModelOpen || own?.isOpenFor(() => call.model) === true || ownModel?.isOpenFor(() => call.promptHash) === true;
  }

  /** Throws what `admit` would throw now, and admits nothing. */
  assertAdmits(call: Sourced): void {
    if (this.#hasNoFailures) return;
    const refusal = this.#refusalOf(call, this.#passageOf(call));
    if (refusal !== undefined) throw refusal;
  }

  /** Before a call. Throws UPSTREAM_UNREACHABLE with the time until the next try while the breaker is open for it. */
  admit(call: Sourced): Permit {
    if (this.#hasNoFailures) return new Permit(this, call, this.#turns.current, false);
    const passage = this.#passageOf(call);
    const refusal = this.#refusalOf(call, passage);
    if (refusal !== undefined) throw refusal;
    const { isAllOpen, isModelOpen, own, ownModel, isNewcomer } = passage;
    const permit = new Permit(this, call, this.#turns.current, isAllOpen || isModelOpen);
    if (permit.isProbe) this.#slots.take(permit, call.client, isNewcomer);
    if (isAllOpen)
      this.#callers.of(call, this.#all.since).circuit.letThrough(permit); // own-probe
    else if (own?.isOpenFor(() => call.model)) own.letThrough(permit);
    if (isModelOpen)
      this.#ownModelOf(call).letThrough(permit); // own-probe
    else if (ownModel?.isOpenFor(() => call.promptHash)) ownModel.letThrough(permit);
    return permit;
  }

  /** The call has been answered, or its answer has begun. */
  succeed(permit: Permit): void {
    if (this.#isHeard(permit)) this.#succeed(permit, true);
  }

  /** The call has failed. */
  fail(permit: Permit, error: BlockhouseError): void {
    if (!this.#isHeard(permit)) return;
    if (ANSWERS.has(error.code)) this.#succeed(permit, false);
    else if (FAILURES.has(error.code)) this.#count(permit, error);
    else this.#passOver(permit); // health-only
  }

  /** True while nothing fails: the usual case. */
  get #hasNoFailures(): boolean {
    return this.#callers.size === 0 && !this.#all.isOpen && this.#models.size === 0;
  }

  /** A probe has one verdict; gives its slot back with it. */
  #isHeard(permit: Permit): boolean {
    if (!permit.isProbe) return true;
    if (permit.isOver) return false;
    permit.isOver = true;
    this.#slots.release(permit);
    return true;
  }

  #succeed(permit: Permit, isProof: boolean): void {
    const { call } = permit;
    if (this.#all.succeed(permit, call.client, isProof)) this.#callers.release(this.#all.since, ({ circuit }) => circuit);
    if (this.#models.size > 0) this.#succeedModel(permit, isProof);
    const caller = this.#callers.get(call.client);
    if (caller === undefined) return;
    caller.circuit.succeed(permit);
    caller.models.get(call.model)?.succeed(permit);
    this.#callers.forgetBlank(call.client, caller);
  }

  #succeedModel(permit: Permit, isProof: boolean): void {
    const { model: name, client } = permit.call;
    const model = this.#models.get(name);
    if (model === undefined) return;
    if (model.succeed(permit, client, isProof)) this.#callers.release(model.since, ({ models }) => models.get(name));
    if (model.isBlank) this.#models.delete(name);
  }

  #passOver(permit: Permit): void {
    const { own, ownModel } = this.#passageOf(permit.call);
    own?.passOver(permit);
    ownModel?.passOver(permit);
  }

  /** widest-first */
  #count(permit: Permit, error: BlockhouseError): void {
    const { call, turn } = permit;
    const isNobodys = isOfDestination(error);
    const wasOpen = this.#all.isOpen;
    this.#all.fail(permit, call, isNobodys, error); // nobodys-fault
    const hasOpened = this.#all.isOpen !== wasOpen;
    if (hasOpened || turn < this.#all.since || (wasOpen ? !permit.isProbe : isNobodys)) {
      this.#passOver(permit);
      return;
    }
    const { circuit } = this.#callers.of(call, this.#all.since);
    circuit.fail(permit, () => call.model, error);
    if (circuit.phase === 'closed') this.#countModel(permit, error);
    else this.#passageOf(call).ownModel?.passOver(permit);
  }

  #countModel(permit: Permit, error: BlockhouseError): void {
    const { call } = permit;
    const model = this.#modelOf(call.model);
    const wasOpen = model.isOpen;
    model.fail(permit, call, false, error); // one-model
    if (model.isOpen !== wasOpen) this.#passOver(permit);
    else this.#ownModelOf(call).fail(permit, () => call.promptHash, error); // own-fault
  }

  #passageOf({ client, model: name }: Sourced): Passage {
    const caller = this.#callers.get(client);
    const [model, own, ownModel] = [this.#models.get(name), caller?.circuit, caller?.models.get(name)];
    const isAllOpen = this.#all.isOpenFor(client);
    const isModelOpen = model?.isOpenFor(client) === true;
    const isNewcomer = !(isAllOpen && own?.isWaiting) && !(isModelOpen && ownModel?.isWaiting);
    return { isAllOpen, model, isModelOpen, own, ownModel, isNewcomer };
  }

  #ownModelOf(call: Sourced): Circuit {
    return this.#callers.modelOf(call, this.#all.since, this.#models.get(call.model)?.since ?? 0);
  }

  #modelOf(model: string): SharedCircuit {
    const known = this.#models.get(model);
    if (known !== undefined) return known;
    const created = this.#newShared({ scope: 'model', model });
    makeRoom(this.#models, MAX_MODELS, ({ isOpen }) => isOpen); // bounded-callers
    this.#models.set(model, created);
    return created;
  }

  #newShared(paused: Paused): SharedCircuit {
    return new SharedCircuit({
      now: this.#now,
      turns: this.#turns,
      hasModels: paused.scope === 'all',
      opened: (opening) => this.#opened(paused, opening),
      closed: () => this.#facts.closed(paused),
    });
  }

  #newCircuit(source: Partial<Source>, since: number): Circuit {
    const circuit: Circuit = new Circuit({
      now: this.#now,
      turns: this.#turns,
      since,
      opensForMember: source.model !== undefined, // one-prompt
      roundMs: () => this.#slots.roundMs(this.#callers.paused),
      opened: (opening) => this.#opened({ ...source, scope: scopeOf(opening.member) }, opening),
      closed: () => this.#facts.closed({ ...source, scope: scopeOf(circuit.refused) }),
    });
    return circuit;
  }

  #opened(paused: Paused, { openMs, failures, error }: Opening): void {
    this.#facts.opened({ ...paused, openMs, failures, code: error.code, error: error.message });
  }

  /** What a call is refused with now; undefined if it may be made. */
  #refusalOf(call: Sourced, passage: Passage): BlockhouseError | undefined {
    const { isAllOpen, model, isModelOpen, own, ownModel, isNewcomer } = passage;
    const isOwnOpen = isAllOpen ? own?.isWaiting === true : own?.isOpenFor(() => call.model) === true;
    const isOwnModelOpen = isModelOpen ? ownModel?.isWaiting === true : ownModel?.isOpenFor(() => call.promptHash) === true;
    const waitMs = Math.max(
      isAllOpen ? this.#all.opensInMs : 0,
      isModelOpen ? (model?.opensInMs ?? 0) : 0,
      isOwnOpen ? (own?.waitMs ?? 0) : 0,
      isOwnModelOpen ? (ownModel?.waitMs ?? 0) : 0,
      isAllOpen || isModelOpen ? this.#slots.waitMs(call.client, isNewcomer) : 0,
    );
    if (waitMs === 0) return undefined;
    if (isAllOpen) return sharedRefusal(this.#name, this.#all, call, waitMs);
    if (model !== undefined && isModelOpen) return sharedRefusal(`${this.#name}, asked for ${call.model},`, model, call, waitMs);
    if (own !== undefined && isOwnOpen) return refusal(`${this.#name}, asked ${byWhom(call)},`, own, waitMs);
    return refusal(`${this.#name}, asked ${inWords(call, ownModel?.refused)},`, ownModel as Circuit, waitMs);
  }
}

function sharedRefusal(subject: string, circuit: SharedCircuit, call: Sourced, waitMs: number): BlockhouseError {
  return refusal(subject, { failures: circuit.failures, lastError: circuit.lastErrorFor(call) }, waitMs);
}

function refusal(
  subject: string,
  { failures, lastError, refused }: Pick<Circuit, 'failures' | 'lastError'> & { readonly refused?: string | undefined },
  waitMs: number,
): BlockhouseError {
  const retryAfterMs = Math.max(waitMs, SHORTEST_RETRY_AFTER_MS);
  const what = refused === undefined ? `has failed ${failures} times in a row` : 'has repeatedly failed';
  const next = `The next attempt is possible in ${Math.ceil(retryAfterMs / 1000)} s`;
  const saying = (error: string): string => `${subject} ${what}, so such calls to it are paused. ${next}. The last error: ${error}`;
  const forKeys = lastError.forKeys === undefined ? undefined : saying(lastError.forKeys);
  return new BlockhouseError('UPSTREAM_UNREACHABLE', saying(lastError.message), { retryAfterMs, forKeys });
}

/** Milliseconds until one of the callers that wait for their turn tries again; the others need not wait longer than `shared` says. */
function nextTryMs(shared: SharedCircuit, circuits: readonly Circuit[]): number {
  const waiting = circuits.filter(({ phase }) => phase === 'open').map(({ opensInMs }) => opensInMs);
  return Math.max(shared.opensInMs, waiting.length === 0 ? 0 : Math.min(...waiting));
}

function scopeOf(member: string | undefined): 'caller' | 'prompt' {
  return member === undefined ? 'caller' : 'prompt';
}

function inWords(source: Source, prompt: string | undefined): string {
  return prompt === undefined ? `for ${source.model} ${byWhom(source)}` : `with this prompt for ${source.model}`;
}

function byWhom({ key, caller }: Source): string {
  if (key !== undefined) return `by the key ${key}`;
  return caller === undefined ? 'with the token' : `by ${caller}`;
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
  /** True if it tries a destination or a model that is paused for everybody. */
  readonly isProbe: boolean;
  /** True once such a probe has told how it went. */
  isOver = false;

  constructor(breaker: Breaker, call: Sourced, turn: number, isProbe: boolean) {
    this.#breaker = breaker;
    this.call = call;
    this.turn = turn;
    this.isProbe = isProbe;
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
