// The wire shapes of Bedrock's Converse API. What we send is exact, what we read is lenient.
// Source: @aws-sdk/client-bedrock-runtime `dist-types/models/models_0.d.ts`. Pure: types only.

/** An element of its own, behind what it marks. */
export interface CachePoint {
  cachePoint: { type: 'default' };
}

export interface ToolUse {
  toolUseId: string;
  name: string;
  input: Record<string, unknown>;
}

/** `redactedContent` is base64, as every field of bytes in this API's JSON. */
export type ReasoningContent = { reasoningText: { text: string; signature: string } } | { redactedContent: string };

/** Blocks of an assistant message, as answers bring them and requests send them back. */
export type AssistantBlock = { text: string } | { toolUse: ToolUse } | { reasoningContent: ReasoningContent };

export type BedrockBlock = AssistantBlock | { toolResult: { toolUseId: string; content: { text: string }[]; status?: 'success' | 'error' } } | CachePoint;

export interface BedrockMessage {
  role: 'user' | 'assistant';
  content: BedrockBlock[];
}

export type BedrockTool = { toolSpec: { name: string; description: string; inputSchema: { json: Record<string, unknown> } } } | CachePoint;

/** The model stands in the path alone, and so does whether to stream. */
export interface BedrockRequest {
  system?: ({ text: string } | CachePoint)[];
  messages: BedrockMessage[];
  toolConfig?: { tools: BedrockTool[] };
  inferenceConfig: { maxTokens: number; temperature?: number };
}
