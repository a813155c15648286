import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CHAT, friendlyDaemon, startServer, type TestServer } from '../../../support/server.ts';
import { gate, HELLO, steppedAdapter } from '../../../support/stepped-adapter.ts';
import { until } from '../../../support/until.ts';

async function keyOf(server: TestServer, body: object): Promise<string> {
  return (await server.call('POST', '/api/keys', { body })).json['key'] as string;
}

/** A chat with a key instead of the token of the workspace. */
const ask = (server: TestServer, key: string, body: object = CHAT, header = 'authorization') =>
  server.call('POST', '/v1/chat', { token: false, headers: { [header]: header === 'authorization' ? `Bearer ${key}` : key }, body });

t.test('a key is accepted on /v1 until it is revoked, as a bearer token and in x-api-key, and nowhere else', async (t) => {
  const server = await startServer(t);
  const key = await keyOf(server, { name: 'web-app' });
  t.match(key, /^bhk_/);
  for (const header of ['authorization', 'x-api-key']) t.match(await ask(server, key, CHAT, header), { status: 200 }, header);
  t.match(await server.call('GET', '/v1/adapters', { token: false, headers: { authorization: `Bearer ${key}` } }), { status: 200 });
  for (const [method, path] of [
    ['GET', '/api/blocks'],
    ['GET', '/api/keys'],
    ['POST', '/api/keys'],
  ] as const)
    t.match(
      await server.call(method, path, { token: false, headers: { authorization: `Bearer ${key}` } }),
      { status: 403, json: { code: 'KEY_FORBIDDEN' } },
      path,
    );
  t.match(await server.call('GET', '/api/blocks', { token: false, headers: { 'x-api-key': server.token } }), { status: 401 }, 'x-api-key is for /v1');
  t.match(await server.call('DELETE', '/api/keys/web-app'), { status: 200 });
  t.match(await ask(server, key), { status: 401, json: { code: 'UNAUTHORIZED' } });
  t.match(await server.call('DELETE', '/api/keys/web-app'), { status: 404, json: { code: 'KEY_NOT_FOUND' } });
});

t.test('of a bearer token and an x-api-key either may be the right one', async (t) => {
  const server = await startServer(t);
  for (const [bearer, apiKey, status] of [
    ['placeholder', server.token, 200],
    [server.token, 'placeholder', 200],
    ['placeholder', 'placeholder', 401],
  ] as const) {
    const headers = { authorization: `Bearer ${bearer}`, 'x-api-key': apiKey };
    t.match(await server.call('POST', '/v1/chat', { token: false, headers, body: CHAT }), { status }, `${bearer} ${apiKey}`.replaceAll(server.token, 'token'));
  }
});

