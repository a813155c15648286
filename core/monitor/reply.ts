// One attempt at one message of a block.
//
// R1 The attempt is counted on disk before a model is called.
// R2 The answer and its message's outcome are written together, after the call is in the ledger and in costs.json.
// R3 Every attempt ends in exactly one outcome of the machine, and its message in exactly one status; what is thrown is a defect.
// R4 A fallback is asked only after the first has failed for good.
// R5 An attempt that a stop ended keeps the text so far as an interrupted answer; without any text the message waits for the next run.
import { begin, type Entries, requeue, settle } from '../block/chat-file.ts';
import type { BlockWorkshop } from '../block/workshop.ts';
import { BlockhouseError } from '../errors.ts';
import type { BlockConfig, ChatEntry, EntryError } from '../schemas/block.ts';
import { backoffMs, isStale, judgeFailure } from './backoff.ts';
import { recordCall } from './bookkeeping.ts';
import { checkBudget } from './budget-check.ts';
import type { ReplyOutcome } from './machine.ts';
import { type Bill, type Candidate, candidatesOf, type ModelAnswer, ModelCallFailure } from './model-call.ts';
import { faultReason } from './reasons.ts';
import { buildWindow, needsCompaction, type Window, windowStand } from './window.ts';

/** Why a reply was ended before its time. */
export type AbortCause = 'stop' | 'cancel';

/** The reply that is being made: what `abort` reaches. */
export class Reply {
  readonly messageId: string;
  readonly #shop: BlockWorkshop;
  readonly #controller = new AbortController();
  #cause: AbortCause | undefined;
  #end: (() => void) | undefined;
  #text = '';
  #config: BlockConfig | undefined;

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

  /** R3. */
  async make(): Promise<ReplyOutcome> {
    try {
      return await this.#make();
    } finally {
      this.#end?.();
    }
  }

  async #make(): Promise<ReplyOutcome> {
    const { files } = this.#shop;
    const config = await files.config.read();
    this.#config = config;
    const memory = await files.memory.read();
    const history = await files.chat.read();
    if (!history.some(({ id }) => id === this.messageId)) return { kind: 'over', failed: false };
    const window = buildWindow({ config, memory, history, messageId: this.messageId });
    const candidates = candidatesOf(config);
    const pause = await checkBudget(this.#shop, config, candidates, window.tokens);
    if (pause !== undefined) return pause;
    const message = await files.chat.update((entries) => begin(entries, this.messageId, this.#shop.at())); // R1
    if (message === undefined) return { kind: 'over', failed: false };
    return this.#ask(candidates, window, message);
  }

  /** R4. */
  async #ask(candidates: readonly Candidate[], window: Window, message: ChatEntry): Promise<ReplyOutcome> {
    let first: BlockhouseError | undefined;
    for (const candidate of candidates) {
      try {
        const answer = await this.#call(candidate, window, message);
        return await this.#answered(answer, candidate, message);
      } catch (error) {
        if (!(error instanceof ModelCallFailure)) throw error;
        if (error.bill !== undefined) await recordCall(this.#shop, error.bill, 'chat', this.messageId);
        if (judgeFailure(error.failure) === 'cancelled') return this.#ended(candidate, message, error.bill);
        this.#shop.log.write('WARN', 'reply.failed', { id: this.messageId, model: candidate.model, code: error.failure.code, error: error.failure.message });
        first ??= error.failure;
        const again = this.#retryAt(first, message, candidates.length > 1);
        if (again !== undefined) return this.#retry(first, message, again, candidates.length > 1);
        this.#shop.feed.emit({
          id: this.messageId,
          event: 'error',
          code: error.failure.code,
          error: error.failure.message,
          willRetry: candidate !== candidates.at(-1),
        });
      }
    }
    return this.#failed(first ?? new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'No model is set.'), message);
  }

