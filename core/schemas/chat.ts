// The chat resource of `/v1/chat`: request, response, and the data of the four SSE events.
// Type, validator and OpenAPI document all come from these schemas. Pure: no I/O.
import Type from 'typebox';

const strict = { additionalProperties: false } as const;

/** Fits the tool-name rules of all five providers. */
export const TOOL_NAME_PATTERN = '^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$';
/** Printable ASCII without spaces, and no `.` or `..` path segment: a model id becomes part of a URL on two providers. */
export const MODEL_PATTERN = '^(?!.*(?:^|/)\\.\\.?(?:/|$))[\\x21-\\x7e]{1,2048}$';
/** What may stand in an HTTP header without being able to split it. */
export const SECRET_PATTERN = '^[\\x21-\\x7e]{1,4096}$';
const REGION_PATTERN = '^[a-z]{2,8}(-[a-z]+)+-[0-9]{1,2}$';

const freeForm = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description });
const secret = (description: string) => Type.Optional(Type.String({ pattern: SECRET_PATTERN, description }));

export const ChatConfig = Type.Object(
  {
    maxTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Maximum output tokens; default 4096' })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Sampling temperature' })),
    cacheControl: Type.Optional(Type.Boolean({ description: 'Enable prompt caching (anthropic, bedrock)' })),
    region: Type.Optional(Type.String({ pattern: REGION_PATTERN, description: 'Region override (bedrock)' })),
    baseURL: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, description: 'API endpoint override (all but bedrock)' })),
    apiKey: secret('API key for this request only'),
    accessKeyId: secret('Access key for this request only (bedrock)'),
    secretAccessKey: secret('Secret key for this request only (bedrock)'),
    sessionToken: secret('Session token that belongs to temporary keys (bedrock)'),
  },
  { ...strict, description: 'Overrides for this request; each wins over auth.json, the environment and the default' },
);
export type ChatConfig = Type.Static<typeof ChatConfig>;

const providerMetadata = Type.Optional(freeForm('Opaque state of the provider. Send it back untouched with the message or tool call it came with.'));

export const ToolCall = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 256 }),
    name: Type.String({ pattern: TOOL_NAME_PATTERN }),
    arguments: freeForm('Arguments, a JSON object'),
    providerMetadata,
  },
  strict,
);
export type ToolCall = Type.Static<typeof ToolCall>;

export const ToolResult = Type.Object(
  {
    toolCallId: Type.String({ minLength: 1, maxLength: 256 }),
    content: Type.String(),
    isError: Type.Optional(Type.Boolean()),
  },
  strict,
);
export type ToolResult = Type.Static<typeof ToolResult>;

export const Message = Type.Object(
  {
    role: Type.Unsafe<'system' | 'user' | 'assistant' | 'tool'>({ type: 'string', enum: ['system', 'user', 'assistant', 'tool'] }),
    content: Type.Optional(Type.String({ description: 'May be left out only with toolCalls or toolResults' })),
    toolCalls: Type.Optional(Type.Array(ToolCall, { maxItems: 256, description: 'Only on role assistant' })),
    toolResults: Type.Optional(Type.Array(ToolResult, { minItems: 1, maxItems: 256, description: 'Only on role tool' })),
    providerMetadata,
  },
  strict,
);
export type Message = Type.Static<typeof Message>;

export const Tool = Type.Object(
  {
    name: Type.String({ pattern: TOOL_NAME_PATTERN }),
    description: Type.Optional(Type.String()),
    parameters: Type.Optional(freeForm('JSON Schema of the arguments, an object schema')),
  },
  strict,
);
export type Tool = Type.Static<typeof Tool>;

/** OpenAI's nested form, accepted beside the flat one. */
export const NestedTool = Type.Object({ type: Type.Literal('function'), function: Tool }, strict);

export const ChatRequest = Type.Object(
  {
    adapter: Type.String({ minLength: 1, maxLength: 64, description: 'Adapter id' }),
    model: Type.String({ pattern: MODEL_PATTERN, description: 'Model id, as the provider writes it' }),
    messages: Type.Array(Message, { minItems: 1, maxItems: 100_000 }),
    stream: Type.Optional(Type.Boolean({ description: 'true selects server-sent events' })),
    config: Type.Optional(ChatConfig),
    tools: Type.Optional(Type.Array(Type.Union([Tool, NestedTool]), { maxItems: 1024 })),
  },
  strict,
);

/** A chat request as callers write it. */
export type ChatRequest = Type.Static<typeof ChatRequest>;

export const STOP_REASONS = ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'content_filter', 'refusal', 'unknown'] as const;
export type StopReason = (typeof STOP_REASONS)[number];

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const Usage = Type.Object({
  inputTokens: count('Tokens of the prompt, cached ones included'),
  outputTokens: count('Tokens of the answer, reasoning included'),
  totalTokens: count('inputTokens + outputTokens'),
  cacheReadTokens: Type.Optional(count('Part of inputTokens that was read from a cache')),
  cacheWriteTokens: Type.Optional(count('Part of inputTokens that was written to a cache')),
  reasoningTokens: Type.Optional(count('Part of outputTokens spent on reasoning')),
  estimated: Type.Optional(Type.Boolean({ description: 'true when the provider reported no usage and the counts are a guess from the text length' })),
});
export type Usage = Type.Static<typeof Usage>;

export const Warning = Type.Object({
  field: Type.String({ description: 'The field of the request, or of the answer, that it is about' }),
  message: Type.String(),
});
export type Warning = Type.Static<typeof Warning>;

const stopReason = Type.Unsafe<StopReason>({ type: 'string', enum: [...STOP_REASONS] });
const warnings = Type.Optional(Type.Array(Warning, { description: 'What was left out or changed because this provider or model does not take it' }));

export const ChatResponse = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  message: Type.Object({
    role: Type.Literal('assistant'),
    content: Type.String(),
    toolCalls: Type.Optional(Type.Array(ToolCall)),
    providerMetadata,
  }),
  usage: Usage,
  stopReason,
  warnings,
});
export type ChatResponse = Type.Static<typeof ChatResponse>;

/** Data of the SSE event `start`. */
export const ChatStart = Type.Object({ provider: Type.String(), model: Type.String() });
export type ChatStart = Type.Static<typeof ChatStart>;

/** Data of the SSE event `content`. */
export const ChatContent = Type.Object({ text: Type.String() });

/** Data of the SSE event `done`. */
export const ChatDone = Type.Object({
  usage: Usage,
  stopReason,
  toolCalls: Type.Optional(Type.Array(ToolCall)),
  providerMetadata,
  warnings,
});
export type ChatDone = Type.Static<typeof ChatDone>;