t.test('a key may use only its models, named with or without the provider', async (t) => {
  const server = await startServer(t);
  for (const [name, model] of [
    ['one', 'ollama/*'],
    ['two', 'm:1b'],
  ] as const)
    t.match(await ask(server, await keyOf(server, { name, models: [model] }), { ...CHAT, model: 'm:1b' }), { status: 200 }, model);
  const key = await keyOf(server, { name: 'other', models: ['gpt-*'] });
  t.match(await ask(server, key), { status: 403, json: { code: 'KEY_FORBIDDEN', error: /other may not use the model "ollama\/.*gpt-\*/ } });
});

t.test('a key that has reached its cap is refused until the next day, and the list shows what it has spent', async (t) => {
  let now = Date.parse('2026-11-22T22:00:00.000Z');
  const server = await startServer(t, { clock: () => now });
  const key = await keyOf(server, { name: 'capped', tokensPerDay: 6 });
  const capped: object[] = [];
  server.core.events.on('key.capped', (fact) => void capped.push(fact));
  const statuses = [];
  for (let call = 0; call < 4; call += 1) statuses.push((await ask(server, key)).status);
  t.same(statuses, [200, 200, 429, 429]);
  const refused = await ask(server, key);
  t.match(refused, { status: 429, json: { code: 'KEY_CAP_REACHED', error: /6 tokens a day/ }, headers: { 'retry-after': '7200' } });
  t.notMatch(refused.text, /blockhouse/, 'the command is for the owner');
  t.strictSame(capped, [
    { key: 'capped', group: null, cap: '6 tokens a day', resets: 'at 00:00 UTC', raise: 'blockhouse key set capped --tokens-per-day <count>' },
  ]);
  t.match((await server.call('GET', '/api/keys')).json, {
    keys: [{ name: 'capped', tokensPerDay: 6, usdPerDay: null, unpriced: 'allow', spentToday: { tokens: Number, calls: 2, unpricedCalls: 0 } }],
  });
  now += 3 * 3_600_000;
  t.match(await ask(server, key), { status: 200 });
});

t.test('a key that has expired is refused and says so', async (t) => {
  let now = Date.parse('2019-12-31T23:00:00.000Z');
  const server = await startServer(t, { clock: () => now });
  const key = await keyOf(server, { name: 'old', expiresAt: '2020-01-01T00:00:00Z' });
  now += 3_600_000;
  t.match(await ask(server, key), { status: 401, json: { code: 'UNAUTHORIZED', error: /^The key old expired at 2020-01-01/ } });
});

t.test('a key that would have expired already is not made', async (t) => {
  const server = await startServer(t);
  const body = { name: 'old', expiresAt: '2020-01-01T00:00:00Z' };
  t.match(await server.call('POST', '/api/keys', { body }), { status: 400, json: { code: 'INVALID_REQUEST', error: /expiresAt must be in the future/ } });
  t.match((await server.call('GET', '/api/keys')).json, { keys: [] });
});

t.test('a key that is unknown learns how a key is made', async (t) => {
  const server = await startServer(t);
  t.match(await ask(server, 'bhk_unknown'), { status: 401, json: { error: /missing, unknown or revoked.*blockhouse key new/ } });
});

t.test('a key at a path that has no route learns which base URL is meant', async (t) => {
  const server = await startServer(t);
  const headers = { authorization: `Bearer ${await keyOf(server, { name: 'web-app' })}` };
  for (const [path, error] of [
    ['/chat/completions', /no route \/chat\/completions; the base URL must end with \/v1, so that the path is \/v1\/chat\/completions/],
    ['/nowhere', /no route \/nowhere; GET \/openapi.json/],
  ] as const)
    t.match(await server.call('POST', path, { token: false, headers, body: {} }), { status: 404, json: { code: 'NOT_FOUND', error } }, path);
  // Below /v1, in the form of the client's own protocol.
  t.match(await server.call('POST', '/v1/v1/messages', { token: false, headers, body: {} }), {
    status: 404,
    json: { error: { message: /the base URL must not end with \/v1, so that the path is \/v1\/messages/ } },
  });
});

t.test('each call of a client has a line with its key and no text, whether it succeeded or not, and calls with no key count as well', async (t) => {
  const server = await startServer(t);
  const key = await keyOf(server, { name: 'app' });
  await ask(server, key);
  await ask(server, key, { ...CHAT, stream: true });
  await server.call('POST', '/v1/chat', { body: { ...CHAT, config: { baseURL: 'http://127.0.0.1:1' } } });
  const report = (await server.call('GET', '/api/costs?source=gateway')).json;
  t.match(report, { by: 'key', total: { calls: 3 } });
  t.same((report['rows'] as { key: string }[]).map((row) => row.key).sort(), ['(workspace token)', 'app']);
  t.match((await server.call('GET', '/api/costs?source=gateway&by=model')).json, { by: 'model', rows: [{ key: 'ollama/m', calls: 3 }] });
  t.match(await server.call('GET', '/api/costs?source=gateway&by=block'), { status: 400, json: { error: /by/ } });
  const text = readFileSync(join(server.workspace, 'gateway-ledger.jsonl'), 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match(lines, [
    { key: 'app', provider: 'ollama', usage: { totalTokens: Number }, error: null, firstTextMs: Number, durationMs: Number },
    { key: 'app', error: null },
    { key: null, error: 'UPSTREAM_UNREACHABLE', usage: null },
  ]);
  t.notMatch(text, JSON.stringify(CHAT.messages[0]?.content));
});

t.test('a body that is wrong names the field', async (t) => {
  const server = await startServer(t);
  for (const [body, field] of [
    [{}, /name/],
    [{ name: 'A B' }, /name/],
    [{ name: 'a', usdPerDay: -1 }, /usdPerDay/],
    [{ name: 'a', unpriced: 'never' }, /unpriced/],
    [{ name: 'a', models: [] }, /models/],
    [{ name: 'a', expiresAt: 'soon' }, /expiresAt/],
    [{ name: 'a', limit: 5 }, /limit/],
  ] as const)
    t.match(await server.call('POST', '/api/keys', { body }), { status: 400, json: { code: 'INVALID_REQUEST', error: field } }, JSON.stringify(body));
  await keyOf(server, { name: 'a' });
  t.match(await server.call('POST', '/api/keys', { body: { name: 'a' } }), { status: 409, json: { code: 'NAME_TAKEN' } });
});

t.test('on /v1/chat, a list of models binds the provider, too', async (t) => {
  const steps = [HELLO];
  const openai = { ...steppedAdapter(steps), id: 'openai', curatedModels: ['gpt-a', 'gpt-b'] };
  const local = { ...steppedAdapter(steps), id: 'local', curatedModels: ['m'] };
  const server = await startServer(t, { adapters: [openai, local], env: { STEPPED_API_KEY: 'k' } });
  writeFileSync(join(server.workspace, 'models.json'), JSON.stringify({ aliases: { 'gpt-a': 'local/m' } }));
  const asks = async (models: string[], adapter: string, model: string, more: object = {}) => {
    const name = `k-${Math.random().toString(36).slice(2)}`;
    return (await ask(server, await keyOf(server, { name, models }), { ...CHAT, adapter, model, ...more })).status;
  };
  t.equal(await asks(['gpt-a'], 'openai', 'gpt-a'), 403, 'the name stands for a model of another provider');
  t.equal(await asks(['gpt-a'], 'openai', 'gpt-a', { stream: true }), 403);
  t.equal(await asks(['openai/gpt-a'], 'openai', 'gpt-a'), 200);
  t.equal(await asks(['gpt-b'], 'openai', 'gpt-b'), 200, 'it stands for just this one');
  t.equal(await asks(['gpt-*'], 'openai', 'gpt-b', { stream: true }), 200);
  t.equal(await asks(['m'], 'openai', 'm'), 403, 'it is a model of another provider');
  t.equal(await asks(['m'], 'local', 'm'), 200);
  t.equal(await asks(['unknown'], 'openai', 'unknown'), 403, 'it stands for none');
});

t.test('who changes one limit leaves those that another changes at the same time, and the day of the last use is told', async (t) => {
  const server = await startServer(t);
  const key = await keyOf(server, { name: 'app' });
  const change = (body: object) => server.call('PATCH', '/api/keys/app', { body });
  await Promise.all([change({ usdPerDay: 2 }), change({ usdPerWeek: 9 }), change({ inFlight: 3, models: ['ollama/*'] })]);
  const shown = async () => (await server.call('GET', '/api/keys')).json;
  t.match(await shown(), { keys: [{ usdPerDay: 2, usdPerWeek: 9, inFlight: 3, models: ['ollama/*'], lastUsedOn: null }] });
  t.match(await ask(server, key), { status: 200 });
  t.match(await shown(), { keys: [{ lastUsedOn: new Date().toISOString().slice(0, '2026-11-22'.length) }] });
});

t.test('a change for one state of a key is refused once its limits are others, and needs no such state', async (t) => {
  const server = await startServer(t);
  await keyOf(server, { name: 'app', usdPerDay: 1 });
  const change = (body: object, rev?: string) => server.call('PATCH', '/api/keys/app', { body, ...(rev !== undefined && { headers: { 'if-match': rev } }) });
  const shown = async () => ((await server.call('GET', '/api/keys')).json as { keys: { rev: string; usdPerDay: number }[] }).keys[0];
  const first = (await shown())?.rev ?? '';
  const changed = await change({ usdPerDay: 2 }, `"${first}"`);
  t.match(changed, { status: 200, headers: { etag: `"${(await shown())?.rev}"` } });
  t.not((await shown())?.rev, first);
  t.match(await change({ usdPerDay: 3 }, `"${first}"`), {
    status: 412,
    json: { code: 'REVISION_MISMATCH', error: /^The key app is no longer at .* Read the keys again/ },
  });
  t.match(await shown(), { usdPerDay: 2 });
  for (const rev of ['W/"a"', '"a", "b"', '']) t.match(await change({ usdPerDay: 3 }, rev), { status: 400, json: { error: /If-Match must be \* or the rev/ } });
  for (const rev of [(await shown())?.rev, undefined, '*']) t.match(await change({ usdPerDay: 3 }, rev), { status: 200 });
  t.match(await change({ usdPerDay: 1 }), { status: 200, headers: { etag: `"${first}"` } }, 'the same limits have the same');
  await server.call('DELETE', '/api/keys/app');
  await keyOf(server, { name: 'app', usdPerDay: 1 });
  t.match(await change({ usdPerDay: 4 }, first), { status: 412 }, 'a new key of the name has another');
});

t.test('limits change for the next call, a group holds for its keys together, and unknown names and fields are refused', async (t) => {
  const server = await startServer(t);
  const key = await keyOf(server, { name: 'app' });
  t.match(await ask(server, key), { status: 200 });
  t.match(await server.call('PATCH', '/api/keys/app', { body: { tokensPerMonth: 1 } }), { status: 200, json: { key: { name: 'app', tokensPerMonth: 1 } } });
  t.match(await ask(server, key), { status: 429, json: { code: 'KEY_CAP_REACHED', error: /1 tokens a month. It may be used again on \d{4}-\d\d-01 at/ } });
  t.match(await server.call('PATCH', '/api/keys/app', { body: { tokensPerMonth: null, group: 'team' } }), {
    status: 400,
    json: { error: /team, which is no group/ },
  });
  t.match(await server.call('PUT', '/api/key-groups/team', { body: { tokensPerDay: 1 } }), { status: 200, json: { group: { tokensPerDay: 1, keys: [] } } });
  const other = await keyOf(server, { name: 'other', group: 'team' });
  t.match(await server.call('PATCH', '/api/keys/app', { body: { tokensPerMonth: null, group: 'team' } }), { status: 200 });
  t.match(await ask(server, other), { status: 200 }, 'what app has spent before does not count for the group');
  for (const one of [key, other]) t.match(await ask(server, one), { status: 429, json: { error: /The keys of the group team, one of which is / } });
  t.match(await server.call('DELETE', '/api/keys/other'), { status: 200 });
  t.match(await ask(server, key), { status: 429 }, 'what a revoked key has spent in it still counts');
  t.match((await server.call('GET', '/api/key-groups')).json, {
    groups: [{ name: 'team', keys: ['app'], spentToday: { calls: 1 }, spentThisMonth: { calls: 1 }, lastUsedOn: /^\d{4}-\d\d-\d\d$/ }],
  });
  t.match(await server.call('DELETE', '/api/key-groups/team'), { status: 409, json: { code: 'WRONG_STATE' } });
  for (const [method, path, body, status] of [
    ['PATCH', '/api/keys/nobody', {}, 404],
    ['PATCH', '/api/keys/app', { hash: 'x' }, 400],
    ['PATCH', '/api/keys/app', { inFlight: 0 }, 400],
    ['PUT', '/api/key-groups/Team', {}, 400],
    ['PUT', '/api/key-groups/team', { models: ['m'] }, 400],
    ['DELETE', '/api/key-groups/nobody', undefined, 404],
  ] as const)
    t.match(await server.call(method, path, { body }), { status }, `${method} ${path}`);
});

const HI = { messages: [{ role: 'user', content: 'hi' }] };
/** A request of another protocol with a key. */
const speak = (server: TestServer, key: string, path: string, body: object) =>
  server.call('POST', path, { token: false, headers: { authorization: `Bearer ${key}` }, body });

t.test('of many parallel requests as many are let through as the limit says; the others get 429 with the time to wait and what is left', async (t) => {
  const server = await startServer(t, { now: () => 1_000_000 });
  const key = await keyOf(server, { name: 'app', requestsPerMinute: 5 });
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(server, key)));
  const [let_, refused] = [200, 429].map((status) => answers.filter((answer) => answer.status === status));
  t.same([let_?.length, refused?.length], [5, 195]);
  t.same(new Set(let_?.map(({ headers }) => headers['x-ratelimit-limit-requests'])), new Set(['5']));
  t.match(refused?.[0], {
    json: { code: 'KEY_RATE_LIMITED' },
    headers: { 'retry-after': '12', 'x-ratelimit-limit-requests': '5', 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m0s' },
  });
  t.notOk((await server.call('POST', '/v1/chat', { body: CHAT })).headers['x-ratelimit-limit-requests'], 'the token has no limit');
  t.match(
    await server.call('GET', '/v1/adapters/ollama/models', { token: false, headers: { authorization: `Bearer ${key}` } }),
    { status: 429 },
    'questions count',
  );
  await server.call('DELETE', '/api/keys/app');
  t.match(
    await ask(server, await keyOf(server, { name: 'app', requestsPerMinute: 5 })),
    { status: 429 },
    'a new key of the same name goes on where the old one was',
  );
});

t.test('each protocol has its own headers and error type, whole and streamed', async (t) => {
  const server = await startServer(t, { now: () => 1_000_000 });
  const model = 'ollama/m';
  for (const [path, body, header, error] of [
    ['/v1/chat/completions', { model, ...HI }, 'x-ratelimit-remaining-requests', { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } }],
    ['/v1/responses', { model, input: 'hi' }, 'x-ratelimit-remaining-requests', { error: { type: 'rate_limit_error' } }],
    ['/v1/messages', { model, max_tokens: 5, ...HI }, 'anthropic-ratelimit-requests-remaining', { type: 'error', error: { type: 'rate_limit_error' } }],
    ['/v1/chat', CHAT, 'x-ratelimit-remaining-requests', { code: 'KEY_RATE_LIMITED' }],
  ] as const) {
    const key = await keyOf(server, { name: `app${path.replaceAll('/', '-')}`, requestsPerMinute: 2 });
    t.match(await speak(server, key, path, body), { status: 200, headers: { [header]: '1' } }, path);
    t.match(await speak(server, key, path, { ...body, stream: true }), { status: 200, headers: { [header]: '0' } }, `${path}, streamed`);
    t.match(await speak(server, key, path, body), { status: 429, headers: { [header]: '0', 'retry-after': '30' }, json: error }, `${path}, refused`);
  }
});

t.test('tokens a minute count by estimate while a call is under way, and by its usage when it has ended', async (t) => {
  const held = gate();
  const server = await startServer(t, {
    now: () => 1_000_000,
    answer: async (...asked) => {
      await held.opened;
      await friendlyDaemon(...asked);
    },
  });
  const key = await keyOf(server, { name: 'app', tokensPerMinute: 2500 });
  let ended = 0;
  const calls = Array.from({ length: 200 }, () => ask(server, key).finally(() => (ended += 1)));
  await until('all but two are refused', () => ended === 198);
  held.open();
  const answers = await Promise.all(calls);
  t.equal(answers.filter(({ status }) => status === 200).length, 2, 'each is expected to have 1,000 tokens of output');
  t.match(answers.find(({ status }) => status === 429)?.json, {
    code: 'KEY_RATE_LIMITED',
    error: /limit of 2500 tokens a minute, and this request may need \d+\./,
  });
  for (let n = 0; n < 3; n += 1) t.match(await ask(server, key), { status: 200 }, 'short answers take little');
});
