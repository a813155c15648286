import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import WebSocket from 'ws';
import { createAdapters } from '../../../adapters/index.ts';
import type { Mount } from '../../../transports/http/index.ts';
import { sharedTurn } from '../../../core/base/next-turn.ts';
import { type Core, BlockhouseError } from '../../../core/index.ts';
import { createMetrics } from '../../../transports/metrics/index.ts';
import { Metrics } from '../../../transports/metrics/metrics.ts';
import { createWsTransport } from '../../../transports/ws/index.ts';
import { createBlock, RUNNABLE } from '../../support/block-calls.ts';
import { readScrape, sumOf, oneOf } from '../../support/observability/scrape.ts';
import { CHAT, startServer as startBare, type TestServer, type TestServerOptions } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { type Answerer, sendJson } from '../../support/upstream.ts';

const USAGE = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050, prompt_tokens_details: { cached_tokens: 400 } };
const COMPLETION = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
  usage: USAGE,
};

const scrape = async (server: TestServer) => readScrape((await server.call('GET', '/metrics')).text);

/** A server with its metrics. */
async function startServer(t: Test, { isOpen = false, ...options }: TestServerOptions & { isOpen?: boolean } = {}): Promise<TestServer> {
  const mounts: Mount[] = [];
  const server = await startBare(t, { ...options, http: { mounts } });
  mounts.push(createMetrics(server.core, { isOpen }));
  return server;
}

/** A server with the connection `gpu`, whose model m has a price. */
async function startPriced(t: Test, answer: Answerer, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startServer(t, { adapters: createAdapters(), env: {}, answer, ...options });
  const gpu = { adapter: 'openai', api: 'chat', baseURL: `${server.upstream.url}/v1`, models: { m: { price: { input: 1, output: 10, cacheRead: 0.1 } } } };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ gpu }), { mode: 0o600 });
  return server;
}

t.test('the metrics are for the token alone, unless they are open for all', async (t) => {
  const server = await startServer(t);
  t.equal((await server.call('GET', '/metrics', { token: false })).status, 401);
  const key = await server.core.keys?.create('app');
  t.match(await server.call('GET', '/metrics', { token: false, headers: { authorization: `Bearer ${key}` } }), {
    status: 403,
    json: { code: 'KEY_FORBIDDEN' },
  });
  t.match(await server.call('POST', '/metrics'), { status: 405, headers: { allow: 'GET, HEAD' }, json: { code: 'METHOD_NOT_ALLOWED' } });
  t.match(await server.call('GET', '/metrics/x'), { status: 404, json: { code: 'NOT_FOUND' } });
  t.match(await server.call('GET', '/metrics'), { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } });
  const open = await startServer(t, { isOpen: true });
  t.equal((await open.call('GET', '/metrics', { token: false })).status, 200);
  t.equal((await open.call('GET', '/api/keys', { token: false })).status, 401, 'nothing else is');
});

t.test('all who ask at once get the same bytes, in a turn that has room for them, and who has left gets nothing', async (t) => {
  const { core } = await startServer(t);
  const { handler } = createMetrics(core, { isOpen: true });
  const got: unknown[] = [];
  const ask = (destroyed: boolean): Promise<void> =>
    handler(
      { method: 'GET', url: '/metrics', headers: {}, socket: { destroyed } } as IncomingMessage,
      { writeHead() {}, end: (bytes: unknown) => got.push(bytes) } as unknown as ServerResponse,
    );
  const others = Array.from({ length: 100 }, () => sharedTurn('other').then(() => got.push('other')));
  await Promise.all([ask(false), ask(true), ask(false), ...others]);
  const [first = -1, second = -1, ...more] = got.flatMap((each, index) => (each === 'other' ? [] : [index]));
  t.same(more, []);
  t.ok(got[first] instanceof Buffer);
  t.equal(got[second], got[first], 'one copy for all');
  t.ok(second > first + 1, 'others are served between them');
  await new Promise(setImmediate);
  const { text } = Metrics.prototype;
  let made = 0;
  Metrics.prototype.text = async () => {
    made += 1;
    return 'text';
  };
  const asked = [ask(false)];
  for (let steps = 0; steps < 20; steps += 1) await undefined;
  asked.push(ask(false));
  t.equal(made, 1, 'also who asks later in the same turn');
  await Promise.all(asked);
  await new Promise(setImmediate);
  await ask(false);
  t.equal(made, 2, 'and nobody else');
  Metrics.prototype.text = text;
});

