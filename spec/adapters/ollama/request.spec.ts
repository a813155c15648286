import t from 'tap';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { buildRequest } from '../../../adapters/ollama/request.ts';
import type { ChatRequest } from '../../../core/index.ts';
import { contextFor } from '../../support/adapter-call.ts';

const ollama = createOllama();
type Parts = Partial<Pick<ChatRequest, 'messages' | 'tools' | 'config'>>;
const build = (parts: Parts = {}, stream = true) => buildRequest(contextFor(ollama, 'qwen3.5', parts, stream));

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

t.test('gotcha 5: the context window is left to the server, which would reload the model for another one', async (t) => {
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
