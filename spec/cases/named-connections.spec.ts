// Named connections: what reaches which upstream, with which key, and what never leaves. The numbers are those of the cases in the design.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { framesOf, startServer, type TestServer, type TestServerOptions, until } from '../support/server.ts';
import { type Answerer, type FakeUpstream, sendJson, startUpstream } from '../support/upstream.ts';

const KEY = 'gsk-canary-0123456789abcdef';
const MESSAGES = [{ role: 'user', content: 'hi' }];
const USAGE = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

/** A server of Chat Completions that lists two models. */
const chatServer: Answerer = (request, res) => {
  if (request.method === 'GET') return sendJson(res, { object: 'list', data: [{ id: 'x/y' }, { id: 'z' }] });
  const { model, stream } = JSON.parse(request.body) as { model: string; stream?: boolean };
  if (stream !== true)
    return sendJson(res, { id: 'c', model, choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }], usage: USAGE });
  const chunks = [
    { choices: [{ index: 0, delta: { content: 'Hel' } }] },
    { choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: 'stop' }] },
    { choices: [], usage: USAGE },
  ];
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`);
};

interface Rig extends TestServer {
  /** Writes auth.json as a person does. */
  auth(entries: Record<string, unknown>): Promise<void>;
  chat(adapter: string, model: string, parts?: Record<string, unknown>): ReturnType<TestServer['call']>;
}

/** A server with all adapters, before entries of auth.json. */
async function startWith(t: Test, entries: Record<string, unknown>, options: TestServerOptions = {}): Promise<Rig> {
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0, ...options });
  const auth = async (all: Record<string, unknown>): Promise<void> => {
    writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(all), { mode: 0o600 });
    await delay(210); // the server looks at the file at most five times a second
  };
  await auth(entries);
  const chat = (adapter: string, model: string, parts: Record<string, unknown> = {}) =>
    server.call('POST', '/v1/chat', { body: { adapter, model, messages: MESSAGES, ...parts } });
  return { ...server, auth, chat };
}

const entryOf = ({ url }: FakeUpstream, more: Record<string, unknown> = {}) => ({ adapter: 'openai', baseURL: `${url}/v1`, ...more });
const modelOf = (upstream: FakeUpstream, index = 0) => (JSON.parse(upstream.requests[index]?.body ?? '{}') as { model?: string }).model;

t.test('1: a name is split at its first slash, in every dialect', async (t) => {
  const upstream = await startUpstream(t, chatServer);
  const server = await startWith(t, { gpu: entryOf(upstream, { apiKey: KEY }) });
  for (const [path, body] of [
    ['/v1/chat/completions', { model: 'gpu/x/y', messages: MESSAGES }],
    ['/v1/messages', { model: 'gpu/x/y', max_tokens: 10, messages: MESSAGES }],
    ['/v1/responses', { model: 'gpu/x/y', input: 'hi' }],
    ['/ollama/api/chat', { model: 'gpu/x/y', messages: MESSAGES, stream: false }],
  ] as const) {
    const answer = await server.call('POST', path, { body });
    t.equal(answer.status, 200, `${path} ${answer.text}`);
    t.equal(answer.headers['x-blockhouse-model'], 'gpu/x/y', path);
    t.equal(modelOf(upstream, upstream.requests.length - 1), 'x/y', path);
  }
});

t.test('2: /v1/chat takes the name of a connection, whole and as a stream, and says it', async (t) => {
  const upstream = await startUpstream(t, chatServer);
  const server = await startWith(t, { gpu: entryOf(upstream) });
  const whole = await server.chat('gpu', 'z');
  t.match(whole, { status: 200, json: { provider: 'gpu', model: 'z', message: { content: 'Hello' }, usage: { inputTokens: 12, outputTokens: 5 } } });
  const [start, ...frames] = framesOf((await server.chat('gpu', 'z', { stream: true })).text);
  t.same(start?.data, { provider: 'gpu', model: 'z' });
  t.match(frames.at(-1), { event: 'done', data: { usage: { totalTokens: 17 }, stopReason: 'end_turn' } });
  t.match((await server.call('GET', '/api/gateway/requests')).text, /"gpu"/);
  t.match((await server.call('GET', '/api/costs?source=gateway&by=model')).text, /gpu\/z/);
});

t.test('3: two upstreams of one protocol beside OpenAI get each its own key, from auth.json or its own variable', async (t) => {
  const [one, two, openai] = [await startUpstream(t, chatServer), await startUpstream(t, chatServer), await startUpstream(t, chatServer)];
  const env = { OPENAI_API_KEY: 'sk-of-openai-0123456789', OPENAI_BASE_URL: `${openai.url}/v1`, TWO_KEY: 'key-of-two-0123456789' };
  const server = await startWith(t, { one: entryOf(one, { apiKey: KEY }), two: entryOf(two, { apiKeyEnv: 'TWO_KEY' }) }, { env });
  for (const name of ['one', 'two', 'openai']) t.equal((await server.chat(name, 'z')).status, 200, name);
  const keyAt = (upstream: FakeUpstream) => upstream.requests.map(({ headers }) => headers.authorization);
  t.same(keyAt(one), [`Bearer ${KEY}`]);
  t.same(keyAt(two), ['Bearer key-of-two-0123456789']);
  t.same(keyAt(openai), ['Bearer sk-of-openai-0123456789']);
});

t.test('4: connections are no adapters: the list and the health stay five', async (t) => {
  const upstream = await startUpstream(t, chatServer);
  const server = await startWith(t, { gpu: entryOf(upstream) });
  const five = ['bedrock', 'openai', 'google', 'anthropic', 'ollama'];
  t.same((await server.call('GET', '/v1/health')).json['adapters'], five);
  t.same(
    ((await server.call('GET', '/v1/adapters')).json['adapters'] as { id: string }[]).map(({ id }) => id),
    five,
  );
});

t.test('5: an unknown name is 400 in a body and 404 in a URL', async (t) => {
  const server = await startWith(t, {});
  t.match(await server.chat('gpu', 'z'), { status: 400, json: { code: 'INVALID_REQUEST' } });
  t.match(await server.call('GET', '/v1/adapters/gpu/models'), { status: 404, json: { code: 'ADAPTER_NOT_FOUND' } });
  t.match(await server.call('POST', '/v1/adapters/gpu/verify'), { status: 404 });
  t.match(await server.call('POST', '/v1/chat/completions', { body: { model: 'gpu/z', messages: MESSAGES } }), { status: 404 });
});

t.test("6: an adapter's own entry stays the adapter's, and its aliases are no connections", async (t) => {
  const upstream = await startUpstream(t, chatServer);
  const server = await startWith(t, { google: entryOf(upstream, { apiKey: KEY }), gemini: entryOf(upstream, { apiKey: KEY }) });
  t.equal(server.core.adapterIdOf('gemini'), 'google');
  await server.chat('google', 'gemini-2.5-flash');
  t.match(upstream.requests[0]?.path, /generateContent/, 'it speaks its own protocol, whatever the entry names');
});

t.test('7: an edit by hand serves the next request, and a broken entry hurts only itself', async (t) => {
  const [one, two] = [await startUpstream(t, chatServer), await startUpstream(t, chatServer)];
  const server = await startWith(t, { gpu: entryOf(one), other: entryOf(two) });
  await server.chat('gpu', 'z');
  await server.auth({ gpu: entryOf(two), other: entryOf(one) });
  await server.chat('gpu', 'z');
  t.same([one.requests.length, two.requests.length], [1, 1]);
  for (const [broken, told] of [
    [{ ...entryOf(one), limits: { inFlight: 0 } }, /gpu\.limits\.inFlight must be >= 1/],
    [{ ...entryOf(one), adapter: 'opnai' }, /gpu\.adapter must be one of bedrock, openai/],
    [{ adapter: 'bedrock', region: 'eu-west-1', auth: 'none' }, /gpu needs a key/],
    [{ preset: 'grok' }, /gpu\.preset is none that is known/],
    ['text', /The entry gpu of .*auth\.json can't be used: it must be an object\. Repair it, or remove it: `blockhouse auth rm gpu`\./],
    [{ ...entryOf(one), apiKey: KEY, keys: [{ apiKey: KEY }] }, /The entry gpu of .*auth\.json can't be used: gpu\.keys can't stand beside apiKey/],
    [{ ...entryOf(one), baseURL: 'nowhere' }, /baseURL must be an absolute http or https URL/],
  ] as const) {
    await server.auth({ gpu: broken, other: entryOf(two) });
    const refused = await server.chat('gpu', 'z');
    t.match(refused, { status: 503, json: { code: 'ADAPTER_NOT_CONFIGURED', error: told } }, JSON.stringify(refused.json));
    t.notMatch(refused.text, KEY);
    t.equal((await server.chat('other', 'z')).status, 200);
  }
  await server.auth({ other: entryOf(two) });
  t.equal((await server.chat('gpu', 'z')).status, 400, 'and an entry that is removed is no connection any more');
});

t.test('8: /v1/models asks each server for its list, in either form, and leaves out what is dead', async (t) => {
  const object = await startUpstream(t, chatServer);
  const array = await startUpstream(t, (_request, res) => sendJson(res, [{ id: 'a', context_length: 4096 }, { id: 'b' }]));
  const dead = await startUpstream(t, () => undefined);
  const entries = {
    one: entryOf(object, { offer: ['x*', 'mine'], models: { mine: {} } }),
    two: entryOf(array),
    three: entryOf(dead),
    four: { preset: 'groq' },
  };
  const server = await startWith(t, entries);
  const ids = async () => ((await server.call('GET', '/v1/models')).json['data'] as { id: string }[]).map(({ id }) => id);
  t.same(await ids(), ['one/x/y', 'one/mine', 'two/a', 'two/b']);
  await ids();
  t.same([object.requests.length, array.requests.length, dead.requests.length], [1, 1, 1], 'once for all who ask');
  t.match(await server.call('GET', '/v1/adapters/two/models'), { status: 200, json: { provider: 'two', models: ['a', 'b'], count: 2 } });
  t.match(await server.call('POST', '/v1/adapters/two/verify'), { status: 200, json: { provider: 'two', ok: true, detail: /2 models are listed/ } });
  t.equal(await server.core.contextLength('two', 'a'), 4096, 'the list says how much a model can read');
});

t.test('9: a block answers by a connection, and may not set its address', async (t) => {
  const upstream = await startUpstream(t, chatServer);
  const server = await startWith(t, { gpu: entryOf(upstream) });
  await server.call('POST', '/api/blocks', { body: { name: 'helper' } });
  const put = (adapter: object) => server.call('PUT', '/api/blocks/helper/config', { body: { adapter, fallbacks: [{ provider: 'gpu', model: 'z' }] } });
  t.match(await put({ provider: 'gpu', model: 'z', baseURL: upstream.url }), {
    status: 400,
    json: { error: /adapter\.baseURL can't be set for the connection gpu/ },
  });
  t.equal((await put({ provider: 'gpu', model: 'z' })).status, 200);
  await server.call('POST', '/api/blocks/helper/start');
  const asked = await server.call('POST', '/api/blocks/helper/chat?wait=10', { body: { message: 'hi' } });
  t.match(asked.text, /Hello/);
});

t.test('10: a request that names an address for a connection is refused, and nothing is sent', async (t) => {
  const [upstream, evil] = [await startUpstream(t, chatServer), await startUpstream(t, chatServer)];
  const server = await startWith(t, { gpu: entryOf(upstream, { apiKey: KEY }) }, { allowedOrigins: new Set([evil.url]) });
  for (const config of [{ baseURL: evil.url }, { baseURL: evil.url, apiKey: 'own-key-0123456789' }]) {
    t.match(await server.chat('gpu', 'z', { config }), {
      status: 400,
      json: { code: 'INVALID_REQUEST', error: /config\.baseURL can't be set for the connection gpu/ },
    });
    t.equal((await server.call('POST', '/v1/adapters/gpu/verify', { body: { config } })).status, 400);
  }
  t.same([upstream.requests.length, evil.requests.length], [0, 0]);
});

t.test("11: the variables of the adapter are never a connection's", async (t) => {
  const upstream = await startUpstream(t, chatServer);
  const env = {
    OPENAI_API_KEY: KEY,
    OPENAI_ORG_ID: 'org-canary',
    OPENAI_PROJECT_ID: 'proj-canary',
    OPENAI_BASE_URL: 'http://127.0.0.1:1',
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_AUTH_TOKEN: KEY,
  };
  const entries = {
    gpu: entryOf(upstream),
    claude: entryOf(upstream, { adapter: 'anthropic' }),
    far: { adapter: 'openai', baseURL: 'https://far.example/v1' },
    few: { adapter: 'openai', baseURL: 'https://far.example/v1', keys: [{ apiKeyEnv: 'FEW_A' }, { apiKeyEnv: 'FEW_B' }] },
  };
  const server = await startWith(t, entries, { env });
  t.equal((await server.chat('gpu', 'z')).status, 200);
  await server.chat('claude', 'z');
  t.equal(upstream.requests.length, 2);
  for (const { headers } of upstream.requests) t.notMatch(JSON.stringify(headers), /canary/);
  t.match(await server.chat('far', 'z'), { status: 503, json: { error: /far needs a key: set far\.apiKey in auth\.json/ } });
  const few = 'few needs a key: set FEW_A or FEW_B, or add one to few.keys in auth.json (`blockhouse auth set few --add`).';
  t.match(await server.chat('few', 'z'), { status: 503, json: { error: few } });
});

t.test('12: a variable alone makes no connection, and a name in BLOCKHOUSE_CONNECTIONS or an empty entry does', async (t) => {
  const env = { GROQ_API_KEY: KEY, MISTRAL_API_KEY: KEY };
  const server = await startWith(t, { mistral: {} }, { env, connections: ['openrouter'] });
  t.equal(server.core.adapterIdOf('groq'), undefined);
  t.equal((await server.chat('groq', 'z')).status, 400);
  t.equal(server.core.adapterIdOf('mistral'), 'mistral');
  t.match(await server.chat('openrouter', 'z'), {
    status: 503,
    json: { error: /openrouter needs a key: set OPENROUTER_API_KEY, or openrouter\.apiKey in auth\.json/ },
  });
});

t.test('13: no key and no value of a header is in any answer, error, list or log, even if the upstream repeats them', async (t) => {
  const upstream = await startUpstream(t, (request, res) => {
    const echo = `no: ${request.headers.authorization} ${String(request.headers['x-team'])}`;
    sendJson(res, { error: { message: echo, type: 'invalid_request_error' } }, 400, { 'x-request-id': echo });
  });
  const several = [
    { label: 'a', apiKey: KEY },
    { label: 'b', apiKey: 'key-second-canary-0123456' },
  ];
  const headers = { 'X-Team': 'header-canary-0123456789' };
  const server = await startWith(t, {
    gpu: entryOf(upstream, { keys: several, headers }),
    claude: entryOf(upstream, { adapter: 'anthropic', apiKey: KEY, headers }),
  });
  const seen: string[] = [];
  for (const [method, path, body] of [
    ['POST', '/v1/chat', { adapter: 'gpu', model: 'z', messages: MESSAGES }],
    ['POST', '/v1/chat', { adapter: 'claude', model: 'z', messages: MESSAGES, stream: true }],
    ['POST', '/v1/chat/completions', { model: 'gpu/z', messages: MESSAGES }],
    ['POST', '/v1/messages', { model: 'claude/z', max_tokens: 5, messages: MESSAGES }],
    ['POST', '/v1/adapters/gpu/verify', {}],
    ['GET', '/v1/adapters/gpu/models', undefined],
    ['GET', '/v1/models', undefined],
    ['GET', '/api/settings', undefined],
    ['GET', '/api/credentials', undefined],
    ['GET', '/api/doctor', undefined],
  ] as const) {
    const answer = await server.call(method, path, { ...(body !== undefined && { body }) });
    seen.push(`${path} ${JSON.stringify(answer.headers)} ${answer.text}`);
  }
  t.match(upstream.requests[0]?.headers, { authorization: /^Bearer .*canary/, 'x-team': 'header-canary-0123456789' });
  for (const text of [...seen, JSON.stringify(server.log)]) t.notMatch(text, /canary/, text.slice(0, 300));
});

t.test('14: the headers of an entry arrive, also on the native lane; those that this server sets are refused', async (t) => {
  const upstream = await startUpstream(t, chatServer);
  const server = await startWith(t, { gpu: entryOf(upstream, { apiKey: KEY, keyHeader: 'api-key', headers: { 'x-team': 'search', 'OpenAI-Beta': 'own' } }) });
  await server.chat('gpu', 'z');
  await server.call('POST', '/v1/chat/completions', { body: { model: 'gpu/z', messages: MESSAGES }, headers: { 'openai-beta': "the client's" } });
  for (const { headers } of upstream.requests) {
    t.match(headers, { 'x-team': 'search', 'openai-beta': 'own', 'api-key': KEY });
    t.equal(headers.authorization, undefined);
  }
  await server.chat('gpu', 'z', { config: { apiKey: 'own-key-0123456789' } });
  t.equal(upstream.requests[2]?.headers['x-team'], undefined, 'a request with its own key has no part in the headers of the entry');
  t.equal(upstream.requests[2]?.headers.authorization, 'Bearer own-key-0123456789');
  for (const name of ['Authorization', 'host', 'Content-Length', 'cookie', 'proxy-authorization', 'X-Blockhouse-Hop', 'te', 'a b', 'x\n']) {
    await server.auth({ gpu: entryOf(upstream, { headers: { [name]: 'x' } }) });
    t.match(await server.chat('gpu', 'z'), { status: 503, json: { error: /gpu\.headers/ } }, name);
  }
});

t.test('15: a redirect is not followed, and the key goes to no other port of loopback', async (t) => {
  const other = await startUpstream(t, chatServer);
  const upstream = await startUpstream(t, (_request, res) => void res.writeHead(307, { location: `${other.url}/v1/chat/completions` }).end());
  const server = await startWith(t, { gpu: entryOf(upstream, { apiKey: KEY }) }, { allowedOrigins: new Set([other.url]) });
  t.match(await server.chat('gpu', 'z'), { status: 502, json: { error: /redirects are not followed/ } });
  t.equal(other.requests.length, 0);
});

t.test('16: a program that prints a key is run only for an entry that was written by hand', async (t) => {
  const upstream = await startUpstream(t, (request, res) => {
    if (request.headers.authorization === 'Bearer key-2-canary') return chatServer(request, res, 0);
    sendJson(res, { error: { message: 'expired', code: 'invalid_api_key' } }, 401);
  });
  const count = join(t.testdir({}), 'count');
  const program = `const f=require('fs');const n=(f.existsSync(process.argv[1])?Number(f.readFileSync(process.argv[1])):0)+1;f.writeFileSync(process.argv[1],String(n));console.log('key-'+n+'-canary')`;
  const server = await startWith(t, { gpu: entryOf(upstream, { keyCommand: [process.execPath, '-e', program, count] }) });
  const refused = await server.chat('gpu', 'z');
  t.match(refused, { status: 502, json: { code: 'UPSTREAM_AUTH' } });
  t.notMatch(refused.text, /canary/);
  const answers = await Promise.all([server.chat('gpu', 'z'), server.chat('gpu', 'z')]);
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
    'one refusal runs it again',
  );
  t.equal((await server.call('GET', '/v1/adapters/gpu/models')).status, 200);
  t.equal(readFileSync(count, 'utf8'), '2', 'and then the key is kept');
  for (const argv of [['/nowhere/at/all'], [process.execPath, '-e', "console.log('')"], [process.execPath, '-e', "console.error('canary');process.exit(3)"]]) {
    await server.auth({ gpu: entryOf(upstream, { keyCommand: argv }) });
    const failed = await server.chat('gpu', 'z');
    t.match(failed, { status: 503, json: { error: /The keyCommand of gpu in auth\.json/ } });
    t.notMatch(failed.text, /canary/);
  }
});

t.test('a call that waits for the program of a key is not sent once its client may no longer make it', async (t) => {
  const upstream = await startUpstream(t, chatServer);
  const marks = t.testdir({});
  const program = `const f=require('fs');f.writeFileSync(process.argv[1]+'/begun','');setInterval(()=>{if(f.existsSync(process.argv[1]+'/go')){console.log('key-of-a-program');process.exit()}},5)`;
  for (const [change, status, of] of [
    [(server: TestServer) => server.call('DELETE', '/api/keys/app'), 403, {}],
    [(server: TestServer) => server.call('PATCH', '/api/keys/app', { body: { models: ['other/*'] } }), 403, {}],
    [(server: TestServer) => server.call('PATCH', '/api/keys/app', { body: { tokensPerDay: 0 } }), 429, { tokensPerDay: 1000 }],
  ] as const) {
    for (const name of ['begun', 'go']) rmSync(join(marks, name), { force: true });
    const server = await startWith(t, { gpu: entryOf(upstream, { keyCommand: [process.execPath, '-e', program, marks] }) });
    const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', ...of } })).json;
    const before = upstream.requests.length;
    const body = { model: 'gpu/z', messages: MESSAGES };
    const waiting = server.call('POST', '/v1/chat/completions', { token: false, headers: { authorization: `Bearer ${key}` }, body });
    await until(() => existsSync(join(marks, 'begun')), 'the program runs');
    t.equal((await change(server)).status, 200);
    writeFileSync(join(marks, 'go'), '');
    t.equal((await waiting).status, status);
    t.equal(upstream.requests.length, before);
  }
});

t.test('what the API may change of an entry, and what only a person at the file', async (t) => {
  const [upstream, evil] = [await startUpstream(t, chatServer), await startUpstream(t, chatServer)];
  const stored = entryOf(upstream, { apiKey: KEY, headers: { 'x-team': 'canary' } });
  const aws = { adapter: 'bedrock', apiKey: KEY, region: 'eu-west-1' };
  const server = await startWith(
    t,
    { gpu: stored, groq: {}, own: entryOf(upstream, { keyCommand: ['/bin/true'] }), aws, bedrock: { keys: [{ apiKey: KEY }] } },
    { env: { GROQ_API_KEY: KEY, OPENAI_API_KEY: KEY } },
  );
  const put = async (name: string, fields: Record<string, unknown>) => void (await server.core.credentials?.update(name, fields));
  const to = { baseURL: `${evil.url}/v1` };
  for (const [name, fields, path] of [
    ['gpu', to, 'apiKey'],
    ['gpu', { ...to, apiKey: 'own-key-0123456789' }, 'headers'],
    ['gpu', { adapter: 'anthropic' }, 'apiKey'],
    ['groq', to, 'baseURL'],
    ['groq', { ...to, apiKeyEnv: 'HOME' }, 'apiKeyEnv'],
    ['new', { adapter: 'openai', ...to, apiKeyEnv: 'OPENAI_API_KEY' }, 'apiKeyEnv'],
    ['new', { adapter: 'openai', ...to, keys: [{ apiKeyEnv: 'OPENAI_API_KEY' }] }, 'baseURL'],
    ['new', { adapter: 'openai', ...to, keyCommand: ['/bin/sh'] }, 'keyCommand'],
    ['own', to, 'baseURL'],
    ['new', { ...to }, 'adapter'],
    ['new', { preset: 'nowhere' }, 'preset'],
    ['new', { preset: 'groq', baseUrl: evil.url }, ''],
    ['gemini', { apiKey: 'x' }, 'name'],
    ['New', { preset: 'groq' }, 'name'],
    ['gpu', { headers: { authorization: 'x' } }, 'headers.authorization'],
    ['gpu', { limits: { inFlight: -1 } }, 'limits.inFlight'],
    ['gpu', { baseURL: 'file:///etc/passwd', apiKey: 'k', headers: null }, 'baseURL'],
    ['gpu', { quirks: { list: '/../../other-tenant/models' } }, 'quirks.list'], // the key goes to no other path of a shared host
    ['aws', { endpoint: evil.url }, 'apiKey'],
    ['aws', { controlEndpoint: evil.url }, 'apiKey'],
    ['aws', { endpoint: 'file:///etc/passwd', apiKey: 'k' }, 'endpoint'],
    ['bedrock', { endpoint: evil.url }, 'keys'],
    ['new', { adapter: 'bedrock', endpoint: evil.url, apiKeyEnv: 'OPENAI_API_KEY' }, 'apiKeyEnv'],
    ['new', { adapter: 'bedrock', controlEndpoint: evil.url, keys: [{ apiKeyEnv: 'OPENAI_API_KEY' }] }, 'controlEndpoint'],
    ['new', { preset: 'vllm', apiKeyEnv: 'OPENAI_API_KEY' }, 'apiKeyEnv'], // any program of this machine may listen there
    ['new', { adapter: 'ollama', keys: [{ apiKeyEnv: 'OPENAI_API_KEY' }] }, 'keys'],
  ] as const)
    await t.rejects(put(name, fields), { code: 'INVALID_REQUEST', details: [{ path }] }, `${name} ${JSON.stringify(fields)}`);
  t.same(JSON.parse(readFileSync(join(server.workspace, 'auth.json'), 'utf8')).gpu, stored, 'and nothing was written');
  await put('groq', { ...to, auth: 'none' });
  await t.rejects(put('groq', { auth: null }), { code: 'INVALID_REQUEST', details: [{ path: 'baseURL' }] }, 'and in no two steps either');
  await put('groq', { apiKey: 'own-key-0123456789', auth: null });
  await t.rejects(put('groq', { apiKey: null }), { code: 'INVALID_REQUEST', details: [{ path: 'baseURL' }] });
  await t.rejects(put('groq', { apiKey: null, apiKeyEnv: 'HOME' }), { code: 'INVALID_REQUEST', details: [{ path: 'apiKeyEnv' }] });
  await put('gpu', { ...to, apiKey: 'own-key-0123456789', headers: null, limits: { inFlight: 2 } });
  await put('groq-eu', { preset: 'groq', apiKeyEnv: 'GROQ_EU_KEY' });
  await put('studio', { preset: 'lmstudio', apiKeyEnv: 'LMSTUDIO_API_KEY' });
  await put('aws', { region: 'eu-central-1' });
  await put('aws', { endpoint: evil.url, apiKey: 'own-key-0123456789' });
  await server.chat('gpu', 'z');
  t.equal(evil.requests[0]?.headers.authorization, 'Bearer own-key-0123456789');
  t.equal(server.core.load('gpu').limits.concurrency, 2, 'and its limits hold');
});

/** A connection with these fields before a recording upstream. */
async function gpuWith(t: Test, entry: Record<string, unknown>, answer: Answerer = chatServer) {
  const upstream = await startUpstream(t, answer);
  const server = await startWith(t, { gpu: entryOf(upstream, entry) });
  const sent = () => JSON.parse(upstream.requests.at(-1)?.body ?? '{}') as Record<string, unknown>;
  const native = (body: object, stream = false) =>
    server.call('POST', '/v1/chat/completions', { body: { model: 'gpu/z', messages: MESSAGES, ...body, ...(stream && { stream }) } });
  return { ...server, upstream, sent, native };
}

const frames =
  (...chunks: object[]): Answerer =>
  (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`);
  };
