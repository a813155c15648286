import t from 'tap';
import { buildChatRequest } from '../../../adapters/openai/request-chat.ts';
import type { Turn } from '../../../core/index.ts';
import { contextOf, FOREIGN } from './support.ts';

const foreign = { baseURL: FOREIGN };
const TURNS: Turn[] = [
  { role: 'user', text: 'weather?' },
  { role: 'assistant', text: '', toolCalls: [{ id: 'call_1', name: 'f', arguments: { city: 'Oslo' } }], providerMetadata: { openai: { reasoning: [] } } },
  { role: 'tool', results: [{ toolCallId: 'call_1', toolName: 'f', content: 'no city', isError: true }] },
  { role: 'assistant', text: 'Sorry.', toolCalls: [] },
  { role: 'user', text: 'again' },
];

t.test('a compatible server gets the oldest form that all of them know', async (t) => {
  const { url, body, warnings } = buildChatRequest(contextOf({ system: 'be brief', temperature: 0.2 }, { model: 'llama-4', settings: foreign }));
  t.equal(url.href, `${FOREIGN}/chat/completions`);
  t.same(warnings, []);
  t.same(body, {
    model: 'llama-4',
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hello' },
    ],
    max_tokens: 4096,
    temperature: 0.2,
  });
});

t.test('OpenAI itself gets max_completion_tokens, and is told not to store', async (t) => {
  const { body } = buildChatRequest(contextOf({ maxTokens: 5 }, { settings: { api: 'chat' } }));
  t.match(body, { max_completion_tokens: 5, store: false });
  t.notOk('max_tokens' in (body as object));
});

t.test('usage is asked for only together with a stream', async (t) => {
  t.match(buildChatRequest(contextOf({}, { stream: true, settings: foreign })).body, { stream: true, stream_options: { include_usage: true } });
  t.notOk('stream_options' in (buildChatRequest(contextOf({}, { settings: foreign })).body as object));
});

t.test('calls, results and texts become messages; calls alone have null for content', async (t) => {
  const { body } = buildChatRequest(contextOf({ turns: TURNS }, { settings: foreign }));
  t.same((body as { messages: unknown }).messages, [
    { role: 'user', content: 'weather?' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"city":"Oslo"}' } }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'Error: no city' },
    { role: 'assistant', content: 'Sorry.' },
    { role: 'user', content: 'again' },
  ]);
});

t.test('text beside calls is kept', async (t) => {
  const turns: Turn[] = [
    { role: 'user', text: 'q' },
    { role: 'assistant', text: 'Let me look.', toolCalls: [{ id: 'a', name: 'f', arguments: {} }] },
  ];
  t.match((buildChatRequest(contextOf({ turns })).body as { messages: unknown[] }).messages[1], { content: 'Let me look.', tool_calls: [{ id: 'a' }] });
});

t.test('a foreign call id is rewritten the same way in call and result', async (t) => {
  const turns: Turn[] = [
    { role: 'user', text: 'q' },
    { role: 'assistant', text: '', toolCalls: [{ id: 'a:1', name: 'f', arguments: {} }] },
    { role: 'tool', results: [{ toolCallId: 'a:1', toolName: 'f', content: 'x', isError: false }] },
  ];
  const { messages } = buildChatRequest(contextOf({ turns })).body as { messages: unknown[] };
  t.match(messages.slice(1), [{ tool_calls: [{ id: 'call_a_1' }] }, { tool_call_id: 'call_a_1' }]);
});

t.test('tools are nested under function', async (t) => {
  const { body } = buildChatRequest(contextOf({ tools: [{ name: 'f', description: 'does' }, { name: 'g' }] }, { settings: foreign }));
  t.same((body as { tools: unknown }).tools, [
    { type: 'function', function: { name: 'f', description: 'does', parameters: { type: 'object', properties: {} } } },
    { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } },
  ]);
});

t.test('temperature is left out for reasoning models behind any host, with a warning', async (t) => {
  const { body, warnings } = buildChatRequest(contextOf({ temperature: 1, cacheControl: true }, { model: 'openai/gpt-5.4', settings: foreign }));
  t.notOk('temperature' in (body as object));
  t.match(warnings, [{ field: 'config.temperature' }, { field: 'config.cacheControl' }]);
});

t.test('an image of a tool stands in a message of the user, after the results of all tools', async (t) => {
  const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
  const calls = ['a', 'b'].map((id) => ({ id, name: 'f', arguments: {} }));
  const turns: Turn[] = [
    { role: 'user', text: 'look', parts: [{ type: 'text', text: 'look' }, image] },
    { role: 'assistant', text: '', toolCalls: calls },
    {
      role: 'tool',
      results: [
        { toolCallId: 'a', toolName: 'f', content: '', isError: false, parts: [image] },
        { toolCallId: 'b', toolName: 'f', content: 'text', isError: false },
      ],
    },
  ];
  const { messages } = buildChatRequest(contextOf({ turns }, { model: 'gpt-4.1', settings: foreign })).body as { messages: object[] };
  const shown = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  t.match(messages, [
    { role: 'user', content: [{ type: 'text', text: 'look' }, shown] },
    { role: 'assistant' },
    { role: 'tool', tool_call_id: 'a', content: '(see below)' },
    { role: 'tool', tool_call_id: 'b', content: 'text' },
    { role: 'user', content: [shown] },
  ]);
});

t.test('options are part of the request', async (t) => {
  const options = { seed: 1, topP: 0.5, output: { type: 'json' } } as const;
  t.match(buildChatRequest(contextOf({ options }, { model: 'llama-4', settings: foreign })).body, {
    seed: 1,
    top_p: 0.5,
    response_format: { type: 'json_object' },
  });
});

t.test('where several tools have images, each is said to be of its own result', async (t) => {
  const image = (data: string) => ({ type: 'image', mediaType: 'image/png', data }) as const;
  const calls = ['a', 'b:1'].map((id) => ({ id, name: 'f', arguments: {} }));
  const results = calls.map(({ id }, index) => ({ toolCallId: id, toolName: 'f', content: 'text', isError: false, parts: [image(`AAA${index}`)] }));
  const turns: Turn[] = [
    { role: 'user', text: 'look' },
    { role: 'assistant', text: '', toolCalls: calls },
    { role: 'tool', results },
  ];
  const { messages } = buildChatRequest(contextOf({ turns }, { model: 'gpt-4.1', settings: foreign })).body as {
    messages: { tool_call_id?: string; content: { text?: string; image_url?: { url: string } }[] }[];
  };
  t.same(
    messages.at(-1)?.content.map(({ text, image_url }) => text ?? image_url?.url),
    [
      `From the result of f (${messages[2]?.tool_call_id}):`,
      'data:image/png;base64,AAA0',
      `From the result of f (${messages[3]?.tool_call_id}):`,
      'data:image/png;base64,AAA1',
    ],
  );
});
