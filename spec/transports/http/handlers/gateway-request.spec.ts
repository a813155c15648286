import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { createBlock, RUNNABLE } from '../../../support/block-calls.ts';
import { CHAT, friendlyDaemon, startServer, type TestServer, type TestServerOptions, until } from '../../../support/server.ts';
import { type Answerer, sendJson } from '../../../support/upstream.ts';

interface Attempt {
  readonly sentMs: number;
  readonly endedMs: number | null;
  readonly firstTextMs: number | null;
  readonly code?: string;
}

interface Call {
  readonly requestId: string;
  readonly asked: string;
  readonly model: string;
  readonly adapter: string;
  readonly phase: string;
  readonly durationMs: number;
  readonly attempts: readonly Attempt[];
}

interface Body {
  readonly text: string;
  readonly bytes: number;
  readonly cut: boolean;
}

interface Detail {
  readonly calls: readonly Call[];
  readonly bodies: readonly { readonly key: string; readonly path: string; readonly status: number; readonly request: Body; readonly answer: Body }[];
}

const COMPLETION = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, prompt_tokens_details: { cached_tokens: 4 } },
};
const ASKED = { model: 'best', messages: [{ role: 'user', content: 'a question' }] };

async function detailOf({ call }: TestServer, id: string): Promise<Detail> {
  return (await call('GET', `/api/gateway/requests/${id}`)).json as unknown as Detail;
}

/** Two connections and an alias of both. */
async function startTwo(t: Test, answer: Answerer, entries: (url: string) => object, targets = ['one/m', 'two/n'], options: TestServerOptions = {}) {
  const server = await startServer(t, { adapters: createAdapters(), env: {}, random: () => 0, answer, ...options });
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify(entries(`${server.upstream.url}/v1`)), { mode: 0o600 });
  writeFileSync(join(server.workspace, 'models.json'), JSON.stringify({ aliases: { best: targets } }));
  return server;
}

t.test('a request that was repeated shows each attempt with its cause, what was asked and called, tokens and cost', async (t) => {
  const price = { input: 1_000_000, output: 0 };
  const server = await startTwo(
    t,
    (_request, res, index) => (index === 0 ? sendJson(res, { error: { message: 'a question is refused' } }, 503) : sendJson(res, COMPLETION)),
    (baseURL) => ({ one: { adapter: 'openai', baseURL, apiKey: 'k', models: { m: { price } } } }),
    ['one/m'],
  );
  t.match(await server.call('POST', '/v1/chat/completions', { headers: { 'x-request-id': 'r-1' }, body: ASKED }), { status: 200 });
  const detail = await detailOf(server, 'r-1');
  t.match(detail, {
    requestId: 'r-1',
    bodies: [],
    calls: [
      {
        requestId: 'r-1',
        kind: 'forward',
        asked: 'best',
        adapter: 'one',
        model: 'm',
        path: '/v1/chat/completions',
        phase: 'ended',
        usage: { inputTokens: 10, cacheReadTokens: 4, outputTokens: 2 },
        attempts: [{ code: 'UPSTREAM_FAILED', upstreamStatus: 503, next: 'repeat' }, { firstTextMs: Number }],
      },
    ],
  });
  const [call] = detail.calls;
  t.ok(((call as { costUsd?: number }).costUsd ?? 0) > 0, 'what it cost');
  const [first, last] = call?.attempts ?? [];
  t.ok((first?.sentMs ?? 9e9) <= (first?.endedMs ?? -1) && (first?.endedMs ?? 9e9) <= (last?.sentMs ?? -1), 'one after the other');
  t.equal(last?.endedMs, call?.durationMs);
  t.equal('code' in (last ?? {}), false);
  t.notMatch(JSON.stringify(detail), /a question|Hello/, 'nothing of what was asked, answered or said about it');
});

