// The wire shapes of Anthropic's Messages API, version 2023-06-01. What we send is exact, what we read is lenient.
// Source: @anthropic-ai/sdk `resources/messages/messages.d.ts`. Pure: types only.
import type { ClaudeThinking } from '../shared/claude-thinking.ts';

/** Marks a block: everything up to it may be cached. */
export interface CacheControl {
  type: 'ephemeral';
  /** Five minutes if absent. */
  ttl?: '1h';
}

/** Where an image comes from. */
export type ImageSource = { type: 'base64'; media_type: string; data: string } | { type: 'url'; url: string };

/** Where a document comes from. */
export type DocumentSource = ImageSource | { type: 'text'; media_type: 'text/plain'; data: string };

/** Which tools the model may or must call. */
export type ToolChoice =
  | { type: 'auto' | 'any'; disable_parallel_tool_use?: true }
  | { type: 'tool'; name: string; disable_parallel_tool_use?: true }
  | { type: 'none' };

/** A content block of a request. */
export type AnthropicBlock =
  | { type: 'text'; text: string; cache_control?: CacheControl }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown>; cache_control?: CacheControl }
  | { type: 'image'; source: ImageSource; cache_control?: CacheControl }
  | { type: 'document'; source: DocumentSource; title?: string; cache_control?: CacheControl }
  | { type: 'tool_result'; tool_use_id: string; content: string | AnthropicBlock[]; is_error?: true; cache_control?: CacheControl };

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
  tool_choice?: ToolChoice;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  stop_sequences?: string[];
  thinking?: NonNullable<ClaudeThinking['thinking']>;
  output_config?: { effort?: string; format?: { type: 'json_schema'; schema: Record<string, unknown> } };
  service_tier?: string;
  metadata?: { user_id: string };
  stream?: true;
}
