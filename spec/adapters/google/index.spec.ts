// The adapter through the core and over a real socket.
import t, { type Test } from 'tap';
import { createGoogle } from '../../../adapters/google/index.ts';
import { parseJson } from '../../../core/base/json.ts';
import { type ChatRequest, type Core, createCore, type Environment } from '../../../core/index.ts';
import { type Answerer, sendInPieces, sendJson, startUpstream } from '../../support/upstream.ts';

const KEY = 'AIza-test-key-0123456789';
const REQUEST: ChatRequest = { adapter: 'google', model: 'gemini-3.8-flash', messages: [{ role: 'user', content: 'hi' }] };

function start(t: Test, env: Environment): Core {
  const core = createCore({ adapters: [createGoogle()], env });
  t.teardown(() => core.close());
  return core;
}

async function connect(t: Test, answer: Answerer) {
  const upstream = await startUpstream(t, answer);
  return { upstream, core: start(t, { GOOGLE_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: `${upstream.url}/v1beta` }) };
}

async function collect(core: Core, request: ChatRequest) {
  const events = [];
  for await (const event of core.stream(request)) events.push(event);
  return events;
}

const WHOLE = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
};

t.test('what is said about the adapter', async (t) => {
  const google = createGoogle();
  t.teardown(() => google.close());
  t.match(google, {
    id: 'google',
    aliases: ['gemini'],
    displayName: 'Google Gemini',
    authRequired: true,
    supportsStreaming: true,
    defaultModel: 'gemini-3.8-flash',
  });
  t.strictSame(google.envVars, ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_GEMINI_BASE_URL']);
});

t.test('the default model is on the list, and the list asks nobody', async (t) => {
  const { core, upstream } = await connect(t, (_request, res) => sendJson(res, {}));
  const { models, count } = await core.models('gemini');
  t.ok(models.includes('gemini-3.8-flash'));
  t.equal(new Set(models).size, count);
  t.equal(upstream.requests.length, 0);
});

for (const [fact, env, used] of [
  ['GOOGLE_API_KEY wins', { GOOGLE_API_KEY: 'key-google', GEMINI_API_KEY: 'key-gemini', GOOGLE_GENERATIVE_AI_API_KEY: 'key-vercel' }, 'key-google'],
  ['GEMINI_API_KEY is second', { GEMINI_API_KEY: 'key-gemini', GOOGLE_GENERATIVE_AI_API_KEY: 'key-vercel' }, 'key-gemini'],
  ['GOOGLE_GENERATIVE_AI_API_KEY is third', { GOOGLE_GENERATIVE_AI_API_KEY: 'key-vercel' }, 'key-vercel'],
] as const) {
  t.test(fact, async (t) => {
    const upstream = await startUpstream(t, (_request, res) => sendJson(res, WHOLE));
    await start(t, { ...env, GOOGLE_GEMINI_BASE_URL: upstream.url }).chat(REQUEST);
    t.equal(upstream.requests[0]?.headers['x-goog-api-key'], used);
  });
}

t.test('a missing key names each way to give one, and nothing is sent', async (t) => {
  const core = start(t, {});
  await t.rejects(core.chat(REQUEST), {
    code: 'ADAPTER_NOT_CONFIGURED',
    message: /GEMINI_API_KEY, GOOGLE_API_KEY, or google\.apiKey in auth\.json.*blockhouse auth set google/,
  });
});

t.test('a whole answer', async (t) => {
  const { core, upstream } = await connect(t, (_request, res) => sendJson(res, WHOLE));
  const answer = await core.chat({ ...REQUEST, adapter: 'gemini' });
  t.strictSame(answer, {
    provider: 'google',
    model: 'gemini-3.8-flash',
    message: { role: 'assistant', content: 'Hello' },
    usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5, cacheReadTokens: 0, reasoningTokens: 0 },
    stopReason: 'end_turn',
  });
  t.match(upstream.requests[0], { method: 'POST', path: '/v1beta/models/gemini-3.8-flash:generateContent', headers: { accept: 'application/json' } });
});

t.test('the key travels in a header and in no URL', async (t) => {
  const { core, upstream } = await connect(t, (_request, res) => sendJson(res, WHOLE));
  await core.chat(REQUEST);
  t.equal(upstream.requests[0]?.headers['x-goog-api-key'], KEY);
  t.notMatch(upstream.requests[0]?.path, /key/);
});

