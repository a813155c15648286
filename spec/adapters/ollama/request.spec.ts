import t from 'tap';
import { ContextSizes } from '../../../adapters/ollama/context-size.ts';
import { EMBEDDING } from '../../../adapters/ollama/embed.ts';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { buildRequest } from '../../../adapters/ollama/request.ts';
import type { OllamaRequest } from '../../../adapters/ollama/schema.ts';
import type { ChatRequest } from '../../../core/index.ts';
import { adapterCall, contextFor, settingsFor } from '../../support/adapter-call.ts';

const ollama = createOllama();
type Parts = Partial<Pick<ChatRequest, 'messages' | 'tools' | 'config'>>;
const build = (parts: Parts = {}, stream = true, contextTokens?: number, sizes = new ContextSizes()) =>
  buildRequest({ ...contextFor(ollama, 'qwen3.5', parts, stream), contextTokens }, sizes);

const TALK: ChatRequest['messages'] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'weather?' },
  {
    role: 'assistant',
    toolCalls: [
      { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } },
      { id: 'call_2', name: 'get_time', arguments: {} },
    ],
  },
  {
    role: 'tool',
    toolResults: [
      { toolCallId: 'call_2', content: 'noon' },
      { toolCallId: 'call_1', content: '3 C', isError: true },
    ],
  },
  { role: 'user', content: 'and?' },
  { role: 'user', content: 'well?' },
];

t.test('a whole conversation as Ollama wants it', async (t) => {
  const { url, headers, body, warnings } = build({
    messages: TALK,
    tools: [{ name: 'get_weather', description: 'd', parameters: { type: 'object', properties: { city: { type: 'string' } } } }, { name: 'get_time' }],
    config: { maxTokens: 50, temperature: 0.2 },
  });
  t.equal(url.href, 'http://127.0.0.1:11434/api/chat');
  t.same(headers, { accept: 'application/x-ndjson' });
  t.same(body, {
    model: 'qwen3.5',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'weather?' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: 'call_1', function: { index: 0, name: 'get_weather', arguments: { city: 'Oslo' } } },
          { id: 'call_2', function: { index: 1, name: 'get_time', arguments: {} } },
        ],
      },
      { role: 'tool', content: 'Error: 3 C', tool_call_id: 'call_1', tool_name: 'get_weather' },
      { role: 'tool', content: 'noon', tool_call_id: 'call_2', tool_name: 'get_time' },
      { role: 'user', content: 'and?' },
      { role: 'user', content: 'well?' },
    ],
    stream: true,
    options: { num_predict: 50, temperature: 0.2 },
    tools: [
      { type: 'function', function: { name: 'get_weather', description: 'd', parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
      { type: 'function', function: { name: 'get_time', description: '', parameters: { type: 'object', properties: {} } } },
    ],
  });
  t.same(warnings, []);
});

t.test('gotcha 1: stream defaults to true there, so it is always sent', async (t) => {
  for (const stream of [true, false]) {
    const wire = build({}, stream);
    t.equal((wire.body as { stream: unknown }).stream, stream);
    t.equal(wire.stream, stream);
  }
});

t.test('gotcha 2: arguments are sent as an object, never as text', async (t) => {
  t.match(build({ messages: TALK }).body, { messages: [{}, {}, { tool_calls: [{ function: { arguments: { city: 'Oslo' } } }] }] });
});

t.test('gotcha 5: without a context size the request names none, and truncation is never asked for', async (t) => {
  const { body } = build();
  t.same(Object.keys((body as { options: object }).options), ['num_predict']);
  t.notOk('truncate' in (body as object));
});

t.test('gotcha 6: words of a schema that the server drops are sent all the same', async (t) => {
  const parameters = { type: 'object', properties: { a: { oneOf: [{ type: 'string' }], default: 1 } }, additionalProperties: false, $defs: {} };
  t.same((build({ tools: [{ name: 'f', parameters }] }).body as { tools: { function: object }[] }).tools[0]?.function, {
    name: 'f',
    description: '',
    parameters,
  });
});

t.test('defaults are the contract: 4,096 tokens, and nothing that was not asked for', async (t) => {
  t.same(build().body, { model: 'qwen3.5', messages: [{ role: 'user', content: 'hi' }], stream: true, options: { num_predict: 4096 } });
});

t.test('a temperature of 0 is sent', async (t) => {
  t.match(build({ config: { temperature: 0 } }).body, { options: { temperature: 0 } });
});

t.test('cacheControl is said to be without use', async (t) => {
  t.match(build({ config: { cacheControl: true } }).warnings, [{ field: 'config.cacheControl' }]);
});

