// What the five providers answer, as bytes: whole, and record by record. Used by the mock provider and by its direct clients.
// Pure: no I/O.
import { crc32 } from 'node:zlib';

/** Six, for one provider has two endpoints with a framing of its own each. */
export const FRAMINGS = ['openai-chat', 'openai-responses', 'anthropic', 'google', 'ollama', 'bedrock'] as const;
export type FramingName = (typeof FRAMINGS)[number];

export interface Framing {
  /** The gateway's name of the provider. */
  readonly adapter: string;
  readonly streamType: string;
  path(model: string, stream: boolean): string;
  /** The provider's own request, as a caller without a gateway sends it. */
  request(model: string, prompt: string, stream: boolean): string;
  /** A whole answer. */
  whole(model: string, text: string): string;
  /** The records before the first text, one with text, and those after the last. */
  opening(model: string): Buffer;
  piece(model: string, text: string): Buffer;
  ending(model: string): Buffer;
  /** Stands in the ending alone. */
  readonly endMark: string;
}

const CREATED = 1_795_000_000;
const ID = 'XyDq3bT0uWc8aZk1mPs5hN7r';

const sse = (json: unknown, event?: string): Buffer => Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(json)}\n\n`);
const line = (json: unknown): Buffer => Buffer.from(`${JSON.stringify(json)}\n`);
const messages = (prompt: string): unknown => [{ role: 'user', content: prompt }];

const openaiChunk = (model: string, delta: unknown, finish: string | null): unknown => ({
  id: `chatcmpl-${ID}`,
  object: 'chat.completion.chunk',
  created: CREATED,
  model,
  service_tier: 'default',
  system_fingerprint: 'fp_50cad350e4',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  usage: null,
});

const openaiChat: Framing = {
  adapter: 'openai',
  streamType: 'text/event-stream; charset=utf-8',
  path: () => '/v1/chat/completions',
  request: (model, prompt, stream) =>
    JSON.stringify({ model, messages: messages(prompt), max_tokens: 4096, ...(stream && { stream, stream_options: { include_usage: true } }) }),
  whole: (model, text) =>
    JSON.stringify({
      id: `chatcmpl-${ID}`,
      object: 'chat.completion',
      created: CREATED,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: text, refusal: null, annotations: [] }, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46, prompt_tokens_details: { cached_tokens: 0 } },
      service_tier: 'default',
    }),
  opening: (model) => sse(openaiChunk(model, { role: 'assistant', content: '', refusal: null }, null)),
  piece: (model, text) => sse(openaiChunk(model, { content: text }, null)),
  ending: (model) =>
    Buffer.concat([
      sse(openaiChunk(model, {}, 'stop')),
      sse({ id: `chatcmpl-${ID}`, object: 'chat.completion.chunk', created: CREATED, model, choices: [], usage: { prompt_tokens: 12, completion_tokens: 34 } }),
      Buffer.from('data: [DONE]\n\n'),
    ]),
  endMark: 'data: [DONE]',
};

const responseOf = (model: string, status: string, output: unknown[]): Record<string, unknown> => ({
  id: `resp_${ID}`,
  object: 'response',
  created_at: CREATED,
  status,
  error: null,
  incomplete_details: null,
  model,
  output,
  usage: status === 'completed' ? { input_tokens: 12, output_tokens: 34, total_tokens: 46 } : null,
});
const outputMessage = (text: string): unknown => ({
  id: `msg_${ID}`,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
const named = (type: string, fields: Record<string, unknown>): Buffer => sse({ type, ...fields }, type);

const openaiResponses: Framing = {
  adapter: 'openai',
  streamType: 'text/event-stream; charset=utf-8',
  path: () => '/v1/responses',
  request: (model, prompt, stream) => JSON.stringify({ model, input: messages(prompt), max_output_tokens: 4096, store: false, ...(stream && { stream }) }),
  whole: (model, text) => JSON.stringify(responseOf(model, 'completed', [outputMessage(text)])),
  opening: (model) =>
    Buffer.concat([
      named('response.created', { sequence_number: 0, response: responseOf(model, 'in_progress', []) }),
      named('response.output_item.added', { sequence_number: 1, output_index: 0, item: { id: `msg_${ID}`, type: 'message', content: [] } }),
    ]),
  piece: (_model, text) =>
    named('response.output_text.delta', {
      sequence_number: 104,
      item_id: `msg_${ID}`,
      output_index: 0,
      content_index: 0,
      delta: text,
      logprobs: [],
      obfuscation: 'pJ7vQ2xW',
    }),
  ending: (model) => named('response.completed', { sequence_number: 999, response: responseOf(model, 'completed', []) }),
  endMark: 'event: response.completed',
};

const anthropic: Framing = {
  adapter: 'anthropic',
  streamType: 'text/event-stream; charset=utf-8',
  path: () => '/v1/messages',
  request: (model, prompt, stream) => JSON.stringify({ model, max_tokens: 4096, messages: messages(prompt), ...(stream && { stream }) }),
  whole: (model, text) =>
    JSON.stringify({
      id: `msg_${ID}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 12, output_tokens: 34 },
    }),
  opening: (model) =>
    Buffer.concat([
      named('message_start', {
        message: { id: `msg_${ID}`, type: 'message', role: 'assistant', model, content: [], stop_reason: null, usage: { input_tokens: 12, output_tokens: 1 } },
      }),
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ]),
  piece: (_model, text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  ending: () =>
    Buffer.concat([
      named('content_block_stop', { index: 0 }),
      named('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 34 } }),
      named('message_stop', {}),
    ]),
  endMark: 'event: message_stop',
};

const geminiAnswer = (model: string, text: string, finishReason?: string): unknown => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, ...(finishReason !== undefined && { finishReason }), index: 0 }],
  usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 34, totalTokenCount: 46, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 12 }] },
  modelVersion: model,
  responseId: ID,
});

