// Keys: where they go, where they never show, and what happens when they change under a running server.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { createLogger, logFacts } from '../../cli/serve/logging.ts';
import { type ChatRequest, createCore } from '../../core/index.ts';
import { anthropic } from '../conformance/wires/anthropic.ts';
import { resolveNames } from '../support/adapter-call.ts';
import { framesOf, readAnswer, responseOf, startServer } from '../support/server.ts';
import { startUpstream } from '../support/upstream.ts';
import { answerWith, PLAIN, startWireServer, WIRES } from '../support/wire-server.ts';

const ENV_KEY = 'sk-ant-canary-0123456789';
const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];

/** Everything that a server tells: log lines of the transport and of the bus. */
function listener(): { readonly log: ReturnType<typeof createLogger>; told(): string } {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  let text = '';
  terminal.on('data', (bytes) => {
    text += String(bytes);
  });
  return { log: createLogger('trace', terminal as unknown as NodeJS.WriteStream), told: () => text };
}

t.test('a stored key is not sent to a host that a request names, not even looked up; an own key is, and alone', async (t) => {
  const server = await startWireServer(t, anthropic, answerWith(anthropic));
  const stranger = await startUpstream(t, answerWith(anthropic));
  const asked = resolveNames(t, () => LOOPBACK);
  const baseURL = `http://stranger.test:${new URL(stranger.url).port}`;
  for (const stream of [false, true])
    t.match(await server.call('POST', '/v1/chat', { body: server.chat({ stream, config: { baseURL } }) }), { status: 400, json: { code: 'INVALID_REQUEST' } });
  t.match(await server.call('POST', '/v1/adapters/anthropic/verify', { body: { config: { baseURL } } }), { status: 400 });
  t.same(asked, []);
  t.equal(stranger.requests.length, 0);
  t.match(await server.call('POST', '/v1/chat', { body: server.chat({ config: { baseURL, apiKey: 'my-own-key' } }) }), { status: 200 });
  t.equal(stranger.requests[0]?.headers['x-api-key'], 'my-own-key');
  t.notMatch(JSON.stringify(stranger.requests), ENV_KEY);
  t.equal(server.upstream.requests.length, 0);
});

/** The stored credentials of each provider, in auth.json and in the environment. */
const STORED: Readonly<Record<string, { readonly entry: Record<string, string>; readonly env: Record<string, string> }>> = {
  openai: { entry: { apiKey: 'sk-canary-0123456789abcdef' }, env: { OPENAI_API_KEY: 'sk-canary-0123456789abcdef' } },
  anthropic: { entry: { apiKey: ENV_KEY }, env: { ANTHROPIC_AUTH_TOKEN: ENV_KEY } },
  google: { entry: { apiKey: 'AIzaCanary0123456789abcdefghij' }, env: { GEMINI_API_KEY: 'AIzaCanary0123456789abcdefghij' } },
  ollama: { entry: { apiKey: 'ollama-canary-0123456789' }, env: { OLLAMA_API_KEY: 'ollama-canary-0123456789' } },
};

