// What the records of a run come to. Pure: no I/O.
//
// Laws of the loop that are kept in the records, and that this file reads them by:
// - one-outcome: each call has exactly one of `result`, `refused` and `unknown`; the first one counts.
// - one-id-one-call: steps go on counting over the runs of a message, so a retry never uses the place of another call.
// - own-steps: a run begins with its record, whatever stands before it: a journal may come from anybody, with an imported block, and nothing in it is taken up by a new run.
// - same-list: the tools of a run are those of its `run` record, and what was added since, in the order of the records.
import type { Approval, Decider, RunCall, RunRecord, Usage } from '../types.ts';
import { readResultDefinition } from './builtin/definitions.ts';
import { canonicalJson } from './canonical.ts';
import type { ToolTask } from './port.ts';
import type { RunLimits } from './settings.ts';

type Record<T extends RunRecord['t']> = Extract<RunRecord, { readonly t: T }>;

/** How a call ended. */
export type CallOutcome = Record<'result'> | Record<'refused'> | Record<'unknown'>;

/** A decision about an approval. */
export interface Decision {
  readonly decision: Record<'decision'>['decision'];
  readonly by: Decider;
  readonly at: string;
  readonly note: string | undefined;
  readonly scope: Record<'decision'>['scope'];
  readonly input: Record<'decision'>['input'];
}

/** What the server of a call asks a person. */
export interface Question {
  readonly requests: Record<'input'>['requests'];
  readonly requestState: string | undefined;
  /** How often the server has asked in this call. */
  readonly round: number;
  asked: AskedFor | undefined;
  /** The call was made again with the answers. */
  isAnswered: boolean;
}

/** An approval, and what was decided. */
export interface AskedFor {
  readonly approval: Approval;
  decision: Decision | undefined;
}

/** One call of a tool. */
export interface CallState {
  /** `<step>.<n>`. */
  readonly place: string;
  readonly step: number;
  readonly run: number;
  readonly asked: RunCall;
  /** The same text for equal calls. */
  readonly same: string;
  /** How often it was sent. */
  tries: number;
  /** Of the last try, ISO 8601. */
  begunAt: string | undefined;
  pin: string | undefined;
  /** What its server has made of the last try, and when that was recorded. */
  task: (ToolTask & { readonly at: string; readonly isCancelled?: boolean }) | undefined;
  /** The last one. */
  question: Question | undefined;
  /** What it costs, however often it is sent. */
  usd: number | undefined;
  /** The last one. */
  approval: AskedFor | undefined;
  outcome: CallOutcome | undefined;
}

/** One call of the model, and what it asked for. */
export interface StepState {
  readonly step: number;
  readonly run: number;
  provider: string;
  model: string;
  begunAt: string;
  answer: Record<'answer'> | undefined;
  readonly calls: CallState[];
}

/** The runs of one message, as their records say. */
export class RunState {
  readonly #asked = new Map<string, AskedFor>();
  readonly #calls = new Map<string, CallState>();
  /** All steps of all runs. */
  readonly steps: StepState[] = [];
  /** By its number, the last one that has it. */
  readonly #byNumber = new Map<number, StepState>();
  /** Where those of the last run begin (own-steps). */
  #ownFrom = 0;
  /** The tools of the last run, and those that were added since. */
  #tools = new Set<string>();
  /** How many records there are. */
  count = 0;
  /** The record of the last run. */
  run: Record<'run'> | undefined;
  /** That of the last run; undefined while it goes on. */
  end: Record<'end'> | undefined;
  /** Something was recorded since the last attempt began. */
  hasGotOn = false;
  /** Records of the tools that have come into the list of the last run since it began: those that were found, and block__read_result with the first result that was cut. */
  readonly added: string[] = [];

  constructor(records: Iterable<RunRecord> = []) {
    for (const record of records) this.apply(record);
  }

  /** The last step of the last run. */
  get last(): StepState | undefined {
    return this.steps.length > this.#ownFrom ? this.steps.at(-1) : undefined;
  }

  /** The number of the last step of all runs. */
  get lastStep(): number {
    return this.steps.at(-1)?.step ?? 0;
  }

