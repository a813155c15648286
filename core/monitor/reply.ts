// One attempt at one message of a block.
//
// R1 The attempt is counted on disk before a model is called.
// R2 The answer and its message's outcome are written together, after the call is in the ledger and in costs.json.
// R3 Every attempt ends in exactly one outcome of the machine, and its message in exactly one status; what is thrown is a fault of the disk
//    or a defect.
// R4 A fallback is asked only after the first has failed for good.
// R5 An attempt that a stop ended keeps the text so far as an interrupted answer; without any text the message waits for the next run.
// R6 While the kill switch is set no model is called, nor a fallback; nor one that a cap does not allow. The message waits, and no attempt
//    is counted.
// R7 An attempt whose answer, or its bill, the disk would not take counts: it may have been paid for.
import { begin, type Entries, requeue, settle } from '../block/chat-file.ts';
import type { BlockWorkshop } from '../block/workshop.ts';
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { ChatEntry, TaskPhase } from '../schemas/block.ts';
import { type Attempt, CANCELLED, countsAsAttempt, ENDED_EARLY, GONE, isLastAttempt, NOT_CALLED, retryAt } from './attempt.ts';
import { judgeFailure } from './backoff.ts';
import { recordCall, updateWindow } from './bookkeeping.ts';
import { checkBudget, reserveCall } from './budget-check.ts';
import type { ReplyOutcome } from '../block/machine-setup.ts';
import { type Bill, CallRefused, type Candidate, candidatesOf, haltPause, type ModelAnswer, ModelCallFailure } from './model-call.ts';
import { answerEntry, entryError, tellAnswer, tellAttemptOver, tellOver } from './outcome.ts';
import { faultReason } from './reasons.ts';
import { buildWindow } from './window.ts';

/** Why a reply was ended before its time. */
export type AbortCause = 'stop' | 'cancel';

/** The reply that is being made: what `abort` reaches. */
export class Reply {
  readonly messageId: string;
  readonly #shop: BlockWorkshop;
  readonly #controller = new AbortController();
  #cause: AbortCause | undefined;
  #wasCancelled = false;
  /** True between a `start` of the feed and its end. */
  #isOpen = false;
  #end: (() => void) | undefined;
  #text = '';
  /** Once a model is asked. */
  #asked: Attempt | undefined;

  constructor(shop: BlockWorkshop, messageId: string) {
    this.#shop = shop;
    this.messageId = messageId;
  }

  abort(cause: AbortCause): void {
    this.#cause ??= cause;
    this.#controller.abort();
  }

  /** Resolves when `make` has settled. */
  readonly ended: Promise<void> = new Promise((resolve) => {
    this.#end = resolve;
  });

  /** True when it has ended in the message being cancelled. */
  get wasCancelled(): boolean {
    return this.#wasCancelled;
  }

  /** R3. */
  async make(): Promise<ReplyOutcome> {
    try {
      return await this.#make();
    } catch (error) {
      await this.#brokeOff(error);
      throw error;
    } finally {
      this.#shop.endTask(this.messageId);
      this.#end?.();
    }
  }

