// The work of the states of a run, whose order and laws are in run-machine.ts.
//
// journal-is-the-truth: what comes next is read from the records after each step, so a run that a crash has cut off goes on as one that was not.
// no-call-at-halt: while the kill switch is set, or this server may have lost the block, no tool is called.
import { createActor } from 'xstate';
import type { ActorSystem } from '../../../base/abortable.ts';
import { estimateTokens } from '../../../base/tokens.ts';
import { BlockhouseError, toBlockhouseError } from '../../../errors.ts';
import type { BlockConfig } from '../../../schemas/block-config.ts';
import type { TaskPhase } from '../../../schemas/block-pulse.ts';
import type { ChatEntry } from '../../../schemas/chat-entry.ts';
import type { RunRecord } from '../../../types.ts';
import type { Claim } from '../../../store/port.ts';
import type { CallState, RunState } from '../../../tools/journal.ts';
import { nextIn } from '../../../tools/next.ts';
import { BLOCK_SERVER } from '../../../tools/builtin/definitions.ts';
import { type OfferedTool, recordOf } from '../../../tools/offer.ts';
import type { ToolHost } from '../../../tools/port.ts';
import { type Probe, probeFor } from '../../../tools/probe.ts';
import { allSettings, type ToolSettings } from '../../../tools/settings.ts';
import { haltPause } from '../../actor/call-refused.ts';
import type { Candidate } from '../../status/candidates.ts';
import type { AnswerText } from '../answer-text.ts';
import type { Attempt } from '../attempt.ts';
import type { BlockContext, WorkspaceTools } from '../block-context.ts';
import type { Called } from '../reply-machine.ts';
import { Builtins } from './builtins.ts';
import { argumentsOf, callTools } from './call-tools.ts';
import { cancelGone } from './cancel-tasks.ts';
import { type Checked, checkCalls, type ProbeCall, type ReadyCall } from './check-calls.ts';
import { type Closed, closeRun, type Ended } from './close.ts';
import { definitionTokens, ModelStep } from './model-step.ts';
import { answerOf, isNewRun, taskOf } from './outcome.ts';
import { expired, waitOf } from './pending.ts';
import { probeCalls } from './probe-calls.ts';
import { RunJournal } from './run-journal.ts';
import { openTools, type RunTools } from './run-tools.ts';
import { RunSkills, skillOwners } from './run-skills.ts';
import { calledIn, type EarlierRuns, earlierRuns, toolWindow } from './tool-window.ts';
import { endOf, keptResult } from './kept-result.ts';
import { capPause, payerOf } from './tool-bills.ts';
import { type After, createRunMachine, type RunSteps } from './run-machine.ts';

/** What a run works with. */
export interface RunOptions {
  readonly context: BlockContext;
  readonly messageId: string;
  readonly claim: Claim;
  readonly settings: ToolSettings;
  readonly tools: WorkspaceTools;
  /** What a failure means for the message. */
  judge(error: BlockhouseError, attempt: Attempt): Called & { readonly kind: 'failed' };
  /** Opens the stream of an attempt; `text` has each fragment before it is told. */
  openStream(candidate: Candidate, attempt: number, text: AnswerText): void;
  onFirstText(): void;
}

/** All runs share one machine, and its work finds its run here. */
const runs = new WeakMap<ActorSystem, Run>();
let machine: ReturnType<typeof createRunMachine> | undefined;

function runOf(system: ActorSystem): Run {
  const run = runs.get(system);
  if (run === undefined) throw new Error('The actor belongs to no run.');
  return run;
}

/** The run of a message of a block with tools, or of one that had tools when the run began. */
export function runFor({ config, ...options }: Omit<RunOptions, 'settings'> & { readonly config: BlockConfig }): Run {
  return new Run({ ...options, settings: allSettings(config.tools) });
}

/** What one attempt at a message asks, and whom. */
interface Asked {
  readonly attempt: Attempt;
  readonly candidate: Candidate;
}

/** The run of one message, for one attempt at it. */
export class Run implements RunSteps {
  readonly #options: RunOptions;
  #journal: RunJournal | undefined;
  #tools: RunTools | undefined;
  #earlier: EarlierRuns = new Map();
  #asked: Asked | undefined;
  #model: ModelStep | undefined;
  #ready: readonly ReadyCall[] = [];
  readonly #causes = new Map<string, string>();
  /** Places of calls whose probe has said nothing. */
  readonly #silent = new Set<string>();
  /** Places of calls whose task has said nothing. */
  readonly #lost = new Set<string>();

