// The services of docs/connections.md before stand-ins that answer as the documentation of each says, and refuse what it says is refused. Mistral, DeepSeek and Groq are
// the cases 17 to 19 of named-connections.spec.ts. What only a real account tells is written in the page, service by service.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { startServer } from '../support/server.ts';
import { type RecordedRequest, sendJson, startUpstream } from '../support/upstream.ts';

type Body = Readonly<Record<string, unknown>>;
const MESSAGES = [{ role: 'user', content: 'hi' }];
const TOOL = { name: 'f', parameters: { type: 'object', properties: {} } };
const KEY = 'key-of-the-service-0123456789';

/** The answers of three services, as their documentation shows them; each file says where and when it was read. */
const documented = (name: string) => JSON.parse(readFileSync(new URL(`services/${name}.json`, import.meta.url), 'utf8')).answer as object;

/** A plain answer of Chat Completions with this usage. */
const chatWith = (usage: object) => ({ id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }], usage });
const USAGE = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

interface Service {
  /** What the service does not take, from a request as it arrives; undefined for nothing. */
  refuses?(body: Body, request: RecordedRequest): string | undefined;
  readonly answer: object;
  readonly list?: unknown;
  /** Besides the address and the key. */
  readonly entry?: object;
  /** The path of its base URL. */
  readonly path: string;
}

/** A server with the preset of a service before its stand-in. */
async function startBefore(t: Test, preset: string, { refuses, answer, list, entry, path }: Service) {
  const upstream = await startUpstream(t, (request, res) => {
    if (request.method === 'GET') return sendJson(res, list ?? { data: [] });
    const wrong = refuses?.(JSON.parse(request.body) as Body, request);
    return wrong === undefined ? sendJson(res, answer) : sendJson(res, { error: { message: `refused: ${wrong}`, type: 'invalid_request_error' } }, 400);
  });
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0 });
  const own = { preset, baseURL: `${upstream.url}${path}`, apiKey: KEY, ...entry };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ service: own }), { mode: 0o600 });
  await delay(210); // the server looks at the file at most five times a second
  const sent = () => JSON.parse(upstream.requests.at(-1)?.body ?? '{}') as Body;
  const chat = (model: string, parts: object = {}) => server.call('POST', '/v1/chat', { body: { adapter: 'service', model, messages: MESSAGES, ...parts } });
  const native = (model: string, parts: object = {}) =>
    server.call('POST', '/v1/chat/completions', { body: { model: `service/${model}`, messages: MESSAGES, ...parts } });
  return { ...server, upstream, sent, chat, native };
}

const given = (body: Body, names: readonly string[]) => names.find((name) => body[name] !== undefined);

t.test('OpenRouter: the cost of the answer is the cost, cache writes are counted, and reasoning is an object', async (t) => {
  const router = await startBefore(t, 'openrouter', {
    path: '/api/v1',
    answer: documented('openrouter'),
    refuses: (body) => given(body, ['reasoning_effort']),
  });
  const answer = await router.chat('openai/gpt-4o', { config: { reasoning: { effort: 'high' } } });
  t.match(answer, { status: 200, json: { usage: { inputTokens: 194, outputTokens: 2, cacheWriteTokens: 100, costUsd: 0.95 } } }, answer.text);
  t.match(router.sent(), { model: 'openai/gpt-4o', reasoning: { effort: 'high' } });
  t.match(router.upstream.requests[0], { path: '/api/v1/chat/completions', headers: { authorization: `Bearer ${KEY}` } });
  t.match((await router.call('GET', '/api/costs?source=gateway&by=model')).json, { rows: [{ key: 'service/openai/gpt-4o', costUsd: 0.95 }] });
});