t.test('a stored key reaches no listener on loopback that a request or a block names, through no door', async (t) => {
  for (const wire of WIRES) {
    const stored = STORED[wire.adapter];
    if (stored === undefined) continue; // Bedrock takes no address of a request
    for (const place of ['auth.json', 'env'] as const) {
      const name = `${wire.name}, ${place}`;
      const thief = await startUpstream(t, answerWith(wire));
      const server = await startWireServer(t, wire, answerWith(wire), { env: place === 'env' ? stored.env : {} });
      if (place === 'auth.json') writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ [wire.adapter]: stored.entry }));
      const { port } = new URL(thief.url);
      for (const baseURL of [thief.url, `http://localhost:${port}`, `http://127.1:${port}/v1`, `http://[::1]:${port}`]) {
        const config = { baseURL };
        const refusal = {
          status: 400,
          json: { code: 'INVALID_REQUEST', error: /not sent there.*auth set \w+ --field baseURL.*BLOCKHOUSE_ALLOWED_ORIGINS.*own key/ },
        };
        for (const stream of [false, true])
          t.match(await server.call('POST', '/v1/chat', { body: server.chat({ config, stream }) }), refusal, `${name} ${baseURL}`);
        t.match(await server.call('POST', `/v1/adapters/${wire.adapter}/verify`, { body: { config } }), refusal, `${name}: verify`);
      }
      const counted = server.core.countTokens(server.chat({ config: { baseURL: thief.url } }) as unknown as ChatRequest);
      if (server.core.adapter(wire.adapter).countTokens === undefined) await counted;
      else await t.rejects(counted, { code: 'INVALID_REQUEST' }, `${name}: a count`);

      const adapter = { provider: wire.adapter, model: wire.model, baseURL: thief.url };
      await server.call('POST', '/api/blocks', { body: { name: 'imported', config: { adapter } } });
      t.equal((await server.call('POST', '/api/blocks/imported/start')).status, 400, `${name}: a block`);
      await server.call('POST', '/api/blocks/imported/memory/compact');
      const why = await server.call('GET', '/api/blocks/imported/why');
      t.match(
        why.json,
        { state: 'unconfigured', why: /^config\.adapter\.baseURL is at http:.*auth set \w+ --field baseURL.*BLOCKHOUSE_ALLOWED_ORIGINS\.$/ },
        name,
      );
      t.match(why.json, { fix: 'blockhouse config edit imported', actions: [{ id: 'edit-config' }] }, name);
      t.same(thief.requests, [], name);
      t.notMatch(why.text, /canary/i);
    }
  }
});

t.test('a call without any key goes to a listener on loopback that a request names, and an own key goes along', async (t) => {
  const ollama = WIRES.at(-1);
  if (ollama === undefined) return;
  const local = await startUpstream(t, answerWith(ollama));
  const server = await startWireServer(t, ollama, answerWith(ollama), { env: {} });
  const ask = (config: object) => server.call('POST', '/v1/chat', { body: server.chat({ config: { baseURL: local.url, ...config } }) });
  t.match(await ask({}), { status: 200 });
  t.match(await ask({ apiKey: 'mine' }), { status: 200 });
  t.same([...new Set(local.requests.map(({ headers }) => headers['authorization']))], [undefined, 'Bearer mine']);
});

t.test('an address that a page puts beside a key of the environment draws it through no door', async (t) => {
  for (const wire of WIRES) {
    const thief = await startUpstream(t, (_request, res) => void res.end('{}'));
    const env =
      wire.adapter === 'bedrock' ? Object.fromEntries(Object.entries(wire.env('')).filter(([name]) => !name.includes('URL'))) : STORED[wire.adapter]?.env;
    const server = await startWireServer(t, wire, answerWith(wire), { env: env ?? {} });
    const field = wire.adapter === 'bedrock' ? 'endpoint' : 'baseURL';
    const body = { [field]: thief.url, ...(field === 'endpoint' && { controlEndpoint: thief.url }) };
    t.match(await server.call('PUT', `/api/credentials/${wire.adapter}?unchecked=true`, { body }), { status: 200 });
    await server.call('POST', '/v1/chat', { body: server.chat() });
    await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) });
    await server.call('POST', `/v1/adapters/${wire.adapter}/verify`, { body: {} });
    await server.call('GET', `/v1/adapters/${wire.adapter}/models`);
    await server.call('GET', '/api/adapters');
    await server.call('GET', '/v1/models');
    await server.call('POST', '/v1/chat/completions', { body: { model: `${wire.adapter}/${wire.model}`, messages: [{ role: 'user', content: 'hi' }] } });
    await server.call('POST', '/v1/messages', { body: { model: `${wire.adapter}/${wire.model}`, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] } });
    await server.call('POST', '/v1/messages/count_tokens', { body: { model: `${wire.adapter}/${wire.model}`, messages: [{ role: 'user', content: 'hi' }] } });
    await server.call('POST', '/v1/embeddings', { body: { model: `${wire.adapter}/text-embedding-3-small`, input: 'hi' } });
    t.notMatch(JSON.stringify(thief.requests), /canary/i, wire.name);
    if (wire.adapter !== 'ollama') t.same(thief.requests, [], wire.name); // it needs no key, so it is called without
  }
});

