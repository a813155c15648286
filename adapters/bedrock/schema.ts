// The wire shapes of Bedrock's Converse API. What we send is exact, what we read is lenient.
// Source: @aws-sdk/client-bedrock-runtime `dist-types/models/models_0.d.ts`. Pure: types only.

/** A list element of its own, after the elements that it marks for caching. */
export interface CachePoint {
  /** Five minutes without a ttl. */
  cachePoint: { type: 'default'; ttl?: '1h' };
}

/** A tool call of the model; `input` is its arguments. */
export interface ToolUse {
  toolUseId: string;
  name: string;
  input: Record<string, unknown>;
}

/** `redactedContent` is base64, as every field of bytes in this API's JSON. */
export type ReasoningContent = { reasoningText: { text: string; signature: string } } | { redactedContent: string };

/** Blocks of an assistant message, as answers bring them and requests send them back. */
export type AssistantBlock = { text: string } | { toolUse: ToolUse } | { reasoningContent: ReasoningContent };

/** An image or a document; `bytes` is base64. */
export type MediaBlock = { image: { format: string; source: { bytes: string } } } | { document: { format: string; name: string; source: { bytes: string } } };

/** A content block of a request. */
export type BedrockBlock =
  | AssistantBlock
  | MediaBlock
  | { toolResult: { toolUseId: string; content: ({ text: string } | MediaBlock)[]; status?: 'success' | 'error' } }
  | CachePoint;

/** One message of a request; roles alternate. */
export interface BedrockMessage {
  role: 'user' | 'assistant';
  content: BedrockBlock[];
}

/** A tool on offer with its JSON Schema, or a cache point after the tools. */
export type BedrockTool = { toolSpec: { name: string; description: string; inputSchema: { json: Record<string, unknown> } } } | CachePoint;

/** The body of a Converse request. The model and whether to stream are part of the path. */
export interface BedrockRequest {
  system?: ({ text: string } | CachePoint)[];
  messages: BedrockMessage[];
  toolConfig?: { tools: BedrockTool[]; toolChoice?: { auto: object } | { any: object } | { tool: { name: string } } };
  inferenceConfig: { maxTokens?: number; temperature?: number; topP?: number; stopSequences?: string[] };
  outputConfig?: { effort?: string; textFormat?: { type: 'json_schema'; structure: { jsonSchema: { schema: string; name?: string } } } };
  additionalModelRequestFields?: Record<string, unknown>;
  additionalModelResponseFieldPaths?: readonly string[];
  requestMetadata?: Record<string, string>;
  serviceTier?: { type: string };
}