t.test('a base URL that was meant for the compatible API works', async (t) => {
  for (const base of ['http://h:1/v1', 'http://h:1/v1/', 'http://h:1/api', 'http://h:1/'])
    t.equal(build({ config: { baseURL: base } }).url.href, 'http://h:1/api/chat');
});

t.test('the context fits the prompt and the answer, and is a power of two up to the limit', async (t) => {
  const optionsFor = (words: number, maxTokens: number | undefined, limit: number) => {
    const { body, warnings } = build(
      { messages: [{ role: 'user', content: 'x'.repeat(4 * words) }], ...(maxTokens && { config: { maxTokens } }) },
      true,
      limit,
    );
    return { ...(body as OllamaRequest).options, warned: warnings.map(({ field }) => field) };
  };
  t.same(optionsFor(1, 100, 32_768), { num_predict: 100, num_ctx: 4096, warned: [] });
  t.same(optionsFor(1, undefined, 32_768), { num_predict: 4096, num_ctx: 8192, warned: [] });
  t.same(optionsFor(10_000, undefined, 32_768), { num_predict: 4096, num_ctx: 16_384, warned: [] }, 'an estimate may be a fifth too low');
  t.same(optionsFor(20_000, undefined, 32_768), { num_predict: 4096, num_ctx: 32_768, warned: [] });
  t.same(optionsFor(20_000, undefined, 24_200), { num_predict: 4096, num_ctx: 24_200, warned: [] }, 'the limit need not be a power of two');
  t.same(optionsFor(20_000, undefined, 22_008), { num_predict: 2000, num_ctx: 22_008, warned: ['config.maxTokens'] }, 'the answer gets what the prompt leaves');
  t.same(optionsFor(20_000, undefined, 20_008), { num_predict: 256, num_ctx: 20_008, warned: ['config.maxTokens'] }, 'but never nothing');
  t.same(optionsFor(20_000, 100, 16_384), { num_predict: 100, num_ctx: 16_384, warned: ['messages'] });
});

t.test('calls, results and tools take their part of the context', async (t) => {
  const size = (parts: Parts) => (build({ ...parts, config: { maxTokens: 100 } }, true, 1_000_000).body as OllamaRequest).options.num_ctx;
  const long = 'x'.repeat(40_000);
  t.equal(size({ messages: [{ role: 'user', content: 'hi' }] }), 4096);
  t.equal(size({ messages: [{ role: 'user', content: 'hi' }], tools: [{ name: 'f', description: long }] }), 16_384);
  const call = { id: 'c', name: 'f', arguments: { long } };
  t.equal(
    size({
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', toolCalls: [call] },
        { role: 'tool', toolResults: [{ toolCallId: 'c', content: long }] },
      ],
    }),
    32_768,
  );
});

t.test('the warning for a prompt that is too long says how long it is, what the limit is, and what to do', async (t) => {
  const { warnings } = build({ messages: [{ role: 'user', content: 'x'.repeat(80_000) }] }, true, 8192);
  t.match(warnings, [{ field: 'messages', message: /about 20008 tokens.*qwen3\.5 is limited to 8192.*OLLAMA_CONTEXT_LENGTH/ }]);
});

t.test('where no limit is known, as in the cloud, no context is set', async (t) => {
  t.notOk('num_ctx' in (build().body as OllamaRequest).options);
});

t.test('images and options are part of the request', async (t) => {
  const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
  const messages: ChatRequest['messages'] = [
    { role: 'user', content: [{ type: 'text', text: 'look' }, image] },
    { role: 'assistant', toolCalls: [{ id: 'c', name: 'see', arguments: {} }] },
    { role: 'tool', toolResults: [{ toolCallId: 'c', content: [{ type: 'text', text: 'seen' }, image] }] },
  ];
  const { body } = build({ messages, config: { seed: 1, output: { type: 'json' }, reasoning: { effort: 'none' } } });
  t.match(body, {
    messages: [{ role: 'user', content: 'look', images: ['AAAA'] }, { role: 'assistant' }, { role: 'tool', content: 'seen', images: ['AAAA'] }],
    options: { seed: 1 },
    format: 'json',
    think: false,
  });
});

t.test('a list of texts has a list of vectors', async (t) => {
  const settings = settingsFor(createOllama(), { env: { OLLAMA_BASE_URL: 'http://127.0.0.1:1/v1' } });
  const { url, body } = EMBEDDING.build({ ...adapterCall({ settings }), model: 'm', inputs: ['a', 'b'] });
  t.equal(url.href, 'http://127.0.0.1:1/api/embed');
  t.same(body, { model: 'm', input: ['a', 'b'] });
  t.same(EMBEDDING.read({ embeddings: [[1], [2]], prompt_eval_count: 5 }), { vectors: [[1], [2]], inputTokens: 5 });
});
