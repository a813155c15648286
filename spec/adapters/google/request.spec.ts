import t from 'tap';
import { EMBEDDING } from '../../../adapters/google/embed.ts';
import { createGoogle } from '../../../adapters/google/index.ts';
import { pricedModel } from '../../../adapters/google/prices.ts';
import { buildRequest } from '../../../adapters/google/request.ts';
import type { GoogleContent, GoogleRequest } from '../../../adapters/google/schema.ts';
import { parseJson } from '../../../core/base/json.ts';
import { toPrompt } from '../../../core/gateway/prompt.ts';
import type { ChatConfig, ChatRequest, Message, ToolCall } from '../../../core/index.ts';
import { adapterCall, settingsFor } from '../../support/adapter-call.ts';

const MODEL = 'gemini-3.8-flash';
const BASE = 'https://generativelanguage.googleapis.com';
const HI: Message = { role: 'user', content: 'hi' };
const IMAGE = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
const INLINE = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };

interface Given {
  messages?: Message[];
  tools?: ChatRequest['tools'];
  config?: ChatConfig;
  model?: string;
  stream?: boolean;
  baseURL?: string;
}

function build({ messages = [HI], tools, config, model = MODEL, stream = false, baseURL = BASE }: Given = {}) {
  const prompt = toPrompt({ adapter: 'google', model, messages, ...(tools !== undefined && { tools }), ...(config !== undefined && { config }) });
  const wire = buildRequest({ model, prompt, settings: { values: { baseURL }, sources: {} }, stream });
  return { ...wire, href: wire.url.href, body: wire.body as GoogleRequest };
}

const contents = (messages: Message[], model = MODEL): GoogleContent[] => build({ messages, model }).body.contents;
const google = (fields: Record<string, unknown>) => ({ providerMetadata: { google: fields } });
const step = (calls: ToolCall[], results: string[] = calls.map((call) => call.id)): Message[] => [
  HI,
  { role: 'assistant', toolCalls: calls },
  { role: 'tool', toolResults: results.map((id) => ({ toolCallId: id, content: `result of ${id}` })) },
];

for (const [model, path] of [
  ['gemini-3.8-flash', 'models/gemini-3.8-flash'],
  ['models/gemini-3.8-flash', 'models/gemini-3.8-flash'],
  ['tunedModels/mine-1', 'tunedModels/mine-1'],
  ['a/b?key=1#x', 'models/a%2Fb%3Fkey%3D1%23x'],
  ['gemini:countTokens', 'models/gemini%3AcountTokens'],
  ['tunedModels/a:b', 'tunedModels/a%3Ab'],
  ['%2e%2e', 'models/%252e%252e'],
] as const) {
  t.test(`gotcha 10: model ${model} is at ${path}`, async (t) => {
    t.equal(build({ model }).href, `${BASE}/v1beta/${path}:generateContent`);
  });
}

t.test('gotcha 9: a stream asks for server-sent events', async (t) => {
  const wire = build({ stream: true });
  t.equal(wire.href, `${BASE}/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`);
  t.equal(wire.stream, true);
});

for (const base of [
  'https://x.test',
  'https://x.test/',
  'https://x.test/v1beta',
  'https://x.test/v1beta/',
  'https://x.test/v1',
  'https://x.test/v1beta/openai/',
]) {
  t.test(`base ${base} leads to one v1beta`, async (t) => {
    t.equal(build({ baseURL: base }).href, `https://x.test/v1beta/models/${MODEL}:generateContent`);
  });
}

t.test('a path before the version is kept', async (t) => {
  t.equal(build({ baseURL: 'https://x.test/proxy/v1beta' }).href, `https://x.test/proxy/v1beta/models/${MODEL}:generateContent`);
});

t.test('a plain question is one content and nothing more', async (t) => {
  const wire = build();
  t.strictSame(wire.body, { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 4096 } });
  t.strictSame(wire.warnings, []);
});