t.test('a provider that redirects does not move the key', async (t) => {
  for (const wire of WIRES) {
    const stranger = await startUpstream(t, answerWith(wire));
    const server = await startWireServer(t, wire, (_request, res) => {
      res.writeHead(307, { location: stranger.url });
      res.end();
    });
    for (const body of [server.chat(), server.chat({ stream: true })])
      t.match(await server.call('POST', '/v1/chat', { body }), { status: 502, json: { upstreamStatus: 307, error: /redirects are not followed/ } }, wire.name);
    t.equal(stranger.requests.length, 0, wire.name);
  }
});

t.test('no key stands in a URL, in a log line, on the bus or in an answer, also where the provider echoes it', async (t) => {
  for (const wire of WIRES) {
    const secrets = Object.values(wire.env('')).filter((value) => /canary/i.test(value));
    const { log, told } = listener();
    const facts: string[] = [];
    const server = await startWireServer(
      t,
      wire,
      (request, res) => {
        const echo = `bad key ${secrets.join(' ')} in ${request.path} ${JSON.stringify(request.headers)}`;
        res.writeHead(request.method === 'GET' ? 401 : 500, { 'content-type': 'application/json' });
        res.end(JSON.stringify({ message: echo, error: wire === WIRES.at(-1) ? echo : { message: echo } }));
      },
      { http: { log }, retries: 1, random: () => 0 },
    );
    logFacts(server.core, log);
    server.core.events.on('*', (name, fact) => facts.push(JSON.stringify([name, fact])));
    const answers = [
      await server.call('POST', '/v1/chat', { body: server.chat() }),
      await server.call('POST', '/v1/chat', { body: server.chat({ stream: true }) }),
      await server.call('POST', `/v1/adapters/${wire.adapter}/verify`),
    ];
    t.match(told(), /bad key/, `${wire.name}: the log has the message`);
    for (const secret of secrets) {
      for (const { path } of server.upstream.requests) t.notOk(path.includes(secret), `${wire.name}: ${path}`);
      for (const text of [told(), facts.join(), ...answers.map((answer) => answer.text + JSON.stringify(answer.headers))])
        t.notOk(text.includes(secret), wire.name);
    }
  }
});

/** A server before Anthropic's wire with a key in auth.json, under a clock that the test moves. */
async function withStoredKey(t: Test, answer: Parameters<typeof startWireServer>[2]) {
  const clock = { ms: 0 };
  const { log, told } = listener();
  const server = await startWireServer(t, anthropic, answer, { now: () => clock.ms, http: { log } });
  logFacts(server.core, log);
  const facts: string[] = [];
  for (const name of ['credentials.changed', 'credentials.damaged'] as const) server.core.events.on(name, () => facts.push(name));
  const path = join(server.workspace, 'auth.json');
  const write = (text: string): void => {
    writeFileSync(path, text);
    clock.ms += 1000;
  };
  const replace = (text: string): void => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
    clock.ms += 1000;
  };
  const keyOf = (index: number) => server.upstream.requests[index]?.headers['x-api-key'];
  return { server, facts, told, write, replace, keyOf };
}

const stored = (apiKey: string) => JSON.stringify({ anthropic: { apiKey } });