t.test('Cerebras: what it refuses is left out with a warning, developer becomes system, and its reasoning is read', async (t) => {
  const refused = ['presence_penalty', 'frequency_penalty', 'parallel_tool_calls', 'service_tier', 'prompt_cache_key'];
  const cerebras = await startBefore(t, 'cerebras', {
    path: '/v1',
    answer: documented('cerebras'),
    refuses: (body) => given(body, refused) ?? (body['messages'] as { role: string }[]).find(({ role }) => role === 'developer')?.role,
  });
  const developer = [{ role: 'developer', content: 'Be brief.' }, ...MESSAGES];
  const native = await cerebras.native('gpt-oss-120b', {
    messages: developer,
    presence_penalty: 1,
    frequency_penalty: 1,
    parallel_tool_calls: true,
    service_tier: 'auto',
    prompt_cache_key: 'c',
  });
  t.equal(native.status, 200, native.text);
  t.match(cerebras.sent(), { messages: [{ role: 'system' }, { role: 'user' }] });
  const answer = await cerebras.chat('gpt-oss-120b', { config: { cacheKey: 'c', presencePenalty: 1 } });
  t.match(answer.json, {
    usage: { inputTokens: 12, outputTokens: 10, cacheReadTokens: 0 },
    warnings: [{ field: 'config.presencePenalty' }, { field: 'config.cacheKey' }],
  });
  const told = await cerebras.call('POST', '/v1/messages', {
    body: { model: 'service/gpt-oss-120b', max_tokens: 2000, messages: MESSAGES, thinking: { type: 'enabled', budget_tokens: 1024 } },
  });
  t.match(told.text, 'A simple greeting', 'the field reasoning');
});

t.test('Together: its list is a bare array, max_tokens is the limit, and no tool is strict', async (t) => {
  const together = await startBefore(t, 'together', {
    path: '/v1',
    answer: chatWith(USAGE),
    list: [{ id: 'a/b', type: 'chat', context_length: 8192 }],
    refuses: (body) => given(body, ['max_completion_tokens', 'reasoning_effort']) ?? (JSON.stringify(body).includes('"strict"') ? 'strict' : undefined),
  });
  t.match((await together.call('GET', '/v1/models')).json, { data: [{ id: 'service/a/b' }] });
  t.equal(await together.core.contextLength('service', 'a/b'), 8192);
  const answer = await together.chat('a/b', { tools: [TOOL], config: { maxTokens: 9, reasoning: { effort: 'low' } } });
  t.equal(answer.status, 200, answer.text);
  t.match(together.sent(), { max_tokens: 9, reasoning: { enabled: true } });
  t.equal((await together.native('a/b', { max_completion_tokens: 9 })).status, 200);
});

t.test('Moonshot: cached tokens beside the counts are counted, and thinking has a type', async (t) => {
  const moonshot = await startBefore(t, 'moonshot', {
    path: '/v1',
    answer: chatWith({ ...USAGE, cached_tokens: 8 }),
    refuses: (body) => given(body, ['max_completion_tokens', 'reasoning_effort', 'reasoning']),
  });
  const answer = await moonshot.chat('kimi-k2', { config: { maxTokens: 9, reasoning: { effort: 'high' } } });
  t.match(answer, { status: 200, json: { usage: { inputTokens: 12, cacheReadTokens: 8 } } }, answer.text);
  t.match(moonshot.sent(), { max_tokens: 9, thinking: { type: 'enabled' } });
});

t.test('DeepSeek: hits and misses of the cache, as its documentation counts them', async (t) => {
  const deepseek = await startBefore(t, 'deepseek', { path: '', answer: documented('deepseek') });
  const answer = await deepseek.chat('deepseek-chat');
  t.match(answer, { status: 200, json: { usage: { inputTokens: 16, outputTokens: 10, cacheReadTokens: 12 } } }, answer.text);
  t.equal(deepseek.upstream.requests[0]?.path, '/chat/completions', 'the base URL has no /v1');
});

/** A whole answer of Responses. */
const responded = (usage: object) => ({
  id: 'r',
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] }],
  usage,
});
const RESPONSES_USAGE = {
  input_tokens: 1_000_000,
  input_tokens_details: { cached_tokens: 400_000 },
  output_tokens: 100_000,
  output_tokens_details: { reasoning_tokens: 50_000 },
  total_tokens: 1_100_000,
};

t.test('xAI: the Responses protocol, with the cache key of the conversation', async (t) => {
  const xai = await startBefore(t, 'xai', {
    path: '/v1',
    answer: responded(RESPONSES_USAGE),
    refuses: (_body, { path }) => (path === '/v1/responses' ? undefined : `the path ${path}, which is deprecated`),
  });
  const answer = await xai.chat('grok-4', { config: { cacheKey: 'conversation-1' } });
  t.match(answer, { status: 200, json: { usage: { cacheReadTokens: 400_000, reasoningTokens: 50_000 } } }, answer.text);
  t.match(xai.sent(), { prompt_cache_key: 'conversation-1' });
  t.equal((await xai.native('grok-4')).status, 200, 'a client of Chat Completions is translated');
});

