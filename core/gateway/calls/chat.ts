// A chat request that has passed all checks. Pure: no I/O.
import type { StreamSink } from '../../ports.ts';
import type { ChatRequest } from '../../types.ts';
import type { Permit } from '../breaker.ts';
import type { Prompt } from '../prompt.ts';
import { promptTokens } from '../prompt-tokens.ts';
import { Call, type CallParts } from './call.ts';
import { ChatAttempt, type ChatResult } from './chat-attempt.ts';

interface ChatParts extends Omit<CallParts, 'model' | 'config'> {
  readonly request: ChatRequest;
  readonly prompt: Prompt;
  /** Called with fragments as they come; absent if the caller wants the whole answer. */
  readonly sink: StreamSink | undefined;
}

/** One chat request as it was accepted. */
export class Chat extends Call<ChatResult> {
  readonly kind = 'chat';
  readonly request: ChatRequest;
  readonly prompt: Prompt;
  readonly sink: StreamSink | undefined;
  readonly keepsOneCall: boolean;

  constructor(parts: ChatParts) {
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

  override newAttempt(permit: Permit, now: () => number): ChatAttempt {
    return new ChatAttempt(this, permit, now);
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
}