t.test('system text has its own place', async (t) => {
  const { body } = build({ messages: [{ role: 'system', content: 'be kind' }, HI] });
  t.strictSame(body.systemInstruction, { parts: [{ text: 'be kind' }] });
  t.strictSame(body.contents, [{ role: 'user', parts: [{ text: 'hi' }] }]);
});

t.test('gemma gets the system text before the first user text', async (t) => {
  for (const model of ['gemma-4-27b-it', 'models/gemma-4-27b-it']) {
    const { body } = build({ model, messages: [{ role: 'system', content: 'be kind' }, HI, { role: 'assistant', content: 'yes' }, HI] });
    t.equal(body.systemInstruction, undefined);
    t.strictSame(body.contents[0], { role: 'user', parts: [{ text: 'be kind\n\nhi' }] });
    t.strictSame(body.contents[2], { role: 'user', parts: [{ text: 'hi' }] });
  }
});

t.test('the assistant is called model, and neighbours of one role are one content', async (t) => {
  const messages: Message[] = [HI, { role: 'user', content: 'there' }, { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'b' }, HI];
  t.strictSame(contents(messages), [
    { role: 'user', parts: [{ text: 'hi' }, { text: 'there' }] },
    { role: 'model', parts: [{ text: 'a' }, { text: 'b' }] },
    { role: 'user', parts: [{ text: 'hi' }] },
  ]);
});

t.test('a conversation that the assistant opens begins with a user content, and says so', async (t) => {
  const wire = build({ messages: [{ role: 'assistant', content: 'a' }, HI] });
  t.strictSame(
    wire.body.contents.map(({ role }) => role),
    ['user', 'model', 'user'],
  );
  t.equal(wire.warnings[0]?.field, 'messages[0]');
});

t.test('no part is empty', async (t) => {
  const messages: Message[] = [{ role: 'assistant', content: '  ' }, { role: 'user', content: '' }, ...step([{ id: 'a', name: 'f', arguments: {} }])];
  for (const { parts } of contents(messages)) {
    t.not(parts.length, 0);
    for (const part of parts) t.not('text' in part && part.text.trim(), '');
  }
});

t.test('gotcha 7: results are objects, of errors too', async (t) => {
  const messages = step([
    { id: 'a', name: 'f', arguments: {} },
    { id: 'b', name: 'g', arguments: {} },
  ]);
  messages[2] = {
    role: 'tool',
    toolResults: [
      { toolCallId: 'a', content: '3 C' },
      { toolCallId: 'b', content: 'no data', isError: true },
    ],
  };
  t.strictSame(contents(messages)[2], {
    role: 'user',
    parts: [{ functionResponse: { name: 'f', response: { output: '3 C' } } }, { functionResponse: { name: 'g', response: { error: 'no data' } } }],
  });
});

t.test('gotcha 3: all results of a step are one content, in call order, each with the name of its call', async (t) => {
  const calls = ['a', 'b', 'c'].map((id) => ({ id, name: `tool_${id}`, arguments: { id } }));
  const [user, assistant] = step(calls) as [Message, Message];
  const result = (id: string): Message => ({ role: 'tool', toolResults: [{ toolCallId: id, content: id }] });
  const last = contents([user, assistant, result('c'), result('a'), result('b'), { role: 'user', content: 'and?' }]);
  t.strictSame(last.slice(2), [
    { role: 'user', parts: ['a', 'b', 'c'].map((id) => ({ functionResponse: { name: `tool_${id}`, response: { output: id } } })) },
    { role: 'user', parts: [{ text: 'and?' }] },
  ]);
});