t.test('a key that changes while a stream runs does not disturb it, and the next request uses it', async (t) => {
  let finish = (): void => undefined;
  const { server, facts, told, write, replace, keyOf } = await withStoredKey(t, (request, res, index) => {
    if (index > 0) return answerWith(anthropic)(request, res, index);
    const { type, frames, endFrames } = anthropic.stream(PLAIN);
    res.writeHead(200, { 'content-type': type });
    res.write(Buffer.concat(frames.slice(0, -endFrames)));
    finish = () => res.end(Buffer.concat(frames.slice(-endFrames)));
  });
  write(stored('first-key'));
  const running = await responseOf(server.open('POST', '/v1/chat', { body: server.chat({ stream: true }) }));
  replace(stored('second-key'));
  for (const [index, key] of [
    [1, 'second-key'],
    [2, 'third-key'],
  ] as const) {
    if (index === 2) write(stored('third-key'));
    t.match(await server.call('POST', '/v1/chat', { body: server.chat() }), { status: 200 });
    t.equal(keyOf(index), key);
  }
  t.same(facts, ['credentials.changed', 'credentials.changed']);
  t.match(told(), /auth\.json reloaded/);
  finish();
  t.same(
    framesOf((await readAnswer(running)).text).map(({ event }) => event),
    ['start', 'content', 'content', 'done'],
  );
  t.equal(keyOf(0), 'first-key');
});

t.test('a torn auth.json keeps the last good key in use and says so, until it is whole again', async (t) => {
  const { server, facts, told, write, keyOf } = await withStoredKey(t, answerWith(anthropic));
  write(stored('kept-0815'));
  const whole = stored('torn-4711');
  t.match(await server.call('POST', '/v1/chat', { body: server.chat() }), { status: 200 });
  let index = 1;
  for (let length = 0; length < whole.length; length += 5) {
    write(whole.slice(0, length));
    t.match(await server.call('POST', '/v1/chat', { body: server.chat() }), { status: 200 }, `${length} bytes of it`);
    t.equal(keyOf(index), 'kept-0815', `${length} bytes of it`);
    index += 1;
  }
  t.equal(facts.length, index - 1, 'each state is told once');
  t.same([...new Set(facts)], ['credentials.damaged']);
  t.match(told(), /error auth\.json is damaged; what was read of it before stays in use/);
  t.notMatch(told(), /torn-4711|kept-0815/);
  write(whole);
  t.match(await server.call('POST', '/v1/chat', { body: server.chat() }), { status: 200 });
  t.equal(keyOf(index), 'torn-4711');
  t.equal(facts.at(-1), 'credentials.changed');
});

t.test('a server whose auth.json was never good fails each use by name, and takes a repair up without a restart', async (t) => {
  const { server, told, write, keyOf } = await withStoredKey(t, answerWith(anthropic));
  write('{"anthropic":{"apiKey":"half');
  t.match(await server.call('POST', '/v1/chat', { body: server.chat() }), { status: 503, json: { code: 'ADAPTER_NOT_CONFIGURED', error: /auth\.json/ } });
  t.match(told(), /auth\.json is damaged/);
  write(stored('kept-0815'));
  t.match(await server.call('POST', '/v1/chat', { body: server.chat() }), { status: 200 });
  t.equal(keyOf(0), 'kept-0815');
});

/** Every form in which a client may ask. */
const ASKED: readonly (readonly [path: string, body: (model: string) => object])[] = [
  ['/v1/chat', (model) => ({ adapter: 'private', model, messages: [{ role: 'user', content: 'hi' }] })],
  ['/v1/chat/completions', (model) => ({ model: `private/${model}`, messages: [{ role: 'user', content: 'hi' }] })],
  ['/v1/completions', (model) => ({ model: `private/${model}`, prompt: 'hi' })],
  ['/v1/responses', (model) => ({ model: `private/${model}`, input: 'hi' })],
  ['/v1/messages', (model) => ({ model: `private/${model}`, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] })],
  ['/ollama/api/chat', (model) => ({ model: `private/${model}`, messages: [{ role: 'user', content: 'hi' }] })],
  ['/v1/embeddings', (model) => ({ model: `private/${model}`, input: 'hi' })],
];

