// The wire shapes of Anthropic's Messages API, version 2023-06-01. What we send is exact, what we read is lenient.
// Source: @anthropic-ai/sdk `resources/messages/messages.d.ts`. Pure: types only.

/** Marks a block: everything up to it may be cached. */
export interface CacheControl {
  type: 'ephemeral';
}

/** A content block of a request. */
export type AnthropicBlock =
  | { type: 'text'; text: string; cache_control?: CacheControl }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown>; cache_control?: CacheControl }
  | { type: 'tool_result'; tool_use_id: string; content: string; is_error?: true; cache_control?: CacheControl };

/** A block of an earlier answer, sent back exactly as it came. */
export type RawBlock = Record<string, unknown>;

/** One message of a request; roles alternate. */
export interface AnthropicMessage {
  role: 'user' | 'assistant';
  content: (AnthropicBlock | RawBlock)[];
}

/** A tool on offer; `input_schema` is a JSON Schema of type object. */
export interface AnthropicTool {
  name: string;
  description?: string;
  input_schema: Record<string, unknown>;
  cache_control?: CacheControl;
}

/** The body of POST `/v1/messages`. */
export interface AnthropicRequest {
  model: string;
  max_tokens: number;
  system?: { type: 'text'; text: string; cache_control?: CacheControl }[];
  messages: AnthropicMessage[];
  tools?: AnthropicTool[];
  temperature?: number;
  stream?: true;
}