t.test('runs of schedules, those left out, deliveries of hooks, calls of tools and decisions are counted, whatever their names', async (t) => {
  const server = await startServer(t);
  const { events } = server.core;
  const emit = (events as unknown as { emit(type: string, fact: object): void }).emit.bind(events);
  for (const block of ['ada', 'bob']) {
    emit('schedule.fired', { block, schedule: 'brief', at: '2026-11-20T11:00:00.000Z', id: `m-${block}` });
    emit('schedule.skipped', { block, schedule: 'brief', reason: 'missed', runs: 2 });
  }
  emit('schedule.skipped', { block: 'ada', schedule: 'brief', reason: 'cap', runs: 1 });
  emit('hook.taken', { block: 'ada', hook: 'issues', id: 'm3' });
  const call = { block: 'ada', id: 'm1', call: '1.1', tool: 'bank/pay' };
  emit('tool.finished', { ...call, outcome: 'done', isError: false, ms: 3 });
  emit('tool.finished', { ...call, outcome: 'done', isError: true, ms: 3 });
  emit('tool.finished', { ...call, outcome: 'unknown', isError: false, ms: null });
  emit('approval.requested', { block: 'ada', id: 'm1', approval: 'a1', tool: 'bank/pay', because: 'rule', expiresAt: '' });
  emit('approval.decided', { block: 'ada', id: 'm1', approval: 'a1', tool: 'bank/pay', state: 'denied' });
  for (const isFinal of [false, false, true]) emit('notify.failed', { target: 'phone', status: 500, isFinal });
  const figures = await scrape(server);
  t.equal(oneOf(figures, 'blockhouse_schedule_runs_total'), 2);
  t.equal(oneOf(figures, 'blockhouse_schedule_runs_skipped_total', { reason: 'missed' }), 4);
  t.equal(oneOf(figures, 'blockhouse_schedule_runs_skipped_total', { reason: 'cap' }), 1);
  t.equal(oneOf(figures, 'blockhouse_hook_deliveries_total'), 1);
  for (const [outcome, count] of Object.entries({ done: 1, error: 1, unknown: 1 }))
    t.equal(oneOf(figures, 'blockhouse_tool_calls_total', { outcome }), count, outcome);
  t.equal(oneOf(figures, 'blockhouse_approvals_requested_total'), 1);
  t.equal(oneOf(figures, 'blockhouse_approvals_total', { outcome: 'denied' }), 1);
  t.equal(oneOf(figures, 'blockhouse_notify_failures_total', { final: 'false' }), 2);
  t.equal(oneOf(figures, 'blockhouse_notify_failures_total', { final: 'true' }), 1);
});

t.test('both formats say the same and can be read by a strict reader', async (t) => {
  const server = await startPriced(t, (_request, res) => sendJson(res, COMPLETION));
  await server.call('POST', '/v1/chat', { body: { ...CHAT, adapter: 'gpu', model: 'm' } });
  const prometheus = await scrape(server);
  const { text, headers } = await server.call('GET', '/metrics', { headers: { accept: 'application/openmetrics-text; version=1.0.0' } });
  t.equal(headers['content-type'], 'application/openmetrics-text; version=1.0.0; charset=utf-8');
  const open = readScrape(text, 'openmetrics');
  for (const name of ['blockhouse_calls_total', 'blockhouse_tokens_total', 'blockhouse_cost_usd_total'])
    t.equal(sumOf(open, name), sumOf(prometheus, name), name);
});

