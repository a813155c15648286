// The wire shapes of Ollama's native chat API. What we send is exact, what we read is lenient.
// Source: ollama `api/types.go`, ChatRequest and ChatResponse. Pure: types only.

/** A tool call; Ollama gives it no id. */
export interface OllamaToolCall {
  id?: string;
  function: { index?: number; name: string; arguments: Record<string, unknown> };
}

/** One message of a request. */
export type OllamaMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string; images?: string[] }
  | { role: 'assistant'; content: string; tool_calls?: OllamaToolCall[] }
  | { role: 'tool'; content: string; tool_call_id: string; tool_name: string; images?: string[] };

/** Limits and sampling. */
export interface OllamaOptions {
  num_predict?: number;
  num_ctx?: number;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  stop?: string[];
  seed?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
}

/** The body of POST `/api/chat`. */
export interface OllamaRequest {
  model: string;
  messages: OllamaMessage[];
  /** The server's default is true, so it is always sent. */
  stream: boolean;
  options: OllamaOptions;
  /** `json`, or a JSON Schema. */
  format?: 'json' | Record<string, unknown>;
  logprobs?: true;
  top_logprobs?: number;
  think?: boolean | 'low' | 'medium' | 'high';
  tools?: { type: 'function'; function: { name: string; description: string; parameters: Record<string, unknown> } }[];
}