t.test("an id goes out only where Gemini made it, on call and response alike, and it is Gemini's", async (t) => {
  const messages = step([
    { id: 'fc-1', name: 'f', arguments: {}, ...google({ model: MODEL, id: 'fc-1', thoughtSignature: 's' }) },
    { id: 'call_0f', name: 'f', arguments: {}, ...google({ model: MODEL }) },
    { id: 'renamed', name: 'f', arguments: {}, ...google({ model: MODEL, id: 'fc-3' }) },
    { id: 'toolu_1', name: 'f', arguments: {}, providerMetadata: { anthropic: { id: 'toolu_1' } } },
  ]);
  const [, calls, responses] = contents(messages);
  const ids = ['fc-1', undefined, 'fc-3', undefined];
  t.strictSame(
    calls?.parts.map((part) => ('functionCall' in part ? part.functionCall.id : 'none')),
    ids,
  );
  t.strictSame(
    responses?.parts.map((part) => ('functionResponse' in part ? part.functionResponse.id : 'none')),
    ids,
  );
});

t.test('an id that is used again in a later step is matched within its own', async (t) => {
  const first = step([{ id: 'call_0', name: 'f', arguments: {}, ...google({ model: MODEL, id: 'fc-1' }) }]);
  const second = step([{ id: 'call_0', name: 'f', arguments: {} }]);
  const all = contents([...first, ...second]);
  t.match(all[2]?.parts[0], { functionResponse: { id: 'fc-1' } });
  t.notMatch(all[4]?.parts[0], { functionResponse: { id: String } });
});

t.test('gotcha 2: a signature goes back byte for byte on its own call', async (t) => {
  const signature = 'CiQB0e2Kb+/==\u00e4';
  const [, model] = contents(
    step([
      { id: 'a', name: 'f', arguments: { x: 1 }, ...google({ model: MODEL, thoughtSignature: signature }) },
      { id: 'b', name: 'f', arguments: {}, ...google({ model: MODEL }) },
    ]),
  );
  t.strictSame(model?.parts, [{ functionCall: { name: 'f', args: { x: 1 } }, thoughtSignature: signature }, { functionCall: { name: 'f', args: {} } }]);
});

t.test('the prefix models/ makes no other model', async (t) => {
  const messages = step([{ id: 'a', name: 'f', arguments: {}, ...google({ model: MODEL, thoughtSignature: 's' }) }]);
  t.match(contents(messages, `models/${MODEL}`)[1]?.parts[0], { thoughtSignature: 's' });
});

const SENTINEL = 'skip_thought_signature_validator';
for (const [model, wants] of [
  ['gemini-3.8-flash', true],
  ['gemini-3.1-pro-preview', true],
  ['models/gemini-3-pro', true],
  ['gemini-4-argon', true],
  ['gemini-flash-latest', true],
  ['gemini-flash-lite-latest', true],
  ['gemini-pro-latest', true],
  ['gemini-2.5-pro', false],
  ['gemini-1.5-flash', false],
  ['gemma-4-27b-it', false],
  ['tunedModels/gemini-3', false],
] as const) {
  t.test(`gotcha 2: ${model} ${wants ? 'gets the sentinel on the first foreign call of each step' : 'gets no sentinel'}`, async (t) => {
    const calls: ToolCall[] = [
      { id: 'a', name: 'f', arguments: {} },
      { id: 'b', name: 'f', arguments: {} },
    ];
    const all = contents([...step(calls), ...step(calls)], model);
    for (const index of [1, 4]) {
      const turn = all.filter(({ role }) => role === 'model')[index === 1 ? 0 : 1];
      const signatures = turn?.parts.map((part) => ('thoughtSignature' in part ? part.thoughtSignature : undefined));
      t.strictSame(signatures, [wants ? SENTINEL : undefined, undefined]);
    }
  });
}

