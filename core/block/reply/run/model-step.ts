// One call of the model in a run: its prompt, its place under the caps, and the record of its answer.
//
// billed-then-recorded: the call is in the ledger before its answer is in the journal. If a crash comes between them, the model is asked again, and both calls are
//   paid for and counted.
import { estimateTokens } from '../../../base/tokens.ts';
import type { BlockhouseError } from '../../../errors.ts';
import { textOf } from '../../../gateway/parts.ts';
import type { RunRecord } from '../../../types.ts';
import type { OfferedTool } from '../../../tools/offer.ts';
import { runMessages, runTokens } from '../../../tools/prompt.ts';
import type { Message, ToolCall } from '../../../types.ts';
import { CallRefused } from '../../actor/call-refused.ts';
import type { Candidate } from '../../status/candidates.ts';
import { AnswerText } from '../answer-text.ts';
import type { Attempt } from '../attempt.ts';
import type { BlockContext } from '../block-context.ts';
import { recordCall } from '../bookkeeping.ts';
import { reserveCall } from '../budget-check.ts';
import { answerBehind, type ModelAnswer, ModelCallFailure } from '../call-model.ts';
import type { Called } from '../reply-machine.ts';
import { isStorageFault } from '../unsaved-answer.ts';
import { promptRoom, type Window } from '../window.ts';
import { ResultImages } from './result-images.ts';
import type { RunJournal } from './run-journal.ts';

/** What the calls of one model work with. */
export interface ModelStepOptions {
  readonly context: BlockContext;
  readonly messageId: string;
  readonly journal: RunJournal;
  readonly attempt: Attempt;
  readonly candidate: Candidate;
  /** What stands before the run. */
  readonly window: Window;
  /** They may have grown since the last call. */
  tools(): readonly OfferedTool[];
  judge(error: BlockhouseError, attempt: Attempt): Called & { readonly kind: 'failed' };
  openStream(candidate: Candidate, attempt: number, text: AnswerText): void;
  onFirstText(): void;
}

interface Prompt {
  readonly messages: readonly Message[];
  readonly tokens: number;
}

/** Calls one model, as often as the run needs it. */
export class ModelStep {
  readonly journal: RunJournal;
  readonly #options: ModelStepOptions;
  /** What readers see of the attempt: the texts of all its answers. */
  readonly #shown = new AnswerText();
  readonly #images: ResultImages;
  #isOpen = false;

  constructor(options: ModelStepOptions) {
    this.journal = options.journal;
    this.#options = options;
    const { context, messageId, candidate } = options;
    this.#images = new ResultImages(context, messageId, candidate);
  }

  /** Whether the prompt has room, if need be with the beginnings of far results only. */
  async fits(): Promise<boolean> {
    await this.#images.load(this.journal.state);
    return this.#prompt(false).tokens <= promptRoom(this.#options.attempt.config);
  }

  /** Calls the model and records its answer. Resolves with what keeps the run from going on; undefined if it goes on. */
  async call(concludes: boolean, signal: AbortSignal): Promise<Called | undefined> {
    const { context, messageId, attempt, candidate } = this.#options;
    const { state } = this.journal;
    const { provider, model } = candidate;
    const step = state.last?.answer === undefined && state.last !== undefined ? state.last.step : state.lastStep + 1;
    await this.#images.load(state);
    const prompt = this.#prompt(concludes);
    this.#openStream();
    await this.journal.append([{ t: 'model', step, at: context.at(), provider, model, tokens: prompt.tokens }], { quiet: true });
    try {
      const answer =
        this.#keptAnswer(step, concludes) ??
        (await this.#ask(prompt, step, concludes, signal).catch((error: unknown) => this.#keep(error, answerBehind(error), step, concludes)));
      await this.journal.append(this.#recordsOf(answer, step, concludes)).catch((error: unknown) => this.#keep(error, answer, step, concludes));
      context.unsaved.drop();
      await recordCall(context, answer.bill, 'chat', messageId); // billed-then-recorded
      return undefined;
    } catch (error) {
      if (error instanceof CallRefused) return { kind: 'refused', pause: error.pause };
      if (!(error instanceof ModelCallFailure)) throw error;
      const { failure, bill } = error;
      if (bill !== undefined) await recordCall(context, bill, 'chat', messageId);
      return this.#failed(failure, attempt);
    }
  }

  /** paid-once (unsaved-answer.ts). */
  #keptAnswer(step: number, concludes: boolean): ModelAnswer | undefined {
    const { context, attempt } = this.#options;
    const kept = context.unsaved.of(attempt.message);
    return kept?.step === step && kept.concludes === concludes ? kept.answer : undefined;
  }

  #keep(error: unknown, answer: ModelAnswer | undefined, step: number, concludes: boolean): never {
    const { context, attempt, candidate } = this.#options;
    if (answer !== undefined && isStorageFault(error))
      context.unsaved.keep({ message: attempt.message, candidate, answer, step, concludes, isRecorded: false });
    throw error;
  }

