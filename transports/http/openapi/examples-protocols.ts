// Examples of the protocols that clients speak, for the published contract. Pure: no I/O.
import type { Example } from './example.ts';

const MODEL = 'fast';
const AT = 1_795_355_638;
const SAID = 'Hello';
const MESSAGES = [{ role: 'user', content: 'Say hello.' }];
const CHAT_USAGE = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};
const COMPLETION = { id: 'cmpl-1', object: 'text_completion', created: AT, model: MODEL };
const MODEL_ENTRY = { id: MODEL, object: 'model', created: AT, owned_by: 'local' };
const PART = { type: 'output_text', text: SAID, annotations: [], logprobs: [] };
const ITEM = { id: 'msg_1_0', type: 'message', status: 'completed', role: 'assistant', content: [PART] };
const COUNTS = {
  input_tokens: 8,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 3,
  output_tokens: 7,
  output_tokens_details: null,
  server_tool_use: null,
};
const LINE = { model: MODEL, created_at: '2026-11-22T08:00:00.000Z' };
const END = {
  done: true,
  done_reason: 'stop',
  total_duration: 900_000_000,
  load_duration: 0,
  prompt_eval_count: 11,
  prompt_eval_duration: 100_000_000,
  eval_count: 7,
  eval_duration: 800_000_000,
};
const DETAILS = { parent_model: '', format: '', family: 'local', families: ['local'], parameter_size: '', quantization_level: '' };

const example = (of: Example['of'], summary: string, value: unknown): Example => ({ of, summary, value });