const quirksOf = (preset: string) => ({
  quirks:
    createAdapters()
      .flatMap(({ presets = {} }) => Object.entries(presets))
      .find(([name]) => name === preset)?.[1].quirks ?? {},
});

t.test('17: mistral: max_tokens, no stream_options, any for required, ids of nine; the usage is counted', async (t) => {
  const tools = [{ name: 'f', parameters: { type: 'object', properties: {} } }];
  const last = { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }], usage: USAGE };
  const gpu = await gpuWith(t, quirksOf('mistral'), frames(last));
  const history = [
    ...MESSAGES,
    { role: 'assistant', content: '', toolCalls: [{ id: 'call_of_another_server', name: 'f', arguments: {} }] },
    { role: 'tool', toolResults: [{ toolCallId: 'call_of_another_server', content: 'r' }] },
  ];
  const answer = await gpu.chat('gpu', 'z', { stream: true, tools, toolChoice: 'required', messages: history, config: { maxTokens: 7, seed: 1 } });
  t.match(framesOf(answer.text).at(-1)?.data, { usage: { inputTokens: 12, outputTokens: 5 }, warnings: [{ field: 'config.seed' }] });
  const sent = gpu.sent();
  t.match(sent, {
    max_tokens: 7,
    tool_choice: 'any',
    stream: true,
    messages: [{}, { tool_calls: [{ id: /^[a-z0-9]{9}$/i }] }, { tool_call_id: /^[a-z0-9]{9}$/i }],
  });
  t.same([sent['stream_options'], sent['max_completion_tokens'], sent['seed']], [undefined, undefined, undefined]);
  const native = await gpu.native({ max_completion_tokens: 9, store: true, tool_choice: 'required' }, true);
  t.equal(native.status, 200);
  t.equal(native.headers['x-blockhouse-warnings'], 'store');
  t.same(gpu.sent(), { model: 'z', messages: MESSAGES, max_tokens: 9, tool_choice: 'any', stream: true });
  t.match((await gpu.call('GET', '/api/costs?source=gateway&by=model')).text, /"input":24/, 'both calls are counted');
});