t.test('a signature of another model that is not sent is warned of, once', async (t) => {
  const foreign = google({ model: 'gemini-3.5-flash', thoughtSignature: 's', textSignature: 's' });
  const warned = (messages: Message[]) => build({ messages }).warnings.map(({ field }) => field);
  const call: ToolCall = { id: 'a', name: 'f', arguments: {} };
  t.same(warned(step([{ ...call, ...foreign }])), ['messages']);
  t.same(warned([HI, { role: 'assistant', content: 'a', ...foreign }, HI, { role: 'assistant', content: 'b', ...foreign }, HI]), ['messages']);
  t.same(warned(step([{ ...call, ...google({ model: MODEL, thoughtSignature: 's' }) }])), []);
  t.same(warned(step([{ ...call, ...google({ model: 'gemini-3.5-flash', id: 'fc-1' }) }])), [], 'it had no signature');
});

t.test('a signature goes back by the name that OpenAI clients of Google know, also where a client keeps nothing else, and by the older one', async (t) => {
  for (const fields of [{ model: MODEL, thought_signature: 's' }, { thought_signature: 's' }, { model: MODEL, thoughtSignature: 's' }]) {
    const messages = step([{ id: 'a', name: 'f', arguments: {}, ...google(fields) }]);
    t.match(contents(messages)[1]?.parts[0], { thoughtSignature: 's' });
    t.same(build({ messages }).warnings, []);
  }
  t.match(contents(step([{ id: 'a', name: 'f', arguments: {}, ...google({ model: 'gemini-3.5-flash', thought_signature: 's' }) }]))[1]?.parts[0], {
    thoughtSignature: SENTINEL,
  });
});

t.test('texts and calls keep their order, and the signature of the text is on the last of them', async (t) => {
  const call = (id: string): ToolCall => ({ id, name: 'f', arguments: { id }, ...google({ model: MODEL, thought_signature: id }) });
  const messages: Message[] = [
    HI,
    { role: 'assistant', content: 'One.', toolCalls: [call('a')], ...google({ model: MODEL, textSignature: 's' }) },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Two' },
        { type: 'text', text: '.' },
      ],
      toolCalls: [call('b')],
    },
    { role: 'tool', toolResults: ['a', 'b'].map((toolCallId) => ({ toolCallId, content: toolCallId })) },
  ];
  t.strictSame(contents(messages)[1]?.parts, [
    { text: 'One.' },
    { functionCall: { name: 'f', args: { id: 'a' } }, thoughtSignature: 'a' },
    { text: 'Two.', thoughtSignature: 's' },
    { functionCall: { name: 'f', args: { id: 'b' } }, thoughtSignature: 'b' },
  ]);
});

t.test('the signature of another model is replaced by the sentinel', async (t) => {
  const [, model] = contents(step([{ id: 'a', name: 'f', arguments: {}, ...google({ model: 'gemini-3.5-flash', thoughtSignature: 's' }) }]));
  t.match(model?.parts[0], { thoughtSignature: SENTINEL });
});

t.test('metadata of a wrong shape is no signature and no id', async (t) => {
  for (const google of [null, 'x', [], { model: MODEL, thoughtSignature: 1, id: {} }]) {
    const [, model] = contents(step([{ id: 'a', name: 'f', arguments: {}, providerMetadata: { google } }]), 'gemini-2.5-pro');
    t.strictSame(model?.parts, [{ functionCall: { name: 'f', args: {} } }]);
  }
});

t.test('the signature of a text goes back on the text, to the same model only', async (t) => {
  const messages: Message[] = [HI, { role: 'assistant', content: 'a', ...google({ model: MODEL, textSignature: 's' }) }, HI];
  t.strictSame(contents(messages)[1]?.parts, [{ text: 'a', thoughtSignature: 's' }]);
  t.strictSame(contents(messages, 'gemini-3.5-flash')[1]?.parts, [{ text: 'a' }]);
});

t.test('an empty text stays when it carries a signature', async (t) => {
  const call: ToolCall = { id: 'a', name: 'f', arguments: {}, ...google({ model: MODEL, thoughtSignature: 'c' }) };
  const messages = step([call]);
  messages[1] = { role: 'assistant', toolCalls: [call], ...google({ model: MODEL, textSignature: 's' }) };
  t.strictSame(contents(messages)[1]?.parts, [
    { text: '', thoughtSignature: 's' },
    { functionCall: { name: 'f', args: {} }, thoughtSignature: 'c' },
  ]);
});

