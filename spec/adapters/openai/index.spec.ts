import t, { type Test } from 'tap';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { tryParseJson } from '../../../core/base/json.ts';
import { type ChatRequest, type Core, createCore, type Environment } from '../../../core/index.ts';
import { testFolder } from '../../support/test-folder.ts';
import { type Answerer, type FakeUpstream, sendInPieces, sendJson, startUpstream } from '../../support/upstream.ts';
import { ANSWER, chunk, chunks, STREAM, settingsOf } from './support.ts';

const KEY = 'sk-proj-abcdefghijklmnopqrstuvwxyz';

interface Bench {
  readonly core: Core;
  readonly upstream: FakeUpstream;
}

/** The real adapter before a provider of ours. `stored` is its entry in auth.json. */
async function bench(t: Test, answer: Answerer, stored: Record<string, string> = {}, env: Environment = { OPENAI_API_KEY: KEY }): Promise<Bench> {
  const upstream = await startUpstream(t, answer);
  const workspace = testFolder(t, { 'auth.json': JSON.stringify({ openai: stored }) });
  const core = createCore({ workspace, adapters: [createOpenAI()], env: { OPENAI_BASE_URL: `${upstream.url}/v1`, ...env }, random: () => 0 });
  t.teardown(() => core.close());
  return { core, upstream };
}

const ask = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  adapter: 'openai',
  model: 'gpt-6.1-terra',
  messages: [{ role: 'user', content: 'weather in Tromsø?' }],
  tools: [{ name: 'get_weather' }],
  ...more,
});

async function streamed(core: Core, request: ChatRequest): Promise<{ text: string; done: unknown }> {
  let text = '';
  let done: unknown;
  for await (const event of core.stream(request)) {
    if (event.type === 'content') text += event.text;
    if (event.type === 'done') done = event;
  }
  return { text, done };
}

t.test('what the contract says of this adapter', async (t) => {
  const adapter = createOpenAI();
  t.equal(adapter.id, 'openai');
  t.equal(adapter.displayName, 'OpenAI');
  t.equal(adapter.authRequired, true);
  t.equal(adapter.defaultModel, 'gpt-6.1-terra');
  t.equal(adapter.supportsStreaming, true);
  t.same(adapter.envVars, ['OPENAI_API_KEY', 'OPENAI_BASE_URL']);
  t.equal(adapter.settings['baseURL']?.default, 'https://api.openai.com/v1');
  t.equal(adapter.settings['apiKey']?.secret, true);
});

t.test('a missing key is told with each way to give one, except for a server on this machine', async (t) => {
  const { missingCredential } = createOpenAI();
  const message = missingCredential(settingsOf({ baseURL: 'https://api.openai.com/v1' })) ?? '';
  for (const way of ['OPENAI_API_KEY', 'openai.apiKey in auth.json', 'blockhouse auth set openai']) t.ok(message.includes(way), way);
  t.type(missingCredential(settingsOf({ baseURL: 'https://llm.example/v1' })), 'string', 'a foreign host');
  t.equal(missingCredential(settingsOf({ baseURL: 'http://localhost:1234/v1' })), undefined);
  t.equal(missingCredential(settingsOf({ baseURL: 'https://api.openai.com/v1', apiKey: KEY })), undefined);
});

t.test('an organization that no header takes is told by name', async (t) => {
  const missing = createOpenAI().missingCredential({ values: { apiKey: KEY, organization: 'a\r\nb' }, sources: { organization: 'auth.json' } });
  t.match(missing, /organization from auth\.json/);
});