t.test('18: deepseek: hits are counted, and reasoning goes back with every message of the assistant', async (t) => {
  const usage = { ...USAGE, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 4 };
  const gpu = await gpuWith(t, quirksOf('deepseek'), (_request, res) =>
    sendJson(res, { choices: [{ index: 0, message: { role: 'assistant', content: 'a', reasoning_content: 'because' }, finish_reason: 'stop' }], usage }),
  );
  t.match((await gpu.chat('gpu', 'z', { config: { reasoning: { effort: 'high' } } })).json, { usage: { inputTokens: 12, cacheReadTokens: 8 } });
  t.match(gpu.sent(), { thinking: { type: 'enabled' }, reasoning_effort: 'high' });
  const messages = [
    ...MESSAGES,
    { role: 'assistant', content: 'a', reasoning_content: 'because' },
    ...MESSAGES,
    { role: 'assistant', content: 'b' },
    ...MESSAGES,
  ];
  t.match((await gpu.native({ messages })).json, { choices: [{ message: { reasoning_content: 'because' } }] });
  t.match(gpu.sent(), { messages: [{}, { content: 'a', reasoning_content: 'because' }, {}, { content: 'b', reasoning_content: '' }, {}] });
  const complete = messages.map((message) => (message.role === 'assistant' ? { ...message, reasoning_content: 'r' } : message));
  await gpu.native({ messages: complete });
  t.match(gpu.upstream.requests.at(-1)?.body, /^\{"model":"z","messages":/, 'a request that has it passes in its own bytes');
});

t.test('19: groq: logprobs are left out with a warning, and the usage in x_groq is read', async (t) => {
  const first = { choices: [{ index: 0, delta: { content: 'x' } }] };
  const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { id: 'r', usage: USAGE } };
  const gpu = await gpuWith(t, quirksOf('groq'), frames(first, last));
  const streamed = await gpu.chat('gpu', 'z', { stream: true, config: { logprobs: true, topLogprobs: 2, seed: 1 } });
  t.match(framesOf(streamed.text).at(-1)?.data, {
    usage: { inputTokens: 12, outputTokens: 5 },
    warnings: [{ field: 'config.logprobs' }, { field: 'config.topLogprobs' }],
  });
  t.same([gpu.sent()['logprobs'], gpu.sent()['top_logprobs'], gpu.sent()['seed']], [undefined, undefined, 1]);
  const native = await gpu.native({ logprobs: true }, true);
  t.match(native.headers['x-blockhouse-warnings'], 'logprobs');
  t.equal(gpu.sent()['logprobs'], undefined);
  t.match((await gpu.call('GET', '/api/costs?source=gateway&by=model')).text, /"input":24/);
});

