// A question to a name that programs send, such as an alias, in the form of `POST /v1/responses`: there the server finds the models of the name, and asks the
// next one when one fails. Pure.
import type { ToolCall, ToolResult } from '../../../core/types.ts';

/** The part of a body of `POST /v1/chat` that a question has. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly config?: { readonly maxTokens?: number; readonly temperature?: number; readonly output?: { readonly schema: unknown } };
  readonly tools?: unknown;
}

/** A message of a conversation. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolResults?: readonly Pick<ToolResult, 'toolCallId' | 'content'>[];
}

/** The same question as a body of `POST /v1/responses`. */
export function responsesBody({ model, messages, config: { maxTokens, temperature, output } = {}, tools }: ChatBody): object {
  return {
    model,
    input: messages.flatMap(itemsOf),
    stream: true,
    store: false,
    max_output_tokens: maxTokens,
    temperature,
    text: output && { format: { type: 'json_schema', name: 'answer', schema: output.schema } },
    tools: Array.isArray(tools) ? tools.map((tool) => ({ type: 'function', strict: false, ...(tool.function ?? tool) })) : tools,
  };
}

function itemsOf({ role, content, toolCalls = [], toolResults = [] }: ChatMessage): readonly object[] {
  return [
    ...(content ? [{ role, content }] : []),
    ...toolCalls.map(({ id, name, arguments: given }) => ({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(given) })),
    ...toolResults.map(({ toolCallId, content: output }) => ({ type: 'function_call_output', call_id: toolCallId, output })),
  ];
}

/** The end of a response, as far as it is shown. */
interface End {
  readonly status: string;
  readonly incomplete_details?: { readonly reason: string } | null;
  readonly error?: { readonly message: string } | null;
  readonly output?: readonly { readonly type: string; readonly call_id: string; readonly name: string; readonly arguments: string }[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly input_tokens_details?: Readonly<Record<string, number>> };
}

/** An event of a response in the words of `POST /v1/chat`; one without a name has nothing to show. */
export function chatEvent(event: string, data: Record<string, unknown>): readonly [event: string, data: Record<string, unknown>] {
  if (event === 'response.output_text.delta') return ['content', { text: data['delta'] }];
  if (event === 'response.reasoning_summary_text.delta') return ['reasoning', { text: data['delta'] }];
  const { error, status, incomplete_details, output = [], usage } = (data['response'] ?? {}) as End;
  if (event === 'error' || event === 'response.failed') return ['error', { error: data['message'] ?? error?.message }];
  if (event !== 'response.completed' && event !== 'response.incomplete') return ['', {}];
  return [
    'done',
    {
      stopReason: incomplete_details?.reason ?? status,
      toolCalls: output.flatMap((item) =>
        item.type === 'function_call' ? [{ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) }] : [],
      ),
      usage: usage && {
        inputTokens: usage.input_tokens,
        outputTokens: usage.output_tokens,
        cacheReadTokens: usage.input_tokens_details?.['cached_tokens'] ?? 0,
        cacheWriteTokens: usage.input_tokens_details?.['cache_write_tokens'] ?? 0,
      },
    },
  ];
}
