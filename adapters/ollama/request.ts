// A prompt as an Ollama chat request. No I/O; its only state is the context sizes.
import { estimateTokens } from '../../core/base/tokens.ts';
import type { Prompt, PromptToolResult, Turn, Warning } from '../../core/index.ts';
import { joinURL } from '../shared/base-url.ts';
import type { ChatContext, WireRequest } from '../shared/provider.ts';
import { objectSchema, outputText } from '../shared/tools.ts';
import { toContent } from './content.ts';
import type { ContextSizes } from './context-size.ts';
import { translate } from './options.ts';
import type { OllamaMessage, OllamaRequest } from './schema.ts';

/** OLLAMA_BASE_URL is often set to the OpenAI-compatible address. */
export const VERSION_SUFFIX = /\/(v1|api)$/;

/** A POST to `/api/chat`. `contextTokens` limits the context; undefined leaves its size to the server. */
export function buildRequest({ model, prompt, settings, stream, contextTokens }: ChatContext, sizes: ContextSizes): WireRequest {
  const base = settings.values['baseURL'] ?? '';
  const translated = translate(model, prompt.options);
  const limit = prompt.maxTokens ?? prompt.defaultMaxTokens;
  const body: OllamaRequest = {
    model,
    messages: [...(prompt.system === undefined ? [] : [{ role: 'system' as const, content: prompt.system }]), ...prompt.turns.flatMap(toMessages)],
    stream,
    options: {
      ...(limit !== undefined && { num_predict: limit }),
      ...(prompt.temperature !== undefined && { temperature: prompt.temperature }),
      ...translated.options,
    },
    ...translated.fields,
    ...(prompt.tools.length > 0 &&
      translated.offersTools && {
        tools: prompt.tools.map((tool) => ({
          type: 'function' as const,
          function: { name: tool.name, description: tool.description ?? '', parameters: objectSchema(tool.parameters) },
        })),
      }),
  };
  const cuts = contextTokens === undefined ? [] : setContext(body, `${base} ${model}`, sizes, contextTokens);
  return {
    url: joinURL(base, '/api/chat', VERSION_SUFFIX),
    headers: { accept: stream ? 'application/x-ndjson' : 'application/json' },
    body,
    stream,
    warnings: [...warningsFor(prompt), ...translated.warnings, ...cuts],
  };
}

/** Role `tool` is one message for each result, in call order. */
function toMessages(turn: Turn): OllamaMessage[] {
  if (turn.role === 'user') return [{ role: 'user', ...(turn.parts === undefined ? { content: turn.text } : toContent(turn.parts)) }];
  if (turn.role === 'tool')
    return turn.results.map((result) => ({
      role: 'tool',
      content: outputText(result),
      tool_call_id: result.toolCallId,
      tool_name: result.toolName,
      ...imagesOf(result),
    }));
  const calls = turn.toolCalls.map((call, index) => ({ id: call.id, function: { index, name: call.name, arguments: call.arguments } }));
  return [{ role: 'assistant', content: turn.text, ...(calls.length > 0 && { tool_calls: calls }) }];
}

function imagesOf({ parts }: PromptToolResult): { images?: string[] } {
  const { images } = parts === undefined ? {} : toContent(parts);
  return images === undefined ? {} : { images };
}

/** Ollama adds a role and delimiters to each message. */
const TOKENS_PER_MESSAGE = 8;
/** The room for an answer whose length the request leaves open: enough to think first. */
const OPEN_ANSWER = 8192;
/** The estimate of the prompt may be too high, so the answer keeps at least this much room. */
const MIN_ANSWER = 256;

/**
 * Sets the size of the context, and limits the answer to the room that the prompt leaves: a longer answer would make Ollama drop the
 * beginning of the conversation. Returns a warning for what this cuts.
 */
function setContext(body: OllamaRequest, key: string, sizes: ContextSizes, limit: number): Warning[] {
  const { options } = body;
  const promptTokens = tokensOf(body);
  const size = sizes.sizeFor(key, { promptTokens, answerTokens: options.num_predict ?? OPEN_ANSWER, limit });
  options.num_ctx = size;
  if (promptTokens > size) {
    const message = `The prompt has about ${promptTokens} tokens, but the context of ${body.model} is limited to ${size}, so Ollama drops the oldest messages. Raise OLLAMA_CONTEXT_LENGTH if the model supports more.`;
    return [{ field: 'messages', message }];
  }
  const room = Math.max(size - promptTokens, MIN_ANSWER);
  if (options.num_predict === undefined) {
    options.num_predict = room;
    return [];
  }
  if (options.num_predict <= room) return [];
  const message = `The context of ${body.model} is limited to ${size} tokens, and the prompt leaves about ${room} for the answer, so ${room} was sent instead of ${options.num_predict}.`;
  options.num_predict = room;
  return [{ field: 'config.maxTokens', message }];
}

function tokensOf({ messages, tools }: OllamaRequest): number {
  const calls = (message: OllamaMessage): string => ('tool_calls' in message ? JSON.stringify(message.tool_calls) : '');
  const texts = messages.reduce((sum, message) => sum + TOKENS_PER_MESSAGE + estimateTokens(message.content) + estimateTokens(calls(message)), 0);
  return texts + (tools === undefined ? 0 : estimateTokens(JSON.stringify(tools)));
}

function warningsFor(prompt: Prompt): Warning[] {
  return prompt.cacheControl ? [{ field: 'config.cacheControl', message: 'Ollama caches prompts automatically, so this setting has no effect.' }] : [];
}