t.test('20: on the native lane, all bytes but those of the edits are those of the client', async (t) => {
  const gpu = await gpuWith(t, { quirks: { drop: ['seed'], maxTokensField: 'max_tokens' } });
  const text = `{ "seed":5 ,"messages":[ {"role":"user", "content":"h\\u00e9 \ud83d\ude00"} ],\n "max_completion_tokens" : 9,"model":"gpu/z", "x":1.50 }`;
  await gpu.call('POST', '/v1/chat/completions', { body: text });
  const wanted = text.replace('"seed":5 ,', '').replace('max_completion_tokens', 'max_tokens').replace('gpu/z', 'z');
  t.equal(gpu.upstream.requests[0]?.body, wanted);
  const plain = await gpuWith(t, {});
  await plain.call('POST', '/v1/chat/completions', { body: text });
  t.equal(plain.upstream.requests[0]?.body, text.replace('gpu/z', 'z'), 'without quirks, only the model');
});

t.test('21: the cost that the provider tells is the cost, whole, as a stream and on the native lane', async (t) => {
  const usage = { ...USAGE, cost: 0.0123 };
  const answer: Answerer = (request, res, index) => {
    const choice = { index: 0, finish_reason: 'stop' };
    if (JSON.parse(request.body).stream === true)
      return frames({ choices: [{ ...choice, delta: { content: 'x' } }] }, { choices: [], usage })(request, res, index);
    sendJson(res, { choices: [{ ...choice, message: { role: 'assistant', content: 'x' } }], usage });
  };
  const gpu = await gpuWith(t, { quirks: { costField: 'usage.cost' }, models: { z: { price: { input: 1000, output: 1000 } } } }, answer);
  t.match((await gpu.chat('gpu', 'z')).json, { usage: { costUsd: 0.0123 } });
  await gpu.chat('gpu', 'z', { stream: true });
  await gpu.native({});
  await gpu.native({}, true);
  t.match((await gpu.core.accounts?.costs('model'))?.rows, [{ costUsd: 0.0492 }]);
  for (const cost of [-1, 'free', null, Number.MAX_VALUE * 10]) {
    const odd = await gpuWith(t, { quirks: { costField: 'usage.cost' }, models: { z: { price: 0 } } }, (_request, res) =>
      sendJson(res, { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }], usage: { ...USAGE, cost } }),
    );
    t.equal(((await odd.chat('gpu', 'z')).json['usage'] as { costUsd?: number }).costUsd, undefined, String(cost));
  }
});

