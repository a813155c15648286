// A prompt as a Messages request. Pure: no I/O.
import type { Prompt, Warning } from '../../core/index.ts';
import { DEFAULT_MAX_TOKENS, joinURL } from '../base-url.ts';
import { CLAUDE_ID, takesTemperature } from '../claude.ts';
import { type MergedTurn, mergeTurns } from '../merge-turns.ts';
import type { ChatContext, WireRequest } from '../provider.ts';
import { metadataOf } from '../read.ts';
import { idMapper, objectSchema } from '../tools.ts';
import type { AnthropicBlock, AnthropicMessage, AnthropicRequest, CacheControl } from './schema.ts';
import { replayThinking } from './thinking.ts';

/** The base URL has no version in it, but people paste one with it. */
export const VERSION_SUFFIX = /\/v1(\/messages)?$/;
/**
 * In tokens. A connection that waits longer than a whole answer of this size takes is often cut as idle; the official SDK
 * refuses to wait for more.
 */
const LARGEST_WHOLE_ANSWER = 21_333;
const THINKING_LEFT_OUT: Warning = {
  field: 'messages',
  message:
    'Earlier thinking was not sent. It is only valid with the same model and the exact conversation before it, and one of the two has changed or a part is missing.',
};
const EPHEMERAL: CacheControl = { type: 'ephemeral' };

/** A POST to `/v1/messages`. It streams if the caller does, or if the answer may be longer than LARGEST_WHOLE_ANSWER. */
export function buildRequest(context: ChatContext): WireRequest {
  const { model, prompt, settings } = context;
  const { body, warnings } = translate(model, prompt);
  const stream = context.stream || body.max_tokens > LARGEST_WHOLE_ANSWER;
  if (stream) body.stream = true;
  if (prompt.cacheControl) markForCaching(body);
  return { url: joinURL(settings.values['baseURL'] ?? '', '/v1/messages', VERSION_SUFFIX), body, stream, warnings };
}

/** The request without its cache marks. Those move from request to request, so a thinking block is not bound to them. */
export function translate(model: string, prompt: Prompt): { body: AnthropicRequest; warnings: Warning[] } {
  const merged = mergeTurns(prompt.turns);
  const warnings = [...merged.warnings];
  const frame: Omit<AnthropicRequest, 'messages'> = {
    model,
    max_tokens: prompt.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(prompt.system !== undefined && { system: [{ type: 'text' as const, text: prompt.system }] }),
    ...(prompt.tools.length > 0 && {
      tools: prompt.tools.map((tool) => ({
        name: tool.name,
        ...(tool.description && { description: tool.description }),
        input_schema: objectSchema(tool.parameters),
      })),
    }),
  };
  const mapId = idMapper(CLAUDE_ID);
  const plain = merged.turns.map((turn) => toMessage(turn, mapId));
  const messages = replayThinking(model, frame, merged.turns, plain);
  if (messages === plain && prompt.turns.some((turn) => turn.role === 'assistant' && metadataOf(turn, 'anthropic') !== undefined))
    warnings.push(THINKING_LEFT_OUT);
  const body: AnthropicRequest = { ...frame, messages };
  trimFinalAssistant(body.messages);
  if (prompt.temperature !== undefined) {
    if (takesTemperature(model)) body.temperature = prompt.temperature;
    else warnings.push({ field: 'config.temperature', message: `${model} does not support temperature, so it was not sent.` });
  }
  return { body, warnings };
}

function toMessage(turn: MergedTurn, mapId: (id: string) => string): AnthropicMessage {
  if (turn.role === 'user') {
    const results = turn.results.map(
      (result): AnthropicBlock => ({
        type: 'tool_result',
        tool_use_id: mapId(result.toolCallId),
        content: result.content,
        ...(result.isError && { is_error: true }),
      }),
    );
    return { role: 'user', content: [...results, ...turn.texts.map((text): AnthropicBlock => ({ type: 'text', text }))] };
  }
  const content = turn.turns.flatMap((part): AnthropicBlock[] => [
    ...(part.text === '' ? [] : [{ type: 'text' as const, text: part.text }]),
    ...part.toolCalls.map((call) => ({ type: 'tool_use' as const, id: mapId(call.id), name: call.name, input: call.arguments })),
  ]);
  return { role: 'assistant', content };
}

/** A final assistant text may not end in white space. */
function trimFinalAssistant(messages: AnthropicMessage[]): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || block?.['type'] !== 'text') return;
  last.content[last.content.length - 1] = { ...block, text: String(block['text']).trimEnd() };
}

/** Three of the four marks allowed: the last tool, the last system block, the last block of the last user message. */
function markForCaching(body: AnthropicRequest): void {
  const lastUser = body.messages.findLast((message) => message.role === 'user');
  for (const list of [body.tools, body.system, lastUser?.content]) {
    const last = list?.at(-1);
    if (last !== undefined) last.cache_control = EPHEMERAL;
  }
}