t.test('both forms of a Responses answer agree, and reasoning comes back untouched', async (t) => {
  const { core, upstream } = await bench(
    t,
    (request, res) => (request.body.includes('"stream":true') ? sendInPieces(res, Buffer.from(STREAM), 7) : sendJson(res, ANSWER)),
    { api: 'responses' },
  );
  const whole = await core.chat(ask());
  const { text, done } = await streamed(core, ask());
  t.equal(text, whole.message.content);
  t.same(done, {
    type: 'done',
    usage: whole.usage,
    stopReason: whole.stopReason,
    toolCalls: whole.message.toolCalls,
    providerMetadata: whole.message.providerMetadata,
  });
  t.match(whole, { stopReason: 'tool_use', usage: { inputTokens: 120, outputTokens: 50, totalTokens: 170, cacheReadTokens: 100, reasoningTokens: 30 } });

  const followUp = [...ask().messages, whole.message, { role: 'tool' as const, toolResults: [{ toolCallId: 'call_1', content: '-3 C' }] }];
  await core.chat(ask({ messages: followUp }));
  const request = await upstream.arrived(2);
  t.equal(request.path, '/v1/responses');
  t.match(tryParseJson(request.body), {
    input: [
      { role: 'user' },
      { role: 'assistant', content: 'Grüße 🌧 from Oslo' },
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA-opaque' },
      { type: 'function_call', call_id: 'call_1', arguments: '{"city":"Tromsø"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '-3 C' },
    ],
  });
});

t.test('a compatible server gets Chat Completions, in both forms', async (t) => {
  const { core, upstream } = await bench(t, (request, res) => {
    if (request.body.includes('"stream":true')) return sendInPieces(res, Buffer.from(chunks([chunk({ content: 'Hå' }), chunk({ content: 'p' }, 'stop')])), 5);
    return sendJson(res, { choices: [{ message: { role: 'assistant', content: 'Håp' }, finish_reason: 'stop' }] });
  });
  const whole = await core.chat(ask({ config: { temperature: 0.1 } }));
  t.match(whole, { message: { content: 'Håp' }, stopReason: 'end_turn', usage: { estimated: true }, warnings: [{ field: 'config.temperature' }] });
  t.match(await streamed(core, ask()), { text: 'Håp', done: { stopReason: 'end_turn' } });
  t.equal(upstream.requests[1]?.path, '/v1/chat/completions');
  t.equal(upstream.requests[1]?.headers['authorization'], `Bearer ${KEY}`);
  t.equal(upstream.requests[1]?.headers['accept'], 'text/event-stream');
});

t.test('a server on this machine needs no key and gets no Authorization header', async (t) => {
  const { core, upstream } = await bench(t, (_, res) => sendJson(res, { choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }), {}, {});
  await core.chat(ask());
  t.notOk('authorization' in (upstream.requests[0]?.headers ?? {}));
});

t.test('organization and project go along with the stored key alone', async (t) => {
  const { core, upstream } = await bench(
    t,
    (_, res) => sendJson(res, { choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }),
    { project: ' proj_1 ' },
    { OPENAI_API_KEY: KEY, OPENAI_ORG_ID: 'org_1' },
  );
  await core.chat(ask());
  t.match(upstream.requests[0]?.headers, { 'openai-organization': 'org_1', 'openai-project': 'proj_1' });
  await core.chat(ask({ config: { apiKey: 'sk-of-somebody-else' } }));
  const { headers } = await upstream.arrived(1);
  t.equal(headers['authorization'], 'Bearer sk-of-somebody-else');
  t.notOk('openai-organization' in headers || 'openai-project' in headers);
});

t.test('a server on this machine that is called without a key sees no organization either', async (t) => {
  const { core, upstream } = await bench(
    t,
    (_, res) => sendJson(res, { choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }),
    { project: 'proj_1' },
    { OPENAI_BASE_URL: '', OPENAI_ORG_ID: 'org_1' },
  );
  await core.chat(ask({ config: { baseURL: `${upstream.url}/v1` } }));
  const { headers } = await upstream.arrived(0);
  t.notOk('authorization' in headers || 'openai-organization' in headers || 'openai-project' in headers);
});

t.test('an error status becomes the error of its kind, with no key in its text', async (t) => {
  const { core, upstream } = await bench(t, (_, res) =>
    sendJson(res, { error: { message: `Incorrect API key provided: ${KEY}`, code: 'invalid_api_key' } }, 401),
  );
  for (const attempt of [() => core.chat(ask()), () => streamed(core, ask())])
    await t.rejects(Promise.resolve().then<unknown>(attempt), {
      code: 'UPSTREAM_AUTH',
      upstreamStatus: 401,
      message: 'OpenAI (HTTP 401): Incorrect API key provided: [redacted]',
    });
  t.equal(upstream.requests.length, 2, 'and is not tried again');
});

t.test('gotcha: a spent quota is not tried again, a full minute is', async (t) => {
  const { core, upstream } = await bench(t, (_, res, index) => {
    if (index === 0) return sendJson(res, { error: { message: 'pay', code: 'insufficient_quota' } }, 429);
    if (index === 1) return sendJson(res, { error: { message: 'slow', code: 'rate_limit_exceeded' } }, 429, { 'retry-after-ms': '5' });
    return sendJson(res, { choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] });
  });
  await t.rejects(core.chat(ask()), { code: 'UPSTREAM_RATE_LIMITED', retryable: false });
  t.equal(upstream.requests.length, 1);
  t.match(await core.chat(ask()), { message: { content: 'hi' } });
  t.equal(upstream.requests.length, 3);
});

t.test('an error event after some text is the end of the stream', async (t) => {
  const bytes = Buffer.from(chunks([chunk({ content: 'half' }), { error: { message: 'too long', code: 'context_length_exceeded' } }], ''));
  const { core } = await bench(t, (_, res) => sendInPieces(res, bytes, 1000));
  await t.rejects(streamed(core, ask()), { code: 'UPSTREAM_REJECTED', message: 'OpenAI: too long' });
});

t.test('the model list is curated and needs neither network nor key', async (t) => {
  const core = createCore({ adapters: [createOpenAI()], env: {} });
  const { models } = await core.models('openai');
  t.equal(models[0], 'gpt-6.1-terra');
  t.ok(models.length > 5);
});

t.test('verify asks for the model list and says what that shows', async (t) => {
  const answers: [number, unknown][] = [
    [200, { object: 'list', data: [{ id: 'a' }, { id: 'b' }] }],
    [200, { data: [{ id: 'a' }] }],
    [403, { error: { message: 'You have insufficient permissions for this operation. Missing scopes: api.model.read.' } }],
    [403, { error: { message: 'Country not supported', code: 'unsupported_country_region_territory' } }],
    [401, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }],
  ];
  const { core, upstream } = await bench(t, (_, res, index) => sendJson(res, answers[index]?.[1], answers[index]?.[0]));
  t.match(await core.verify('openai'), { ok: true, detail: /answers; 2 models are listed\.$/ });
  t.match(await core.verify('openai'), { ok: true, detail: /1 model is listed\.$/ });
  t.match(await core.verify('openai'), { ok: true, detail: 'The key is valid, but it is not allowed to list models.' });
  t.match(await core.verify('openai'), { ok: false, detail: 'OpenAI (HTTP 403): Country not supported' });
  t.match(await core.verify('openai'), { ok: false, detail: /HTTP 401/ });
  t.match(upstream.requests[0], { method: 'GET', path: '/v1/models' });
});