  get limits(): RunLimits | undefined {
    return this.run?.limits as RunLimits | undefined;
  }

  /** Steps of the last run. */
  get ownSteps(): readonly StepState[] {
    return this.steps.slice(this.#ownFrom);
  }

  /** Calls of all runs. */
  get calls(): readonly CallState[] {
    return [...this.#calls.values()];
  }

  /** What waits for a person. */
  get pending(): readonly AskedFor[] {
    return this.calls.flatMap(({ approval, outcome }) =>
      approval === undefined || approval.decision !== undefined || outcome !== undefined ? [] : [approval],
    );
  }

  /** A result was cut, and the whole of it is kept. */
  get hasCut(): boolean {
    return this.calls.some(({ outcome }) => outcome !== undefined && isCut(outcome));
  }

  /** All that was ever asked for. */
  get allAsked(): readonly AskedFor[] {
    return [...this.#asked.values()];
  }

  /** What was asked for under this id. */
  askedFor(id: string): AskedFor | undefined {
    return this.#asked.get(id);
  }

  /** The call at a place. */
  callAt(place: string): CallState | undefined {
    return this.#calls.get(place);
  }

  apply(record: RunRecord): void {
    this.count += 1;
    if (record.t !== 'run' && record.t !== 'resume' && record.t !== 'model') this.hasGotOn = true;
    switch (record.t) {
      case 'run':
        this.run = record;
        this.#ownFrom = this.steps.length;
        this.end = undefined;
        this.hasGotOn = false;
        this.added.length = 0;
        this.#tools = new Set(record.tools);
        return;
      case 'resume':
        this.hasGotOn = false;
        return;
      case 'end':
        this.end = record;
        return;
      case 'model':
        this.#begin(record);
        return;
      case 'answer':
        this.#answered(record);
        return;
      case 'ask':
        this.#ask(record);
        return;
      case 'decision':
        this.#decide(record);
        return;
      case 'found':
        this.#add(record.tools);
        return;
      default:
        this.#applyToCall(record);
    }
  }

  #begin({ step, provider, model, at }: Record<'model'>): void {
    const known = this.last;
    if (known?.step === step) {
      Object.assign(known, { provider, model, begunAt: at });
      return;
    }
    const next: StepState = { step, run: this.run?.run ?? 1, provider, model, begunAt: at, answer: undefined, calls: [] };
    this.steps.push(next);
    this.#byNumber.set(step, next);
  }

  #answered(record: Record<'answer'>): void {
    const step = this.#byNumber.get(record.step);
    if (step === undefined || step.answer !== undefined) return;
    step.answer = record;
    for (const asked of record.calls) {
      const place = `${record.step}.${asked.n}`;
      const same = `${asked.tool} ${canonicalJson(asked.arguments)}`;
      const call: CallState = {
        place,
        step: record.step,
        run: step.run,
        asked,
        same,
        tries: 0,
        begunAt: undefined,
        pin: undefined,
        task: undefined,
        question: undefined,
        usd: undefined,
        approval: undefined,
        outcome: undefined,
      };
      step.calls.push(call);
      this.#calls.set(place, call);
    }
  }

  #ask({ call, approval }: Record<'ask'>): void {
    const asked: AskedFor = { approval, decision: undefined };
    this.#asked.set(approval.id, asked);
    const state = this.#calls.get(call);
    if (state === undefined) return;
    state.approval = asked;
    if (approval.kind === 'input' && state.question !== undefined) state.question.asked = asked;
  }

