// A prompt as a request to OpenAI: picks the endpoint, and builds the Responses form. Pure: no I/O.
import type { AssistantTurn, Prompt, Tool, ToolCall, Turn, Warning } from '../../core/index.ts';
import { textsAndCalls } from '../shared/merge-turns.ts';
import type { ChatContext, WireRequest } from '../shared/provider.ts';
import { asArray, asObject, metadataOf } from '../shared/read.ts';
import { idMapper, objectSchema } from '../shared/tools.ts';
import { given, REASONING_OF_ANOTHER } from '../shared/turn-state.ts';
import { toInputParts, toOutput } from './content.ts';
import { apiOf, endpointURL } from './endpoint.ts';
import { isReasoningModel } from './models.ts';
import { responsesOptions } from './options.ts';
import { buildChatRequest } from './request-chat.ts';
import { withoutDropped } from './quirks.ts';
import { CALL_ID, warningsFor } from './request-parts.ts';
import type { InputItem, ReasoningItem, ResponsesRequest, ResponsesTool } from './schema.ts';

/** Below it the endpoint answers 400 `integer_below_min_value`. */
const MIN_OUTPUT_TOKENS = 16;

/** A POST to `/responses` for OpenAI's own hosts, to `/chat/completions` for others. */
export function buildRequest(given: ChatContext): WireRequest {
  const { endpoint } = given.settings;
  if (endpoint?.quirks.drop === undefined) return buildFor(given);
  const { prompt, warnings } = withoutDropped(given.prompt, endpoint.quirks);
  const request = buildFor({ ...given, prompt });
  return { ...request, warnings: [...request.warnings, ...warnings] };
}

function buildFor(context: ChatContext): WireRequest {
  return apiOf(context.settings) === 'chat' ? buildChatRequest(context) : buildResponsesRequest(context);
}

function buildResponsesRequest({ model, prompt, settings, stream }: ChatContext): WireRequest {
  const reasons = isReasoningModel(model);
  const limit = prompt.maxTokens ?? prompt.defaultMaxTokens;
  const options = responsesOptions(model, prompt.options, prompt.tools.length > 0);
  const body: ResponsesRequest = {
    model,
    ...(prompt.system !== undefined && { instructions: prompt.system }),
    input: toInput(prompt.turns, reasons ? model : undefined),
    ...(prompt.tools.length > 0 && { tools: prompt.tools.map(toTool) }),
    ...(limit !== undefined && { max_output_tokens: Math.max(limit, MIN_OUTPUT_TOKENS) }),
    ...(prompt.temperature !== undefined && !reasons && { temperature: prompt.temperature }),
    // OpenAI stores nothing, so reasoning can come back only in this form.
    ...(reasons && { include: ['reasoning.encrypted_content'] }),
    ...(options.fields.top_logprobs !== undefined && { include: ['message.output_text.logprobs'] }),
    store: false,
    ...options.fields,
    ...(stream && { stream: true, stream_options: { include_obfuscation: false } }),
  };
  const foreign = hasForeignReasoning(prompt.turns, model) ? [REASONING_OF_ANOTHER] : [];
  const warnings = [...warningsFor(model, prompt), ...foreign, ...floorWarnings(prompt), ...options.warnings];
  return { url: endpointURL(settings, '/responses'), body, stream, warnings };
}

function floorWarnings({ maxTokens }: Prompt): Warning[] {
  if (maxTokens === undefined || maxTokens >= MIN_OUTPUT_TOKENS) return [];
  return [{ field: 'config.maxTokens', message: `OpenAI does not allow a limit below ${MIN_OUTPUT_TOKENS}, so ${MIN_OUTPUT_TOKENS} was sent.` }];
}

function toTool({ name, description, parameters }: Tool): ResponsesTool {
  return { type: 'function', name, ...(description !== undefined && { description }), parameters: objectSchema(parameters), strict: false };
}

/** `reasoner` is the model, if it reasons: only then does reasoning go back to it. */
function toInput(turns: readonly Turn[], reasoner: string | undefined): InputItem[] {
  const idOf = idMapper(CALL_ID);
  return turns.flatMap((turn): InputItem[] => {
    if (turn.role === 'user') return [{ role: 'user', content: turn.parts === undefined ? turn.text : toInputParts(turn.parts) }];
    if (turn.role === 'tool')
      return turn.results.map((result) => ({ type: 'function_call_output', call_id: idOf(result.toolCallId), output: toOutput(result) }));
    return textsAndCalls(turn).flatMap((one): InputItem[] =>
      typeof one === 'string' ? [{ role: 'assistant', content: one }] : [...reasoningBefore(one, turn, reasoner), toFunctionCall(one, idOf)],
    );
  });
}

function toFunctionCall(call: ToolCall, idOf: (id: string) => string): InputItem {
  return { type: 'function_call', call_id: idOf(call.id), name: call.name, arguments: JSON.stringify(call.arguments) };
}

/** The reasoning that led to a call. The endpoint refuses reasoning without a call right after it. */
function reasoningBefore(call: ToolCall, turn: AssistantTurn, reasoner: string | undefined): ReasoningItem[] {
  const state = metadataOf(turn, 'openai');
  if (reasoner === undefined || state?.['model'] !== reasoner) return [];
  return asArray(state['reasoning']).flatMap((entry) => {
    const { before, item } = asObject(entry);
    const reasoning = before === call.id ? readReasoning(asObject(item)) : undefined;
    return reasoning === undefined ? [] : [reasoning];
  });
}

/** See `Adapter.replayed`. */
export function replayed(model: string, turn: AssistantTurn): unknown {
  return isReasoningModel(model) ? given(turn.toolCalls.flatMap((call) => reasoningBefore(call, turn, model))) : undefined;
}

/** True if a turn has reasoning that `model` did not write. */
function hasForeignReasoning(turns: readonly Turn[], model: string): boolean {
  return turns.some((turn) => {
    const state = turn.role === 'assistant' ? metadataOf(turn, 'openai') : undefined;
    return state !== undefined && asArray(state['reasoning']).length > 0 && state['model'] !== model;
  });
}

/**
 * Reasoning as an answer has it: the caller could have added more. Undefined for an item without encrypted content: it refers to something that was never
 * stored, which gives 404.
 */
function readReasoning({ type, id, summary, content, encrypted_content, status }: Record<string, unknown>): ReasoningItem | undefined {
  if (type !== 'reasoning' || typeof encrypted_content !== 'string') return undefined;
  return {
    type,
    ...(typeof id === 'string' && { id }),
    summary: textsIn(summary),
    ...(Array.isArray(content) && { content: textsIn(content) }),
    encrypted_content,
    ...((typeof status === 'string' || status === null) && { status }),
  };
}

function textsIn(list: unknown): { type: string; text: string }[] {
  return asArray(list).flatMap((part) => {
    const { type, text } = asObject(part);
    return (type === 'summary_text' || type === 'reasoning_text') && typeof text === 'string' ? [{ type, text }] : [];
  });
}
