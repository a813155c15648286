// What the specs of this folder share: contexts without a gateway, and streams as OpenAI writes them.
import type { ChatContext, StreamDecoder } from '../../../adapters/shared/provider.ts';
import type { ChatEvent, Prompt, ResolvedSettings } from '../../../core/index.ts';

export const OFFICIAL = 'https://api.openai.com/v1';
export const FOREIGN = 'https://llm.example/v1';

export function settingsOf(values: Record<string, string>): ResolvedSettings {
  return { values, sources: {} };
}

export function promptOf(part: Partial<Prompt> = {}): Prompt {
  return {
    system: undefined,
    turns: [{ role: 'user', text: 'hello' }],
    tools: [],
    maxTokens: undefined,
    defaultMaxTokens: 4096,
    temperature: undefined,
    cacheControl: false,
    warnings: [],
    ...part,
  };
}

/** The model of requests that name no other. */
export const MODEL = 'gpt-6.1-terra';

export function contextOf(part: Partial<Prompt> = {}, options: { model?: string; stream?: boolean; settings?: Record<string, string> } = {}): ChatContext {
  return {
    model: options.model ?? MODEL,
    prompt: promptOf(part),
    settings: settingsOf({ baseURL: OFFICIAL, ...options.settings }),
    stream: options.stream ?? false,
  };
}

/** Named events with the `type` and number that OpenAI repeats in the data. */
export function namedEvents(events: readonly (Record<string, unknown> & { type: string })[]): string {
  return events.map((event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`).join('');
}

export function chunks(values: readonly unknown[], end = 'data: [DONE]\n\n'): string {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('') + end;
}

export function chunk(delta: Record<string, unknown>, finish: string | null = null, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }], ...more };
}

/** All events of a stream that arrives in these pieces. */
export function decode(decoder: StreamDecoder, ...pieces: readonly (string | Buffer)[]): ChatEvent[] {
  return [...pieces.flatMap((piece) => decoder.push(Buffer.from(piece))), ...decoder.end()];
}

/** Leaves out counts that are undefined: absent and undefined mean the same. */
export function plain(events: readonly ChatEvent[]): unknown[] {
  return events.map((event) =>
    event.type === 'usage' ? { ...event, usage: Object.fromEntries(Object.entries(event.usage).filter(([, count]) => count !== undefined)) } : event,
  );
}

/** What a reader or decoder throws. */
export function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

const REASONING = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA-opaque' };
const MESSAGE = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Grüße 🌧 from Oslo', annotations: [] }],
};
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Tromsø"}', status: 'completed' };
const USAGE = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 100, cache_write_tokens: 7 },
  output_tokens: 50,
  output_tokens_details: { reasoning_tokens: 30 },
  total_tokens: 170,
};

/** An answer with text, reasoning and a call. Written after the API's reference, not recorded. */
export const ANSWER = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output: [MESSAGE, REASONING, CALL],
  usage: USAGE,
};

/** The same answer as a stream. */
export const STREAM = namedEvents([
  { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', error: null, output: [], usage: null } },
  { type: 'response.in_progress', response: { id: 'resp_1', status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: { ...MESSAGE, status: 'in_progress', content: [] } },
  { type: 'response.content_part.added', output_index: 0, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Grüße 🌧', obfuscation: 'Xk3f9' },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: ' from Oslo' },
  { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Grüße 🌧 from Oslo' },
  { type: 'response.content_part.done', output_index: 0, content_index: 0, part: MESSAGE.content[0] },
  { type: 'response.output_item.done', output_index: 0, item: MESSAGE },
  { type: 'response.output_item.added', output_index: 1, item: { ...REASONING, encrypted_content: null } },
  { type: 'response.output_item.done', output_index: 1, item: REASONING },
  { type: 'response.output_item.added', output_index: 2, item: { ...CALL, arguments: '', status: 'in_progress' } },
  { type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'fc_1', delta: '{"city":' },
  { type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'fc_1', delta: '"Tromsø"}' },
  { type: 'response.function_call_arguments.done', output_index: 2, item_id: 'fc_1', arguments: CALL.arguments },
  { type: 'response.output_item.done', output_index: 2, item: CALL },
  { type: 'response.completed', response: ANSWER },
]);

/** The events of both, but for the pieces that the text comes in. */
export const END_EVENTS = [
  { type: 'toolCall', toolCall: { id: 'call_1', name: 'get_weather', arguments: { city: 'Tromsø' } } },
  { type: 'usage', usage: { inputTokens: 120, outputTokens: 50, cacheReadTokens: 100, cacheWriteTokens: 7, reasoningTokens: 30 } },
  { type: 'providerMetadata', providerMetadata: { openai: { model: MODEL, reasoning: [{ before: 'call_1', item: REASONING }] } } },
  { type: 'stop', stopReason: 'tool_use' },
];

/** The events without the pieces that only some readers want: reasoning, and calls while they are written. */
export function withoutPieces(events: readonly ChatEvent[]): ChatEvent[] {
  return events.flatMap((event): ChatEvent[] => {
    if (event.type === 'reasoning' || event.type === 'toolCallStart' || event.type === 'toolCallDelta') return [];
    return [event.type === 'toolCall' ? { type: 'toolCall', toolCall: event.toolCall } : event];
  });
}
