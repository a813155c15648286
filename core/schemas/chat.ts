// The chat resource of `/v1/chat`: request, response, and the data of the four SSE events.
// Type (core/types.ts), validator and OpenAPI document all come from these schemas. Pure: no I/O.
import type * as types from '../types.ts';
import { boolean, closedObject, count, listOf, object, oneOf, string } from './fields.ts';

/** The token limit that the contract sets for a request without `maxTokens`. */
export const DEFAULT_MAX_TOKENS = 4096;

/** Fits the tool-name rules of all five providers. */
export const TOOL_NAME_PATTERN = '^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$';
/** Printable ASCII without spaces, and no `.` or `..` path segment: a model id becomes part of a URL on two providers. */
const MODEL_PATTERN = '^(?!.*(?:^|/)\\.\\.?(?:/|$))[\\x21-\\x7e]{1,2048}$';
/** Characters that are safe in an HTTP header. */
export const SECRET_PATTERN = '^[\\x21-\\x7e]{1,4096}$';
/** An AWS region. Each repetition has a limit, because a group without one overflows the stack on a text of some megabytes. */
export const REGION_PATTERN = '^[a-z]{2,8}(-[a-z]{1,16}){1,3}-[0-9]{1,2}$';

/** Any JSON object; `additionalProperties: {}` says so to the type as well. */
const anyObject = { type: 'object', additionalProperties: {} } as const;
const secret = { type: 'string', pattern: SECRET_PATTERN } as const;
/** The id of a model, in a request and in the configuration of a block. */
export const ModelId = {
  type: 'string',
  pattern: MODEL_PATTERN,
  description: 'Model id of the provider: at most 2048 characters of printable ASCII without spaces, and no . or .. between slashes',
} as const;
/** The id of an adapter, in a request and in the configuration of a block. */
export const AdapterId = { type: 'string', minLength: 1, maxLength: 64, description: 'Provider id' } as const;
const callId = { type: 'string', minLength: 1, maxLength: 256 } as const;
const toolName = { type: 'string', pattern: TOOL_NAME_PATTERN, description: 'At most 64 letters, digits, _ and -, starting with a letter or _' } as const;

/** The form of the answer's text. */
export const OutputFormat = {
  type: 'object',
  description: 'The form of the answer. Without a schema, any JSON object',
  additionalProperties: false,
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['json', 'json_schema'] },
    schema: { ...anyObject, description: 'JSON Schema; required for json_schema' },
    name: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$', description: 'Name of the schema' },
    strict: { type: 'boolean', description: "OpenAI's strict mode" },
  },
} as const;
export type OutputFormat = types.OutputFormat;

/** How much a model thinks before it answers. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Settings of a model that reasons. */
export const Reasoning = {
  type: 'object',
  description: 'How much the model thinks before it answers',
  additionalProperties: false,
  properties: {
    effort: { type: 'string', enum: REASONING_EFFORTS },
    budgetTokens: { type: 'integer', minimum: 0, maximum: 10_000_000, description: 'The most tokens of reasoning, for models with a budget' },
    summary: { type: 'boolean', description: 'True to get the reasoning, or a summary of it, where the provider shows it' },
  },
} as const;
export type Reasoning = types.Reasoning;