t.test('arguments with __proto__ stay data', async (t) => {
  const args = parseJson('{"__proto__":{"polluted":1}}') as Record<string, unknown>;
  const wire = build({ messages: step([{ id: 'a', name: 'f', arguments: args }]) });
  t.match(JSON.stringify(wire.body), /"args":\{"__proto__":\{"polluted":1\}\}/);
  t.equal(({} as { polluted?: number }).polluted, undefined);
});

t.test('tools are declared with JSON Schema, and the mode is AUTO', async (t) => {
  const { body, warnings } = build({ tools: [{ name: 'f', description: 'd', parameters: { properties: { a: { type: 'string' } } } }, { name: 'g' }] });
  t.strictSame(body.tools, [
    {
      functionDeclarations: [{ name: 'f', description: 'd', parametersJsonSchema: { type: 'object', properties: { a: { type: 'string' } } } }, { name: 'g' }],
    },
  ]);
  t.strictSame(body.toolConfig, { functionCallingConfig: { mode: 'AUTO' } });
  t.strictSame(warnings, []);
});

t.test('without tools there is no tool config', async (t) => {
  t.notOk('toolConfig' in build({ tools: [] }).body);
  t.notOk('tools' in build({ tools: [] }).body);
});

t.test('gotcha 6: what the schema subset lacks is left out, with one warning for each tool', async (t) => {
  const constrained = { type: 'object', properties: { a: { type: 'string', pattern: 'x', minLength: 1 }, b: { type: 'string', pattern: 'y' } } };
  const { body, warnings } = build({ tools: [{ name: 'f' }, { name: 'g', parameters: constrained }] });
  t.strictSame(body.tools?.[0]?.functionDeclarations[1]?.parametersJsonSchema, {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
  });
  t.strictSame(warnings, [
    { field: 'tools[1].parameters', message: 'Gemini does not support these schema keywords, so they were not sent: pattern, minLength.' },
  ]);
});

for (const { model, stream, config, want, fields } of [
  { model: MODEL, stream: false, config: {}, want: { maxOutputTokens: 4096 }, fields: [] },
  {
    model: MODEL,
    stream: false,
    config: { maxTokens: 100_000, temperature: 0 },
    want: { maxOutputTokens: 65_536 },
    fields: ['config.maxTokens', 'config.temperature'],
  },
  { model: 'gemini-3.5-flash', stream: false, config: { maxTokens: 65_536, temperature: 0 }, want: { maxOutputTokens: 65_536, temperature: 0 }, fields: [] },
  { model: 'gemini-2.5-pro', stream: true, config: { maxTokens: 65_537 }, want: { maxOutputTokens: 65_536 }, fields: ['config.maxTokens'] },
  { model: 'gemma-3-27b-it', stream: true, config: { maxTokens: 100_000 }, want: { maxOutputTokens: 100_000 }, fields: [] },
  { model: 'gemini-4-argon', stream: false, config: {}, want: { maxOutputTokens: 4096 }, fields: [] },
  { model: 'gemini-4-argon', stream: false, config: { maxTokens: 32_768 }, want: { maxOutputTokens: 32_768 }, fields: [] },
  { model: 'gemini-4-argon', stream: false, config: { maxTokens: 32_769 }, want: { maxOutputTokens: 32_768 }, fields: ['config.maxTokens'] },
  { model: 'models/gemini-4-carbon', stream: true, config: { maxTokens: 65_536 }, want: { maxOutputTokens: 65_536 }, fields: [] },
  { model: 'gemini-4-argon', stream: true, config: { maxTokens: 65_537 }, want: { maxOutputTokens: 65_536 }, fields: ['config.maxTokens'] },
  { model: 'gemini-4-argon', stream: true, config: { temperature: 0.5 }, want: { maxOutputTokens: 4096 }, fields: ['config.temperature'] },
  { model: 'gemini-4-argon', stream: true, config: { cacheControl: true }, want: { maxOutputTokens: 4096 }, fields: ['config.cacheControl'] },
]) {
  t.test(`${model}${stream ? ' streamed' : ''} with ${JSON.stringify(config)} is sent ${JSON.stringify(want)}`, async (t) => {
    const wire = build({ model, stream, config });
    t.strictSame(wire.body.generationConfig, want);
    t.strictSame(
      wire.warnings.map(({ field }) => field),
      fields,
    );
  });
}