type Ask = readonly [path: string, body: object];

/** What a key with a cap of a dollar that refuses unknown prices gets for such requests, one after the other, at OpenRouter's preset. */
async function toldTo(t: Test, entry: Record<string, unknown>, answer: Answerer, ...asked: readonly Ask[]) {
  const upstream = await startUpstream(t, (request, ...rest) => (request.method === 'GET' ? chatServer : answer)(request, ...rest));
  const server = await startWith(t, { openrouter: { baseURL: `${upstream.url}/v1`, apiKey: KEY, ...entry } });
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', usdPerDay: 1, unpriced: 'refuse' } })).json;
  const ask = async (bearer: unknown, [path, body]: Ask): Promise<number> => {
    const headers = { authorization: `Bearer ${String(bearer)}` };
    const { status } = await server.call('POST', path, { body: { model: 'openrouter/x/new', ...body }, headers });
    await server.call('GET', '/api/costs?source=gateway'); // after every call is priced
    return status;
  };
  const statuses: number[] = [];
  for (const one of asked) statuses.push(await ask(key, one));
  return { statuses, spent: await server.core.accounts?.spentToday('app'), server, ask, key };
}

t.test('the cost that the provider tells is counted for a key that refuses unknown prices, on every route', async (t) => {
  const told = { ...USAGE, input_tokens: 12, output_tokens: 5, cost: 0.3 };
  const output = [{ type: 'message', content: [{ type: 'output_text', text: 'x' }] }];
  const response = { object: 'response', status: 'completed', output, usage: told };
  const answer: Answerer = (request, res, index) => {
    if (request.path.endsWith('/embeddings')) return sendJson(res, { data: [{ index: 0, embedding: [1] }], usage: told });
    if (JSON.parse(request.body).stream === true) return frames({ type: 'response.completed', response })(request, res, index);
    sendJson(res, response);
  };
  const embed = ['/v1/embeddings', { input: 'hi' }] as Ask;
  t.match(await toldTo(t, {}, answer, embed, embed, embed, embed, embed), { statuses: [200, 200, 200, 200, 429], spent: { usd: 1.2, unpricedCalls: 0 } });
  const responses = ['/v1/responses', { input: 'hi' }] as Ask;
  const streamed = ['/v1/responses', { input: 'hi', stream: true }] as Ask;
  const chat = ['/v1/chat', { adapter: 'openrouter', model: 'x/new', messages: MESSAGES }] as Ask;
  const chatted = ['/v1/chat', { adapter: 'openrouter', model: 'x/new', messages: MESSAGES, stream: true }] as Ask;
  t.match(await toldTo(t, { api: 'responses' }, answer, responses, streamed, chat, chatted, chat), {
    statuses: [200, 200, 200, 200, 429],
    spent: { usd: 1.2, unpricedCalls: 0 },
  });
  const messages = ['/v1/messages', { max_tokens: 5, messages: MESSAGES }] as Ask;
  t.match(await toldTo(t, { adapter: 'anthropic' }, answer, messages), { statuses: [403], spent: { calls: 0 } }, 'nobody reads it there');
});

