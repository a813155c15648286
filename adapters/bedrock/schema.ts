// The wire shapes of Bedrock's Converse API. What we send is exact, what we read is lenient.
// Source: @aws-sdk/client-bedrock-runtime `dist-types/models/models_0.d.ts`. Pure: types only.

/** A list element of its own, after the elements that it marks for caching. */
export interface CachePoint {
  cachePoint: { type: 'default' };
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

/** A content block of a request. */
export type BedrockBlock = AssistantBlock | { toolResult: { toolUseId: string; content: { text: string }[]; status?: 'success' | 'error' } } | CachePoint;

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
  toolConfig?: { tools: BedrockTool[] };
  inferenceConfig: { maxTokens: number; temperature?: number };
}