t.test('calls, tokens and costs are those of the ledger, whatever became of the calls', async (t) => {
  let count = 0;
  const server = await startPriced(
    t,
    ({ body }, res) => {
      count += 1;
      if (body.includes('"hang"')) return;
      if (body.includes('"cut"')) {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hel' } }] })}\n\n`);
        setImmediate(() => res.destroy());
      } else if (body.includes('"flaky"') && count % 2 === 1) res.writeHead(500).end('{}');
      else if (body.includes('"wrong"')) res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
      else sendJson(res, COMPLETION);
    },
    { retries: 2, random: () => 0 },
  );
  const chat = (content: string, more: object = {}) =>
    server.call('POST', '/v1/chat', { body: { adapter: 'gpu', model: 'm', messages: [{ role: 'user', content }], ...more } });
  await server.call('POST', '/api/keys', { body: { name: 'app', tokensPerDay: 1_000_000 } });
  for (const content of ['hi', 'flaky', 'wrong', 'flaky']) await chat(content);
  await chat('cut', { stream: true });
  await chat('hi', { model: 'unpriced' });
  await server.call('POST', '/v1/chat/completions', { body: { model: 'gpu/m', messages: [{ role: 'user', content: 'hi' }] } });
  const hanging = server.open('POST', '/v1/chat', { body: { adapter: 'gpu', model: 'm', messages: [{ role: 'user', content: 'hang' }] } });
  hanging.on('error', () => undefined);
  await until('the call is under way', () => server.core.liveCalls().some(({ phase }) => phase === 'sent'));
  hanging.destroy();
  await until('it has ended', () => server.core.liveCalls().length === 0);

  const metrics = await scrape(server);
  const ledger = (await server.core.accounts?.costs('model'))?.total;
  t.equal(sumOf(metrics, 'blockhouse_tokens_total', { type: 'input' }), ledger?.input);
  t.equal(sumOf(metrics, 'blockhouse_tokens_total', { type: 'output' }), ledger?.output);
  t.equal(sumOf(metrics, 'blockhouse_tokens_total', { type: 'cache_read' }), 5 * 400);
  t.ok(Math.abs(sumOf(metrics, 'blockhouse_cost_usd_total') - (ledger?.costUsd ?? 0)) < 1e-12);
  t.equal(sumOf(metrics, 'blockhouse_unpriced_calls_total'), ledger?.unpricedCalls);
  t.equal(sumOf(metrics, 'blockhouse_calls_total'), 8);
  t.equal(sumOf(metrics, 'blockhouse_calls_total', { status: 'cancelled' }), 1);
  t.equal(sumOf(metrics, 'blockhouse_calls_total', { path: '/v1/chat/completions', status: 'ok' }), 1);
  t.equal(sumOf(metrics, 'blockhouse_call_errors_total', { code: 'UPSTREAM_REJECTED' }), 1);
  t.equal(sumOf(metrics, 'blockhouse_answers_total', { connection: 'gpu', reason: 'end_turn' }), 5);
  t.equal(sumOf(metrics, 'blockhouse_store_duration_seconds_count', { part: 'database' }), 0);
  t.equal(sumOf(metrics, 'blockhouse_retries_total'), sumOf(metrics, 'blockhouse_attempts_total') - 8);
  t.equal(sumOf(metrics, 'blockhouse_attempts_total'), server.upstream.requests.length);
});

t.test('requests are counted by their route, and one that a client makes up has none', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'helper');
  for (const path of ['/api/blocks/helper', '/api/blocks/nobody', '/made/up', '/made/up/too']) await server.call('GET', path);
  await server.call('PATCH', '/api/health');
  const metrics = await scrape(server);
  t.equal(oneOf(metrics, 'blockhouse_http_requests_total', { route: '/api/blocks/:name', status: '200' }), 1);
  t.equal(oneOf(metrics, 'blockhouse_http_requests_total', { route: '/api/blocks/:name', status: '404' }), 1);
  t.equal(oneOf(metrics, 'blockhouse_http_requests_total', { route: 'none', method: 'GET', status: '404' }), 2);
  t.equal(oneOf(metrics, 'blockhouse_http_request_duration_seconds_count', { route: '/api/blocks/:name' }), 2);
  t.notOk((await server.call('GET', '/metrics')).text.includes('made/up'));
});

