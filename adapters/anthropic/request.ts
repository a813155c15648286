// A prompt as a Messages request. Pure: no I/O.
import type { ContentPart, Prompt, PromptToolResult, Tool, ToolCall, Warning } from '../../core/index.ts';
import { joinURL } from '../shared/base-url.ts';
import { CLAUDE_ID, TOO_MANY_MARKS, takesTemperature } from '../shared/claude.ts';
import { systemTexts } from '../shared/claude-thinking.ts';
import { type MergedTurn, mergeTurns, piecesOf } from '../shared/merge-turns.ts';
import type { ChatContext, TokenQuestion, WireRequest } from '../shared/provider.ts';
import { idMapper, objectSchema, outputText } from '../shared/tools.ts';
import { dropExtraMarks, markForCaching, setMarks } from './caching.ts';
import { type CacheMarks, toBlocks } from './content.ts';
import { applyOptions } from './options.ts';
import type { AnthropicBlock, AnthropicMessage, AnthropicRequest, AnthropicTool } from './schema.ts';
import { hasThinking, replayThinking } from './thinking.ts';

/** Messages needs a limit: this one leaves room to think, and most models allow it. */
const REQUIRED_LIMIT = 16_384;
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

/** A POST to `/v1/messages`. It streams if the caller does, or if the answer may be longer than LARGEST_WHOLE_ANSWER. */
export function buildRequest(context: ChatContext): WireRequest {
  const { model, prompt, settings } = context;
  const { body, warnings, marks } = translate(model, prompt);
  const stream = context.stream || body.max_tokens > LARGEST_WHOLE_ANSWER;
  if (stream) body.stream = true;
  if (marks.length > 0) setMarks(marks);
  if (prompt.cacheControl) markForCaching(body);
  if (marks.length > 0 && dropExtraMarks(body)) warnings.push(TOO_MANY_MARKS);
  return { url: joinURL(settings.values['baseURL'] ?? '', '/v1/messages', VERSION_SUFFIX), body, stream, warnings };
}

/** A POST to `/v1/messages/count_tokens`, which takes only what has tokens. */
export function tokenQuestion({ model, prompt, settings }: ChatContext): TokenQuestion {
  const { system, messages, tools, tool_choice, thinking } = translate(model, prompt).body;
  return {
    url: joinURL(settings.values['baseURL'] ?? '', '/v1/messages/count_tokens', VERSION_SUFFIX),
    body: { model, system, messages, tools, tool_choice, thinking },
    countIn: (answer) => answer['input_tokens'],
  };
}

/** The request without its cache marks. Those move from request to request, so a thinking block is not bound to them. */
export function translate(model: string, prompt: Prompt): { body: AnthropicRequest; warnings: Warning[]; marks: CacheMarks } {
  const merged = mergeTurns(prompt.turns);
  const warnings = [...merged.warnings];
  const marks: CacheMarks = [];
  const frame: Omit<AnthropicRequest, 'messages'> = {
    model,
    max_tokens: prompt.maxTokens ?? prompt.defaultMaxTokens ?? REQUIRED_LIMIT,
    ...systemOf(prompt),
    ...(prompt.tools.length > 0 && { tools: prompt.tools.map((tool) => toTool(tool, marks)) }),
  };
  for (const [index, { cache }] of (prompt.systemParts ?? []).entries()) {
    const target = frame.system?.[index];
    if (target !== undefined && cache !== undefined) marks.push({ target, cache });
  }
  const mapId = idMapper(CLAUDE_ID);
  const plain = merged.turns.map((turn) => toMessage(turn, mapId, marks));
  const messages = replayThinking(model, frame, merged.turns, plain);
  if (messages === plain && prompt.turns.some((turn) => turn.role === 'assistant' && hasThinking(turn))) warnings.push(THINKING_LEFT_OUT);
  const body: AnthropicRequest = { ...frame, messages };
  trimFinalAssistant(body.messages);
  if (prompt.temperature !== undefined) {
    if (takesTemperature(model)) body.temperature = prompt.temperature;
    else warnings.push({ field: 'config.temperature', message: `${model} does not support temperature, so it was not sent.` });
  }
  if (prompt.options !== undefined) warnings.push(...applyOptions(body, prompt, prompt.options, messages !== plain));
  return { body, warnings, marks };
}

function systemOf(prompt: Prompt): Pick<AnthropicRequest, 'system'> {
  const texts = systemTexts(prompt);
  if (texts.length === 0) return {};
  return { system: texts.map((text) => ({ type: 'text', text })) };
}

function toTool(tool: Tool, marks: CacheMarks): AnthropicTool {
  const found: AnthropicTool = {
    name: tool.name,
    ...(tool.description && { description: tool.description }),
    input_schema: objectSchema(tool.parameters),
  };
  if (tool.cache !== undefined) marks.push({ target: found, cache: tool.cache });
  return found;
}

function toMessage(turn: MergedTurn, mapId: (id: string) => string, marks: CacheMarks): AnthropicMessage {
  if (turn.role === 'user') {
    const results = turn.results.map((result) => toResult(result, mapId, marks));
    const own = turn.turns.flatMap(({ text, parts }): AnthropicBlock[] => (parts === undefined ? [{ type: 'text', text }] : toBlocks(parts, marks)));
    return { role: 'user', content: [...results, ...own] };
  }
  const content = turn.turns.flatMap(piecesOf).flatMap((piece) => ('call' in piece ? [toolUse(piece.call, mapId, marks)] : toBlocks([piece.part], marks)));
  return { role: 'assistant', content };
}

function toolUse({ id, name, arguments: input, cache }: ToolCall, mapId: (id: string) => string, marks: CacheMarks): AnthropicBlock {
  const block: AnthropicBlock = { type: 'tool_use', id: mapId(id), name, input };
  if (cache !== undefined) marks.push({ target: block, cache });
  return block;
}

/** A mark inside a result stands on the result itself. */
function toResult(result: PromptToolResult, mapId: (id: string) => string, marks: CacheMarks): AnthropicBlock {
  const block: AnthropicBlock = {
    type: 'tool_result',
    tool_use_id: mapId(result.toolCallId),
    ...contentOf(result),
  };
  const cache = result.parts?.findLast((part) => part.cache !== undefined)?.cache;
  if (cache !== undefined) marks.push({ target: block, cache });
  return block;
}

/** Claude refuses anything but text beside `is_error`, so the text of such a result says it. */
function contentOf(result: PromptToolResult): { content: string | AnthropicBlock[]; is_error?: true } {
  const { content, parts, isError } = result;
  const blocks = parts === undefined || isOneText(parts) ? content : toBlocks(parts, []);
  if (!isError) return { content: blocks };
  if (typeof blocks === 'string' || blocks.every(({ type }) => type === 'text')) return { content: blocks, is_error: true };
  return { content: outputText(result) === content ? blocks : [{ type: 'text', text: 'Error:' }, ...blocks] };
}

function isOneText([first, ...others]: readonly ContentPart[]): boolean {
  return first?.type === 'text' && others.length === 0;
}

/** A final assistant text may not end in white space. */
function trimFinalAssistant(messages: AnthropicMessage[]): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || block?.['type'] !== 'text') return;
  last.content[last.content.length - 1] = { ...block, text: String(block['text']).trimEnd() };
}