t.test('with the own key of an account, the cost is the bill of its provider, too', async (t) => {
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }];
  const usage = { ...USAGE, cost: 0.1, is_byok: true, cost_details: { upstream_inference_cost: 0.6 } };
  const ask = ['/v1/chat/completions', { messages: MESSAGES }] as Ask;
  t.match(await toldTo(t, {}, (_request, res) => sendJson(res, { choices, usage }), ask, ask, ask), { statuses: [200, 200, 429], spent: { usd: 1.4 } });
  const other = { ...usage, is_byok: false };
  t.match(await toldTo(t, {}, (_request, res) => sendJson(res, { choices, usage: other }), ask), { statuses: [200], spent: { usd: 0.1 } });
  const untold = { ...USAGE, cost: 0, is_byok: true };
  t.match(await toldTo(t, {}, (_request, res) => sendJson(res, { choices, usage: untold }), ask, ask), { statuses: [200, 403], spent: { calls: 1 } });
});

t.test('an answer without its bill costs as much as others of its model, and is the only one where there was none', async (t) => {
  const whole = { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }], usage: { ...USAGE, cost: 0.17 } };
  const answer: Answerer = (request, res) => {
    if (JSON.parse(request.body).stream !== true) return sendJson(res, whole);
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'text '.repeat(80) } }] })}\n\n`, () => res.destroy());
  };
  const broken = ['/v1/chat/completions', { messages: MESSAGES, stream: true }] as Ask;
  const complete = ['/v1/chat/completions', { messages: MESSAGES }] as Ask;
  const first = await toldTo(t, {}, answer, broken, broken, complete);
  t.match(first, { statuses: [200, 403, 403], spent: { calls: 1 } });
  const shouted = ['/v1/chat/completions', { messages: MESSAGES, stream: true, model: 'openrouter/X/NEW' }] as Ask;
  t.equal(await first.ask(first.key, shouted), 403, 'in other letters, too');
  const other = (await first.server.call('POST', '/api/keys', { body: { name: 'other', usdPerDay: 1, unpriced: 'refuse' } })).json['key'];
  t.equal(await first.ask(other, complete), 200, 'another key is not shut out');
  t.equal(await first.ask(first.key, complete), 200, 'nor is the first one, now that there is a bill');
  const { statuses, spent } = await toldTo(t, {}, answer, complete, shouted, broken);
  t.same(statuses, [200, 200, 429]);
  t.ok((spent?.usd ?? 0) > 1.17, `${spent?.usd}`);
});

t.test('an empty answer that cost nothing does not make further ones free that have no bill', async (t) => {
  const choices = (content: string) => [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
  let asked = 0;
  const answer: Answerer = (_request, res) => {
    asked += 1;
    sendJson(
      res,
      asked === 1
        ? { choices: choices(''), usage: { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5, cost: 0 } }
        : { choices: choices('x'), usage: USAGE },
    );
  };
  const ask = ['/v1/chat/completions', { messages: MESSAGES }] as Ask;
  t.match(await toldTo(t, {}, answer, ask, ask, ask, ask), { statuses: [200, 200, 403, 403] });
});

t.test('names that a server takes for a model are no way to ever further answers without a bill', async (t) => {
  const answers: (() => void)[] = [];
  const whole = { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }], usage: USAGE };
  const { ask, key, spent } = await toldTo(t, {}, (_request, res) => void answers.push(() => sendJson(res, whole)));
  const named = (model: string) => ask(key, ['/v1/chat/completions', { messages: MESSAGES, model: `openrouter/${model}` }]);
  const burst = Array.from({ length: 9 }, (_, index) => named(`new-${index}`));
  await until(() => answers.length === 4, 'four are asked');
  for (const end of answers) end();
  t.same((await Promise.all(burst)).sort(), [200, 200, 200, 200, 403, 403, 403, 403, 403]);
  t.same(await Promise.all(['models/models/new-0', 'new-0%20', 'ｎew-0', 'new-0:nitro'].map(named)), [403, 403, 403, 403]);
  t.equal(answers.length, 4);
  t.match(spent, { usd: 0 });
});

t.test('until the first bill of a model has come, the calls of a key that refuses unknown prices are made one after the other', async (t) => {
  const whole = { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }], usage: { ...USAGE, cost: 0.0001 } };
  const answers: (() => void)[] = [];
  const answer: Answerer = (_request, res) => void answers.push(() => sendJson(res, whole));
  const { server, ask, key } = await toldTo(t, {}, answer);
  const burst = Array.from({ length: 5 }, () => ask(key, ['/v1/chat/completions', { messages: MESSAGES }]));
  await until(() => answers.length === 1, 'the first is asked');
  const others = ask(key, ['/v1/chat/completions', { messages: MESSAGES, model: 'openrouter/another' }]);
  await until(() => answers.length === 2, 'the other model is asked');
  answers[1]?.();
  t.equal(await others, 200, 'another model is asked meanwhile');
  t.equal(answers.length, 2);
  answers[0]?.();
  await until(() => answers.length === 6, 'all are asked');
  for (const end of answers.slice(2)) end();
  t.same(await Promise.all(burst), [200, 200, 200, 200, 200]);
  t.match(await server.core.accounts?.spentToday('app'), { calls: 6, unpricedCalls: 0 });

  const cuts: (() => void)[] = [];
  const cut = await toldTo(t, {}, (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'text '.repeat(80) } }] })}\n\n`, () => void cuts.push(() => res.destroy()));
  });
  const streams = Array.from({ length: 5 }, () => cut.ask(cut.key, ['/v1/chat/completions', { messages: MESSAGES, stream: true }]));
  await until(() => cuts.length === 1, 'the first is asked');
  cuts[0]?.();
  t.same((await Promise.all(streams)).sort(), [200, 403, 403, 403, 403], 'and one without a bill is the only one');
});