t.test('the key of an application reads neither the address of a provider nor the path of a file; the token reads both', async (t) => {
  const clock = { ms: 0 };
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0, now: () => clock.ms });
  const write = (text: string): void => {
    writeFileSync(join(server.workspace, 'auth.json'), text);
    clock.ms += 60_000;
  };
  const key = (await server.core.keys?.create('app')) ?? '';
  const asApp = { authorization: `Bearer ${key}` };
  const everyForm = async (where: string, ask: (path: string, body: object) => Promise<void>): Promise<void> => {
    for (const [path, bodyOf] of ASKED) for (const stream of [false, true]) await ask(path, { ...bodyOf(`${where}-${stream}`), stream });
  };

  write('{"private":{"adapter":"openai","apiKey":"half');
  const toOpenAI = (body: object) => JSON.stringify(body).replaceAll('private', 'openai');
  await everyForm('damaged', async (path, body) => {
    const { text } = await server.call('POST', path, { body: toOpenAI(body), headers: asApp });
    t.match(text, /auth\.json of this server/, path);
    t.notOk(text.includes(server.workspace), path);
  });
  const seen = await server.call('POST', '/v1/chat', { body: toOpenAI(ASKED[0]?.[1]('m') ?? {}) });
  t.ok(seen.text.includes(server.workspace), seen.text);

  const breaks = ['nobody', 'resets', 'cuts', 'garbage', 'redirects', 'wrong-name'];
  for (const how of breaks) {
    const upstream = await startUpstream(t, (_request, res) => {
      if (how === 'resets') return void res.socket?.resetAndDestroy();
      if (how === 'garbage') return void res.socket?.end('nonsense\r\n\r\n');
      if (how === 'redirects') return void res.writeHead(302, { location: 'http://10.1.2.3/secret' }).end();
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n');
      return void res.socket?.end();
    });
    const { port } = new URL(upstream.url);
    if (how === 'nobody') upstream.server.close();
    const host = how === 'wrong-name' ? 'private.invalid' : '127.0.0.1';
    write(JSON.stringify({ private: { adapter: 'openai', baseURL: `http://${host}:${port}/v1`, apiKey: 'sk-canary-0123456789abcdef' } }));
    const hidden = new RegExp(`127\\.0\\.0\\.1|private\\.invalid|10\\.1\\.2\\.3|:${port}`);
    await everyForm(how, async (path, body) => {
      const { text } = await server.call('POST', path, { body, headers: asApp });
      t.notMatch(text, hidden, `${how} ${path}`);
      t.match(text, /error/, `${how} ${path}`);
    });
    if (how === 'redirects') continue;
    const { text } = await server.call('POST', '/v1/chat', { body: ASKED[0]?.[1]('of-the-owner') });
    t.match(text, host, how);
    // Calls of one model that fail are paused, and the pause says why.
    for (let n = 0; n < 6; n += 1) t.notMatch((await server.call('POST', '/v1/chat', { body: ASKED[0]?.[1]('paused'), headers: asApp })).text, hidden, how);
  }
});

t.test('no environment variable and no setting of a request sends a key of one provider to another', async (t) => {
  const upstreams = await Promise.all(WIRES.map((wire) => startUpstream(t, answerWith(wire))));
  const adapters = new Map(WIRES.map((wire) => [wire.adapter, wire]));
  const env = Object.assign({}, ...WIRES.map((wire, index) => wire.env(upstreams[index]?.url ?? ''))) as Record<string, string>;
  const core = createCore({ adapters: [...adapters.values()].map((wire) => wire.create()), env, retries: 0 });
  t.teardown(() => core.close());
  const secrets = new Map(WIRES.map((wire) => [wire.adapter, Object.values(wire.env('')).filter((value) => /canary/i.test(value))]));
  for (const [adapter, { model }] of adapters) await core.chat({ adapter, model, messages: [{ role: 'user', content: 'hi' }] });
  for (const [index, wire] of WIRES.entries()) {
    const seen = JSON.stringify(upstreams[index]?.requests);
    for (const [owner, keys] of secrets)
      if (owner !== wire.adapter) for (const key of keys) t.notOk(seen.includes(key), `${wire.name} never sees the key of ${owner}`);
  }
});
