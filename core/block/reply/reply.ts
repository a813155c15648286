// The work of the steps of a reply, whose order is in reply-machine.ts.
//
// written-together: the answer and its message's outcome are one change of chat.json, after the call is in the ledger and in costs.json. In a database the call is in the
//   ledger with that change, and in the costs before anybody is told of it.
// unkept-counts: an attempt counts even if its answer or its bill could not be written, because it may have been paid for. The answer is kept until it can be
//   written (paid-once in unsaved-answer.ts), and the message does not fail meanwhile.
// left-is-saved: a reply has an actor of its own, below no monitor, because one that a stop no longer waits for is still saved when it ends.
import { createActor } from 'xstate';
import type { ActorSystem } from '../../base/abortable.ts';
import { BlockhouseError, toBlockhouseError } from '../../errors.ts';
import { textOf, textParts } from '../../gateway/parts.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import { judgeFailure } from '../actor/backoff.ts';
import { CallRefused, haltPause, type Pause } from '../actor/call-refused.ts';
import type { ReplyOutcome } from '../actor/types.ts';
import { type Candidate, candidatesOf, usableCandidates } from '../status/candidates.ts';
import { faultReason } from '../status/reasons.ts';
import { unitedTaint } from '../../tools/taint.ts';
import { AnswerText } from './answer-text.ts';
import { type Attempt, CANCELLED, countsAsAttempt, ELSEWHERE, type Fault, isLastAttempt, mayAskFallback, retryDelayMs } from './attempt.ts';
import type { Bill } from './billing.ts';
import type { BlockContext, WorkspaceTools } from './block-context.ts';
import { recordCall, updateWindow } from './bookkeeping.ts';
import { checkBudget, reserveCall } from './budget-check.ts';
import { answerBehind, ModelCallFailure } from './call-model.ts';
import { fittedConfig } from './fitted-config.ts';
import { answerEntry } from './outcome.ts';
import { isOlderThanSession } from './next-message.ts';
import { type Asked, type Called, type CallFailure, createReplyMachine, type Ending, type Plan, type ReplySteps, taskOf } from './reply-machine.ts';
import { assertTools } from './has-tools.ts';
import type { Run } from './run/run.ts';
import { type Effects, Settlement } from './save.ts';
import { isStorageFault, type KeptAnswer, keptText } from './unsaved-answer.ts';
import { buildWindow } from './window.ts';

/** Makes one attempt at a message. Rejects only with a fault of the disk or of the database, or a defect. */
export async function makeReply(context: BlockContext, messageId: string, signal: AbortSignal): Promise<ReplyOutcome> {
  machine ??= createReplyMachine(replyOf);
  const actor = createActor(machine, { input: { messageId } });
  replies.set(actor.system, new Reply(context, messageId, () => actor.send({ type: 'text.began' })));
  const abort = (): void => actor.send({ type: 'abort', cause: signal.reason === 'cancel' ? 'cancel' : 'stop' });
  signal.addEventListener('abort', abort);
  let phase: string | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const next = (snapshot: Parameters<typeof taskOf>[0]): void => {
        const task = taskOf(snapshot);
        if (task !== null && task.phase !== phase) context.setTask(task);
        phase = task?.phase ?? phase;
      };
      actor.subscribe({ next, error: reject, complete: () => resolve(actor.getSnapshot().output as ReplyOutcome) });
      actor.start();
    });
  } finally {
    signal.removeEventListener('abort', abort);
    context.endTask(messageId);
  }
}

/** All replies share one machine, and its work finds its reply here. */
const replies = new WeakMap<ActorSystem, Reply>();
let machine: ReturnType<typeof createReplyMachine> | undefined;
/** By block: the message whose run has begun last. */
const lastRuns = new WeakMap<BlockContext, string>();

function replyOf(system: ActorSystem): Reply {
  const reply = replies.get(system);
  if (reply === undefined) throw new Error('The actor belongs to no reply.');
  return reply;
}

/** One attempt at one message. */
class Reply implements ReplySteps {
  readonly #settlement: Settlement;
  readonly #messageId: string;
  readonly #context: BlockContext;
  readonly #onFirstText: () => void;
  /** Undefined for a block without tools. */
  #run: Run | undefined;
  #message: ChatEntry | undefined;
  /** The answer of an earlier attempt, which this one writes. */
  #takenUp: KeptAnswer | undefined;

