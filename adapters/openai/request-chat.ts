// A prompt as a Chat Completions request, for OpenAI itself and for the servers that are compatible with it. Pure: no I/O.
import type { Tool, Turn } from '../../core/index.ts';
import { DEFAULT_MAX_TOKENS } from '../base-url.ts';
import type { ChatContext, WireRequest } from '../parts.ts';
import { idMapper, objectSchema, outputText } from '../turns.ts';
import { endpointURL, isOwnHost } from './endpoint.ts';
import { isReasoningModel } from './models.ts';
import { CALL_ID, warningsFor } from './request-parts.ts';
import type { ChatCompletionsRequest, ChatMessage, ChatTool } from './schema.ts';

export function buildChatRequest({ model, prompt, settings, stream }: ChatContext): WireRequest {
  const limit = prompt.maxTokens ?? DEFAULT_MAX_TOKENS;
  const body: ChatCompletionsRequest = {
    model,
    messages: [...(prompt.system === undefined ? [] : [{ role: 'system' as const, content: prompt.system }]), ...toMessages(prompt.turns)],
    ...(prompt.tools.length > 0 && { tools: prompt.tools.map(toTool) }),
    // OpenAI's reasoning models refuse the old name, and many other servers don't know the new one. `store` is OpenAI's alone.
    ...(isOwnHost(settings) ? { max_completion_tokens: limit, store: false } : { max_tokens: limit }),
    ...(prompt.temperature !== undefined && !isReasoningModel(model) && { temperature: prompt.temperature }),
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  };
  return { url: endpointURL(settings, '/chat/completions'), body, stream, warnings: warningsFor(model, prompt) };
}

function toTool({ name, description, parameters }: Tool): ChatTool {
  return { type: 'function', function: { name, ...(description !== undefined && { description }), parameters: objectSchema(parameters) } };
}

/** Role `tool` is one message for each result, in call order. */
function toMessages(turns: readonly Turn[]): ChatMessage[] {
  const idOf = idMapper(CALL_ID);
  return turns.flatMap((turn): ChatMessage[] => {
    if (turn.role === 'user') return [{ role: 'user', content: turn.text }];
    if (turn.role === 'tool') return turn.results.map((result) => ({ role: 'tool', tool_call_id: idOf(result.toolCallId), content: outputText(result) }));
    if (turn.toolCalls.length === 0) return [{ role: 'assistant', content: turn.text }];
    const calls = turn.toolCalls.map((call) => ({
      id: idOf(call.id),
      type: 'function' as const,
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    }));
    return [{ role: 'assistant', content: turn.text === '' ? null : turn.text, tool_calls: calls }];
  });
}
