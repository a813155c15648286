// A prompt as a Converse request. Pure: no I/O.
import { createHash } from 'node:crypto';
import type { Prompt, PromptToolResult, Warning } from '../../core/index.ts';
import { CLAUDE_ID } from '../shared/claude.ts';
import { systemTexts } from '../shared/claude-thinking.ts';
import { type MergedTurn, mergeTurns, piecesOf } from '../shared/merge-turns.ts';
import type { ChatContext, TokenQuestion, WireRequest } from '../shared/provider.ts';
import { idMapper, objectSchema, outputText } from '../shared/tools.ts';
import { stateIn } from '../shared/turn-state.ts';
import { addCachePoints } from './caching.ts';
import { BlockMaker } from './content.ts';
import { runtimeURL } from './endpoints.ts';
import { EVENT_STREAM } from './frames.ts';
import { isMistral, isNova, takesCachePoints, takesResultStatus, takesTemperature } from './models.ts';
import { applyOptions } from './options.ts';
import { type Frame, replayReasoning } from './reasoning.ts';
import type { BedrockBlock, BedrockMessage, BedrockRequest, BedrockTool } from './schema.ts';
import { novaSchema } from './tool-schema.ts';

/** Bedrock refuses a tool result without content. */
const NO_OUTPUT = '(no output)';
/** Beside a document that stands alone in its turn. */
const SEE: BedrockBlock = { text: '(see the document)' };
const SEE_ADDED: Warning = { field: 'messages', message: `Bedrock requires a text beside a document, so "${SEE.text}" was added to one that stood alone.` };
const REASONING_LEFT_OUT: Warning = {
  field: 'messages',
  message:
    'Earlier reasoning was not sent. It is only valid with the same model and the exact conversation before it, and one of the two has changed or a part is missing.',
};

/** A POST to `/model/{id}/converse`, or to `converse-stream` for a stream. */
export function buildRequest(context: ChatContext): WireRequest {
  const { model, prompt, settings, stream } = context;
  const { body, warnings } = translate(model, prompt);
  if (takesCachePoints(model)) warnings.push(...addCachePoints(body, model, prompt));
  return {
    url: runtimeURL(settings, `/model/${encodeSegment(model)}/converse${stream ? '-stream' : ''}`),
    headers: { accept: stream ? EVENT_STREAM : 'application/json' },
    body,
    stream,
    warnings,
  };
}

/** A POST to `/model/{id}/count-tokens`. Bedrock refuses it for many models. */
export function tokenQuestion({ model, prompt, settings }: ChatContext): TokenQuestion {
  const { messages, system, toolConfig } = translate(model, prompt).body;
  return {
    url: runtimeURL(settings, `/model/${encodeSegment(model)}/count-tokens`),
    body: { input: { converse: { messages, system, toolConfig } } },
    countIn: (answer) => answer['inputTokens'],
  };
}

/** The request without its cache points. Those move from request to request, so reasoning is not bound to them. */
export function translate(model: string, prompt: Prompt): { body: BedrockRequest; warnings: Warning[] } {
  const merged = mergeTurns(prompt.turns);
  const tools = toTools(prompt, model);
  const frame: Frame = {
    ...systemOf(prompt),
    ...(tools.length > 0 && { toolConfig: { tools: tools.map(({ tool }) => tool) } }),
  };
  const ids = isMistral(model) ? mistralId : idMapper(CLAUDE_ID);
  const maker = new BlockMaker(model);
  const plain = merged.turns.map((turn) => toMessage(turn, ids, takesResultStatus(model), maker));
  const messages = replayReasoning(model, frame, merged.turns, plain);
  const limit = prompt.maxTokens ?? prompt.defaultMaxTokens;
  const hasTemperature = prompt.temperature !== undefined && takesTemperature(model);
  const body: BedrockRequest = {
    ...frame,
    messages: withTrimmedEnd(messages),
    inferenceConfig: { ...(limit !== undefined && { maxTokens: limit }), ...(hasTemperature && { temperature: prompt.temperature }) },
  };
  const warnings = [
    ...merged.warnings,
    ...tools.flatMap(({ warnings: own }) => own),
    ...(plain.some(({ content }) => content.includes(SEE)) ? [SEE_ADDED] : []),
    ...warningsFor(model, prompt, messages !== plain),
  ];
  if (prompt.options !== undefined) warnings.push(...applyOptions(body, model, prompt, prompt.options, messages !== plain));
  return { body, warnings };
}

function systemOf(prompt: Prompt): Pick<Frame, 'system'> {
  const texts = systemTexts(prompt);
  return texts.length === 0 ? {} : { system: texts.map((text) => ({ text })) };
}

