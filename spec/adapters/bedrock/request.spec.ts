import t from 'tap';
import { cachePoint } from '../../../adapters/bedrock/content.ts';
import { buildRequest } from '../../../adapters/bedrock/request.ts';
import type { BedrockRequest } from '../../../adapters/bedrock/schema.ts';
import type { ChatContext } from '../../../adapters/shared/provider.ts';
import type { Prompt, Turn } from '../../../core/index.ts';
import { CLAUDE, contextOf, LLAMA, NOVA, settingsFrom } from './help.ts';

const HAIKU = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const CACHE_POINT = { cachePoint: { type: 'default' } };
const TOOL = { name: 'get_weather', description: 'Tells the weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };

const LOOP: Turn[] = [
  { role: 'user', text: 'weather in Oslo and Rome?' },
  {
    role: 'assistant',
    text: 'Let me look.',
    toolCalls: [
      { id: 't1', name: 'get_weather', arguments: { city: 'Oslo' } },
      { id: 't2', name: 'get_weather', arguments: { city: 'Rome' } },
    ],
  },
  {
    role: 'tool',
    results: [
      { toolCallId: 't1', toolName: 'get_weather', content: '3 C', isError: false },
      { toolCallId: 't2', toolName: 'get_weather', content: 'no data', isError: true },
    ],
  },
  { role: 'user', text: 'Well?' },
];

function build(prompt: Partial<Prompt> = {}, rest: Partial<Omit<ChatContext, 'prompt'>> = {}) {
  const wire = buildRequest(contextOf(prompt, rest));
  return { ...wire, body: wire.body as BedrockRequest };
}

t.test('a plain question', async (t) => {
  const { url, body, headers, stream, warnings } = build({ system: 'Be brief.' });
  t.equal(url.href, `https://bedrock-runtime.us-east-1.amazonaws.com/model/${CLAUDE}/converse`);
  t.same(headers, { accept: 'application/json' });
  t.equal(stream, false);
  t.same(body, {
    system: [{ text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    inferenceConfig: { maxTokens: 4096 },
  });
  t.same(warnings, []);
});

t.test('a stream has its own path and media type, and no field in the body', async (t) => {
  const { url, body, headers } = build({}, { stream: true });
  t.match(url.pathname, /\/converse-stream$/);
  t.same(headers, { accept: 'application/vnd.amazon.eventstream' });
  t.notOk('stream' in body || 'model' in body || 'modelId' in body);
});

t.test('the model is one path segment, every reserved character of it encoded', async (t) => {
  t.match(build({}, { model: HAIKU }).url.pathname, '/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse');
  const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123';
  t.match(build({}, { model: arn }).url.pathname, '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123/converse');
  t.match(build({}, { model: "a!'()*?#%2e~b" }).url.pathname, '/model/a%21%27%28%29%2A%3F%23%252e~b/converse');
});

t.test('a configured endpoint is used', async (t) => {
  const settings = settingsFrom({ env: { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'http://127.0.0.1:9/aws/' } });
  t.equal(build({}, { settings }).url.href, `http://127.0.0.1:9/aws/model/${CLAUDE}/converse`);
});

t.test('a tool loop: results of one turn in one user message, before its text', async (t) => {
  const { body, warnings } = build({ turns: LOOP, tools: [TOOL] });
  t.same(body.messages, [
    { role: 'user', content: [{ text: 'weather in Oslo and Rome?' }] },
    {
      role: 'assistant',
      content: [
        { text: 'Let me look.' },
        { toolUse: { toolUseId: 't1', name: 'get_weather', input: { city: 'Oslo' } } },
        { toolUse: { toolUseId: 't2', name: 'get_weather', input: { city: 'Rome' } } },
      ],
    },
    {
      role: 'user',
      content: [
        { toolResult: { toolUseId: 't1', content: [{ text: '3 C' }], status: 'success' } },
        { toolResult: { toolUseId: 't2', content: [{ text: 'no data' }], status: 'error' } },
        { text: 'Well?' },
      ],
    },
  ]);
  t.same(body.toolConfig, {
    tools: [{ toolSpec: { name: 'get_weather', description: 'Tells the weather', inputSchema: { json: TOOL.parameters } } }],
  });
  t.same(warnings, []);
});

t.test('gotcha 4: history with tool calls has toolConfig beside it, also where the request offers no tools', async (t) => {
  t.same(build({ turns: LOOP }).body.toolConfig, {
    tools: [{ toolSpec: { name: 'get_weather', description: 'get_weather', inputSchema: { json: { type: 'object', properties: {} } } } }],
  });
  t.equal(build().body.toolConfig, undefined);
});

t.test('gotcha 7: the input of a call is an object in requests', async (t) => {
  const block = build({ turns: LOOP }).body.messages[1]?.content[1];
  t.same(block, { toolUse: { toolUseId: 't1', name: 'get_weather', input: { city: 'Oslo' } } });
});

t.test('a blank description becomes the name, missing parameters an object schema', async (t) => {
  const specs = build({
    tools: [
      { name: 'a', description: ' ' },
      { name: 'b', parameters: {} },
    ],
  }).body.toolConfig?.tools;
  t.same(specs, [
    { toolSpec: { name: 'a', description: 'a', inputSchema: { json: { type: 'object', properties: {} } } } },
    { toolSpec: { name: 'b', description: 'b', inputSchema: { json: { type: 'object', properties: {} } } } },
  ]);
});

t.test('the status of results goes to Claude and Nova only, and others are told that it was left out', async (t) => {
  const results = (model: string) => build({ turns: LOOP }, { model }).body.messages[2]?.content ?? [];
  t.match(results(NOVA)[1], { toolResult: { status: 'error' } });
  for (const block of results(LLAMA)) t.notOk('toolResult' in block && 'status' in block.toolResult);
  t.match(build({ turns: LOOP }, { model: LLAMA }).warnings, [{ field: 'messages', message: /does not support isError/ }]);
});

t.test('a result without content says so', async (t) => {
  const turns = LOOP.map((turn): Turn => (turn.role === 'tool' ? { ...turn, results: turn.results.map((result) => ({ ...result, content: ' ' })) } : turn));
  t.match(build({ turns }).body.messages[2]?.content[1], { toolResult: { content: [{ text: '(no output)' }], status: 'error' } });
});

t.test('foreign ids are rewritten alike in calls and results; Mistral’s have nine letters and digits', async (t) => {
  const turns: Turn[] = [
    { role: 'user', text: 'x' },
    { role: 'assistant', text: '', toolCalls: [{ id: 'call/ü.1', name: 'f', arguments: {} }] },
    { role: 'tool', results: [{ toolCallId: 'call/ü.1', toolName: 'f', content: 'y', isError: false }] },
  ];
  for (const [model, pattern] of [
    [CLAUDE, /^[a-zA-Z0-9_-]{1,64}$/],
    ['mistral.mistral-large-2407-v1:0', /^[a-zA-Z0-9]{9}$/],
  ] as const) {
    const { messages } = build({ turns }, { model }).body;
    const call = messages[1]?.content[0];
    const result = messages[2]?.content[0];
    const id = call !== undefined && 'toolUse' in call ? call.toolUse.toolUseId : '';
    t.match(id, pattern);
    t.match(result, { toolResult: { toolUseId: id } });
  }
});

t.test('neighbours of a role are merged, and a conversation starts with the user', async (t) => {
  const { body, warnings } = build({
    turns: [
      { role: 'assistant', text: 'Hello', toolCalls: [] },
      { role: 'user', text: 'a' },
      { role: 'user', text: 'b' },
    ],
  });
  t.same(
    body.messages.map(({ role, content }) => [role, content.length]),
    [
      ['user', 1],
      ['assistant', 1],
      ['user', 2],
    ],
  );
  t.match(warnings, [{ field: 'messages[0]' }]);
});

t.test('a final assistant text is trimmed at its end', async (t) => {
  const turns: Turn[] = [
    { role: 'user', text: 'Count.' },
    { role: 'assistant', text: ' One, \n', toolCalls: [] },
  ];
  t.same(build({ turns }).body.messages.at(-1), { role: 'assistant', content: [{ text: ' One,' }] });
});

t.test('temperature goes to models that take it; others are told', async (t) => {
  t.same(build({ temperature: 0.7, maxTokens: 10 }, { model: HAIKU }).body.inferenceConfig, { maxTokens: 10, temperature: 0.7 });
  t.same(build({ temperature: 0 }, { model: LLAMA }).body.inferenceConfig, { maxTokens: 4096, temperature: 0 });
  for (const model of [CLAUDE, 'openai.gpt-5.4-v1:0']) {
    const { body, warnings } = build({ temperature: 0.7 }, { model });
    t.same(body.inferenceConfig, { maxTokens: 4096 });
    t.match(warnings, [{ field: 'config.temperature', message: /was not sent/ }]);
  }
});

t.test('gotcha 8: cache points stand behind tools, system and the last user message, for Claude', async (t) => {
  const { body, warnings } = build({ turns: LOOP, tools: [TOOL], system: 'Be brief.', cacheControl: true });
  t.same(body.system, [{ text: 'Be brief.' }, CACHE_POINT]);
  t.same(body.toolConfig?.tools.at(-1), CACHE_POINT);
  t.same(body.messages.at(-1)?.content.at(-1), CACHE_POINT);
  t.equal(JSON.stringify(body).split('cachePoint').length - 1, 3);
  t.same(warnings, []);
});

t.test('gotcha 8: Nova caches no tools, and no other vendor anything', async (t) => {
  const prompt = { turns: LOOP, tools: [TOOL], system: 'Be brief.', cacheControl: true };
  const nova = build(prompt, { model: NOVA });
  t.equal(nova.body.toolConfig?.tools.length, 1);
  t.equal(JSON.stringify(nova.body).split('cachePoint').length - 1, 2);
  const llama = build(prompt, { model: LLAMA });
  t.notMatch(JSON.stringify(llama.body), /cachePoint/);
  t.match(llama.warnings, [{ field: 'config.cacheControl' }, { field: 'messages' }]);
});

t.test('without cacheControl nothing is marked', async (t) => {
  t.notMatch(JSON.stringify(build({ turns: LOOP, tools: [TOOL], system: 'x' }).body), /cachePoint/);
});

t.test('a cache point says its time only if it is an hour', async (t) => {
  t.same(cachePoint('5m'), { cachePoint: { type: 'default' } });
  t.same(cachePoint('1h'), { cachePoint: { type: 'default', ttl: '1h' } });
});
