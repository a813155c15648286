// One attempt at one message of a block.
//
// counted-first: the attempt is counted on disk before a model is called.
// written-together: the answer and its message's outcome are one change of chat.json, after the call is in the ledger and in costs.json.
// one-end: every attempt ends in exactly one result for the machine, and its message in exactly one status. Only a fault of the disk, or a
//   defect, is thrown.
// fallbacks-last: a fallback is asked only after the first model has failed permanently.
// text-is-kept: an attempt that a stop ended keeps the text so far as an interrupted answer. Without any text the message waits for the next run.
// no-call-no-attempt: an attempt counts only if a provider may have worked on it, not if the kill switch or a cap prevented the call.
// unkept-counts: an attempt counts even if its answer or its bill could not be written, because it may have been paid for.
import { BlockhouseError, toBlockhouseError } from '../../errors.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { TaskPhase } from '../../schemas/block-pulse.ts';
import type { ChatEntry } from '../../schemas/chat-entry.ts';
import { judgeFailure } from '../actor/backoff.ts';
import { CallRefused, haltPause } from '../actor/call-refused.ts';
import type { ReplyOutcome } from '../actor/types.ts';
import { type Candidate, candidatesOf, usableCandidates } from '../status/candidates.ts';
import { faultReason } from '../status/reasons.ts';
import { AnswerText } from './answer-text.ts';
import { type Attempt, countsAsAttempt, ENDED_EARLY, isLastAttempt, NOT_CALLED, retryDelayMs } from './attempt.ts';
import type { Bill } from './billing.ts';
import type { BlockContext } from './block-context.ts';
import { recordCall, updateWindow } from './bookkeeping.ts';
import { checkBudget, reserveCall } from './budget-check.ts';
import { type ModelAnswer, ModelCallFailure } from './call-model.ts';
import { fittedConfig } from './fitted-config.ts';
import { answerEntry } from './outcome.ts';
import { Settlement } from './save.ts';
import { buildWindow } from './window.ts';

/** Why a reply was ended before its time. */
export type AbortCause = 'stop' | 'cancel';

/** One attempt at the reply to one message. */
export class Reply {
  readonly #messageId: string;
  readonly #context: BlockContext;
  readonly #settlement: Settlement;
  readonly #controller = new AbortController();
  #cause: AbortCause | undefined;
  #text = new AnswerText();
  /** The attempt, once a model is asked. */
  #asked: Attempt | undefined;
  /** A provider may have worked on a call of this attempt that failed. */
  #mayHaveRun = false;

  constructor(context: BlockContext, messageId: string) {
    this.#context = context;
    this.#messageId = messageId;
    this.#settlement = new Settlement(context, messageId);
  }

  /** The first cause counts. */
  abort(cause: AbortCause): void {
    this.#cause ??= cause;
    this.#controller.abort();
  }

  /** one-end. */
  async make(): Promise<ReplyOutcome> {
    try {
      return await this.#make();
    } catch (error) {
      await this.#brokeOff(error);
      throw error;
    } finally {
      this.#context.endTask(this.#messageId);
    }
  }