function warningsFor(model: string, prompt: Prompt, replayed: boolean): Warning[] {
  const warnings: Warning[] = [];
  const hasReasoning = prompt.turns.some((turn) => turn.role === 'assistant' && stateIn(turn, 'bedrock') !== undefined);
  if (hasReasoning && !replayed) warnings.push(REASONING_LEFT_OUT);
  if (prompt.temperature !== undefined && !takesTemperature(model))
    warnings.push({ field: 'config.temperature', message: `${model} is not known to support temperature, so it was not sent.` });
  if (prompt.cacheControl && !takesCachePoints(model))
    warnings.push({ field: 'config.cacheControl', message: `Bedrock caches prompts only for Claude and Nova models, and ${model} is neither.` });
  const hasFailedResult = prompt.turns.some((turn) => turn.role === 'tool' && turn.results.some((result) => result.isError));
  if (hasFailedResult && !takesResultStatus(model))
    warnings.push({ field: 'messages', message: `${model} does not support isError on tool results, so it was not sent.` });
  return warnings;
}

/**
 * Bedrock wants tools beside a history with calls, even if this request offers none: then they are rebuilt from the calls. It has no way to forbid them, so
 * those that may not be called are offered beside such a history only.
 */
function toTools(prompt: Prompt, model: string): { readonly tool: BedrockTool; readonly warnings: readonly Warning[] }[] {
  const called = prompt.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls.map((call) => call.name) : []));
  if (called.length === 0 && prompt.options?.toolChoice === 'none') return [];
  const tools = prompt.tools.length > 0 ? prompt.tools : [...new Set(called)].map((name) => ({ name, description: undefined, parameters: undefined }));
  return tools.map(({ name, description, parameters }, index) => {
    const { schema, dropped } = isNova(model) ? novaSchema(parameters) : { schema: objectSchema(parameters), dropped: [] };
    const message = `Nova does not support these schema keywords here, so they were not sent: ${dropped.join(', ')}.`;
    return {
      // Bedrock refuses an empty description.
      tool: { toolSpec: { name, description: description?.trim() || name, inputSchema: { json: schema } } },
      warnings: dropped.length === 0 ? [] : [{ field: `tools[${index}].parameters`, message }],
    };
  });
}

function toMessage(turn: MergedTurn, mapId: (id: string) => string, hasStatus: boolean, maker: BlockMaker): BedrockMessage {
  if (turn.role === 'user') {
    const results = turn.results.flatMap((result) => toResult(result, mapId, hasStatus, maker));
    const own = turn.turns.flatMap(({ text, parts }): BedrockBlock[] => (parts === undefined ? [{ text }] : maker.toBlocks(parts)));
    return { role: 'user', content: withText([...results, ...own]) };
  }
  const content = turn.turns.flatMap(piecesOf).flatMap((piece): BedrockBlock[] => {
    if (!('call' in piece)) return maker.toBlocks([piece.part]);
    const { id, name, arguments: input, cache } = piece.call;
    return maker.withPoint([{ toolUse: { toolUseId: mapId(id), name, input } }], cache);
  });
  return { role: 'assistant', content };
}

/** Bedrock refuses a document in a turn without a text. */
function withText(content: BedrockBlock[]): BedrockBlock[] {
  return content.some((block) => 'document' in block) && !content.some((block) => 'text' in block) ? [...content, SEE] : content;
}

/** A mark inside a result moves to the end of the result: there are no cache points inside. */
function toResult(result: PromptToolResult, mapId: (id: string) => string, hasStatus: boolean, maker: BlockMaker): BedrockBlock[] {
  const text = result.content.trim() === '' ? NO_OUTPUT : result.content;
  const content = result.parts === undefined ? [{ text }] : maker.toResult(result.parts);
  const hasFile = content.some((block) => !('text' in block));
  // Claude refuses anything but text beside the status of a failure, so the text says it.
  if (result.isError && hasFile && outputText(result) !== result.content) content.unshift({ text: 'Error:' });
  const status = !result.isError ? 'success' : hasFile ? undefined : 'error';
  if (content.length === 0) content.push({ text });
  const cache = result.parts?.findLast((part) => part.cache !== undefined)?.cache;
  return maker.withPoint([{ toolResult: { toolUseId: mapId(result.toolCallId), content, ...(hasStatus && status !== undefined && { status }) } }], cache);
}

/** Mistral wants nine letters and digits. */
function mistralId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);
}

/** A final assistant text may not end in white space. */
function withTrimmedEnd(messages: BedrockMessage[]): BedrockMessage[] {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || block === undefined || !('text' in block)) return messages;
  return [...messages.slice(0, -1), { role: 'assistant', content: [...last.content.slice(0, -1), { text: block.text.trimEnd() }] }];
}

/** Encodes a path segment. AWS signs the encoded path, so the characters that `encodeURIComponent` leaves are encoded too. */
export function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