t.test('a method that a client makes up makes no series', async (t) => {
  const server = await startServer(t);
  for (const method of ['PROPFIND', 'MKCOL', 'PURGE', 'LOCK']) await server.call(method, '/api/health');
  const metrics = await scrape(server);
  t.same(new Set(metrics.get('blockhouse_http_requests_total')?.samples.map(({ labels }) => labels['method'])), new Set(['other']));
});

t.test('blocks are counted by state, and their messages by outcome', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'asleep');
  await createBlock(server, 'awake', RUNNABLE);
  await server.call('POST', '/api/blocks/awake/start');
  const sent = await server.call('POST', '/api/blocks/awake/chat?wait=60', { body: { message: 'hi' } });
  t.equal(sent.status, 200, sent.text);
  await server.call('POST', '/api/blocks/asleep/chat', { body: { message: 'anybody there?' } });
  const metrics = await scrape(server);
  t.equal(oneOf(metrics, 'blockhouse_blocks', { state: 'stopped' }), 1);
  t.equal(sumOf(metrics, 'blockhouse_blocks'), 2);
  t.equal(oneOf(metrics, 'blockhouse_blocks_running'), 1);
  t.equal(oneOf(metrics, 'blockhouse_messages_total', { outcome: 'done' }), 1);
  t.equal(oneOf(metrics, 'blockhouse_messages_queued_total'), 2);
  for (const part of ['file', 'ledger']) {
    const seconds = oneOf(metrics, 'blockhouse_store_duration_seconds_sum', { part }) ?? 0;
    const count = oneOf(metrics, 'blockhouse_store_duration_seconds_count', { part }) ?? 0;
    t.ok(count >= 1 && seconds > 0, `${part}: ${count} in ${seconds} s`);
  }
  t.equal(oneOf(metrics, 'blockhouse_messages_waiting'), 1);
  t.ok((oneOf(metrics, 'blockhouse_oldest_waiting_message_seconds') ?? 0) > 0);
  t.equal(sumOf(metrics, 'blockhouse_calls_total', { path: 'block' }), 1);
  await server.call('DELETE', '/api/blocks/asleep');
  t.equal(oneOf(await scrape(server), 'blockhouse_oldest_waiting_message_seconds'), 0, 'what is archived waits no longer');
});

t.test('what keys have spent stands beside their caps', async (t) => {
  const server = await startPriced(t, (_request, res) => sendJson(res, COMPLETION));
  const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app', usdPerDay: 5, tokensPerMonth: 9000 } })).json as { key: string };
  await server.call('POST', '/api/keys', { body: { name: 'free' } });
  await server.call('POST', '/v1/chat', { token: false, headers: { authorization: `Bearer ${key}` }, body: { ...CHAT, adapter: 'gpu', model: 'm' } });
  const metrics = await scrape(server);
  t.equal(oneOf(metrics, 'blockhouse_key_cap', { key: 'app', unit: 'usd', period: 'day' }), 5);
  t.equal(oneOf(metrics, 'blockhouse_key_spent', { key: 'app', unit: 'tokens', period: 'month' }), 1050);
  t.equal(oneOf(metrics, 'blockhouse_key_spent', { key: 'app', unit: 'usd', period: 'day' }), sumOf(metrics, 'blockhouse_cost_usd_total'));
  t.notOk(metrics.get('blockhouse_key_cap')?.samples.some(({ labels }) => labels['key'] === 'free'));
});