t.test('Azure: the key as a bearer token, no api-version, a deployment as the model, and its price by name', async (t) => {
  const azure = await startBefore(t, 'azure', {
    path: '/openai/v1',
    answer: responded(RESPONSES_USAGE),
    list: { data: [{ id: 'gpt-4o-2024-08-06' }] },
    entry: { models: { prod: { price: 'azure/gpt-4o' } } },
    refuses: (body, { path, headers }) =>
      path !== '/openai/v1/responses' ? path : headers['api-key'] !== undefined ? 'api-key' : body['model'] === 'prod' ? undefined : 'the deployment',
  });
  const answer = await azure.chat('prod');
  t.equal(answer.status, 200, answer.text);
  t.equal(azure.upstream.requests.at(-1)?.headers.authorization, `Bearer ${KEY}`);
  t.match((await azure.call('GET', '/api/costs?source=gateway&by=model')).json, {
    rows: [{ key: 'service/prod', costUsd: 0.6 * 2.5 + 0.4 * 1.25 + 0.1 * 10 }],
  });
  t.match((await azure.call('GET', '/api/prices?model=service/prod')).json, { prices: [{ from: 'own', like: 'azure/gpt-4o' }] });
  t.match((await azure.call('GET', '/v1/models')).json, { data: [{ id: 'service/prod' }] }, 'its list has base models, which are no deployments');
  t.same((await azure.call('GET', '/v1/adapters/service/models')).json, { provider: 'service', models: ['prod'], count: 1 });
  t.match((await azure.call('POST', '/v1/adapters/service/verify')).json, { ok: true });
});

t.test('llama.cpp: the window is told beside the list, at the same server; without it, the list stays', async (t) => {
  const told: unknown[] = [];
  const upstream = await startUpstream(t, (request, res) => {
    if (request.path === '/team/props') return told.length > 0 ? sendJson(res, told[0]) : sendJson(res, {}, 501);
    return sendJson(res, { data: [{ id: 'qwen3', meta: { n_ctx_train: 131_072 } }] });
  });
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0 });
  const knownOf = async (name: string) => {
    const entry = { preset: 'llamacpp', baseURL: `${upstream.url}/team/v1` };
    writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ [name]: entry }), { mode: 0o600 });
    await delay(210);
    t.match((await server.call('GET', '/v1/models')).json, { data: [{ id: `${name}/qwen3` }] });
    return server.core.contextLength(name, 'qwen3');
  };
  t.equal(await knownOf('silent'), undefined);
  for (const odd of [[], { default_generation_settings: { n_ctx: 'many' } }, { default_generation_settings: { n_ctx: 0 } }]) {
    told[0] = odd;
    t.equal(await knownOf(`odd${JSON.stringify(odd).length}`), undefined, JSON.stringify(odd));
  }
  told[0] = { default_generation_settings: { n_ctx: 8192 }, build_info: 'b1' };
  t.equal(await knownOf('small'), 8192);
});

t.test('vLLM: no key, the window from the list, price 0', async (t) => {
  const vllm = await startBefore(t, 'vllm', {
    path: '/v1',
    answer: chatWith(USAGE),
    list: { object: 'list', data: [{ id: 'qwen3', object: 'model', owned_by: 'vllm', max_model_len: 32_768 }] },
    entry: { apiKey: undefined },
    refuses: (_body, { headers }) => (headers.authorization === undefined ? undefined : 'a key'),
  });
  t.match((await vllm.call('GET', '/v1/models')).json, { data: [{ id: 'service/qwen3' }] });
  t.equal(await vllm.core.contextLength('service', 'qwen3'), 32_768);
  t.equal((await vllm.chat('qwen3')).status, 200);
  t.match((await vllm.call('GET', '/api/costs?source=gateway&by=model')).json, { total: { costUsd: 0, unpricedCalls: 0 } });
});
