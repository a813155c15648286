// A prompt as a Chat Completions request, for OpenAI itself and for the servers that are compatible with it. Pure: no I/O.
import type { AssistantTurn, ContentPart, Prompt, PromptToolResult, Quirks, Tool } from '../../core/index.ts';
import type { ChatContext, WireRequest } from '../shared/provider.ts';
import { idMapper, objectSchema, outputText } from '../shared/tools.ts';
import { toChatParts } from './content.ts';
import { endpointURL, isOwnHost } from './endpoint.ts';
import { isReasoningModel } from './models.ts';
import { chatOptions } from './options.ts';
import { alternating, applyQuirks, callIdsOf, hasOwnReasoning, quirksOf, sessionHeader } from './quirks.ts';
import { warningsFor } from './request-parts.ts';
import type { ChatCompletionsRequest, ChatMessage, ChatTool } from './schema.ts';

/** A POST to `/chat/completions`. */
export function buildChatRequest({ model, prompt, settings, stream }: ChatContext): WireRequest {
  const isOwn = isOwnHost(settings);
  const quirks = quirksOf(settings);
  const usual = hasOwnReasoning(quirks) ? withoutReasoning(prompt.options) : prompt.options;
  const options = chatOptions(model, usual, prompt.tools.length > 0, isOwn);
  const limit = prompt.maxTokens ?? prompt.defaultMaxTokens;
  const body: ChatCompletionsRequest = {
    model,
    messages: quirks.alternatingRoles === true ? alternating(toMessages(prompt, quirks)) : toMessages(prompt, quirks),
    ...(prompt.tools.length > 0 && { tools: prompt.tools.map(toTool) }),
    // OpenAI's reasoning models refuse the old name, and many other servers don't know the new one. Only OpenAI knows `store`.
    ...(isOwn && { store: false }),
    ...(limit !== undefined && (isOwn ? { max_completion_tokens: limit } : { max_tokens: limit })),
    ...(prompt.temperature !== undefined && !isReasoningModel(model) && { temperature: prompt.temperature }),
    ...options.fields,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  };
  const odd = settings.endpoint === undefined ? [] : applyQuirks(body, quirks, prompt.options?.reasoning);
  const headers = sessionHeader(quirks, prompt.options?.cacheKey);
  return { url: endpointURL(settings, '/chat/completions'), headers, body, stream, warnings: [...warningsFor(model, prompt), ...options.warnings, ...odd] };
}

function withoutReasoning({ reasoning: _reasoning, ...others }: NonNullable<Prompt['options']> = {}): Prompt['options'] {
  return others;
}

function toTool({ name, description, parameters }: Tool): ChatTool {
  return { type: 'function', function: { name, ...(description !== undefined && { description }), parameters: objectSchema(parameters) } };
}

/** Role `tool` is one message for each result, in call order. */
function toMessages({ system, turns }: Prompt, quirks: Quirks): ChatMessage[] {
  const { allowed, make } = callIdsOf(quirks);
  const idOf = idMapper(allowed, make);
  const messages: ChatMessage[] = system === undefined ? [] : [{ role: 'system', content: system }];
  for (const turn of turns) {
    if (turn.role === 'user') messages.push({ role: 'user', content: turn.parts === undefined ? turn.text : toChatParts(turn.parts) });
    else if (turn.role === 'tool') {
      for (const result of turn.results) messages.push({ role: 'tool', tool_call_id: idOf(result.toolCallId), content: resultText(result) });
      // A tool message takes text only, and all tool messages of a turn must come before anything else.
      const shown = turn.results.flatMap((result) => shownBy(result, idOf));
      const media = shown.flatMap(({ parts }) => parts);
      if (media.length > 0) messages.push({ role: 'user', content: toChatParts(shown.length === 1 ? media : shown.flatMap(labelled)) });
    } else messages.push({ ...toAssistantMessage(turn, idOf), ...(quirks.reasoningBack === 'reasoning_content' && { reasoning_content: reasoningOf(turn) }) });
  }
  return messages;
}

/** What of a result is more than text. */
interface Shown {
  readonly name: string;
  readonly parts: readonly ContentPart[];
}

function shownBy({ toolCallId, toolName, parts = [] }: PromptToolResult, idOf: (id: string) => string): Shown[] {
  const shown = parts.filter(({ type }) => type !== 'text' && type !== 'reasoning');
  return shown.length === 0 ? [] : [{ name: `${toolName} (${idOf(toolCallId)})`, parts: shown }];
}

/** Says whose result it is, where several results have more than text. */
function labelled({ name, parts }: Shown): ContentPart[] {
  return [{ type: 'text', text: `From the result of ${name}:` }, ...parts];
}

function resultText(result: PromptToolResult): string {
  const text = outputText(result);
  return text === '' && result.parts !== undefined ? '(see below)' : text;
}

/** Servers that want it back want it on every message, also where there was none. */
function reasoningOf({ parts = [], order }: AssistantTurn): string {
  const said = order?.flatMap((piece) => ('part' in piece ? [piece.part] : [])) ?? parts;
  return said.map((part) => (part.type === 'reasoning' ? (part.text ?? '') : '')).join('');
}

function toAssistantMessage({ text, toolCalls }: AssistantTurn, idOf: (id: string) => string): ChatMessage {
  if (toolCalls.length === 0) return { role: 'assistant', content: text };
  const calls = toolCalls.map((call) => ({
    id: idOf(call.id),
    type: 'function' as const,
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  return { role: 'assistant', content: text === '' ? null : text, tool_calls: calls };
}