  async #make(): Promise<ReplyOutcome> {
    const { files } = this.#shop;
    const config = await files.config.read();
    const memory = await files.memory.read();
    const history = await files.chat.read();
    if (!history.some(({ id }) => id === this.messageId)) return { kind: 'over', failed: false };
    const window = buildWindow({ config, memory, history, messageId: this.messageId });
    const candidates = candidatesOf(config);
    const pause = haltPause(this.#shop.world.halted()) ?? (await checkBudget(this.#shop, config, candidates[0], window.tokens)); // R6
    if (pause !== undefined) return pause;
    await this.#shop.world.calls.ready(); // before the attempt is counted
    const message = await files.chat.update((entries) => begin(entries, this.messageId, this.#shop.at())); // R1
    if (message === undefined) return { kind: 'over', failed: false };
    return this.#ask({ config, message, window, candidates });
  }

  /** R4. */
  async #ask(attempt: Attempt): Promise<ReplyOutcome> {
    const { candidates } = attempt;
    const { world } = this.#shop;
    let first: BlockhouseError | undefined;
    for (const candidate of candidates) {
      try {
        const answer = await this.#call(candidate, attempt);
        return await this.#answered(answer, candidate, attempt);
      } catch (error) {
        if (error instanceof CallRefused) return this.#again(error.pause, { countsAsAttempt: false, fault: NOT_CALLED }); // R6
        if (!(error instanceof ModelCallFailure)) throw error;
        const { failure, bill } = error;
        if (bill !== undefined) await recordCall(this.#shop, bill, 'chat', this.messageId);
        if (judgeFailure(failure) === 'cancelled') return this.#cut(candidate, attempt, bill, failure);
        this.#shop.log.write('WARN', 'reply.failed', { id: this.messageId, model: candidate.model, code: failure.code, error: failure.message });
        first ??= failure;
        const again = retryAt(first, attempt, { now: world.now(), failures: this.#shop.failures(), random: () => world.random() });
        if (again !== undefined) return this.#retry(first, attempt, again);
        if (candidate !== candidates.at(-1)) this.#over(failure, true);
      }
    }
    return this.#failed(first ?? new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'No model is set.'));
  }

  #call(candidate: Candidate, attempt: Attempt): Promise<ModelAnswer> {
    const { message, window } = attempt;
    const { feed, world, name, log } = this.#shop;
    const { provider, model } = candidate;
    const number = message.attempts ?? 1;
    this.#asked = attempt;
    this.#text = '';
    this.#show('waiting-model', message);
    world.bus.emit('message.started', { block: name, id: this.messageId, attempt: number, provider, model });
    log.write('INFO', 'reply.started', { id: this.messageId, model, attempt: number, entries: window.entries, tokens: window.tokens });
    feed.emit({ id: this.messageId, event: 'start', provider, model, attempt: number });
    this.#isOpen = true;
    return world.calls.make({
      block: name,
      candidate,
      messages: window.messages,
      purpose: 'chat',
      messageId: this.messageId,
      signal: this.#controller.signal,
      reserve: () => reserveCall(this.#shop, candidate, window.tokens, this.#controller.signal),
      onText: (text) => this.#grow(text),
    });
  }

  #grow(text: string): void {
    this.#text += text;
    this.#shop.growTask(this.#text.length);
    this.#shop.feed.emit({ id: this.messageId, event: 'content', text });
  }

  #show(phase: TaskPhase, { startedAt, attempts }: ChatEntry): void {
    this.#shop.setTask({
      messageId: this.messageId,
      startedAt: startedAt ?? this.#shop.at(),
      attempt: attempts ?? 1,
      phase,
      outputChars: this.#text.length,
    });
  }