/** Settings of one chat request, which override the stored ones. */
export const ChatConfig = {
  type: 'object',
  description: 'Settings for this request. They override auth.json, the environment and the defaults',
  additionalProperties: false,
  properties: {
    maxTokens: { type: 'integer', minimum: 1, maximum: 10_000_000, description: `Maximum output tokens; default ${DEFAULT_MAX_TOKENS}` },
    temperature: { type: 'number', minimum: 0, maximum: 1, description: 'Sampling temperature' },
    cacheControl: { type: 'boolean', description: 'Enable prompt caching (anthropic, bedrock)' },
    cacheKey: { type: 'string', minLength: 1, maxLength: 512, description: 'Requests with the same key share a prompt cache (openai)' },
    topP: { type: 'number', minimum: 0, maximum: 1, description: 'Nucleus sampling' },
    topK: { type: 'integer', minimum: 0, maximum: 100_000, description: 'Sampling from the k most likely tokens (not openai)' },
    stop: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 1024 }, maxItems: 16, description: 'Texts that end the answer' },
    seed: { type: 'integer', description: 'Makes answers more alike (openai, google, ollama)' },
    presencePenalty: { type: 'number', minimum: -2, maximum: 2, description: 'Against the repetition of topics (openai, google, ollama)' },
    frequencyPenalty: { type: 'number', minimum: -2, maximum: 2, description: 'Against the repetition of words (openai, google, ollama)' },
    parallelToolCalls: {
      type: 'boolean',
      description: 'False for at most one tool call in an answer (openai, anthropic; through the compatible endpoints, every provider)',
    },
    logprobs: { type: 'boolean', description: 'True to get the log probability of each token of the answer (openai, google, ollama)' },
    topLogprobs: { type: 'integer', minimum: 0, maximum: 20, description: 'So many of the likeliest tokens at each place, with logprobs' },
    serviceTier: { type: 'string', minLength: 1, maxLength: 64, description: "The provider's own name of a processing tier (openai, anthropic, bedrock)" },
    user: { type: 'string', minLength: 1, maxLength: 512, description: 'An id of the end user for the provider (openai, anthropic)' },
    metadata: {
      type: 'object',
      additionalProperties: { type: 'string', maxLength: 1024 },
      maxProperties: 16,
      description: 'Labels for the provider (openai, bedrock)',
    },
    output: OutputFormat,
    reasoning: Reasoning,
    region: { type: 'string', pattern: REGION_PATTERN, description: 'Region override (bedrock), such as us-east-1' },
    baseURL: { type: 'string', minLength: 1, maxLength: 2048, description: 'API endpoint override (all but bedrock)' },
    apiKey: { ...secret, description: 'API key for this request only: printable ASCII without spaces' },
    accessKeyId: { ...secret, description: 'Access key for this request only (bedrock): printable ASCII without spaces' },
    secretAccessKey: { ...secret, description: 'Secret key for this request only (bedrock): printable ASCII without spaces' },
    sessionToken: { ...secret, description: 'Session token that belongs to temporary keys (bedrock): printable ASCII without spaces' },
  },
} as const;
export type ChatConfig = types.ChatConfig;

const providerMetadata = {
  ...anyObject,
  description: 'Opaque state of the provider. Send it back unchanged with the message or tool call that it came with.',
} as const;

const cache = { type: 'string', enum: ['5m', '1h'], description: 'Everything up to here may be cached for this long (anthropic, bedrock)' } as const;

/** A tool call of the model, in answers and in the history of requests. */
export const ToolCall = closedObject(
  {
    id: callId,
    name: toolName,
    arguments: { ...anyObject, description: 'Arguments as a JSON object' },
    cache: { ...cache, description: 'In requests: everything up to here may be cached for this long (anthropic, bedrock)' },
    providerMetadata,
  },
  ['cache', 'providerMetadata'],
);
export type ToolCall = types.ToolCall;

const mediaType = { type: 'string', pattern: '^[a-z]+/[a-zA-Z0-9.+-]{1,100}$', description: 'Such as image/png' } as const;
/** Base64 of some 24 MB. */
const base64 = { type: 'string', minLength: 1, maxLength: 33_554_432, description: 'Base64' } as const;
const url = { type: 'string', minLength: 1, maxLength: 8192, description: 'An http or https URL that the provider fetches; Blockhouse never does' } as const;

/** A part of a message. Which fields belong to which type: docs/http.md. `core/gateway/parts.ts` refuses the others. */
export const ContentPart = {
  type: 'object',
  additionalProperties: false,
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['text', 'image', 'document', 'audio', 'reasoning'] },
    text: { type: 'string', description: 'Of a text, a reasoning, or a document that is plain text' },
    mediaType,
    data: base64,
    url,
    detail: { type: 'string', enum: ['low', 'high', 'auto'], description: 'How closely an image is looked at (openai)' },
    name: { type: 'string', minLength: 1, maxLength: 256, description: 'File name of a document' },
    cache,
    providerMetadata,
  },
} as const;
export type ContentPart = types.ContentPart;

const parts = { type: 'array', items: ContentPart, maxItems: 1024 } as const;
const content = { anyOf: [string, parts] } as const;

