// The wire shapes of OpenAI's two chat endpoints. What we send is exact, what we read is lenient.
// Source: openai/openai-openapi `CreateResponse`, `CreateChatCompletionRequest`; spec/adapters/openai/schema.spec.ts
// compares them with the official client's types. Pure: types only.
import type { Reasoning } from '../../core/index.ts';

/** A reasoning item of an earlier answer, sent back as it came. */
export interface ReasoningItem {
  type: 'reasoning';
  id?: string;
  summary: { type: string; text: string }[];
  content?: { type: string; text: string }[];
  encrypted_content: string;
  status?: string | null;
}

/** A part of a user's message or of a tool's output in a Responses request. */
export type InputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'low' | 'high' | 'auto' }
  | { type: 'input_file'; filename?: string; file_data?: string; file_url?: string };

/** OpenAI's tiers; other servers have their own. */
export type ServiceTier = 'auto' | 'default' | 'flex' | 'scale' | 'priority';

/** How much a model thinks. */
export type Effort = NonNullable<Reasoning['effort']>;

/** The options of a Responses request, as far as canonical requests have them. */
export interface ResponsesOptions {
  tool_choice?: 'auto' | 'none' | 'required' | { type: 'function'; name: string };
  parallel_tool_calls?: boolean;
  top_p?: number;
  top_logprobs?: number;
  service_tier?: ServiceTier;
  safety_identifier?: string;
  metadata?: Record<string, string>;
  prompt_cache_key?: string;
  text?: { format: { type: 'json_object' } | { type: 'json_schema'; name: string; schema: Record<string, unknown>; strict: boolean } };
  reasoning?: { effort?: Effort; summary?: 'auto' };
}

/** An item of a Responses request's `input`. */
export type InputItem =
  | { role: 'user'; content: string | InputPart[] }
  | { role: 'assistant'; content: string }
  // No `id`: OpenAI refuses the id of an item that is not stored.
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string | InputPart[] }
  | ReasoningItem;

/** A tool on offer to Responses. */
export interface ResponsesTool {
  type: 'function';
  name: string;
  description?: string;
  parameters: Record<string, unknown>;
  /** Without it, the server would change the schema to fit its strict mode. */
  strict: false;
}

/** The body of POST `/responses`. */
export interface ResponsesRequest extends ResponsesOptions {
  model: string;
  instructions?: string;
  input: InputItem[];
  tools?: ResponsesTool[];
  max_output_tokens?: number;
  temperature?: number;
  include?: ('reasoning.encrypted_content' | 'message.output_text.logprobs')[];
  /** Without it, OpenAI would keep the answer for 30 days. */
  store: false;
  stream?: true;
  stream_options?: { include_obfuscation: false };
}

/** A tool call in a Chat Completions message; `arguments` is JSON text. */
export interface ChatToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/** A part of a user's message in a Chat Completions request. */
export type ChatPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string; detail?: 'low' | 'high' | 'auto' } }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } }
  | { type: 'file'; file: { file_data: string; filename: string } };

/** The options of a Chat Completions request, as far as canonical requests have them. */
export interface ChatOptions {
  tool_choice?: 'auto' | 'none' | 'required' | { type: 'function'; function: { name: string } };
  parallel_tool_calls?: boolean;
  top_p?: number;
  stop?: string[];
  seed?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  logprobs?: true;
  top_logprobs?: number;
  service_tier?: ServiceTier;
  safety_identifier?: string;
  user?: string;
  metadata?: Record<string, string>;
  prompt_cache_key?: string;
  response_format?: { type: 'json_object' } | { type: 'json_schema'; json_schema: { name: string; schema: Record<string, unknown>; strict?: boolean } };
  reasoning_effort?: Effort;
}

/** One message of a Chat Completions request. */
export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ChatPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: ChatToolCall[]; reasoning_content?: string }
  | { role: 'tool'; tool_call_id: string; content: string };

/** A tool on offer to Chat Completions. */
export interface ChatTool {
  type: 'function';
  function: { name: string; description?: string; parameters: Record<string, unknown> };
}

/** The body of POST `/chat/completions`. */
export interface ChatCompletionsRequest extends ChatOptions {
  model: string;
  messages: ChatMessage[];
  tools?: ChatTool[];
  /** OpenAI's name for the limit. */
  max_completion_tokens?: number;
  /** The name that compatible servers know. */
  max_tokens?: number;
  temperature?: number;
  store?: false;
  stream?: true;
  stream_options?: { include_usage: true };
}