  #call(candidate: Candidate, window: Window, message: ChatEntry): Promise<ModelAnswer> {
    const { feed, world, name, log } = this.#shop;
    const attempt = message.attempts ?? 1;
    this.#text = '';
    this.#shop.setTask({ messageId: this.messageId, startedAt: this.#shop.at(), attempt, phase: 'waiting-model', outputChars: 0 });
    world.bus.emit('message.started', { block: name, id: this.messageId, attempt, provider: candidate.provider, model: candidate.model });
    log.write('INFO', 'reply.started', { id: this.messageId, model: candidate.model, attempt, entries: window.entries, tokens: window.tokens });
    feed.emit({ id: this.messageId, event: 'start', provider: candidate.provider, model: candidate.model, attempt });
    return world.calls.make({
      block: name,
      candidate,
      messages: window.messages,
      purpose: 'chat',
      messageId: this.messageId,
      signal: this.#controller.signal,
      onText: (text) => this.#grow(text),
    });
  }

  #grow(text: string): void {
    this.#text += text;
    this.#shop.growTask(this.#text.length);
    this.#shop.feed.emit({ id: this.messageId, event: 'content', text });
  }

  /** R2. */
  async #answered({ content, done, bill }: ModelAnswer, candidate: Candidate, message: ChatEntry): Promise<ReplyOutcome> {
    const { files } = this.#shop;
    await recordCall(this.#shop, bill, 'chat', this.messageId);
    const answer = this.#entry(content, 'done', candidate, bill, message, { stopReason: done.stopReason });
    const saved = await files.chat.update((entries) => settle(entries, this.messageId, { status: 'done', error: null, finishedAt: bill.at }, answer));
    if (saved) this.#tellDone(answer, bill, 'done');
    return { kind: 'answered', compact: await this.#updateWindow() };
  }

  /** R5. */
  async #ended(candidate: Candidate, message: ChatEntry, bill: Bill | undefined): Promise<ReplyOutcome> {
    const isCancelled = this.#cause === 'cancel';
    const answer = this.#text === '' ? undefined : this.#entry(this.#text, 'interrupted', candidate, bill, message, {});
    if (!isCancelled && answer === undefined) {
      await this.#shop.files.chat.update((entries) => requeue(entries, this.messageId, { countsAsAttempt: false }));
      this.#shop.feed.emit({
        id: this.messageId,
        event: 'error',
        code: 'CANCELLED',
        error: 'The reply was ended before it began; the message waits.',
        willRetry: true,
      });
      return { kind: 'over', failed: false };
    }
    const status = isCancelled ? 'cancelled' : 'done';
    const settled = await this.#shop.files.chat.update((entries) =>
      settle(entries, this.messageId, { status, error: null, finishedAt: this.#shop.at() }, answer),
    );
    if (settled && answer !== undefined) this.#tellDone(answer, bill, isCancelled ? 'cancelled' : 'interrupted');
    else if (settled) this.#tellOver('cancelled', 'CANCELLED', 'The reply was cancelled.');
    return { kind: 'over', failed: false };
  }

  /** Epoch milliseconds of the next attempt at the same model; undefined when this was the last. */
  #retryAt(failure: BlockhouseError, message: ChatEntry, hasFallback: boolean): number | undefined {
    const { world } = this.#shop;
    const { retry } = this.#config as BlockConfig;
    const kind = judgeFailure(failure);
    const now = world.now();
    if (kind !== 'transient' && kind !== 'network') return undefined;
    if (isStale(message, retry, now)) return undefined;
    const attempts = message.attempts ?? 1;
    if ((kind === 'transient' || hasFallback) && attempts >= retry.maxAttempts) return undefined;
    return now + (failure.retryAfterMs ?? backoffMs(retry, Math.max(attempts, this.#shop.failures() + 1), world.random));
  }

  async #retry(failure: BlockhouseError, message: ChatEntry, until: number, hasFallback: boolean): Promise<ReplyOutcome> {
    const countsAsAttempt = hasFallback || judgeFailure(failure) === 'transient';
    const nextAttemptAt = new Date(until).toISOString();
    await this.#change((entries) => requeue(entries, message.id, { nextAttemptAt, error: entryError(failure), countsAsAttempt }));
    this.#shop.feed.emit({ id: this.messageId, event: 'error', code: failure.code, error: failure.message, willRetry: true });
    return { kind: 'wait', until, reason: faultReason(this.#shop.name, failure) };
  }

  /** Every candidate has failed for good; what the first one said decides. */
  async #failed(failure: BlockhouseError, message: ChatEntry): Promise<ReplyOutcome> {
    if (judgeFailure(failure) === 'block') {
      await this.#change((entries) => requeue(entries, message.id, { error: entryError(failure), countsAsAttempt: false }));
      return { kind: 'fail', reason: faultReason(this.#shop.name, failure) };
    }
    const outcome = { status: 'failed', error: entryError(failure), finishedAt: this.#shop.at() } as const;
    const settled = await this.#change((entries) => settle(entries, message.id, outcome, undefined));
    if (settled) this.#tellOver('failed', failure.code, failure.message);
    return { kind: 'over', failed: true };
  }

  #change(change: (entries: Entries) => { value: Entries; result: boolean }): Promise<boolean> {
    return this.#shop.files.chat.update(change);
  }

  #entry(
    content: string,
    status: 'done' | 'interrupted',
    { provider, model }: Candidate,
    bill: Bill | undefined,
    message: ChatEntry,
    extra: Partial<ChatEntry>,
  ): ChatEntry {
    return {
      id: this.#shop.ids.next(),
      role: 'assistant',
      content,
      timestamp: this.#shop.at(),
      processed: true,
      status,
      channel: message.channel,
      replyTo: message.id,
      attempts: message.attempts ?? 1,
      error: null,
      provider,
      model,
      usage: bill?.usage ?? null,
      costUsd: bill?.costUsd ?? null,
      latencyMs: bill?.latencyMs ?? null,
      ttftMs: bill?.ttftMs ?? null,
      startedAt: message.startedAt ?? null,
      finishedAt: this.#shop.at(),
      ...extra,
    };
  }

  #tellDone(answer: ChatEntry, bill: Bill | undefined, status: 'done' | 'interrupted' | 'cancelled'): void {
    const { feed, log, world, name } = this.#shop;
    const { usage, costUsd, latencyMs } = answer;
    const shown = status === 'done' ? 'done' : 'interrupted';
    feed.emit({ id: this.messageId, event: 'done', answerId: answer.id, status: shown, stopReason: answer.stopReason ?? 'unknown' });
    log.write('INFO', `reply.${status}`, {
      id: this.messageId,
      model: answer.model,
      in: usage?.inputTokens,
      out: usage?.outputTokens,
      cost: costUsd,
      ms: latencyMs,
    });
    world.bus.emit('message.finished', {
      block: name,
      id: this.messageId,
      status,
      answerId: answer.id,
      costUsd: bill?.costUsd,
      latencyMs: bill?.latencyMs,
      ...(bill?.usage && { usage: bill.usage }),
    });
  }

  #tellOver(status: 'failed' | 'cancelled', code: string, error: string): void {
    const { feed, log, world, name } = this.#shop;
    feed.emit({ id: this.messageId, event: 'error', code, error, willRetry: false });
    log.write(status === 'failed' ? 'ERROR' : 'INFO', `message.${status}`, { id: this.messageId, code, error });
    world.bus.emit('message.finished', { block: name, id: this.messageId, status, code });
  }

  /** Writes how full the window is; true when it has passed its threshold. */
  async #updateWindow(): Promise<boolean> {
    const { files } = this.#shop;
    const config = await files.config.read();
    const history = await files.chat.read();
    return files.memory.update((memory) => {
      const window = windowStand({ config, memory, history });
      return { value: { ...memory, window }, result: needsCompaction(window.tokens, config) };
    });
  }
}

function entryError({ code, message, retryable }: BlockhouseError): EntryError {
  return { code, message, retryable };
}
