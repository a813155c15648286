import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createOllama } from '../../../adapters/ollama/index.ts';
import type { OllamaRequest } from '../../../adapters/ollama/schema.ts';
import { type ChatStreamEvent, createCore, type Environment } from '../../../core/index.ts';
import { closedPort, coreWith, resolveNames, settingsFor } from '../../support/adapter-call.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { type Answerer, type FakeUpstream, sendInPieces, sendJson, startUpstream } from '../../support/upstream.ts';

const DONE = { message: { role: 'assistant', content: 'hello' }, done: true, done_reason: 'stop', prompt_eval_count: 2, eval_count: 1 };
const REQUEST = { adapter: 'ollama', model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };

async function start(t: Test, answer: Answerer, env: Environment = {}) {
  const upstream: FakeUpstream = await startUpstream(t, answer);
  return { upstream, core: coreWith(t, createOllama(), { OLLAMA_BASE_URL: upstream.url, ...env }) };
}

async function collect(events: AsyncIterable<ChatStreamEvent>): Promise<ChatStreamEvent[]> {
  const all: ChatStreamEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

t.test('gotcha 7: OLLAMA_HOST in the forms that the daemon takes', async (t) => {
  const table: [string, string][] = [
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:8080', 'http://127.0.0.1:8080'],
    ['http://0.0.0.0:11434', 'http://127.0.0.1:11434'],
    ['[::]', 'http://127.0.0.1:11434'],
    ['[::]:9', 'http://127.0.0.1:9'],
    ['[::1]', 'http://[::1]:11434'],
    [':9', 'http://127.0.0.1:9'],
    ['gpu-box', 'http://gpu-box:11434'],
    ['gpu-box:80', 'http://gpu-box'],
    ['gpu-box:80/ollama', 'http://gpu-box/ollama'],
    ['gpu-box/ollama/', 'http://gpu-box:11434/ollama'],
    ['127.0.0.1:11434', 'http://127.0.0.1:11434'],
    ['http://gpu-box', 'http://gpu-box'],
    ['https://gpu-box/', 'https://gpu-box'],
    ['HTTPS://gpu-box:444', 'https://gpu-box:444'],
    ['https://ollama.com', 'https://ollama.com'],
    ['not a host', 'not a host'],
  ];
  for (const [host, base] of table) t.equal(settingsFor(createOllama(), { env: { OLLAMA_HOST: host } }).values['baseURL'], base, host);
});

t.test('our own variable wins over the one of the daemon, and the default is loopback', async (t) => {
  t.equal(settingsFor(createOllama(), { env: { OLLAMA_HOST: 'a:1', OLLAMA_BASE_URL: 'http://b:2' } }).values['baseURL'], 'http://b:2');
  t.equal(settingsFor(createOllama()).values['baseURL'], 'http://127.0.0.1:11434');
});

t.test('a listen address that a request names is not rewritten, but refused', async (t) => {
  const core = coreWith(t, createOllama());
  await t.rejects(core.chat({ ...REQUEST, config: { baseURL: 'http://0.0.0.0:11434' } }), { code: 'INVALID_REQUEST' });
});

t.test('a host that is no URL is reported as a setting, with its source', async (t) => {
  await t.rejects(coreWith(t, createOllama(), { OLLAMA_HOST: 'not a host' }).chat(REQUEST), { code: 'ADAPTER_NOT_CONFIGURED', message: /env:OLLAMA_HOST/ });
});

t.test('a stored key never goes to a daemon; one of the request does', async (t) => {
  const { core, upstream } = await start(t, (_request, res) => sendJson(res, DONE), { OLLAMA_API_KEY: 'stored-key' });
  await core.chat(REQUEST);
  t.equal(upstream.requests[0]?.headers.authorization, undefined);
  await core.chat({ ...REQUEST, config: { apiKey: 'own-key' } });
  t.equal(upstream.requests[1]?.headers.authorization, 'Bearer own-key');
});

t.test("a stored key does not travel in the clear, not even to the cloud's host", async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, DONE));
  resolveNames(t, () => [{ address: '127.0.0.1', family: 4 }]);
  const core = coreWith(t, createOllama(), { OLLAMA_HOST: `ollama.com:${new URL(upstream.url).port}`, OLLAMA_API_KEY: 'stored-key' });
  await core.chat(REQUEST);
  t.match(upstream.requests[0]?.headers.host, /^ollama\.com:/);
  t.equal(upstream.requests[0]?.headers.authorization, undefined);
});

