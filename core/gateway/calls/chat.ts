// A chat request that has passed all checks. Pure: no I/O.
import type { Writable } from '../../base/writable.ts';
import type { StreamSink } from '../../ports.ts';
import type { ChatRequest } from '../../types.ts';
import type { Permit } from '../breaker.ts';
import type { Prompt } from '../prompt.ts';
import { promptTokens } from '../prompt-tokens.ts';
import { AcceptedCall, type AcceptedParts } from './call.ts';
import { type AnsweredChat, Attempt } from './chat-attempt.ts';

interface AcceptedChatParts extends Omit<AcceptedParts, 'model' | 'config'> {
  readonly request: ChatRequest;
  readonly prompt: Prompt;
  /** Called with fragments as they come; absent if the caller wants the whole answer. */
  readonly sink: StreamSink | undefined;
}

/** One chat request as it was accepted. */
export class AcceptedChat extends AcceptedCall<AnsweredChat> {
  request: Pick<ChatRequest, 'messages' | 'tools'>;
  readonly prompt: Prompt;
  readonly sink: StreamSink | undefined;
  readonly keepsOneCall: boolean;

  constructor(parts: AcceptedChatParts) {
    const { adapter, request, signal, requestId, options } = parts;
    super({ adapter, model: request.model, config: request.config, signal, requestId, options });
    this.request = request;
    this.prompt = parts.prompt;
    this.sink = parts.sink;
    this.keepsOneCall = options.limitsCalls === true && request.config?.parallelToolCalls === false;
  }

  override get reader(): StreamSink | undefined {
    return this.sink;
  }

  override get isWhole(): boolean {
    return this.sink === undefined || this.sink.whole === true;
  }

  override newAttempt(permit: Permit, now: () => number): Attempt {
    return new Attempt(this, permit, now);
  }

  protected override content(): string {
    return JSON.stringify([this.prompt.system, this.prompt.turns]);
  }

  override asksForHourInCache(): boolean {
    const { messages, tools } = this.request;
    return this.prompt.systemParts?.some(({ cache }) => cache === '1h') === true || JSON.stringify([messages, tools]).includes('"cache":"1h"');
  }

  override inputTokens(): number {
    return promptTokens(this.prompt);
  }

  /** Reasoning may come on top of the limit that stands in for a missing one. */
  protected override get outputLimit(): number | undefined {
    const { maxTokens, defaultMaxTokens, options } = this.prompt;
    return maxTokens ?? (options?.reasoning === undefined ? defaultMaxTokens : undefined);
  }

  /** Its tokens are known from then on, and the prompt belongs to this call alone. */
  override forgetRequest(): void {
    this.inputTokens();
    this.request = { messages: [] };
    const prompt = this.prompt as Writable<Prompt>;
    prompt.turns = [];
    prompt.system = undefined;
    prompt.systemParts = undefined;
  }
}