  constructor(context: BlockContext, messageId: string, onFirstText: () => void) {
    this.#context = context;
    this.#messageId = messageId;
    this.#onFirstText = onFirstText;
    this.#settlement = new Settlement(context, messageId);
  }

  async prepare(signal: AbortSignal): Promise<Plan | null> {
    const { files } = this.#context;
    const history = await files.conversation.entries();
    const message = history.find(({ id }) => id === this.#messageId);
    if (message === undefined) return null;
    this.#message = message;
    const config = await fittedConfig(this.#context, { asks: message.asks, signal });
    await this.#prepareRun(config, message);
    const memory = await files.memory.read();
    const window = buildWindow({ config, memory, history, messageId: this.#messageId });
    return { config, window, candidates: this.#candidatesIn(config) };
  }

  /** The code of runs is loaded with the first one. Throws INVALID_REQUEST where nothing can run tools. */
  async #prepareRun(config: BlockConfig, message: ChatEntry): Promise<void> {
    const tools = assertTools(this.#context.world, config) ?? (await this.#toolsBefore(message));
    if (tools === undefined) return;
    lastRuns.set(this.#context, this.#messageId);
    const { runFor } = await import('./run/parts.ts');
    this.#run = runFor({
      context: this.#context,
      messageId: this.#messageId,
      claim: this.#settlement.claim,
      config,
      tools,
      judge: (error, attempt) => this.#failed(error, attempt),
      openStream: (candidate, attempt, text) => this.#settlement.open(candidate, attempt, text),
      onFirstText: this.#onFirstText,
    });
  }

  /** Of a run that has begun before the block lost its tools: it goes on without them, so that its calls get their outcomes, and its answer names them. */
  async #toolsBefore(message: ChatEntry): Promise<WorkspaceTools | undefined> {
    const { world, files } = this.#context;
    const isKnown = (message.attempts ?? 0) > 0 || message.status === 'waiting-approval' || lastRuns.get(this.#context) === this.#messageId;
    const mayHaveRun = isKnown || isOlderThanSession(this.#context, message); // a clean stop gives the attempt back
    return mayHaveRun && world.tools !== undefined && (await files.conversation.steps(this.#messageId)).length > 0 ? world.tools : undefined;
  }

  /** Models that can't be called are passed over, unless that is true of all: then the fault of the first is the outcome. */
  #candidatesIn(config: BlockConfig): Candidate[] {
    const all = candidatesOf(config);
    const usable = usableCandidates(this.#context.world.gateway, config);
    if (usable.length === 0 || usable.length === all.length) return all;
    this.#context.log.write('WARN', 'model.unusable', { id: this.#messageId, first: all[0]?.model, asked: usable[0]?.model });
    return usable;
  }

  async checkBudget({ config, window, candidates }: Plan): Promise<Pause | null> {
    const halted = haltPause(this.#context.world.halted());
    if (halted !== undefined || this.#kept !== undefined) return halted ?? null;
    return (await checkBudget(this.#context, config, candidates[0], window.tokens)) ?? null;
  }

  async begin(): Promise<ChatEntry | null> {
    await this.#context.world.calls.billing.ready();
    return (await this.#settlement.begin()) ?? null;
  }

  async callModel({ attempt, candidate }: Asked, signal: AbortSignal): Promise<Called> {
    if (candidate === undefined) return this.#failed(new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'No model is set.'), attempt);
    if (this.#run !== undefined) return this.#run.call({ attempt, candidate }, signal);
    if (this.#kept !== undefined && this.#kept.step === undefined) return this.#takeUp(this.#kept, attempt);
    const text = new AnswerText();
    try {
      return { kind: 'answered', answer: await this.#call(candidate, attempt, text, signal) };
    } catch (error) {
      if (error instanceof CallRefused) return { kind: 'refused', pause: error.pause };
      const answer = answerBehind(error);
      if (answer !== undefined) this.#context.unsaved.keep({ message: attempt.message, candidate, answer, isRecorded: false });
      if (!(error instanceof ModelCallFailure)) throw error;
      const { failure, bill = null } = error;
      if (bill !== null) await recordCall(this.#context, bill, 'chat', this.#messageId);
      const called = this.#failed(failure, attempt);
      const { code, message, kind } = called.failure;
      if (kind !== 'cancelled') this.#context.log.write('WARN', 'reply.failed', { id: this.#messageId, model: candidate.model, code, error: message });
      return { ...called, bill, content: text.toParts() };
    }
  }

  get #kept(): KeptAnswer | undefined {
    return this.#message && this.#context.unsaved.of(this.#message);
  }

  /** paid-once (unsaved-answer.ts). */
  #takeUp(kept: KeptAnswer, { message }: Attempt): Called {
    this.#takenUp = kept;
    const { feed, log } = this.#context;
    const said = textOf(kept.answer.message.content, 'assistant');
    const text = new AnswerText();
    this.#settlement.open(kept.candidate, message.attempts ?? 1, text);
    text.append(said);
    if (said !== '') feed.emit({ id: this.#messageId, event: 'content', text: said });
    log.write('INFO', 'reply.taken-up', { id: this.#messageId, model: kept.candidate.model, characters: said.length });
    return { kind: 'answered', answer: kept.answer };
  }

  #call(candidate: Candidate, { message, window }: Attempt, text: AnswerText, signal: AbortSignal) {
    const { world, name, log, feed } = this.#context;
    const { provider, model } = candidate;
    const attempt = message.attempts ?? 1;
    world.bus.emit('message.started', { block: name, id: this.#messageId, attempt, provider, model });
    log.write('INFO', 'reply.started', { id: this.#messageId, model, attempt, entries: window.entries, tokens: window.tokens });
    this.#settlement.open(candidate, attempt, text);
    return world.calls.make({
      block: name,
      candidate,
      messages: window.messages,
      purpose: 'chat',
      messageId: this.#messageId,
      isSettledNext: true,
      key: message.chain?.find(({ key }) => key !== undefined)?.key,
      signal,
      text,
      reserve: (id) => reserveCall(this.#context, { id, candidate, inputTokens: window.tokens }, signal),
      onText: (fragment) => {
        if (text.length === fragment.length) this.#onFirstText();
        feed.emit({ id: this.#messageId, event: 'content', text: fragment });
      },
    });
  }

  #failed(error: BlockhouseError, attempt: Attempt): Called & { readonly kind: 'failed' } {
    const { world, name } = this.#context;
    const { code, message, retryable, mayHaveRun } = error;
    const kind = judgeFailure(error);
    const retryMs = retryDelayMs(error, attempt, { now: world.now(), failures: this.#context.failures(), random: () => world.random() }) ?? null;
    const judged = {
      kind: kind === 'block' && attempt.message.asks !== undefined ? 'message' : kind, // a model that one message asks says nothing of the block's own
      reason: faultReason(name, error),
      countsAsAttempt: countsAsAttempt(error, attempt.candidates),
      mayAskNext: mayAskFallback(error),
      retryMs,
    };
    const failure: CallFailure = { code, message, retryable, mayHaveRun, ...judged };
    return { kind: 'failed', failure, bill: null, content: [] };
  }

  discard(fault: Fault): void {
    this.#settlement.attemptOver(fault, true);
  }

  async save({ attempt, candidate }: Asked, ending: Ending): Promise<ReplyOutcome> {
    const settlement = this.#settlement;
    const { message, window } = attempt;
    switch (ending.kind) {
      case 'answer':
        return this.#answered(ending, attempt, this.#takenUp?.candidate ?? (candidate as Candidate));
      case 'interrupted': {
        const { content, bill, isCancelled } = ending;
        const answer = answerEntry(this.#context, { message, candidate: candidate as Candidate, content, status: 'interrupted', bill, taint: window.taint });
        await settlement.answer(answer, bill, { status: isCancelled ? 'cancelled' : 'done', error: null, finishedAt: this.#context.at() });
        return { kind: 'over', failed: false, cancelled: isCancelled };
      }
      case 'cancelled':
        await settlement.cancel(await this.#effects('cancelled', CANCELLED, message, candidate));
        return { kind: 'over', failed: false, cancelled: true };
      case 'failed':
        await settlement.fail(ending.fault, await this.#effects('failed', ending.fault, message, candidate));
        return { kind: 'over', failed: true };
      case 'waiting':
        await settlement.wait(ending.waitingFor);
        return ending.outcome;
      case 'retry':
        return this.#retry(ending);
      case 'requeue':
        await settlement.requeue({ fault: ending.fault, countsAsAttempt: ending.countsAsAttempt });
        return ending.outcome;
    }
  }

  /** The end of a run without an answer; undefined without tools. */
  async #effects(
    status: 'failed' | 'cancelled',
    { code, message: why }: Fault,
    message: ChatEntry,
    candidate: Candidate | undefined,
  ): Promise<Effects | undefined> {
    const what = status === 'cancelled' ? 'The message was cancelled.' : `The message has failed: ${why}`;
    const closed = await this.#run?.close({ status, code, what, at: this.#context.at() });
    if (closed === undefined) return undefined;
    const { run, text, taint } = closed;
    if (text === undefined || candidate === undefined) return { run, entry: undefined };
    return { run, entry: answerEntry(this.#context, { message, candidate, content: textParts(text), status: 'interrupted', bill: null, run: closed, taint }) };
  }

  /** written-together. */
  async #answered(ending: Ending & { readonly kind: 'answer' }, { message, window }: Attempt, asked: Candidate) {
    const { message: said, stopReason, bill, isCut, run } = ending.answer;
    const isHanded = bill.handed !== undefined;
    const keep = (isRecorded: boolean) => (error: unknown) => {
      if (run === undefined && isStorageFault(error)) this.#context.unsaved.keep({ message, candidate: asked, answer: ending.answer, isRecorded });
      throw error;
    };
    const isRecorded = run !== undefined || isHanded || this.#takenUp?.isRecorded === true;
    if (!isRecorded) await recordCall(this.#context, bill, 'chat', this.#messageId).catch(keep(false));
    const candidate = run === undefined ? asked : { ...asked, provider: bill.provider, model: bill.model };
    const taint = unitedTaint(run?.taint ?? [], window.taint);
    const answer = answerEntry(this.#context, { message, candidate, content: said.content, status: 'done', bill, stopReason, run, taint });
    if (isCut) this.#context.log.write('WARN', 'reply.cut', { id: this.#messageId, model: candidate.model, characters: answer.content.length });
    const outcome = { status: 'done', error: null, finishedAt: bill.at } as const;
    await this.#settlement.answer(answer, bill, outcome, isHanded ? () => this.#recordKept(bill) : undefined).catch(keep(!isHanded));
    this.#context.unsaved.drop();
    return { kind: 'answered', compact: await updateWindow(this.#context, this.#run?.definitionTokens) } as const;
  }

  /** The answer is stored by now, so that it is not made again because of this. The next start counts the call (costs-recovery.ts). */
  async #recordKept(bill: Bill): Promise<void> {
    await recordCall(this.#context, bill, 'chat', this.#messageId).catch((error: unknown) => {
      this.#context.log.write('WARN', 'costs.not-recorded', { id: this.#messageId, error: toBlockhouseError(error).message });
    });
  }

  async #retry({ failure, delayMs, countsAsAttempt }: Ending & { readonly kind: 'retry' }): Promise<ReplyOutcome> {
    const { world, retryWait } = this.#context;
    const until = world.now() + delayMs;
    const nextAttemptAt = new Date(until).toISOString();
    await this.#settlement.requeue({ countsAsAttempt, nextAttemptAt, fault: failure });
    retryWait.begin({ id: this.#messageId, nextAttemptAt }, delayMs);
    return { kind: 'wait', until, reason: failure.reason };
  }

  /** Readers learn that the attempt is over, and the message goes back to the queue if that can be written. */
  async breakOff(error: unknown, attempt: Attempt | null): Promise<never> {
    const settlement = this.#settlement;
    const isKept = isStorageFault(error) && this.#kept !== undefined;
    const plain = toBlockhouseError(error);
    const fault = isKept ? new BlockhouseError(plain.code, keptText(plain.message), { cause: plain }) : plain;
    if (fault.code === 'LEASE_LOST') {
      if (settlement.isOpen) settlement.attemptOver(ELSEWHERE, true);
      throw error;
    }
    const isDefect = fault.code === 'INTERNAL_ERROR';
    const hasGotOn = this.#run?.hasGotOn === true;
    const isLast = !isDefect && !isKept && settlement.isOpen && attempt !== null && isLastAttempt(attempt) && !hasGotOn;
    if (settlement.isOpen && !isLast) settlement.attemptOver(fault, true);
    if (isDefect) throw error;
    const settled = isLast ? settlement.fail(fault) : settlement.putBack({ countsAsAttempt: attempt !== null && !hasGotOn && this.#takenUp === undefined }); // unkept-counts
    await settled.catch((unwritten: unknown) => {
      if (settlement.isOpen) settlement.attemptOver(fault, true);
      this.#context.log.write('ERROR', 'reply.not-requeued', { id: this.#messageId, error: toBlockhouseError(unwritten).message });
    });
    throw isKept ? fault : error;
  }
}