t.test("the cloud needs a key, the daemon doesn't", async (t) => {
  const adapter = createOllama();
  const missing = (baseURL: string, env: Environment = {}) => adapter.missingCredential(settingsFor(adapter, { config: { baseURL }, env }));
  t.match(missing('https://ollama.com'), /OLLAMA_API_KEY.*auth\.json/);
  t.match(missing('https://eu.ollama.com'), /OLLAMA_API_KEY/);
  t.equal(missing('https://ollama.com', { OLLAMA_API_KEY: 'k' }), undefined);
  t.equal(missing('https://notollama.com'), undefined);
  t.equal(missing('http://127.0.0.1:11434'), undefined);
});

t.test('both forms agree, over a socket and in pieces', async (t) => {
  const call = { id: 'c1', function: { name: 'f', arguments: { city: 'Oslo' } } };
  const end = { done: true, done_reason: 'stop', prompt_eval_count: 20, eval_count: 4 };
  const lines = [{ message: { content: 'Grü' } }, { message: { content: 'ße' } }, { message: { content: '', tool_calls: [call] } }, end];
  const { core } = await start(t, async (request, res) => {
    if (request.body.includes('"stream":true')) await sendInPieces(res, Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')), 3);
    else sendJson(res, { ...end, message: { content: 'Grüße', tool_calls: [call] } });
  });
  const whole = await core.chat(REQUEST);
  const events = await collect(core.stream(REQUEST));
  const { toolCalls, ...done } = events.at(-1) as Extract<ChatStreamEvent, { type: 'done' }>;
  t.equal(events.flatMap((event) => (event.type === 'content' ? [event.text] : [])).join(''), whole.message.content);
  t.same(toolCalls, whole.message.toolCalls);
  t.same(done, { type: 'done', usage: whole.usage, stopReason: whole.stopReason });
  t.same(whole.usage, { inputTokens: 20, outputTokens: 4, totalTokens: 24 });
});

t.test('gotcha 3: calls without ids get ids that differ', async (t) => {
  const call = { function: { name: 'f', arguments: {} } };
  const { core } = await start(t, (_request, res) => sendJson(res, { ...DONE, message: { content: '', tool_calls: [call, call] } }));
  const ids = (await core.chat(REQUEST)).message.toolCalls?.map(({ id }) => id) ?? [];
  t.equal(new Set(ids).size, 2);
  t.notOk(ids.includes(''));
});

t.test('gotcha 4: done_reason is stop although there are calls; the answer ends in tool_use', async (t) => {
  const { core } = await start(t, (_request, res) =>
    sendJson(res, { ...DONE, message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }] } }),
  );
  t.equal((await core.chat(REQUEST)).stopReason, 'tool_use');
});

t.test('gotcha 8: an error line after text ends the stream with an error, without a second attempt', async (t) => {
  const { core, upstream } = await start(t, (_request, res) => {
    res.write('{"message":{"content":"half"}}\n');
    setTimeout(() => res.end('{"error":"runner died"}\n'), 50);
  });
  const seen: ChatStreamEvent[] = [];
  await t.rejects(
    async () => {
      for await (const event of core.stream(REQUEST)) seen.push(event);
    },
    { code: 'UPSTREAM_FAILED', message: 'Ollama: runner died' },
  );
  t.match(seen, [{ type: 'start' }, { type: 'content', text: 'half' }]);
  t.equal(upstream.requests.length, 1);
});