/** Each example under its name in the document. */
export const PROTOCOL_EXAMPLES = {
  ChatCompletionRequest: example('ChatCompletionRequest', 'A question', { model: MODEL, messages: MESSAGES, stream: true }),
  ChatCompletion: example('ChatCompletion', 'A text', {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: AT,
    model: MODEL,
    choices: [{ index: 0, message: { role: 'assistant', content: SAID, refusal: null, annotations: [] }, logprobs: null, finish_reason: 'stop' }],
    usage: CHAT_USAGE,
  }),
  ChatCompletionPiece: example('ChatCompletionFrame', 'A piece of the text', {
    data: {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: AT,
      model: MODEL,
      choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }],
    },
  }),
  ChatCompletionEnd: example('ChatCompletionFrame', 'The end', { data: '[DONE]' }),
  CompletionRequest: example('CompletionRequest', 'The beginning of a text', { model: MODEL, prompt: 'Once upon a time', max_tokens: 50 }),
  Completion: example('Completion', 'A text', {
    ...COMPLETION,
    choices: [{ text: SAID, index: 0, logprobs: null, finish_reason: 'stop' }],
    usage: CHAT_USAGE,
  }),
  CompletionPiece: example('CompletionFrame', 'A piece of the text', {
    data: { ...COMPLETION, choices: [{ text: 'Hel', index: 0, logprobs: null, finish_reason: null }] },
  }),
  CompletionEnd: example('CompletionFrame', 'The end', { data: '[DONE]' }),
  EmbeddingsRequest: example('EmbeddingsRequest', 'Two texts', { model: MODEL, input: ['one', 'two'] }),
  Embeddings: example('Embeddings', 'One vector', {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
    model: MODEL,
    usage: { prompt_tokens: 3, total_tokens: 3 },
  }),
  CompatibleModel: example('CompatibleModel', 'A model', MODEL_ENTRY),
  CompatibleModels: example('CompatibleModels', 'One model', { object: 'list', data: [MODEL_ENTRY] }),
  ResponseRequest: example('ResponseRequest', 'A question', { model: MODEL, input: 'Say hello.', stream: true }),
  Response: example('Response', 'A text', {
    id: 'resp_1',
    object: 'response',
    created_at: AT,
    completed_at: AT + 1,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: MODEL,
    output: [ITEM],
    background: false,
    previous_response_id: null,
    store: false,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    parallel_tool_calls: true,
    presence_penalty: 0,
    frequency_penalty: 0,
    prompt_cache_key: null,
    safety_identifier: null,
    service_tier: 'default',
    temperature: 1,
    tool_choice: 'auto',
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    metadata: {},
    user: null,
    reasoning: { effort: null, summary: null },
    text: { format: { type: 'text' } },
    tools: [],
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 18,
    },
  }),
  ResponsePiece: example('ResponseFrame', 'A piece of the text', {
    event: 'response.output_text.delta',
    data: { type: 'response.output_text.delta', sequence_number: 4, item_id: 'msg_1_0', output_index: 0, content_index: 0, delta: 'Hel', logprobs: [] },
  }),
  ResponseItemDone: example('ResponseFrame', 'An item is done', {
    event: 'response.output_item.done',
    data: { type: 'response.output_item.done', sequence_number: 8, output_index: 0, item: ITEM },
  }),
  MessageRequest: example('MessageRequest', 'A question', { model: MODEL, max_tokens: 1000, messages: MESSAGES, stream: true }),
  MessageCountRequest: example('MessageCountRequest', 'A question', { model: MODEL, messages: MESSAGES }),
  MessageCount: example('MessageCount', 'Its tokens', { input_tokens: 11 }),
  AnswerMessage: example('AnswerMessage', 'A text', {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [{ type: 'text', text: SAID }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: { ...COUNTS, cache_creation: null, inference_geo: null, service_tier: null, speed: null },
  }),
  MessagePiece: example('MessageFrame', 'A piece of the text', {
    event: 'content_block_delta',
    data: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
  }),
  MessageEnd: example('MessageFrame', 'The end', { event: 'message_stop', data: { type: 'message_stop' } }),
  LinesChatRequest: example('OllamaChatRequest', 'A question', { model: MODEL, messages: MESSAGES }),
  LinesChatAnswer: example('OllamaChatAnswer', 'A text', { ...LINE, message: { role: 'assistant', content: SAID }, ...END }),
  LinesChatPiece: example('OllamaChatLine', 'A piece of the text', { ...LINE, message: { role: 'assistant', content: 'Hel' }, done: false }),
  LinesGenerateRequest: example('OllamaGenerateRequest', 'A question', { model: MODEL, prompt: 'Say hello.' }),
  LinesGenerateAnswer: example('OllamaGenerateAnswer', 'A text', { ...LINE, response: SAID, ...END }),
  LinesGeneratePiece: example('OllamaGenerateLine', 'A piece of the text', { ...LINE, response: 'Hel', done: false }),
  LinesEmbedRequest: example('OllamaEmbedRequest', 'A text', { model: MODEL, input: 'one' }),
  LinesEmbed: example('OllamaEmbed', 'Its vector', { model: MODEL, embeddings: [[0.25, -0.5]], total_duration: 0, load_duration: 0, prompt_eval_count: 3 }),
  LinesOldEmbedRequest: example('OllamaOldEmbedRequest', 'A text', { model: MODEL, prompt: 'one' }),
  LinesOldEmbed: example('OllamaOldEmbed', 'Its vector', { embedding: [0.25, -0.5] }),
  LinesModels: example('OllamaModels', 'One model', {
    models: [{ name: MODEL, model: MODEL, modified_at: '2026-01-01T00:00:00Z', size: 0, digest: 'cfe0652e', details: DETAILS }],
  }),
  LinesShowRequest: example('OllamaShowRequest', 'A model', { model: MODEL }),
  LinesModel: example('OllamaModel', 'What is known of it', {
    modelfile: '',
    parameters: '',
    template: '',
    details: DETAILS,
    model_info: { 'general.architecture': 'local' },
    capabilities: ['completion'],
    modified_at: '2026-01-01T00:00:00Z',
  }),
  LinesVersion: example('OllamaVersion', 'The version', { version: '0.12.6' }),
  LinesRunning: example('OllamaRunning', 'None', { models: [] }),
  LinesRefused: example('OllamaError', 'Refused', { error: 'This server manages no models.' }),
} as const satisfies Readonly<Record<string, Example>>;