t.test('each model that was asked is a call of its own, and each key an attempt', async (t) => {
  const server = await startTwo(
    t,
    (request, res) => (request.headers['authorization'] === 'Bearer good' ? sendJson(res, COMPLETION) : sendJson(res, { error: { message: 'no' } }, 401)),
    (baseURL) => ({
      one: { adapter: 'openai', baseURL, apiKey: 'bad' },
      two: {
        adapter: 'openai',
        baseURL,
        keys: [
          { apiKey: 'poor', label: 'first' },
          { apiKey: 'good', label: 'second' },
        ],
      },
    }),
  );
  t.match(await server.call('POST', '/v1/chat/completions', { headers: { 'x-request-id': 'r-2' }, body: ASKED }), { status: 200 });
  t.match((await detailOf(server, 'r-2')).calls, [
    { adapter: 'one', model: 'm', asked: 'best', code: 'UPSTREAM_AUTH', attempts: [{ code: 'UPSTREAM_AUTH', upstreamStatus: 401 }] },
    {
      adapter: 'two',
      model: 'n',
      asked: 'best',
      credential: 'second',
      attempts: [{ credential: 'first', code: 'UPSTREAM_AUTH', next: 'key', delayMs: 0 }, { credential: 'second' }],
    },
  ]);
});

t.test('a request under way has an attempt without an end; a call of a block and one without a price say so', async (t) => {
  const open: (() => void)[] = [];
  const server = await startServer(t, { answer: (...given) => void open.push(() => void friendlyDaemon(...given)) });
  const asked = server.call('POST', '/v1/chat', { headers: { 'x-request-id': 'r-3' }, body: CHAT });
  await until(() => open.length === 1, 'the provider is asked');
  t.match(await detailOf(server, 'r-3'), {
    calls: [{ phase: 'sent', path: '/v1/chat', kind: 'chat', costUsd: null, attempts: [{ endedMs: null, firstTextMs: null }] }],
  });
  open[0]?.();
  await asked;
  await createBlock(server, 'ada', RUNNABLE);
  await server.call('POST', '/api/blocks/ada/start');
  await server.call('POST', '/api/blocks/ada/chat', { body: { message: 'hi' } });
  await until(() => open.length === 2, 'the block asks');
  open[1]?.();
  const ended = async () => (await server.call('GET', '/api/gateway/requests')).json['ended'] as { requestId: string; block?: string }[];
  await until(async () => (await ended()).length === 2, 'it has its answer');
  const of = (await ended()).find(({ block }) => block === 'ada');
  const { calls } = await detailOf(server, of?.requestId ?? '');
  t.match(calls, [{ block: 'ada', attempts: [{ endedMs: Number }] }]);
  t.notOk('path' in (calls[0] ?? {}));
});

t.test('a request that is not known is said to be so', async (t) => {
  const server = await startServer(t);
  t.match(await server.call('GET', '/api/gateway/requests/other'), { status: 404, json: { code: 'NOT_FOUND', error: /not known any more.*last 500/ } });
});

async function startDebugged(t: Test, options: TestServerOptions = {}) {
  const server = await startServer(t, options);
  const key = (await server.call('POST', '/api/keys', { body: { name: 'app' } })).json['key'] as string;
  const ask = (id: string, body: unknown = CHAT, path = '/v1/chat') =>
    server.call('POST', path, { token: false, headers: { authorization: `Bearer ${key}`, 'x-request-id': id }, body });
  const debug = (body?: object) => server.call('POST', '/api/keys/app/debug', { body });
  return { server, key, ask, debug, file: join(server.workspace, 'debug-bodies.jsonl') };
}

async function kept(server: TestServer, id: string): Promise<Detail['bodies']> {
  let found: Detail['bodies'] = [];
  await until(async () => {
    found = (await detailOf(server, id)).bodies;
    return found.length > 0;
  }, `the bodies of ${id} are kept`);
  return found;
}