t.test('the cap of a block counts an answer without its bill as the dearest one of its model, too', async (t) => {
  const told = { choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }], usage: { ...USAGE, cost: 0.17 } };
  let asked = 0;
  const { server } = await toldTo(t, {}, (_request, res) => {
    asked += 1;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    if (asked === 1) res.end(`data: ${JSON.stringify(told)}\n\ndata: [DONE]\n\n`);
    else res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'text '.repeat(80) } }] })}\n\n`, () => res.destroy());
  });
  await server.call('POST', '/api/blocks', { body: { name: 'helper' } });
  const config = { adapter: { provider: 'openrouter', model: 'x/new' }, budget: { dailyUsd: 1 }, retry: { maxAttempts: 1 } };
  await server.call('PUT', '/api/blocks/helper/config', { body: config });
  await server.call('POST', '/api/blocks/helper/start');
  for (const message of ['one', 'two']) await server.call('POST', '/api/blocks/helper/chat?wait=10', { body: { message } });
  const lines = readFileSync(join(server.workspace, 'ledger.jsonl'), 'utf8').trim().split('\n');
  const costs = lines.map((line) => JSON.parse(line).costUsd);
  t.equal(costs[0], 0.17);
  t.ok(costs[1] > 0.83, `${costs[1]}`);
});

t.test('22: a picture for a model that takes none is refused before the call, on every lane', async (t) => {
  const gpu = await gpuWith(t, { models: { z: { images: false } } });
  const png = { type: 'image', mediaType: 'image/png', data: 'aGk=' };
  t.match(await gpu.chat('gpu', 'z', { messages: [{ role: 'user', content: [png] }] }), {
    status: 400,
    json: { error: /messages\[0\]\.content\[0\] is of type image, which z on gpu does not support/ },
  });
  const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
  t.match(await gpu.native({ messages: [{ role: 'user', content: [url] }] }), { status: 400 });
  t.equal(gpu.upstream.requests.length, 0);
  t.equal((await gpu.chat('gpu', 'other', { messages: [{ role: 'user', content: [png] }] })).status, 200);
});

t.test('46, 47 and 48: own prices, cache reads apart, a price by name, and the cap in USD that fires on them', async (t) => {
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 100_000, prompt_tokens_details: { cached_tokens: 400_000 } };
  const answer: Answerer = (_request, res) =>
    sendJson(res, { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }], usage });
  const models = {
    own: { price: { input: 2, output: 10, cacheRead: 0.5 } },
    like: { price: 'openai/gpt-4o-mini' },
    free: { price: 0 },
    'by-*': { price: { input: 1, output: 1 } },
  };
  const upstream = await startUpstream(t, answer);
  const server = await startWith(t, {
    gpu: entryOf(upstream, { models, baseURL: `${upstream.url}/v1` }),
    far: { adapter: 'openai', baseURL: 'https://far.example/v1', apiKey: KEY },
  });
  for (const model of ['own', 'like', 'free', 'by-pattern']) t.equal((await server.chat('gpu', model)).status, 200);
  const rows = (await server.core.accounts?.costs('model'))?.rows ?? [];
  const costs = Object.fromEntries(rows.map((row) => [row.key, row.costUsd]));
  t.match(costs, { 'gpu/own': 2.4, 'gpu/free': 0, 'gpu/by-pattern': 1.1, 'gpu/like': 0.18 }, JSON.stringify(rows));
  const made = await server.call('POST', '/api/keys', { body: { name: 'app', usdPerDay: 3, models: ['gpu/own', 'far/*'] } });
  const key = String(made.json['key']);
  const ask = (model: string) =>
    server.call('POST', '/v1/chat/completions', { body: { model, messages: MESSAGES }, headers: { authorization: `Bearer ${key}` } });
  t.same([(await ask('gpu/own')).status, (await ask('gpu/own')).status], [200, 200]);
  t.match(await ask('gpu/own'), { status: 429, text: /cap of 3 USD/ });
  t.match(await ask('gpu/free'), { status: 403 }, 'and a key reaches only the connections that its models allow');
});

t.test('no spelling of a model has the price of another one, and what a local daemon passes on is not free', async (t) => {
  const answer: Answerer = (request, res) => {
    if (request.path.endsWith('/api/show')) return sendJson(res, { model_info: {} });
    if (request.path.endsWith('/api/chat'))
      return sendJson(res, { message: { content: 'x' }, done: true, done_reason: 'stop', prompt_eval_count: 12, eval_count: 5 });
    sendJson(res, { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'x' } }], usage: USAGE });
  };
  const upstream = await startUpstream(t, answer);
  const models = { dear: { price: { input: 1e5, output: 1e5 } }, 'Large-*': { price: { input: 1e5, output: 1e5 } }, '*': { price: 0 } };
  const server = await startWith(t, { gpu: entryOf(upstream, { models }), home: { adapter: 'ollama', baseURL: upstream.url } });
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', usdPerDay: 100, unpriced: 'refuse' } })).json;
  const headers = { authorization: `Bearer ${String(key)}` };
  const ask = async (adapter: string, model: string) => {
    const before = (await server.core.accounts?.spentToday('app'))?.usd ?? 0;
    const { status } = await server.call('POST', '/v1/chat', { body: { adapter, model, messages: MESSAGES }, headers });
    return [status, Math.round(((await server.core.accounts?.spentToday('app'))?.usd ?? 0) * 10 - before * 10)];
  };
  for (const model of ['dear', 'DEAR', 'models/dear', 'large-2', 'models/LARGE-2']) t.same(await ask('gpu', model), [200, 17], model);
  t.same(await ask('gpu', 'other'), [200, 0]);
  t.same(await ask('home', 'gemma4'), [200, 0]);
  const plain = { baseURL: `${upstream.url}/v1`, auth: 'none' };
  await server.auth({
    home: { adapter: 'ollama', baseURL: upstream.url },
    chats: { adapter: 'openai', ...plain },
    messages: { adapter: 'anthropic', ...plain },
  });
  t.same(await ask('chats', 'gemma4'), [200, 0]);
  for (const connection of ['home', 'chats', 'messages'])
    for (const model of ['gpt-oss:120b-cloud', 'kimi:cloud', 'gpt-oss:120b-Cloud']) t.same(await ask(connection, model), [403, 0], `${connection} ${model}`);
});

t.test('a connection that is said to need no key sends none, also where the variable of its preset is set', async (t) => {
  const upstream = await startUpstream(t, chatServer);
  const server = await startWith(t, { groq: { baseURL: `${upstream.url}/v1`, auth: 'none' } }, { env: { GROQ_API_KEY: KEY } });
  t.equal((await server.chat('groq', 'z')).status, 200);
  t.equal(upstream.requests[0]?.headers.authorization, undefined);
});
