// A prompt as an Ollama chat request. Pure: no I/O.
import type { Prompt, Turn, Warning } from '../../core/index.ts';
import { DEFAULT_MAX_TOKENS, joinURL } from '../base-url.ts';
import type { ChatContext, WireRequest } from '../provider.ts';
import { objectSchema, outputText } from '../tools.ts';
import type { OllamaMessage, OllamaRequest } from './schema.ts';

/** OLLAMA_BASE_URL is often set to the OpenAI-compatible address. */
export const VERSION_SUFFIX = /\/(v1|api)$/;

export function buildRequest({ model, prompt, settings, stream }: ChatContext): WireRequest {
  const body: OllamaRequest = {
    model,
    messages: [...(prompt.system === undefined ? [] : [{ role: 'system' as const, content: prompt.system }]), ...prompt.turns.flatMap(toMessages)],
    stream,
    options: { num_predict: prompt.maxTokens ?? DEFAULT_MAX_TOKENS, ...(prompt.temperature !== undefined && { temperature: prompt.temperature }) },
    ...(prompt.tools.length > 0 && {
      tools: prompt.tools.map((tool) => ({
        type: 'function' as const,
        function: { name: tool.name, description: tool.description ?? '', parameters: objectSchema(tool.parameters) },
      })),
    }),
  };
  return {
    url: joinURL(settings.values['baseURL'] ?? '', '/api/chat', VERSION_SUFFIX),
    headers: { accept: stream ? 'application/x-ndjson' : 'application/json' },
    body,
    stream,
    warnings: warningsFor(prompt),
  };
}

/** Role `tool` is one message for each result, in call order. */
function toMessages(turn: Turn): OllamaMessage[] {
  if (turn.role === 'user') return [{ role: 'user', content: turn.text }];
  if (turn.role === 'tool')
    return turn.results.map((result) => ({ role: 'tool', content: outputText(result), tool_call_id: result.toolCallId, tool_name: result.toolName }));
  const calls = turn.toolCalls.map((call, index) => ({ id: call.id, function: { index, name: call.name, arguments: call.arguments } }));
  return [{ role: 'assistant', content: turn.text, ...(calls.length > 0 && { tool_calls: calls }) }];
}

function warningsFor(prompt: Prompt): Warning[] {
  return prompt.cacheControl ? [{ field: 'config.cacheControl', message: 'Ollama reuses prefixes by itself; there is nothing to switch on.' }] : [];
}