  /** The first decision counts. */
  #decide({ approval, decision, by, at, note, scope, input }: Record<'decision'>): void {
    const asked = this.#asked.get(approval);
    if (asked !== undefined) asked.decision ??= { decision, by, at, note, scope, input };
  }

  #applyToCall(record: RunRecord): void {
    const call = 'call' in record ? this.#calls.get(record.call) : undefined;
    if (call === undefined) return; // a record of a kind that this version does not know, or of no call
    if (record.t === 'call') {
      call.tries = record.try;
      call.begunAt = record.at;
      call.pin = record.pin;
      call.usd ??= record.usd;
      call.task = undefined;
      if (call.question !== undefined) call.question.isAnswered = true;
    } else if (record.t === 'input') {
      const { requests, requestState } = record;
      call.question = { requests, requestState, round: (call.question?.round ?? 0) + 1, asked: undefined, isAnswered: false };
    } else if (record.t === 'task') {
      const { taskId, ttlMs, pollMs, at } = record;
      call.task = { taskId, ttlMs, pollMs, at };
    } else if (record.t === 'cancel') {
      if (call.task !== undefined) call.task = { ...call.task, isCancelled: true };
    } else if (record.t === 'result' || record.t === 'refused' || record.t === 'unknown') call.outcome ??= record; // one-outcome
    if (isCut(record)) this.#add([READ_RESULT]);
  }

  /** same-list. */
  #add(tools: readonly string[]): void {
    for (const tool of tools) {
      if (this.#tools.has(tool)) continue;
      this.#tools.add(tool);
      this.added.push(tool);
    }
  }
}

const READ_RESULT = `block/${readResultDefinition.tool}#${readResultDefinition.pin}`;

function isCut(record: RunRecord): boolean {
  return record.t === 'result' && record.ref !== undefined && record.chars !== undefined;
}

/** What the calls in the last run have used. */
export interface RunUse {
  readonly steps: number;
  readonly tokens: number;
  readonly usd: number;
  /** Time of work: that of the model and of tools, without waiting for people and without the time between two attempts. */
  readonly seconds: number;
  /** Calls that were sent. */
  readonly calls: number;
}

/** What the last run has used. */
export function useOf(state: RunState): RunUse {
  let tokens = 0;
  let usd = 0;
  let ms = 0;
  let calls = 0;
  let steps = 0;
  for (const { answer, calls: ofStep } of state.ownSteps) {
    if (answer === undefined) continue;
    steps += 1;
    tokens += answer.usage?.totalTokens ?? 0;
    usd += answer.costUsd ?? answer.leastUsd ?? 0;
    ms += answer.latencyMs;
    const sent = ofStep.filter(({ tries }) => tries > 0);
    calls += sent.length;
    usd += usdOfCalls(ofStep);
    for (const { outcome } of ofStep) tokens += outcome?.t === 'result' ? (outcome.tokens ?? 0) : 0;
    ms += Math.max(0, ...sent.map(({ outcome }) => (outcome?.t === 'result' ? outcome.ms : 0)));
  }
  return { steps, tokens, usd, seconds: ms / 1000, calls };
}

/** What calls of tools cost that ran, or may have run. */
function usdOfCalls(calls: readonly CallState[]): number {
  return calls.reduce((sum, { tries, usd, outcome }) => sum + (tries > 0 && outcome?.t !== 'refused' ? (usd ?? 0) : 0), 0);
}

/** What all calls came to, over all runs: the answer's entry shows it. */
export function totalOf(state: RunState): {
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  readonly latencyMs: number;
  readonly ttftMs: number | null;
} {
  const answers = state.steps.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
  let usage: Usage | null = null;
  let costUsd: number | null = 0;
  let latencyMs = 0;
  for (const answer of answers) {
    usage = added(usage, answer.usage);
    costUsd = costUsd === null || answer.costUsd === null ? null : costUsd + answer.costUsd;
    latencyMs += answer.latencyMs;
  }
  const ofTools = usdOfCalls(state.calls);
  return { usage, costUsd: answers.length === 0 || costUsd === null ? null : costUsd + ofTools, latencyMs, ttftMs: answers.at(-1)?.ttftMs ?? null };
}

function added(sum: Usage | null, more: Usage | null): Usage | null {
  if (sum === null || more === null) return sum ?? more;
  const counts: { [name: string]: number | boolean } = { ...(sum as object) };
  for (const [name, value] of Object.entries(more) as [string, number | boolean][]) {
    const before = counts[name];
    counts[name] = typeof value === 'number' && typeof before === 'number' ? before + value : value;
  }
  return counts as unknown as Usage;
}