t.test('gotcha 9: a fully cached prompt has no count and is estimated, as an answer without any is', async (t) => {
  const { core } = await start(t, (_request, res, index) =>
    sendJson(res, { message: { content: 'hello' }, done: true, ...(index === 0 && { eval_count: 2 }) }),
  );
  const { inputTokens, ...cached } = (await core.chat(REQUEST)).usage;
  t.ok(inputTokens > 0, 'else a key with a cap could repeat a long prompt for nothing');
  t.same(cached, { outputTokens: 2, totalTokens: inputTokens + 2, estimated: true });
  t.match((await core.chat(REQUEST)).usage, { inputTokens, estimated: true });
});

t.test('gotcha 10: a cold model may be silent for 300 s, unless the operator says otherwise', async (t) => {
  t.same(createOllama().timeouts, { firstByteMs: 300_000 });
  const upstream = await startUpstream(t, () => undefined);
  const core = coreWith(t, createOllama(), { OLLAMA_BASE_URL: upstream.url }, { firstByteMs: 100 });
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_TIMEOUT' });
});

t.test('a model that is not there is rejected with the cure', async (t) => {
  const { core } = await start(t, (_request, res) => sendJson(res, { error: "model 'm' not found" }, 404));
  await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_REJECTED', upstreamStatus: 404, message: /ollama pull/ });
});

t.test('models are listed live', async (t) => {
  const { core, upstream } = await start(t, (_request, res) => sendJson(res, { models: [{ name: 'a:latest' }, { model: 'b' }, {}, null] }));
  t.same(await core.models('ollama'), { provider: 'ollama', models: ['a:latest', 'b'], count: 2 });
  t.match(upstream.requests[0], { method: 'GET', path: '/api/tags' });
});

t.test('verify says how many models there are, or what failed', async (t) => {
  const { core, upstream } = await start(t, (_request, res, index) => sendJson(res, index === 0 ? { models: [{ name: 'a' }] } : {}));
  t.match(await core.verify('ollama'), { ok: true, detail: `The daemon at ${upstream.url} is reachable; 1 model is available.` });
  t.match(await core.verify('ollama'), { ok: true, detail: /0 models are available/ });
  upstream.server.closeAllConnections();
  await new Promise((resolve) => upstream.server.close(resolve));
  t.match(await core.verify('ollama'), { ok: false, detail: /ECONNREFUSED/ });
});

t.test('a key in auth.json goes to the address that stands beside it there', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, DONE));
  for (const [entry, env, expected] of [
    [{ apiKey: 'stored-key', baseURL: upstream.url }, {}, 'Bearer stored-key'],
    [{ apiKey: 'stored-key' }, { OLLAMA_BASE_URL: upstream.url }, undefined],
  ] as const) {
    const workspace = testFolder(t);
    writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ ollama: entry }), { mode: 0o600 });
    const core = createCore({ workspace, adapters: [createOllama()], env });
    t.teardown(() => core.close());
    await core.chat(REQUEST);
    t.equal(upstream.requests.at(-1)?.headers.authorization, expected);
  }
});

