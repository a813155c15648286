// A chat request that has passed all checks. Pure: no I/O.
import type { Writable } from '../../base/writable.ts';
import type { ContentTap, StreamSink } from '../../ports.ts';
import type { ChatRequest, ContentPart } from '../../types.ts';
import type { Permit } from '../breaker.ts';
import type { Prompt } from '../prompt.ts';
import { promptTokens, rememberTokens } from '../prompt-tokens.ts';
import type { CheckedMessage } from '../step.ts';
import { Call, type CallParts, shortened } from './call.ts';
import { ChatAttempt, type ChatResult, TappedAttempt } from './chat-attempt.ts';

interface ChatParts extends Omit<CallParts, 'model' | 'config'> {
  readonly request: ChatRequest;
  readonly prompt: Prompt;
  /** Called with fragments as they come; absent if the caller wants the whole answer. */
  readonly sink: StreamSink | undefined;
  /** Reads what is asked and answered; absent for nobody. */
  readonly tap?: ContentTap | undefined;
}

/** Conversations that begin alike differ in these. */
const LAST_TURNS = 64;
function isForAnHour({ cache }: { readonly cache?: ContentPart['cache'] | undefined }): boolean {
  return cache === '1h';
}

function hasMark({ content, toolCalls, toolResults }: CheckedMessage): boolean {
  const isIn = (parts: CheckedMessage['content']): boolean => typeof parts === 'object' && parts.some(isForAnHour);
  return isIn(content) || toolCalls?.some(isForAnHour) === true || toolResults?.some((result) => isIn(result.content)) === true;
}

/** One chat request as it was accepted. */
export class Chat extends Call<ChatResult> {
  readonly kind = 'chat';
  request: Pick<ChatRequest, 'messages' | 'tools'>;
  readonly prompt: Prompt;
  readonly sink: StreamSink | undefined;
  readonly keepsOneCall: boolean;
  readonly #tap: ContentTap | undefined;
  #inputTokens: number | undefined;

  constructor(parts: ChatParts) {
    const { adapter, request, signal, requestId, options } = parts;
    super({ adapter, model: request.model, config: request.config, signal, requestId, options });
    this.request = request;
    this.prompt = parts.prompt;
    this.sink = parts.sink;
    this.#tap = parts.tap;
    this.keepsOneCall = options.limitsCalls === true && request.config?.parallelToolCalls === false;
  }

  override get reader(): StreamSink | undefined {
    return this.sink;
  }

  override get isWhole(): boolean {
    return this.sink === undefined || this.sink.whole === true;
  }

  override newAttempt(permit: Permit, now: () => number): ChatAttempt {
    const { number: call, traceparent, caller, prompt } = this;
    const take = this.#tap?.begin({ call, traceparent, caller, prompt });
    return take === undefined ? new ChatAttempt(this, permit, now) : new TappedAttempt(this, permit, now, take);
  }

  protected override conversationParts(): Readonly<Record<string, unknown>> {
    const { messages, tools } = this.request;
    return { messages, tools, config: this.config };
  }

  protected override content(): string {
    const { system, turns } = this.prompt;
    return JSON.stringify([system, turns.length, turns.slice(-LAST_TURNS)], shortened);
  }

  override asksForHourInCache(): boolean {
    const { messages, tools = [] } = this.request;
    if (this.prompt.systemParts?.some(isForAnHour) === true) return true;
    return messages.some(hasMark) || tools.some((tool) => isForAnHour('function' in tool ? tool.function : tool));
  }

  override inputTokens(): number {
    this.#inputTokens ??= promptTokens(this.prompt);
    return this.#inputTokens;
  }

  /** Reasoning may come on top of the limit that stands in for a missing one. */
  protected override get outputLimit(): number | undefined {
    const { maxTokens, defaultMaxTokens, options } = this.prompt;
    return maxTokens ?? (options?.reasoning === undefined ? defaultMaxTokens : undefined);
  }

  /** Its tokens are known from then on, and the prompt belongs to this call alone. */
  override forgetRequest(): void {
    rememberTokens(this.prompt);
    this.request = { messages: [] };
    const prompt = this.prompt as Writable<Prompt>;
    prompt.turns = [];
    prompt.system = undefined;
    prompt.systemParts = undefined;
  }
}