const google: Framing = {
  adapter: 'google',
  streamType: 'text/event-stream',
  path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  request: (_model, prompt) => JSON.stringify({ contents: [{ role: 'user', parts: [{ text: prompt }] }], generationConfig: { maxOutputTokens: 4096 } }),
  whole: (model, text) => JSON.stringify(geminiAnswer(model, text, 'STOP')),
  opening: () => Buffer.alloc(0),
  piece: (model, text) => sse(geminiAnswer(model, text)),
  ending: (model) => sse(geminiAnswer(model, '', 'STOP')),
  endMark: '"finishReason":"STOP"',
};

const ollamaLine = (model: string, content: string, rest: Record<string, unknown>): unknown => ({
  model,
  created_at: '2026-11-20T14:03:22.123456789Z',
  message: { role: 'assistant', content },
  ...rest,
});
const ollamaEnd = { done: true, done_reason: 'stop', total_duration: 4_883_583_458, load_duration: 1_334_875, prompt_eval_count: 12, eval_count: 34 };

const ollama: Framing = {
  adapter: 'ollama',
  streamType: 'application/x-ndjson',
  path: () => '/api/chat',
  request: (model, prompt, stream) => JSON.stringify({ model, messages: messages(prompt), stream, options: { num_predict: 4096 } }),
  whole: (model, text) => JSON.stringify(ollamaLine(model, text, ollamaEnd)),
  opening: () => Buffer.alloc(0),
  piece: (model, text) => line(ollamaLine(model, text, { done: false })),
  ending: (model) => line(ollamaLine(model, '', ollamaEnd)),
  endMark: '"done":true',
};

const bedrock: Framing = {
  adapter: 'bedrock',
  streamType: 'application/vnd.amazon.eventstream',
  path: (model, stream) => `/model/${model}/converse${stream ? '-stream' : ''}`,
  request: (_model, prompt) => JSON.stringify({ messages: [{ role: 'user', content: [{ text: prompt }] }], inferenceConfig: { maxTokens: 4096 } }),
  whole: (_model, text) =>
    JSON.stringify({
      output: { message: { role: 'assistant', content: [{ text }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 12, outputTokens: 34, totalTokens: 46 },
      metrics: { latencyMs: 551 },
    }),
  opening: () => awsFrame('messageStart', { p: 'abcdefgh', role: 'assistant' }),
  piece: (_model, text) => awsFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text }, p: 'abcdefghijklmnopqrstuvwxyz' }),
  ending: () =>
    Buffer.concat([
      awsFrame('contentBlockStop', { contentBlockIndex: 0, p: 'abcdefgh' }),
      awsFrame('messageStop', { p: 'abcdefgh', stopReason: 'end_turn' }),
      awsFrame('metadata', { metrics: { latencyMs: 551 }, usage: { inputTokens: 12, outputTokens: 34, totalTokens: 46 } }),
    ]),
  endMark: '"metrics"',
};

export const WIRE: Readonly<Record<FramingName, Framing>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  google,
  ollama,
  bedrock,
};

/** One frame of AWS's event stream: lengths, checksum, headers, payload, checksum. */
function awsFrame(type: string, payload: unknown): Buffer {
  const headers = Buffer.concat([awsHeader(':event-type', type), awsHeader(':content-type', 'application/json'), awsHeader(':message-type', 'event')]);
  const body = Buffer.from(JSON.stringify(payload));
  const frame = Buffer.alloc(16 + headers.length + body.length);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(headers.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  headers.copy(frame, 12);
  body.copy(frame, 12 + headers.length);
  sealAwsFrame(frame);
  return frame;
}

/** Writes the last checksum, which must fit again after a byte of the frame was changed. */
export function sealAwsFrame(frame: Buffer): void {
  frame.writeUInt32BE(crc32(frame.subarray(0, frame.length - 4)), frame.length - 4);
}

function awsHeader(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)]);
}