t.test('a connection says how busy it is, and which of its keys are used', async (t) => {
  const server = await startServer(t, { adapters: createAdapters(), env: {}, retries: 0, answer: (_request, res) => void res.writeHead(401).end('{}') });
  const keys = [
    { label: 'a', apiKey: 'key-of-a' },
    { label: 'b', apiKey: 'key-of-b' },
  ];
  const gpu = { adapter: 'openai', api: 'chat', baseURL: `${server.upstream.url}/v1`, keys, limits: { inFlight: 7 } };
  writeFileSync(join(server.workspace, 'auth.json'), JSON.stringify({ gpu }), { mode: 0o600 });
  await server.call('POST', '/v1/chat', { body: { ...CHAT, adapter: 'gpu', model: 'm' } });
  const metrics = await scrape(server);
  t.equal(oneOf(metrics, 'blockhouse_queue_places', { connection: 'gpu' }), 7);
  t.equal(oneOf(metrics, 'blockhouse_provider_paused', { connection: 'gpu' }), 0);
  t.ok((oneOf(metrics, 'blockhouse_connection_keys', { connection: 'gpu', state: 'refused' }) ?? 0) > 0);
  t.equal(sumOf(metrics, 'blockhouse_connection_keys', { connection: 'gpu' }), 2);
  t.notOk((await server.call('GET', '/metrics')).text.includes('key-of'));
});

t.test('WebSockets are counted while they are open', async (t) => {
  const server = await startServer(t);
  const sockets = createWsTransport(server.core, server.transport.server, {});
  t.teardown(() => sockets.close());
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/ws`, { headers: { authorization: `Bearer ${server.token}` } });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  t.equal(oneOf(await scrape(server), 'blockhouse_websockets_open'), 1);
  socket.close();
  await new Promise((resolve) => socket.once('close', resolve));
  t.equal(oneOf(await scrape(server), 'blockhouse_websockets_open'), 0);
  t.equal(oneOf(await scrape(server), 'blockhouse_websockets_opened_total'), 1);
});

t.test('the process says how it is; the delay of its loop from the second scrape on', async (t) => {
  const server = await startServer(t);
  const first = await scrape(server);
  t.equal(first.has('nodejs_eventloop_lag_p99_seconds'), false, 'it needs a timer, which nobody has asked for before');
  const second = await scrape(server);
  t.ok(second.has('nodejs_eventloop_lag_p99_seconds'));
  t.ok((oneOf(second, 'process_cpu_seconds_total') ?? 0) > 0);
  t.equal(oneOf(second, 'blockhouse_info', { version: server.core.version, store: 'files' }), 1);
});

t.test('what can not be read is left out and named, and all else is told: an alert must not fail with what it watches', async (t) => {
  const server = await startServer(t);
  const broken = (parts: Partial<Core>): Core => new Proxy(server.core, { get: (core, name) => Reflect.get(name in parts ? parts : core, name) as unknown });
  const scraped = async (core: Core) => readScrape(await new Metrics(core, {}, 20).text('prometheus'));
  const never = new Promise<never>(() => undefined);
  const storeHealth = { latencyMs: 9, node: 'n1', nodes: 2, draining: false, isAway: true };
  const counts = (): Promise<never> => Promise.reject(new BlockhouseError('STORE_UNREACHABLE', 'The database does not answer.'));
  const list = (): never => {
    throw new BlockhouseError('WORKSPACE_DAMAGED', 'keys.json is damaged.');
  };
  for (const [parts, missing] of [
    [{ blocks: { counts } }, { blocks: 1, keys: 0, connections: 0 }],
    [{ blocks: { counts: () => never } }, { blocks: 1, keys: 0, connections: 0 }],
    [{ keys: { list } }, { blocks: 0, keys: 1, connections: 0 }],
    [{ connections: { list } }, { blocks: 0, keys: 0, connections: 1 }],
    [{ storeHealth }, { blocks: 1, keys: 1, connections: 0 }],
  ] as const) {
    const metrics = await scraped(broken(parts as unknown as Partial<Core>));
    t.same(Object.fromEntries(Object.keys(missing).map((part) => [part, oneOf(metrics, 'blockhouse_metrics_unread', { part })])), missing);
    t.ok((oneOf(metrics, 'process_resident_memory_bytes') ?? 0) > 0);
  }
  t.equal(oneOf(await scraped(broken({ storeHealth } as Partial<Core>)), 'blockhouse_store_away'), 1);
});
