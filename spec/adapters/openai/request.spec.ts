import t from 'tap';
import { buildRequest } from '../../../adapters/openai/request.ts';
import type { Turn } from '../../../core/index.ts';
import { contextOf, FOREIGN } from './support.ts';

const REASONING = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA', status: null };
const CALLS = [
  { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } },
  { id: 'call_2', name: 'get_weather', arguments: {} },
];
const RESULTS = [
  { toolCallId: 'call_1', toolName: 'get_weather', content: '3 C', isError: false },
  { toolCallId: 'call_2', toolName: 'get_weather', content: 'no city', isError: true },
];
const weather = (providerMetadata?: Record<string, unknown>): Turn[] => [
  { role: 'user', text: 'weather?' },
  { role: 'assistant', text: 'Let me look.', toolCalls: CALLS, providerMetadata },
  { role: 'tool', results: RESULTS },
];
const bodyOf = (...args: Parameters<typeof contextOf>): Record<string, unknown> => buildRequest(contextOf(...args)).body as Record<string, unknown>;

t.test('a plain request has every default that would be wrong left to the server', async (t) => {
  const { url, body, stream, warnings } = buildRequest(contextOf());
  t.equal(url.href, 'https://api.openai.com/v1/responses');
  t.equal(stream, false);
  t.same(warnings, []);
  t.same(body, {
    model: 'gpt-6.1-terra',
    input: [{ role: 'user', content: 'hello' }],
    max_output_tokens: 4096,
    include: ['reasoning.encrypted_content'],
    store: false,
  });
});

t.test('gotcha: functions for gpt-5.4 and newer go to /responses, where alone they are taken', async (t) => {
  const request = buildRequest(contextOf({ tools: [{ name: 'f' }] }, { model: 'gpt-5.4' }));
  t.match(request.url.pathname, /\/responses$/);
});

t.test('gotcha: store and strict are always false', async (t) => {
  const body = bodyOf({ tools: [{ name: 'f', description: 'does', parameters: { properties: { a: { type: 'string' } } } }, { name: 'g' }] });
  t.equal(body['store'], false);
  t.same(body['tools'], [
    { type: 'function', name: 'f', description: 'does', parameters: { type: 'object', properties: { a: { type: 'string' } } }, strict: false },
    { type: 'function', name: 'g', parameters: { type: 'object', properties: {} }, strict: false },
  ]);
});

t.test('gotcha: a token limit below 16 is raised to 16, and that is told', async (t) => {
  for (const [maxTokens, sent, told] of [
    [1, 16, 1],
    [15, 16, 1],
    [16, 16, 0],
    [900, 900, 0],
  ] as const) {
    const { body, warnings } = buildRequest(contextOf({ maxTokens }));
    t.match(body, { max_output_tokens: sent }, String(maxTokens));
    t.equal(warnings.filter(({ field }) => field === 'config.maxTokens').length, told, String(maxTokens));
  }
});

t.test('system text becomes instructions', async (t) => {
  t.equal(bodyOf({ system: 'be brief' })['instructions'], 'be brief');
});

t.test('a stream is asked for without padding', async (t) => {
  const { body, stream } = buildRequest(contextOf({}, { stream: true }));
  t.equal(stream, true);
  t.match(body, { stream: true, stream_options: { include_obfuscation: false } });
  t.notOk('stream_options' in bodyOf(), 'and the option is refused without a stream');
});

t.test('temperature is left out for reasoning models with a warning, and sent to others', async (t) => {
  const reasoning = buildRequest(contextOf({ temperature: 0.5 }));
  t.notOk('temperature' in (reasoning.body as object));
  t.match(reasoning.warnings, [{ field: 'config.temperature' }]);
  t.equal(bodyOf({ temperature: 0 }, { model: 'gpt-4.1' })['temperature'], 0);
});

t.test('encrypted reasoning is asked for only where there is reasoning', async (t) => {
  t.notOk('include' in bodyOf({}, { model: 'gpt-4.1' }));
});

t.test('caching needs no switch, and that is told', async (t) => {
  t.match(buildRequest(contextOf({ cacheControl: true })).warnings, [{ field: 'config.cacheControl' }]);
});