/** The result of a tool call, in a message with role `tool`. */
export const ToolResult = closedObject({ toolCallId: callId, content, isError: boolean }, ['isError']);
export type ToolResult = types.ToolResult;

/** One message of a conversation. */
export const Message = {
  type: 'object',
  additionalProperties: false,
  required: ['role'],
  properties: {
    role: { type: 'string', enum: ['system', 'user', 'assistant', 'tool'] },
    content: { ...content, description: 'Text, or a list of parts. May be left out only with toolCalls or toolResults' },
    toolCalls: { type: 'array', items: ToolCall, maxItems: 256, description: 'Only on role assistant' },
    toolResults: { type: 'array', items: ToolResult, minItems: 1, maxItems: 256, description: 'Only on role tool' },
    providerMetadata,
  },
} as const;
export type Message = types.Message;

/** The fields of a message by its role. `core/gateway/prompt.ts` refuses the others, with an error that names the field. */
export const MESSAGE_FIELDS = {
  system: { required: ['content'], optional: ['providerMetadata'] },
  user: { required: ['content'], optional: ['providerMetadata'] },
  assistant: { required: [], optional: ['content', 'toolCalls', 'providerMetadata'] },
  tool: { required: ['toolResults'], optional: ['content', 'providerMetadata'] },
} as const satisfies Record<string, Record<'required' | 'optional', readonly (keyof typeof Message.properties)[]>>;

/** A tool that the model may call. */
export const Tool = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: toolName,
    description: string,
    parameters: { ...anyObject, description: 'JSON Schema of the arguments; its type must be object' },
    type: { type: 'string', const: 'function', description: "Accepted because OpenAI's SDKs send it" },
    cache,
    strict: { type: 'boolean', description: "Accepted because OpenAI's SDKs send it, but never passed on" },
  },
} as const;
export type Tool = types.Tool;

/** OpenAI's nested form of a tool, accepted as well as the flat one. */
export const NestedTool = closedObject({ type: { type: 'string', const: 'function' }, function: Tool });

/** What a stream shows besides the text of the answer. */
export const StreamOptions = {
  ...closedObject(
    {
      reasoning: { type: 'boolean', description: 'True for the events reasoning: the text of the reasoning, where the provider shows it' },
      toolDeltas: { type: 'boolean', description: 'True for the events toolCallStart and toolCallDelta: tool calls while they are written' },
    },
    ['reasoning', 'toolDeltas'],
  ),
  description: 'Server-sent events with more than the text',
} as const;
export type StreamOptions = types.StreamOptions;

/** The body of POST `/v1/chat`. */
export const ChatRequest = {
  type: 'object',
  additionalProperties: false,
  required: ['adapter', 'model', 'messages'],
  properties: {
    adapter: AdapterId,
    model: ModelId,
    messages: { type: 'array', items: Message, minItems: 1, maxItems: 100_000 },
    stream: {
      anyOf: [boolean, StreamOptions],
      description: 'True to get the answer as server-sent events. An object to get further events as well: reasoning, and the pieces of tool calls',
    },
    config: ChatConfig,
    tools: { type: 'array', items: { anyOf: [Tool, NestedTool] }, maxItems: 1024 },
    toolChoice: {
      anyOf: [{ type: 'string', enum: ['auto', 'none', 'required'] }, closedObject({ name: toolName })],
      description: 'Whether the model may, must or must not call tools, or the one tool that it must call',
    },
  },
} as const;

/** A chat request as callers write it. */
export type ChatRequest = types.ChatRequest;

/** Why an answer ended. `unknown` if the provider gave no reason that Blockhouse knows. */
export const STOP_REASONS = ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'content_filter', 'refusal', 'unknown'] as const;
export type StopReason = types.StopReason;

/** The counts that not every provider reports. */
export const FURTHER_COUNTS = [
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'inputAudioTokens',
  'outputAudioTokens',
  'outputImageTokens',
  'reasoningTokens',
] as const;