  constructor(options: RunOptions) {
    this.#options = options;
  }

  /** True if this attempt has added to the journal. Then it does not count as an attempt. */
  get hasGotOn(): boolean {
    return this.#journal?.state.hasGotOn === true;
  }

  /** Of the definitions and what is said of skills, which are part of every prompt. */
  get definitionTokens(): number {
    return definitionTokens(this.#offered) + estimateTokens(this.#skills);
  }

  /** Goes on until the message has an answer, waits or fails. Another candidate goes on where the first one failed. Rejects with a fault of the disk, or a defect. */
  async call(asked: Asked, signal: AbortSignal): Promise<Called> {
    this.#asked = asked;
    this.#model = undefined;
    machine ??= createRunMachine(runOf);
    const actor = createActor(machine, { input: { messageId: this.#options.messageId } });
    runs.set(actor.system, this);
    const abort = (): void => actor.send({ type: 'abort', cause: String(signal.reason) });
    signal.addEventListener('abort', abort);
    try {
      const ended = new Promise<Called | null>((resolve, reject) => {
        actor.subscribe({ error: reject, complete: () => resolve(actor.getSnapshot().context.called) });
      });
      actor.start();
      if (signal.aborted) abort();
      const called = await ended;
      if (called === null) throw new Error('The run has ended without an outcome.');
      return called;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends the run without an answer. Undefined if there was none. */
  async close(ended: Ended): Promise<Closed | undefined> {
    const { context, messageId } = this.#options;
    const { name, world } = context;
    const closing = { name, world, at: () => context.at(), wasAsked: (place: string) => this.#causes.has(place) };
    return closeRun(closing, await this.#opened(), messageId, ended);
  }

  async open(signal: AbortSignal): Promise<After> {
    const { context, settings, tools, messageId } = this.#options;
    const isFirst = this.#journal === undefined;
    const journal = await this.#opened();
    const { attempt, candidate } = this.#now();
    const { message } = attempt;
    if (signal.aborted) return this.#cancelled();
    // no-endless-crashes: an attempt that has got on does not count, so these are resumes that came to nothing.
    if (isFirst && (message.attempts ?? 1) > attempt.config.retry.maxAttempts + 1)
      return { kind: 'over', called: this.#failed('CRASHED', 'The server stopped each time while the message was being answered.') };
    const isNew = isNewRun(journal.state, message);
    if (isFirst || isNew) {
      this.#earlier = await earlierRuns(context, message);
      try {
        const source = { host: tools.host.skills, owners: skillOwners(context.world, context.name) };
        const skills = await RunSkills.open(source, attempt.config, isNew ? undefined : (journal.state.run?.skills ?? []));
        this.#tools = await openTools({ host: tools.host, settings, state: journal.state, isNew, called: calledIn(this.#earlier), skills });
      } catch (error) {
        return { kind: 'over', called: this.#options.judge(toBlockhouseError(error), attempt) };
      }
      for (const problem of this.#tools.problems) context.log.write('WARN', 'tools.missing', { id: messageId, problem });
      await this.#begin(journal, isNew, message);
    }
    const over = await journal.appendFor((state) => expired(state, context.world.now()));
    if (over.length > 0 && settings.approvals.onTimeout === 'fail')
      return { kind: 'over', called: this.#failed('TOOL_LIMIT', 'Nobody has decided about a call in time, and tools.approvals.onTimeout is "fail".') };
    const window = await toolWindow({ context, config: attempt.config, messageId, runs: this.#earlier, tools: this.#offered, skills: this.#skills, candidate });
    this.#model = new ModelStep({ ...this.#options, journal, attempt, candidate, window, tools: () => this.#offered });
    return this.#next();
  }

  async #begin(journal: RunJournal, isNew: boolean, message: ChatEntry): Promise<void> {
    const { state } = journal;
    const { context, settings } = this.#options;
    const at = context.at();
    const run = (state.run?.run ?? 0) + 1;
    const limits = { ...settings.limits };
    const { taint } = this.#now().attempt.window;
    const tainted = taint.length === 0 ? {} : { taint };
    const skills = this.#tools?.skills.records ?? [];
    const record: RunRecord = isNew
      ? {
          t: 'run',
          run,
          at,
          cause: run === 1 ? 'message' : 'retry',
          tools: this.#offered.map(({ definition }) => recordOf(definition)),
          ...(skills.length > 0 && { skills }),
          limits,
          ...tainted,
        }
      : { t: 'resume', at, attempt: message.attempts ?? 1 };
    if (state.end === undefined || isNew) await journal.append([record], { quiet: true });
  }

  async callModel(concludes: boolean, signal: AbortSignal): Promise<After> {
    const model = this.#model as ModelStep;
    const { state } = model.journal;
    this.#show(concludes ? 'concluding' : 'waiting-model', state);
    if (!concludes && !(await model.fits())) return { kind: 'conclude', step: state.lastStep + 1 };
    const failed = await model.call(concludes, signal);
    return failed === undefined ? this.#next() : { kind: 'over', called: failed };
  }

  async checkCalls(signal: AbortSignal): Promise<After> {
    const { context } = this.#options;
    const journal = await this.#opened();
    this.#show('checking', journal.state);
    const halted = haltPause(context.world.halted());
    if (halted !== undefined) return { kind: 'over', called: { kind: 'refused', pause: halted } }; // no-call-at-halt
    const { messageId, tools } = this.#options;
    const cancelling = { block: context.name, messageId, host: tools.host, journal, at: () => context.at() };
    for (const [place, why] of await cancelGone(cancelling, this.#offered, this.#lost)) this.#causes.set(place, why);
    const { records, ready, probes } = await this.#checked(journal);
    if (probes.length > 0) return this.#probe(journal, probes, signal);
    if (records.length > 0) await journal.append(records);
    this.#ready = ready;
    return ready.length > 0 ? { kind: 'call', step: journal.state.lastStep } : this.#next();
  }

  #checked({ state }: RunJournal): Promise<Checked> {
    const { context, messageId, settings, tools } = this.#options;
    return checkCalls({
      block: context.name,
      messageId,
      state,
      settings,
      tools: byId(this.#offered),
      causes: this.#causes,
      lost: this.#lost,
      taint: this.#now().attempt.window.taint,
      probeOf: (call, tool) => this.#probeOf(call, tool),
      now: context.world.now(),
      real: (path) => tools.realPath(path),
    });
  }

  #probeOf(call: CallState, tool: OfferedTool): Probe | undefined {
    const { context, messageId, settings } = this.#options;
    if (this.#tools === undefined || this.#silent.has(call.place)) return undefined;
    return probeFor(this.#tools.catalogue, settings, tool.definition, argumentsOf({ call, tool }, { block: context.name, messageId }));
  }

  /** Then the calls are checked again. A probe that has said nothing is not asked again in this attempt. */
  async #probe(journal: RunJournal, probes: readonly ProbeCall[], signal: AbortSignal): Promise<After> {
    const { context, messageId, settings, tools } = this.#options;
    const silent = await probeCalls(probes, {
      block: context.name,
      messageId,
      host: tools.host,
      journal,
      resultTokens: settings.limits.resultTokens,
      signal,
      at: () => context.at(),
      keep: (place, bytes) => this.#keep(place, bytes),
      onFailed: ({ call, probe }, why) =>
        context.log.write('WARN', 'tool.probe-failed', { id: messageId, call: call.place, tool: `${probe.definition.server}/${probe.definition.tool}`, why }),
    });
    for (const place of silent) this.#silent.add(place);
    return signal.aborted ? this.#cancelled() : this.checkCalls(signal);
  }

  async callTools(signal: AbortSignal): Promise<After> {
    const { context, messageId, settings, tools } = this.#options;
    const journal = await this.#opened();
    const { world } = context;
    const pause = await capPause(context, this.#now().attempt.config, this.#ready);
    if (pause !== undefined) return { kind: 'over', called: { kind: 'refused', pause } };
    const mayCall = (): boolean => !world.halted().halted;
    await callTools(this.#ready, {
      block: context.name,
      messageId,
      host: this.#hostWith(journal, tools.host),
      journal,
      parallel: settings.limits.parallel,
      resultTokens: settings.limits.resultTokens,
      signal: endOf(signal, mayCall),
      causes: this.#causes,
      lost: this.#lost,
      mayCall,
      at: () => context.at(),
      onCall: (tool) => {
        this.#show('calling-tool', journal.state, tool);
      },
      onProgress: (call, tool, fact) => world.bus.emit('tool.progressed', { block: context.name, id: messageId, call, tool, ...fact }),
      keep: (place, bytes) => this.#keep(place, bytes),
    });
    if (signal.aborted) return this.#cutOff(journal);
    return mayCall() ? this.#next() : this.checkCalls(signal);
  }

  /** A stop that cuts a call off writes what is known of it: nothing. What may be repeated, or asked about, is left to the next start. */
  async #cutOff(journal: RunJournal): Promise<After> {
    const isLeft = ({ call, tool }: ReadyCall): boolean =>
      tool.isRepeatable || call.task !== undefined || this.#options.settings.onUnknown === 'ask' || this.#probeOf(call, tool) !== undefined;
    const lost = this.#ready.filter((one) => one.call.tries > 0 && one.call.outcome === undefined && !isLeft(one));
    const records = lost.map(({ call, tool }): RunRecord => {
      return { t: 'unknown', call: call.place, why: this.#causes.get(call.place) ?? 'it was cut off', open: !tool.marks.closedWorld };
    });
    if (records.length > 0) await journal.append(records);
    return this.#cancelled();
  }

  /** What the prompt says of them. */
  get #skills(): string {
    return this.#tools?.skills.section ?? '';
  }

  get #offered(): readonly OfferedTool[] {
    return this.#tools?.offered ?? [];
  }

  /** The calls of the server `block` are made here. */
  #hostWith(journal: RunJournal, host: ToolHost): Pick<ToolHost, 'call'> {
    const { context, settings, tools } = this.#options;
    const { message } = this.#now().attempt;
    const { catalogue: known, skills } = this.#tools as RunTools;
    const catalogue = () => known;
    const listed = () => new Set(this.#offered.map(({ id }) => id));
    const builtins = new Builtins({ context, message, settings, state: journal.state, skills, catalogue, listed, work: () => tools.work() });
    return { call: (call, signal) => (call.server === BLOCK_SERVER ? builtins.call(call, signal) : host.call(call, signal)) };
  }

  #keep(place: string, bytes: Uint8Array): Promise<boolean> {
    const { context, messageId, claim } = this.#options;
    return keptResult(context, claim, { messageId, place, bytes });
  }

  /** journal-is-the-truth. */
  #next(): After {
    const { state } = this.#journal as RunJournal;
    const next = nextIn(state);
    switch (next.kind) {
      case 'model':
        return { kind: next.concludes ? 'conclude' : 'model', step: state.lastStep + 1 };
      case 'wait':
        return { kind: 'over', called: waitOf(state.pending) };
      case 'ended':
        return { kind: 'over', called: this.#ended(state) };
      default:
        return { kind: 'check', step: state.lastStep };
    }
  }

  #ended(state: RunState): Called {
    const { end } = state;
    if (end?.status === 'cancelled') return { kind: 'cancelled' };
    if (end === undefined || end.status === 'done') return { kind: 'answered', answer: answerOf(state, this.#options.messageId) };
    const { code = 'TOOL_LIMIT' } = end;
    const isLimit = code === 'TOOL_LIMIT';
    return this.#failed(
      code,
      isLimit ? 'The run has reached a limit, and there is no answer.' : 'The message had failed, and its server ended before it said why.',
    );
  }

  /** The message has failed, whatever else is tried. */
  #failed(code: string, message: string): Called {
    const judged = this.#options.judge(new BlockhouseError('TOOL_LIMIT', message), this.#now().attempt);
    const failure = { ...judged.failure, code, kind: 'message', mayHaveRun: false, mayAskNext: false, retryMs: null } as const;
    return { ...judged, failure };
  }

  #cancelled(): After {
    const called = this.#options.judge(new BlockhouseError('CANCELLED', 'The run was ended.'), this.#now().attempt);
    return { kind: 'over', called: this.hasGotOn ? { ...called, failure: { ...called.failure, countsAsAttempt: false, mayHaveRun: false } } : called };
  }

  async #opened(): Promise<RunJournal> {
    const { context, claim, messageId } = this.#options;
    const listener = { block: context.name, bus: context.world.bus, log: context.log };
    const { conversation } = context.files;
    this.#journal ??= await RunJournal.open({
      conversation,
      claim,
      messageId,
      listener,
      pay: payerOf(context, messageId, this.#asked?.attempt.message),
    });
    return this.#journal;
  }

  #now(): Asked {
    if (this.#asked === undefined) throw new Error('Nothing is asked yet.');
    return this.#asked;
  }

  #show(phase: TaskPhase, state: RunState, tool?: string): void {
    const at = this.#options.context.at();
    this.#options.context.setTask(taskOf(this.#now().attempt.message, phase, state, tool === undefined ? undefined : { tool, at }));
  }
}

function byId(tools: readonly OfferedTool[]): ReadonlyMap<string, OfferedTool> {
  return new Map(tools.map((tool) => [tool.id, tool]));
}
