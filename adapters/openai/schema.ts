// The wire shapes of OpenAI's two chat endpoints. What we send is exact, what we read is lenient.
// Source: openai/openai-openapi `CreateResponse`, `CreateChatCompletionRequest`; spec/adapters/openai/schema.spec.ts
// holds them against the official client's types. Pure: types only.

/** A reasoning item as the answer had it, sent back as it came. */
export interface ReasoningItem {
  type: 'reasoning';
  encrypted_content: string;
  [field: string]: unknown;
}

export type InputItem =
  | { role: 'user' | 'assistant'; content: string }
  // No `id`: one that names an unstored item is refused.
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string }
  | ReasoningItem;

export interface ResponsesTool {
  type: 'function';
  name: string;
  description?: string;
  parameters: Record<string, unknown>;
  /** Left out, the server would change the schema to one that its strict mode takes. */
  strict: false;
}

export interface ResponsesRequest {
  model: string;
  instructions?: string;
  input: InputItem[];
  tools?: ResponsesTool[];
  max_output_tokens: number;
  temperature?: number;
  include?: ['reasoning.encrypted_content'];
  /** Left out, the answer would be kept on their side for 30 days. */
  store: false;
  stream?: true;
  stream_options?: { include_obfuscation: false };
}

export interface ChatToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ChatToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface ChatTool {
  type: 'function';
  function: { name: string; description?: string; parameters: Record<string, unknown> };
}

export interface ChatCompletionsRequest {
  model: string;
  messages: ChatMessage[];
  tools?: ChatTool[];
  /** What OpenAI takes. */
  max_completion_tokens?: number;
  /** What compatible servers take. */
  max_tokens?: number;
  temperature?: number;
  store?: false;
  stream?: true;
  stream_options?: { include_usage: true };
}