t.test('while a key is debugged, what it sends and gets is kept, whole and streamed, right and wrong', async (t) => {
  const { server, ask, debug, file } = await startDebugged(t);
  await ask('before');
  t.match(await debug({ minutes: 5 }), { status: 200, json: { success: true, name: 'app', debugUntil: String } });
  t.match((await server.call('GET', '/api/keys')).json, { keys: [{ name: 'app', debugUntil: String }] });
  await ask('whole');
  const [whole] = await kept(server, 'whole');
  t.match(whole, { key: 'app', path: '/v1/chat', status: 200, request: { cut: false }, answer: { cut: false } });
  t.same(JSON.parse(whole?.request.text ?? ''), CHAT);
  t.match(JSON.parse(whole?.answer.text ?? ''), { message: { content: 'Hello, you' } });
  t.equal(whole?.request.bytes, Buffer.byteLength(JSON.stringify(CHAT)));
  await ask('streamed', { ...CHAT, stream: true });
  t.match((await kept(server, 'streamed'))[0]?.answer.text, /^event: start.*Hello.*event: done/s);
  t.match(await ask('wrong', { ...CHAT, model: 1 }), { status: 400 });
  t.match(await detailOf(server, 'wrong'), { calls: [], bodies: [{ status: 400, answer: { text: /INVALID_REQUEST/ } }] });
  t.same((await detailOf(server, 'before')).bodies, [], 'of what was asked before, nothing');
  await server.call('POST', '/v1/chat', { headers: { 'x-request-id': 'token' }, body: CHAT });
  t.same((await detailOf(server, 'token')).bodies, [], 'and nothing of the token');
  t.equal(statSync(file).mode & 0o777, 0o600);
});

t.test('long bodies are cut, and secrets are masked in them', async (t) => {
  const { server, ask, debug, key } = await startDebugged(t, {
    answer: (_request, res) =>
      sendJson(res, {
        message: { role: 'assistant', content: `${'ö'.repeat(50_000)} end` },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 3,
        eval_count: 2,
      }),
  });
  await debug();
  const content = `my key is ${key}, and that of the provider is sk-proj-abcdefgh12345678; ${'x'.repeat(100_000)}`;
  await ask('long', { ...CHAT, messages: [{ role: 'user', content }], config: { apiKey: 'of-the-caller' } });
  await ask('long-2', { ...CHAT, messages: [{ role: 'user', content }] });
  const [refused] = await kept(server, 'long');
  t.match(refused, { status: 403, request: { cut: true } });
  const [long] = await kept(server, 'long-2');
  t.match(long, { request: { cut: true, bytes: Number }, answer: { cut: true } });
  t.ok((long?.request.bytes ?? 0) > 100_000);
  for (const { text } of [long?.request, long?.answer] as Body[]) t.ok(Buffer.byteLength(text) <= 65_536);
  t.notMatch(long?.answer.text ?? '', '\ufffd', 'no half of a letter at the end');
  const all = readFileSync(join(server.workspace, 'debug-bodies.jsonl'), 'utf8');
  for (const secret of [key, 'sk-proj-abcdefgh12345678', server.token]) t.notOk(all.includes(secret), secret.slice(0, 8));
  await ask('named', { apiKey: 'of-the-caller', ...CHAT });
  t.match((await kept(server, 'named'))[0]?.request.text, /"apiKey":"\[redacted\]"/);
});