/** Token counts of one call. */
export const Usage = object(
  {
    inputTokens: { ...count, description: 'Tokens of the prompt, including cached ones' },
    outputTokens: { ...count, description: 'Tokens of the answer, including reasoning' },
    totalTokens: { ...count, description: 'inputTokens + outputTokens' },
    cacheReadTokens: { ...count, description: 'Part of inputTokens that was read from a cache' },
    cacheWriteTokens: { ...count, description: 'Part of inputTokens that was written to a cache' },
    cacheWrite1hTokens: { ...count, description: 'Part of cacheWriteTokens that the cache keeps for an hour, which costs more than the usual five minutes' },
    inputAudioTokens: { ...count, description: 'Part of inputTokens that is audio' },
    outputAudioTokens: { ...count, description: 'Part of outputTokens that is audio' },
    outputImageTokens: { ...count, description: 'Part of outputTokens that is pictures' },
    reasoningTokens: { ...count, description: 'Part of outputTokens spent on reasoning' },
    costUsd: {
      type: 'number',
      minimum: 0,
      description: 'What the provider says that the call costs, in USD; only where its connection reads it (`costField`)',
    },
    estimated: { type: 'boolean', description: 'True if the provider reported no usage, so the counts are estimated from the length of the text' },
    unpricedTier: {
      type: 'boolean',
      description: 'True if the provider reports a processing tier or place whose price is not known, such as a priority tier: the call has no price then',
    },
  },
  [...FURTHER_COUNTS, 'costUsd', 'estimated', 'unpricedTier'],
);
export type Usage = types.Usage;

/** A note about a field that was not sent or was changed. The call itself succeeded. */
export const Warning = object({
  field: { type: 'string', description: 'The field of the request or of the answer that the warning is about' },
  message: string,
});
export type Warning = types.Warning;

const logprob = {
  token: string,
  logprob: { type: 'number', description: 'Natural logarithm of its probability' },
  bytes: { ...listOf(count), description: 'UTF-8 of the token, which may be a part of a character' },
} as const;

/** The probability of one token of an answer. */
export const TokenLogprob = object({ ...logprob, topLogprobs: { ...listOf(object(logprob, ['bytes'])), description: 'The likeliest tokens at this place' } }, [
  'bytes',
  'topLogprobs',
]);
export type TokenLogprob = types.TokenLogprob;

const logprobs = { ...listOf(TokenLogprob), description: 'The tokens of the text, if config.logprobs asked for them and the provider gives them' } as const;
const stopReason = oneOf(STOP_REASONS);
const stopSequence = {
  type: 'string',
  description: 'The text of config.stop that ended the answer, if the provider reports that one did (anthropic, bedrock) and it is known which',
} as const;
const warnings = { ...listOf(Warning), description: 'What was not sent, or was changed, because the provider or model does not support it' } as const;
const toolCalls = listOf(ToolCall);

/** The answer of POST `/v1/chat` without `stream`. */
export const ChatResponse = object(
  {
    provider: string,
    model: string,
    message: object({ role: { type: 'string', const: 'assistant' }, content: string, toolCalls, providerMetadata }, ['toolCalls', 'providerMetadata']),
    usage: Usage,
    stopReason,
    stopSequence,
    logprobs,
    warnings,
  },
  ['stopSequence', 'logprobs', 'warnings'],
);
export type ChatResponse = types.ChatResponse;

/** Data of the SSE event `start`. */
export const ChatStart = object({ provider: string, model: string });
export type ChatStart = types.ChatStart;

/** Data of the SSE event `content`. */
export const ChatContent = object({ text: string });

/** Data of the SSE event `reasoning`. */
export const ChatReasoning = object({ text: string });

/** Data of the SSE event `toolCallStart`. */
export const ChatToolCallStart = object({
  index: { ...count, description: 'Counts the tool calls of the answer from 0' },
  id: { type: 'string', description: 'The id that the call has in toolCalls of the event done' },
  name: { type: 'string', description: 'Name of the tool' },
});

/** Data of the SSE event `toolCallDelta`. */
export const ChatToolCallDelta = object({
  index: { ...count, description: 'The index of its toolCallStart' },
  text: { type: 'string', description: 'The next piece of the arguments; together, the pieces of a call are JSON' },
});

/** Data of the SSE event `done`. */
export const ChatDone = object({ usage: Usage, stopReason, stopSequence, toolCalls, providerMetadata, logprobs, warnings }, [
  'stopSequence',
  'toolCalls',
  'providerMetadata',
  'logprobs',
  'warnings',
]);
export type ChatDone = types.ChatDone;