  /** An attempt that has got on does not count. */
  #failed(error: BlockhouseError, attempt: Attempt): Called {
    const { context, messageId, candidate, judge } = this.#options;
    const { hasGotOn } = this.journal.state;
    const called = judge(error, hasGotOn ? { ...attempt, message: { ...attempt.message, attempts: 0 } } : attempt);
    const { code, message, kind } = called.failure;
    if (kind !== 'cancelled') context.log.write('WARN', 'reply.failed', { id: messageId, model: candidate.model, code, error: message });
    return hasGotOn ? { ...called, failure: { ...called.failure, mayHaveRun: false, countsAsAttempt: false } } : called;
  }

  #ask({ messages, tokens }: Prompt, step: number, concludes: boolean, signal: AbortSignal): Promise<ModelAnswer> {
    const { context, messageId, attempt, candidate, tools, onFirstText } = this.#options;
    const text = new AnswerText();
    return context.world.calls.make({
      block: context.name,
      candidate,
      messages,
      purpose: 'chat',
      messageId,
      key: attempt.message.chain?.find(({ key }) => key !== undefined)?.key,
      step,
      tools: tools().map(({ shown }) => shown),
      ...(concludes && { toolChoice: 'none' }),
      signal,
      text,
      reserve: (id) => reserveCall(context, { id, candidate, inputTokens: tokens, calls: concludes ? 1 : 2 }, signal), // always-an-end
      onText: (fragment) => {
        if (text.length === fragment.length) onFirstText();
        const taken = this.#shown.append(fragment);
        if (taken !== '') context.feed.emit({ id: messageId, event: 'content', text: taken });
      },
    });
  }

  /** One stream for the whole attempt. */
  #openStream(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { context, messageId, attempt, candidate, window, openStream } = this.#options;
    const number = attempt.message.attempts ?? 1;
    const { provider, model } = candidate;
    context.world.bus.emit('message.started', { block: context.name, id: messageId, attempt: number, provider, model });
    context.log.write('INFO', 'reply.started', { id: messageId, model, attempt: number, entries: window.entries, tokens: window.tokens });
    openStream(candidate, number, this.#shown);
  }

  #prompt(concludes: boolean): Prompt {
    const { attempt, candidate, window, tools } = this.#options;
    const { provider, model } = candidate;
    const { config } = attempt;
    const definitions = definitionTokens(tools());
    const promptWith = (isShort: boolean): Prompt => {
      const prompt = { provider, model, isShort, concludes, images: this.#images.shown };
      const own = runMessages(this.journal.state, prompt);
      return { messages: [...window.messages, ...own], tokens: window.tokens + runTokens(own) + definitions };
    };
    const whole = promptWith(false);
    return whole.tokens <= promptRoom(config) ? whole : promptWith(true);
  }

  #recordsOf({ message, bill, stopReason }: ModelAnswer, step: number, concludes: boolean): RunRecord[] {
    const { context, tools } = this.#options;
    const text = textOf(message.content, 'assistant');
    const asked = concludes ? [] : (message.toolCalls ?? []);
    const at = context.at();
    const answer: RunRecord = {
      t: 'answer',
      step,
      at,
      text,
      calls: asked.map((call, index) => recordOfCall(call, index + 1, tools())),
      usage: bill.usage,
      costUsd: bill.costUsd,
      ...(bill.leastUsd !== undefined && { leastUsd: bill.leastUsd }),
      latencyMs: bill.latencyMs,
      ttftMs: bill.ttftMs,
      stopReason,
      ...(message.providerMetadata !== undefined && { state: message.providerMetadata }),
    };
    if (asked.length > 0) return [answer];
    if (concludes && text.trim() === '') return [answer, { t: 'end', at, status: 'failed', code: 'TOOL_LIMIT' }];
    return [answer, { t: 'end', at, status: 'done', content: text, stopReason }];
  }
}

/** About how many tokens the definitions take in a prompt. */
export function definitionTokens(tools: readonly OfferedTool[]): number {
  return tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools.map(({ shown }) => shown)));
}

function recordOfCall({ id, name, arguments: args, providerMetadata }: ToolCall, n: number, tools: readonly OfferedTool[]) {
  const tool = tools.find(({ shown }) => shown.name === name)?.id ?? name;
  return { n, id, tool, name, arguments: args, ...(providerMetadata !== undefined && { providerMetadata }) };
}