t.test('parts and options are part of the request', async (t) => {
  const { body } = build({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, IMAGE] }],
    config: { seed: 5, reasoning: { effort: 'low' } },
  });
  t.match(body, { contents: [{ parts: [{ text: 'look' }, INLINE] }], generationConfig: { seed: 5, thinkingConfig: { thinkingLevel: 'low' } } });
});

t.test('an image of a tool is part of its result, and what has no place there follows under the name of the tool', async (t) => {
  const pdf = { type: 'document', mediaType: 'application/pdf', data: 'BBBB', name: 'a.pdf' } as const;
  const messages: Message[] = [
    HI,
    {
      role: 'assistant',
      toolCalls: [
        { id: 'c', name: 'see', arguments: {} },
        { id: 'd', name: 'look', arguments: {} },
      ],
    },
    {
      role: 'tool',
      toolResults: [
        { toolCallId: 'c', content: [{ type: 'text', text: 'seen' }, IMAGE, pdf] },
        { toolCallId: 'd', content: [IMAGE] },
      ],
    },
    { role: 'user', content: 'Well?' },
  ];
  const [seen, looked] = [
    { name: 'see', response: { output: 'seen' } },
    { name: 'look', response: { output: '' } },
  ];
  const file = [{ text: 'a.pdf:' }, { inlineData: { mimeType: 'application/pdf', data: 'BBBB' } }];
  t.same(contents(messages).slice(2), [
    { role: 'user', parts: [{ functionResponse: { ...seen, parts: [INLINE] } }, { functionResponse: { ...looked, parts: [INLINE] } }] },
    { role: 'user', parts: [{ text: 'Result of see:' }, ...file, { text: 'Well?' }] },
  ]);
  t.same(
    contents(messages, 'gemini-2.5-flash').slice(2),
    [
      { role: 'user', parts: [{ functionResponse: seen }, { functionResponse: looked }] },
      { role: 'user', parts: [{ text: 'Result of see:' }, INLINE, ...file, { text: 'Result of look:' }, INLINE, { text: 'Well?' }] },
    ],
    'older models take no image inside of a result',
  );
});

t.test('each text is a request of its own in one call', async (t) => {
  const settings = settingsFor(createGoogle(), { env: { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1' } });
  const { url, body } = EMBEDDING.build({ ...adapterCall({ settings }), model: 'models/gemini-embedding-001', inputs: ['a', 'b'], dimensions: 8 });
  t.equal(url.href, 'http://127.0.0.1:1/v1beta/models/gemini-embedding-001:batchEmbedContents');
  const request = (text: string) => ({ model: 'models/gemini-embedding-001', content: { parts: [{ text }] }, outputDimensionality: 8 });
  t.same(body, { requests: [request('a'), request('b')] });
  t.same(EMBEDDING.read({ embeddings: [{ values: [1] }, { values: [2] }] }), { vectors: [[1], [2]], inputTokens: undefined });
});

t.test('a model is priced as Google calls it, and a tuned one is not', async (t) => {
  for (const model of ['gemini-2.5-pro', 'models/gemini-2.5-pro']) t.equal(pricedModel({ model }), 'gemini-2.5-pro', model);
  for (const model of ['tunedModels/gemini-2.5-pro', 'models/tunedModels/x']) t.equal(pricedModel({ model }), undefined, model);
});