t.test('who may, and what they can choose', async (t) => {
  const { server, key, debug } = await startDebugged(t);
  const session = (await server.call('POST', '/api/session')).json['key'] as string;
  const as = (bearer: string | false, method: string, path: string, body?: object) =>
    server.call(method, path, { token: false, ...(bearer !== false && { headers: { authorization: `Bearer ${bearer}` } }), body });
  const path = '/api/keys/app/debug';
  t.match(await as(false, 'POST', path), { status: 401 });
  t.match(await as(key, 'POST', path), { status: 403, json: { code: 'KEY_FORBIDDEN' } }, 'a program can neither switch it on');
  t.match(await as(key, 'DELETE', path), { status: 403 });
  t.match(await as(key, 'GET', '/api/gateway/requests/x'), { status: 403 }, 'nor read');
  t.match(await as(session, 'POST', path), { status: 403, json: { code: 'KEY_FORBIDDEN', error: /Only the token/ } }, 'nor a page');
  t.match(await server.call('POST', path, { headers: { origin: 'https://elsewhere.example' } }), { status: 403 });
  for (const minutes of [0, -1, 61, 1.5, '5', null]) t.match(await debug({ minutes }), { status: 400, json: { error: /minutes/ } }, String(minutes));
  t.match(await debug({ minutes: 5, key: 'x' }), { status: 400 });
  t.match(await server.call('POST', '/api/keys/other/debug'), { status: 404, json: { code: 'KEY_NOT_FOUND' } });
  t.match(await server.call('DELETE', '/api/keys/other/debug'), { status: 404 });
  t.notMatch((await server.call('GET', '/api/keys')).text, 'debugUntil', 'nothing of all this has switched it on');
  const before = Date.now();
  const { debugUntil } = (await debug()).json as { debugUntil: string };
  t.ok(Math.abs(Date.parse(debugUntil) - before - 15 * 60_000) < 60_000, 'a quarter of an hour, if nobody says it');
  t.match(await as(session, 'DELETE', path), { status: 200 }, 'a page may end it');
  for (const forged of [{ debugUntil: '2099-01-01T00:00:00.000Z' }, { debug: true }])
    for (const [method, at] of [
      ['POST', '/api/keys'],
      ['PATCH', '/api/keys/app'],
    ] as const)
      t.match(await server.call(method, at, { body: { ...(method === 'POST' && { name: 'other' }), ...forged } }), { status: 400 });
});

t.test('the file ends with DELETE, with the key, with the time and with the server; each is told', async (t) => {
  const clock = { ms: Date.parse('2026-11-28T10:00:00.000Z') };
  const { server, ask, debug, file } = await startDebugged(t, { clock: () => clock.ms });
  const told: string[] = [];
  server.core.events.on('debug.started', ({ key, until: end }) => void told.push(`${key} until ${end}`));
  server.core.events.on('debug.ended', ({ key }) => void told.push(`${key} ended`));
  const fill = async (id: string): Promise<void> => {
    await debug({ minutes: 60 });
    await ask(id);
    await kept(server, id);
    t.ok(existsSync(file));
  };
  await fill('one');
  t.match(await server.call('DELETE', '/api/keys/app/debug'), { status: 200 });
  t.notOk(existsSync(file), 'when the answer comes, it is gone');
  await ask('after');
  t.same((await detailOf(server, 'after')).bodies, []);
  t.match(await server.call('DELETE', '/api/keys/app/debug'), { status: 200 }, 'twice');
  await fill('two');
  clock.ms += 60 * 60_000;
  await until(() => !existsSync(file), 'the time has ended');
  t.same((await detailOf(server, 'two')).bodies, []);
  await fill('three');
  await server.call('DELETE', '/api/keys/app');
  t.notOk(existsSync(file));
  const [first, later] = ['11', '12'].map((hour) => `app until 2026-11-28T${hour}:00:00.000Z`);
  t.same(told, [first, 'app ended', first, 'app ended', later, 'app ended']);
  const key = (await server.call('POST', '/api/keys', { body: { name: 'app' } })).json['key'] as string;
  t.notMatch((await server.call('GET', '/api/keys')).text, 'debugUntil', 'another key of the name is not debugged');
  await debug();
  await server.call('POST', '/v1/chat', { token: false, headers: { authorization: `Bearer ${key}`, 'x-request-id': 'four' }, body: CHAT });
  await kept(server, 'four');
  await server.core.close();
  t.notOk(existsSync(file), 'at the end of the server');
});

t.test('an answer that ends after the debugging leaves nothing', async (t) => {
  const open: (() => void)[] = [];
  const { server, ask, debug, file } = await startDebugged(t, { answer: (...given) => void open.push(() => void friendlyDaemon(...given)) });
  await debug();
  const late = ask('late');
  await until(() => open.length === 1, 'the provider is asked');
  await server.call('DELETE', '/api/keys/app/debug');
  open[0]?.();
  await late;
  t.same((await detailOf(server, 'late')).bodies, []);
  t.notOk(existsSync(file));
});