const RECORDS = [
  { candidates: [{ content: { parts: [{ text: 'Grü' }] } }], usageMetadata: { promptTokenCount: 3 } },
  { candidates: [{ content: { parts: [{ text: 'ße' }, { functionCall: { name: 'now', args: {} }, thoughtSignature: 'c2ln' }] } }] },
  {
    candidates: [{ content: { parts: [{ text: '', thoughtSignature: 'dHh0' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 6 },
  },
];
const STREAM = Buffer.from(RECORDS.map((record) => `data: ${JSON.stringify(record)}\r\n\r\n`).join(''));

t.test('gotcha 4: a streamed answer with a call ends in tool_use though Gemini says STOP', async (t) => {
  const { core, upstream } = await connect(t, (_request, res) => sendInPieces(res, STREAM, 7));
  const events = await collect(core, REQUEST);
  t.equal(events.map((event) => (event.type === 'content' ? event.text : '')).join(''), 'Grüße');
  t.match(events.at(-1), {
    type: 'done',
    stopReason: 'tool_use',
    usage: { inputTokens: 3, outputTokens: 6, totalTokens: 9 },
    providerMetadata: { google: { model: 'gemini-3.8-flash', textSignature: 'dHh0' } },
    toolCalls: [{ id: /^call_[0-9a-f]{24}$/, name: 'now', providerMetadata: { google: { model: 'gemini-3.8-flash', thought_signature: 'c2ln' } } }],
  });
  t.equal(upstream.requests[0]?.path, '/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse');
});

t.test('gotchas 2 and 3: what an answer carried goes back as Gemini gave it, without our ids', async (t) => {
  const parts = [
    { text: 'Let me see.', thoughtSignature: 'dHh0' },
    { functionCall: { id: 'fc-1', name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2ln' },
    { functionCall: { name: 'weather', args: { city: 'Rome' } } },
  ];
  const { core, upstream } = await connect(t, (_request, res, index) =>
    sendJson(res, index === 0 ? { candidates: [{ content: { parts }, finishReason: 'STOP' }] } : WHOLE),
  );
  const { message } = await core.chat(REQUEST);
  const toolResults = (message.toolCalls ?? []).map((call) => ({ toolCallId: call.id, content: String(call.arguments['city']) }));
  await core.chat({ ...REQUEST, messages: [...REQUEST.messages, message, { role: 'tool', toolResults }] });
  const body = parseJson(upstream.requests[1]?.body ?? '') as { contents: unknown[] };
  t.strictSame(body.contents, [
    { role: 'user', parts: [{ text: 'hi' }] },
    { role: 'model', parts },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'fc-1', name: 'weather', response: { output: 'Oslo' } } },
        { functionResponse: { name: 'weather', response: { output: 'Rome' } } },
      ],
    },
  ]);
});

t.test('gotcha 5: a blocked prompt is an answer with a warning', async (t) => {
  const { core } = await connect(t, (_request, res) => sendJson(res, { promptFeedback: { blockReason: 'SAFETY' } }));
  const answer = await core.chat(REQUEST);
  t.match(answer, { stopReason: 'content_filter', message: { content: '' }, warnings: [{ field: 'message.content', message: 'blocked: SAFETY' }] });
});

t.test('gotcha 1: a bad key is a 400 that counts as auth, without the key in the text', async (t) => {
  const error = { code: 400, message: `API key not valid: ${KEY}`, status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] };
  const { core, upstream } = await connect(t, (_request, res) => sendJson(res, { error }, 400));
  await t.rejects(core.chat(REQUEST), {
    code: 'UPSTREAM_AUTH',
    upstreamStatus: 400,
    retryable: false,
    message: /^Google Gemini \(HTTP 400\): API key not valid: \[redacted\]$/,
  });
  await t.rejects(collect(core, REQUEST), { code: 'UPSTREAM_AUTH' });
  t.equal(upstream.requests.length, 2);
});

t.test('a short RetryInfo is obeyed, and the repetition succeeds', async (t) => {
  const error = { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED', details: [{ '@type': 'google.rpc.RetryInfo', retryDelay: '0.01s' }] };
  const { core, upstream } = await connect(t, (_request, res, index) => (index === 0 ? sendJson(res, [{ error }], 429) : sendJson(res, WHOLE)));
  t.equal((await core.chat(REQUEST)).message.content, 'Hello');
  t.equal(upstream.requests.length, 2);
});

t.test('a quota of the day is final', async (t) => {
  const error = { code: 429, message: 'GenerateRequestsPerDay', status: 'RESOURCE_EXHAUSTED' };
  const { core, upstream } = await connect(t, (_request, res) => sendJson(res, { error }, 429));
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_RATE_LIMITED', retryable: false });
  t.equal(upstream.requests.length, 1);
});

t.test('an error inside a stream ends it, after the text that came before', async (t) => {
  const bytes = Buffer.from(
    `data: ${JSON.stringify(RECORDS[0])}\n\n${JSON.stringify({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }, null, 2)}`,
  );
  const { core } = await connect(t, (_request, res) => sendInPieces(res, bytes, 16));
  const texts: string[] = [];
  await t.rejects(
    async () => {
      for await (const event of core.stream(REQUEST)) if (event.type === 'content') texts.push(event.text);
    },
    { code: 'UPSTREAM_FAILED', message: 'Google Gemini: overloaded' },
  );
  t.strictSame(texts, ['Grü']);
});

t.test('a stream that ends without a finish reason is an error', async (t) => {
  const { core } = await connect(t, (_request, res) => sendInPieces(res, Buffer.from(`data: ${JSON.stringify(RECORDS[0])}\n\n`), 64));
  await t.rejects(collect(core, REQUEST), { code: 'UPSTREAM_MALFORMED', message: /cut short/ });
});

t.test('a broken function call fails once and is not sent again', async (t) => {
  const { core, upstream } = await connect(t, (_request, res) =>
    sendJson(res, { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed function call: print(' }] }),
  );
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_FAILED', message: /MALFORMED_FUNCTION_CALL: Malformed function call: print\(/ });
  t.equal(upstream.requests.length, 1);
});

t.test('verify asks for one model and says that the key is valid', async (t) => {
  const { core, upstream } = await connect(t, (_request, res) => sendJson(res, { models: [] }));
  t.strictSame(await core.verify('google'), { provider: 'google', ok: true, detail: 'The key is valid.' });
  t.match(upstream.requests[0], { method: 'GET', path: '/v1beta/models?pageSize=1', headers: { 'x-goog-api-key': KEY } });
});

t.test('verify with a bad key fails with the reason', async (t) => {
  const { core } = await connect(t, (_request, res) => sendJson(res, { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }, 400));
  t.match(await core.verify('google'), { ok: false, detail: 'Google Gemini (HTTP 400): API key not valid.' });
});