t.test('the context of a model', async (t) => {
  const shown = (tokens: number) => (res: ServerResponse) =>
    sendJson(res, { model_info: { 'general.architecture': 'gemma4', 'gemma4.context_length': tokens } });
  const long = (tokens: number) => ({ ...REQUEST, messages: [{ role: 'user' as const, content: 'x'.repeat(4 * tokens) }] });
  const contexts = ({ requests }: FakeUpstream) => requests.map(({ body }) => (JSON.parse(body) as OllamaRequest).options.num_ctx);

  t.test('grows with the conversation up to what the model can take, and the daemon is asked once', async (t) => {
    const questions: string[] = [];
    const upstream = await startUpstream(
      t,
      (_request, res) => sendJson(res, DONE),
      (res, body) => {
        questions.push(body);
        shown(20_000)(res);
      },
    );
    const core = coreWith(t, createOllama(), { OLLAMA_BASE_URL: `${upstream.url}/v1` });
    await Promise.all([core.chat(REQUEST), core.chat(REQUEST)]);
    t.same((await core.chat(long(8000))).warnings, undefined);
    t.match((await core.chat(long(30_000))).warnings, [{ field: 'messages', message: /m is limited to 20000/ }]);
    await core.chat(REQUEST);
    t.same(contexts(upstream), [8192, 8192, 16_384, 20_000, 20_000]);
    t.same(questions, ['{"model":"m"}']);
  });

  t.test('stays within OLLAMA_CONTEXT_LENGTH, and auth.json wins over that', async (t) => {
    const upstream = await startUpstream(t, (_request, res) => sendJson(res, DONE), shown(131_072));
    const env = { OLLAMA_BASE_URL: upstream.url, OLLAMA_CONTEXT_LENGTH: '10000' };
    await coreWith(t, createOllama(), env).chat(long(30_000));
    const workspace = testFolder(t);
    writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ ollama: { contextTokens: '65536' } }), { mode: 0o600 });
    const core = createCore({ workspace, adapters: [createOllama()], env });
    t.teardown(() => core.close());
    await core.chat(long(30_000));
    t.same(contexts(upstream), [10_000, 65_536]);
  });

  t.test('is bounded by the setting alone where the daemon has no /api/show, or fails there', async (t) => {
    for (const look of [
      (res: ServerResponse) => res.writeHead(404).end('404 page not found'),
      (res: ServerResponse) => sendJson(res, { error: 'broken' }, 500),
      (res: ServerResponse) => res.end('{"model_info":'),
      (res: ServerResponse) => res.destroy(),
    ]) {
      const upstream = await startUpstream(t, (_request, res) => sendJson(res, DONE), look);
      const core = coreWith(t, createOllama(), { OLLAMA_BASE_URL: upstream.url });
      t.equal((await core.chat(long(60_000))).message.content, 'hello');
      t.same(contexts(upstream), [32_768]);
    }
  });

  t.test('a caller who leaves while the daemon is asked does not wait for it, and the others get what it says', async (t) => {
    let held: ServerResponse | undefined;
    const upstream = await startUpstream(
      t,
      (_request, res) => sendJson(res, DONE),
      (res) => {
        held = res;
      },
    );
    const core = coreWith(t, createOllama(), { OLLAMA_BASE_URL: upstream.url });
    const abort = new AbortController();
    const left = core.chat(REQUEST, { signal: abort.signal });
    const stayed = core.chat(long(30_000));
    await until('the daemon was asked', () => held !== undefined);
    abort.abort();
    await t.rejects(left, { code: 'CANCELLED' });
    shown(5000)(held as unknown as ServerResponse);
    await stayed;
    t.same(contexts(upstream), [5000]);
  });

  t.test('a daemon that is not there is one failure, with its hint', async (t) => {
    const core = coreWith(t, createOllama(), { OLLAMA_BASE_URL: `http://127.0.0.1:${await closedPort()}` });
    await t.rejects(core.chat(REQUEST), { code: 'UPSTREAM_UNREACHABLE', retryable: true, mayHaveRun: false, message: /ollama serve/ });
  });

  t.test('is left to the cloud, for its models', async (t) => {
    const upstream = await startUpstream(
      t,
      (_request, res) => sendJson(res, DONE),
      () => t.fail('the daemon was asked'),
    );
    await coreWith(t, createOllama(), { OLLAMA_BASE_URL: upstream.url }).chat({ ...REQUEST, model: 'qwen3.5:cloud' });
    t.same(contexts(upstream), [undefined]);
  });

  t.test('a setting that is no number of tokens is named, with its source', async (t) => {
    for (const value of ['4k', '100', '-1', '1e9'])
      await t.rejects(coreWith(t, createOllama(), { OLLAMA_CONTEXT_LENGTH: value }).chat(REQUEST), {
        code: 'ADAPTER_NOT_CONFIGURED',
        message: /contextTokens from env:OLLAMA_CONTEXT_LENGTH must be a whole number of 512 or more/,
      });
  });
});

t.test('a list of models of more than 4 MiB is not read to its end', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, { models: Array.from({ length: 20_000 }, () => ({ name: 'x'.repeat(256) })) }));
  const core = coreWith(t, createOllama(), { OLLAMA_BASE_URL: upstream.url });
  await t.rejects(core.models('ollama'), { code: 'UPSTREAM_MALFORMED', message: /larger than 4194304 bytes/ });
});