t.test('gotcha: calls and results become items without ids of their own', async (t) => {
  t.same(bodyOf({ turns: weather() })['input'], [
    { role: 'user', content: 'weather?' },
    { role: 'assistant', content: 'Let me look.' },
    { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
    { type: 'function_call', call_id: 'call_2', name: 'get_weather', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: '3 C' },
    { type: 'function_call_output', call_id: 'call_2', output: 'Error: no city' },
  ]);
});

t.test('an assistant turn with calls alone has no message item', async (t) => {
  const turns: Turn[] = [
    { role: 'user', text: 'q' },
    { role: 'assistant', text: '', toolCalls: CALLS },
    { role: 'tool', results: RESULTS },
  ];
  t.match(bodyOf({ turns })['input'], [{ role: 'user' }, { type: 'function_call' }]);
});

t.test('a foreign call id is rewritten the same way in call and result', async (t) => {
  for (const id of ['functions.get_weather:0', `call_${'x'.repeat(80)}`]) {
    const turns: Turn[] = [
      { role: 'user', text: 'q' },
      { role: 'assistant', text: '', toolCalls: [{ id, name: 'f', arguments: {} }] },
      { role: 'tool', results: [{ toolCallId: id, toolName: 'f', content: '', isError: false }] },
    ];
    const [, call, output] = bodyOf({ turns })['input'] as { call_id: string }[];
    t.match(call?.call_id, /^[a-zA-Z0-9_-]{1,64}$/);
    t.equal(output?.call_id, call?.call_id);
  }
});

t.test('reasoning that comes back stands untouched right before its call', async (t) => {
  const turns = weather({ openai: { model: 'gpt-6.1-terra', reasoning: [{ before: 'call_2', item: REASONING }] } });
  const input = bodyOf({ turns })['input'] as unknown[];
  t.match(input[2], { call_id: 'call_1' });
  t.same(input[3], REASONING);
  t.match(input[4], { call_id: 'call_2' });
});

t.test('of reasoning that comes back, only what an answer has is sent', async (t) => {
  const own = { summary: [{ type: 'summary_text', text: 's' }], content: [{ type: 'reasoning_text', text: 'c' }] };
  const item = { ...REASONING, ...own, tools: [{ type: 'web_search' }], namespace: 'x' };
  const sent = bodyOf({ turns: weather({ openai: { model: 'gpt-6.1-terra', reasoning: [{ before: 'call_1', item }] } }) })['input'] as unknown[];
  t.strictSame(sent[2], { ...REASONING, ...own });
  const changed = { ...REASONING, summary: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }], content: 'x' };
  const other = bodyOf({ turns: weather({ openai: { model: 'gpt-6.1-terra', reasoning: [{ before: 'call_1', item: changed }] } }) })['input'] as unknown[];
  t.strictSame(other[2], { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA', status: null });
});

t.test('reasoning finds its call by the id that the caller has, also where that id is rewritten', async (t) => {
  const turns: Turn[] = [
    { role: 'user', text: 'q' },
    {
      role: 'assistant',
      text: '',
      toolCalls: [{ id: 'a:1', name: 'f', arguments: {} }],
      providerMetadata: { openai: { model: 'gpt-6.1-terra', reasoning: [{ before: 'a:1', item: REASONING }] } },
    },
    { role: 'tool', results: [{ toolCallId: 'a:1', toolName: 'f', content: '', isError: false }] },
  ];
  t.same((bodyOf({ turns })['input'] as unknown[])[1], REASONING);
});

t.test('gotcha: reasoning without its content or without its call stays out, since it would be refused', async (t) => {
  const { encrypted_content: _, ...reference } = REASONING;
  for (const openai of [
    { model: 'gpt-6.1-terra', reasoning: [{ before: 'call_1', item: reference }] },
    { model: 'gpt-6.1-terra', reasoning: [{ before: 'call_9', item: REASONING }] },
    { model: 'gpt-6.1-terra', reasoning: [{ before: 'call_1', item: { ...REASONING, type: 'message' } }] },
    { model: 'gpt-6.1-terra', reasoning: 'nonsense' },
    { model: 'gpt-6.1-terra', reasoning: [null, 3] },
    'nonsense',
  ]) {
    const input = bodyOf({ turns: weather({ openai }) })['input'] as unknown[];
    t.equal(input.length, 6, JSON.stringify(openai));
  }
});

t.test('reasoning of another model stays out, with a warning', async (t) => {
  const turns = (model: unknown) => weather({ openai: { model, reasoning: [{ before: 'call_1', item: REASONING }] } });
  const built = (model: unknown) => buildRequest(contextOf({ turns: turns(model) }, { model: 'gpt-5.5' }));
  const own = built('gpt-5.5');
  t.equal((own.body as { input: unknown[] }).input.length, 7);
  t.same(own.warnings, []);
  for (const model of ['gpt-5.4', undefined]) {
    const { body, warnings } = built(model);
    t.equal((body as { input: unknown[] }).input.length, 6);
    t.match(warnings, [{ field: 'messages', message: /^Earlier reasoning was not sent\./ }]);
  }
});

t.test('a model that does not reason gets no reasoning of another one', async (t) => {
  const turns = weather({ openai: { reasoning: [{ before: 'call_1', item: REASONING }] } });
  t.equal((bodyOf({ turns }, { model: 'gpt-4.1' })['input'] as unknown[]).length, 6);
});

t.test('a foreign base URL gets Chat Completions, unless the setting api says otherwise', async (t) => {
  t.equal(buildRequest(contextOf({}, { settings: { baseURL: FOREIGN } })).url.href, `${FOREIGN}/chat/completions`);
  t.equal(buildRequest(contextOf({}, { settings: { baseURL: FOREIGN, api: 'responses' } })).url.href, `${FOREIGN}/responses`);
});

t.test('parts and options are part of the request, and what is not sent is told', async (t) => {
  const turns: Turn[] = [
    {
      role: 'user',
      text: 'look',
      parts: [
        { type: 'text', text: 'look' },
        { type: 'image', url: 'https://x/y.png' },
      ],
    },
  ];
  const { body, warnings } = buildRequest(contextOf({ turns, options: { reasoning: { effort: 'low' }, topP: 0.5 } }));
  t.match(body, {
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', image_url: 'https://x/y.png' },
        ],
      },
    ],
    reasoning: { effort: 'low' },
  });
  t.match(warnings, [{ field: 'config.topP' }]);
});
