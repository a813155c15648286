// The wire shapes of OpenAI's two chat endpoints. What we send is exact, what we read is lenient.
// Source: openai/openai-openapi `CreateResponse`, `CreateChatCompletionRequest`; spec/adapters/openai/schema.spec.ts
// compares them with the official client's types. Pure: types only.

/** A reasoning item of an earlier answer, sent back unchanged. */
export interface ReasoningItem {
  type: 'reasoning';
  encrypted_content: string;
  [field: string]: unknown;
}

/** An item of a Responses request's `input`. */
export type InputItem =
  | { role: 'user' | 'assistant'; content: string }
  // No `id`: OpenAI refuses the id of an item that is not stored.
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string }
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
export interface ResponsesRequest {
  model: string;
  instructions?: string;
  input: InputItem[];
  tools?: ResponsesTool[];
  max_output_tokens: number;
  temperature?: number;
  include?: ['reasoning.encrypted_content'];
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

/** One message of a Chat Completions request. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ChatToolCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

/** A tool on offer to Chat Completions. */
export interface ChatTool {
  type: 'function';
  function: { name: string; description?: string; parameters: Record<string, unknown> };
}

/** The body of POST `/chat/completions`. */
export interface ChatCompletionsRequest {
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