  /** R2. */
  async #answered({ content, done, bill }: ModelAnswer, candidate: Candidate, { message }: Attempt): Promise<ReplyOutcome> {
    this.#show('saving', message);
    await recordCall(this.#shop, bill, 'chat', this.messageId);
    const answer = answerEntry(this.#shop, { message, candidate, content, status: 'done', bill, stopReason: done.stopReason });
    await this.#keep(answer, bill, { status: 'done', error: null, finishedAt: bill.at });
    return { kind: 'answered', compact: await updateWindow(this.#shop) };
  }

  async #keep(answer: ChatEntry, bill: Bill | undefined, outcome: Pick<ChatEntry, 'status'> & Partial<ChatEntry>): Promise<void> {
    const isKept = await this.#change((entries) => settle(entries, this.messageId, outcome, answer));
    if (!isKept) return this.#over(GONE, false);
    this.#isOpen = false;
    tellAnswer(this.#shop, answer, bill, outcome.status === 'cancelled');
  }

  /** R5. */
  async #cut(candidate: Candidate, { message }: Attempt, bill: Bill | undefined, failure: BlockhouseError): Promise<ReplyOutcome> {
    const isCancelled = this.#cause === 'cancel';
    const outcome = { status: isCancelled ? 'cancelled' : 'done', error: null, finishedAt: this.#shop.at() } as const;
    if (this.#text !== '') {
      const answer = answerEntry(this.#shop, { message, candidate, content: this.#text, status: 'interrupted', bill });
      await this.#keep(answer, bill, outcome);
    } else if (isCancelled) {
      const isKept = await this.#change((entries) => settle(entries, this.messageId, outcome, undefined));
      if (isKept) this.#finish('cancelled', CANCELLED);
      else this.#over(GONE, false);
    } else {
      return this.#again(this.#unasked(failure), { countsAsAttempt: false, fault: ENDED_EARLY });
    }
    this.#wasCancelled = isCancelled;
    return { kind: 'over', failed: false };
  }

  /** A gateway that is closed answers nobody any more: the monitor waits for its own stop. */
  #unasked(failure: BlockhouseError): ReplyOutcome {
    if (failure.code !== 'SHUTTING_DOWN') return { kind: 'over', failed: false };
    return { kind: 'pause', until: null, reason: faultReason(this.#shop.name, failure), actor: 'server' };
  }

  #retry(fault: BlockhouseError, { candidates }: Attempt, until: number): Promise<ReplyOutcome> {
    const outcome = { kind: 'wait', until, reason: faultReason(this.#shop.name, fault) } as const;
    return this.#again(outcome, { countsAsAttempt: countsAsAttempt(fault, candidates), fault, nextAttemptAt: new Date(until).toISOString() });
  }

  /** Every candidate has failed for good; what the first one said decides. */
  async #failed(fault: BlockhouseError): Promise<ReplyOutcome> {
    if (judgeFailure(fault) === 'block') return this.#again({ kind: 'fail', reason: faultReason(this.#shop.name, fault) }, { countsAsAttempt: false, fault });
    await this.#giveUp(fault);
    return { kind: 'over', failed: true };
  }

  async #giveUp(fault: BlockhouseError): Promise<void> {
    const outcome = { status: 'failed', error: entryError(fault), finishedAt: this.#shop.at() } as const;
    const isKept = await this.#change((entries) => settle(entries, this.messageId, outcome, undefined));
    if (isKept) this.#finish('failed', fault);
    else this.#over(GONE, false);
  }

  /** The message goes back into the queue. */
  async #again(
    outcome: ReplyOutcome,
    { fault, ...how }: { readonly countsAsAttempt: boolean; readonly nextAttemptAt?: string; readonly fault?: BlockhouseError },
  ): Promise<ReplyOutcome> {
    // Being ended, or not begun, is no error of the message.
    const error = fault === undefined || fault === ENDED_EARLY || fault === NOT_CALLED ? undefined : entryError(fault);
    await this.#change((entries) => requeue(entries, this.messageId, { ...how, ...(error !== undefined && { error }) }));
    if (fault !== undefined) this.#over(fault, true);
    return outcome;
  }

  /** The disk, or a defect, was in the way: nobody waits for the rest, and the message goes back into the queue where that can be written. */
  async #brokeOff(error: unknown): Promise<void> {
    const fault = toBlockhouseError(error);
    const isDefect = fault.code === 'INTERNAL_ERROR';
    const isLast = !isDefect && this.#isOpen && this.#asked !== undefined && isLastAttempt(this.#asked);
    if (this.#isOpen && !isLast) this.#over(fault, true);
    if (isDefect) return;
    await (isLast ? this.#giveUp(fault) : this.#putBack()).catch((unwritten: unknown) => {
      if (this.#isOpen) this.#over(fault, true);
      this.#shop.log.write('ERROR', 'reply.not-requeued', { id: this.messageId, error: toBlockhouseError(unwritten).message });
    });
  }

  /** R7. */
  async #putBack(): Promise<void> {
    await this.#change((entries) => requeue(entries, this.messageId, { countsAsAttempt: this.#asked !== undefined }));
  }

  #change(change: (entries: Entries) => { value: Entries; result: boolean }): Promise<boolean> {
    return this.#shop.files.chat.update(change);
  }

  #over(fault: BlockhouseError, willRetry: boolean): void {
    this.#isOpen = false;
    tellAttemptOver(this.#shop, this.messageId, fault, willRetry);
  }

  #finish(status: 'failed' | 'cancelled', fault: BlockhouseError): void {
    this.#isOpen = false;
    tellOver(this.#shop, this.messageId, status, fault);
  }
}