  async #make(): Promise<ReplyOutcome> {
    const { files, world } = this.#context;
    const config = await fittedConfig(this.#context, this.#controller.signal);
    const memory = await files.memory.read();
    const history = await files.conversation.entries();
    if (!history.some(({ id }) => id === this.#messageId)) return { kind: 'over', failed: false };
    const window = buildWindow({ config, memory, history, messageId: this.#messageId });
    const candidates = this.#candidatesIn(config);
    const pause = haltPause(world.halted()) ?? (await checkBudget(this.#context, config, candidates[0], window.tokens)); // no-call-no-attempt
    if (pause !== undefined) return pause;
    await world.calls.billing.ready();
    const message = await files.conversation.begin(this.#messageId); // counted-first
    if (message === undefined) return { kind: 'over', failed: false };
    return this.#ask({ config, message, window, candidates });
  }

  /** Models that can't be called are passed over, unless that is true of all: then the fault of the first is the outcome. */
  #candidatesIn(config: BlockConfig): Candidate[] {
    const all = candidatesOf(config);
    const usable = usableCandidates(this.#context.world.gateway, config);
    if (usable.length === 0 || usable.length === all.length) return all;
    this.#context.log.write('WARN', 'model.unusable', { id: this.#messageId, first: all[0]?.model, asked: usable[0]?.model });
    return usable;
  }

  /** fallbacks-last. */
  async #ask(attempt: Attempt): Promise<ReplyOutcome> {
    const { candidates } = attempt;
    let first: BlockhouseError | undefined;
    for (const candidate of candidates) {
      try {
        return await this.#answered(await this.#call(candidate, attempt), candidate, attempt);
      } catch (error) {
        if (error instanceof CallRefused) return this.#requeue(error.pause, NOT_CALLED);
        if (!(error instanceof ModelCallFailure)) throw error;
        const { failure, bill } = error;
        await this.#note(failure, bill);
        if (judgeFailure(failure) === 'cancelled') return this.#interrupted(candidate, attempt, bill, failure);
        this.#context.log.write('WARN', 'reply.failed', { id: this.#messageId, model: candidate.model, code: failure.code, error: failure.message });
        first ??= failure;
        const delayMs = this.#delayMs(first, attempt);
        if (delayMs !== undefined) return this.#retry(first, attempt, delayMs);
        if (candidate !== candidates.at(-1)) this.#settlement.attemptOver(failure, true);
      }
    }
    return this.#failed(first ?? new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'No model is set.'));
  }

  #delayMs(failure: BlockhouseError, attempt: Attempt): number | undefined {
    const { world } = this.#context;
    return retryDelayMs(failure, attempt, { now: world.now(), failures: this.#context.failures(), random: () => world.random() });
  }

  async #note({ mayHaveRun }: BlockhouseError, bill: Bill | undefined): Promise<void> {
    this.#mayHaveRun ||= mayHaveRun;
    if (bill !== undefined) await recordCall(this.#context, bill, 'chat', this.#messageId);
  }

  #call(candidate: Candidate, attempt: Attempt): Promise<ModelAnswer> {
    const { message, window } = attempt;
    const { world, name, log } = this.#context;
    const { provider, model } = candidate;
    const number = message.attempts ?? 1;
    this.#asked = attempt;
    this.#text = new AnswerText();
    this.#show('waiting-model', message);
    world.bus.emit('message.started', { block: name, id: this.#messageId, attempt: number, provider, model });
    log.write('INFO', 'reply.started', { id: this.#messageId, model, attempt: number, entries: window.entries, tokens: window.tokens });
    this.#settlement.open(candidate, number, this.#text);
    return world.calls.make({
      block: name,
      candidate,
      messages: window.messages,
      purpose: 'chat',
      messageId: this.#messageId,
      signal: this.#controller.signal,
      text: this.#text,
      reserve: (id) => reserveCall(this.#context, id, candidate, window.tokens, this.#controller.signal),
      onText: (fragment) => this.#grow(fragment, message),
    });
  }

  #grow(text: string, message: ChatEntry): void {
    if (this.#text.length === text.length) this.#show('streaming', message);
    this.#context.feed.emit({ id: this.#messageId, event: 'content', text });
  }

  #show(phase: TaskPhase, { startedAt, attempts }: ChatEntry): void {
    this.#context.setTask({
      messageId: this.#messageId,
      startedAt: startedAt ?? this.#context.at(),
      attempt: attempts ?? 1,
      phase,
      outputChars: this.#text.length,
    });
  }

  /** written-together. */
  async #answered({ content, done, bill, isCut }: ModelAnswer, candidate: Candidate, { message }: Attempt): Promise<ReplyOutcome> {
    this.#show('saving', message);
    if (isCut) this.#context.log.write('WARN', 'reply.cut', { id: this.#messageId, model: candidate.model, characters: content.length });
    await recordCall(this.#context, bill, 'chat', this.#messageId);
    const answer = answerEntry(this.#context, { message, candidate, content, status: 'done', bill, stopReason: done.stopReason });
    await this.#settlement.answer(answer, bill, { status: 'done', error: null, finishedAt: bill.at });
    return { kind: 'answered', compact: await updateWindow(this.#context) };
  }

  /** text-is-kept. */
  async #interrupted(candidate: Candidate, { message }: Attempt, bill: Bill | undefined, failure: BlockhouseError): Promise<ReplyOutcome> {
    const isCancelled = this.#cause === 'cancel';
    if (this.#text.length > 0) {
      const answer = answerEntry(this.#context, { message, candidate, content: this.#text.toString(), status: 'interrupted', bill });
      await this.#settlement.answer(answer, bill, { status: isCancelled ? 'cancelled' : 'done', error: null, finishedAt: this.#context.at() });
    } else if (isCancelled) {
      await this.#settlement.cancel();
    } else {
      return this.#requeue(this.#unasked(failure), ENDED_EARLY);
    }
    return { kind: 'over', failed: false, cancelled: isCancelled };
  }

  /** After the gateway has closed, no call is possible: the monitor waits for its own stop. */
  #unasked(failure: BlockhouseError): ReplyOutcome {
    if (failure.code !== 'SHUTTING_DOWN') return { kind: 'over', failed: false };
    return { kind: 'pause', until: null, reason: faultReason(this.#context.name, failure), actor: 'server' };
  }

  async #retry(fault: BlockhouseError, { candidates }: Attempt, delayMs: number): Promise<ReplyOutcome> {
    const { name, world, retryWait } = this.#context;
    const until = world.now() + delayMs;
    const nextAttemptAt = new Date(until).toISOString();
    await this.#settlement.requeue({ countsAsAttempt: this.#mayHaveRun || countsAsAttempt(fault, candidates), nextAttemptAt, fault });
    retryWait.begin({ id: this.#messageId, nextAttemptAt }, delayMs);
    return { kind: 'wait', until, reason: faultReason(name, fault) };
  }

  /** Every candidate has failed permanently; the error of the first one decides. */
  async #failed(fault: BlockhouseError): Promise<ReplyOutcome> {
    if (judgeFailure(fault) === 'block') return this.#requeue({ kind: 'fail', reason: faultReason(this.#context.name, fault) }, fault);
    await this.#settlement.fail(fault);
    return { kind: 'over', failed: true };
  }

  /** no-call-no-attempt. */
  async #requeue(result: ReplyOutcome, fault: BlockhouseError): Promise<ReplyOutcome> {
    await this.#settlement.requeue({ countsAsAttempt: this.#mayHaveRun, fault });
    return result;
  }

  /** After a disk fault or a defect: readers learn that the attempt is over, and the message goes back to the queue if that can be written. */
  async #brokeOff(error: unknown): Promise<void> {
    const fault = toBlockhouseError(error);
    const isDefect = fault.code === 'INTERNAL_ERROR';
    const isLast = !isDefect && this.#settlement.isOpen && this.#asked !== undefined && isLastAttempt(this.#asked);
    if (this.#settlement.isOpen && !isLast) this.#settlement.attemptOver(fault, true);
    if (isDefect) return;
    const settled = isLast ? this.#settlement.fail(fault) : this.#settlement.putBack({ countsAsAttempt: this.#asked !== undefined }); // unkept-counts
    await settled.catch((unwritten: unknown) => {
      if (this.#settlement.isOpen) this.#settlement.attemptOver(fault, true);
      this.#context.log.write('ERROR', 'reply.not-requeued', { id: this.#messageId, error: toBlockhouseError(unwritten).message });
    });
  }
}
