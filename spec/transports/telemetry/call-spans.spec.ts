import * as convention from '@opentelemetry/semantic-conventions/incubating';
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { CONVENTION, OWN } from '../../../transports/telemetry/attributes.ts';
import { CallSpans } from '../../../transports/telemetry/call-spans.ts';
import { SpanClock } from '../../../transports/telemetry/clock.ts';
import { ObjectBatch, type Origin } from '../../../transports/telemetry/span-batch.ts';
import type { Noted, SpanIds } from '../../../transports/telemetry/spans.ts';
import type { Upstreams } from '../../../transports/telemetry/upstreams.ts';
import { BODY, COMPLETION, spansOf, startGpu, TWO_KEYS } from '../../support/otlp/gpu.ts';
import { until } from '../../support/until.ts';
import { sendJson } from '../../support/upstream.ts';

/** Every attribute of the conventions that the package knows. */
const KNOWN = new Set<string>(Object.entries(convention).flatMap(([name, value]) => (name.startsWith('ATTR_') && typeof value === 'string' ? [value] : [])));

t.test('a call has a span of its request and one of its attempt within it, with the names of the conventions', async (t) => {
  const server = await startGpu(t);
  const { headers } = await server.call('POST', '/v1/chat', { body: BODY });
  const spans = await spansOf(server, 2);
  const request = server.collector.span('POST /v1/chat');
  const attempt = server.collector.span('chat m');
  t.match(request, {
    kind: 'SERVER',
    parentSpanId: '',
    hasFailed: false,
    attributes: { 'http.request.method': 'POST', 'http.route': '/v1/chat', 'http.response.status_code': 200, 'url.path': '/v1/chat', 'url.scheme': 'http' },
    resource: { 'service.name': 'blockhouse', 'service.version': server.core.version, 'telemetry.sdk.name': 'opentelemetry' },
  });
  t.match(attempt, { kind: 'CLIENT', traceId: request?.traceId, parentSpanId: request?.spanId, hasFailed: false });
  t.match(attempt?.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'm',
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 3,
    'gen_ai.usage.cache_read.input_tokens': 4,
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(server.upstream.url).port),
    'blockhouse.connection': 'gpu',
    'blockhouse.attempt': 1,
    'gen_ai.response.model': 'm',
    'gen_ai.response.id': 'x',
    'gen_ai.response.finish_reasons': ['end_turn'],
    'blockhouse.cost_usd': 0.000042,
  });
  for (const { attributes } of spans) t.equal(attributes['blockhouse.request_id'], headers['x-request-id']);
  t.ok((request?.from ?? 0) <= (attempt?.from ?? 0) && (attempt?.to ?? 0) <= (request?.to ?? 0), 'the attempt lies within the request');
  t.ok(Math.abs(Date.now() - (request?.to ?? 0)) < 60_000, 'in the time of the system');
  const names = spans.flatMap(({ attributes }) => Object.keys(attributes));
  t.strictSame(
    names.filter((name) => !KNOWN.has(name) && !name.startsWith('blockhouse.')),
    [],
    'every other attribute is one of the conventions',
  );
});

t.test('each failed attempt is a span with its error, what followed and the key that was used', async (t) => {
  let count = 0;
  const server = await startGpu(
    t,
    {
      answer: (_request, res) => {
        count += 1;
        if (count === 1) res.writeHead(429, { 'content-type': 'application/json' }).end('{"error":{"message":"slow down"}}');
        else if (count === 2) res.writeHead(503).end();
        else sendJson(res, COMPLETION);
      },
      retries: 2,
      random: () => 0,
    },
    TWO_KEYS,
  );
  t.equal((await server.call('POST', '/v1/chat', { body: BODY })).status, 200);
  await spansOf(server, 4);
  const request = server.collector.span('POST /v1/chat');
  const attempts = [1, 2, 3].map((attempt) => server.collector.span('chat m', { 'blockhouse.attempt': attempt }));
  for (const attempt of attempts) t.equal(attempt?.parentSpanId, request?.spanId);
  const [first, second, third] = attempts;
  t.match(first, { hasFailed: true, attributes: { 'error.type': 'UPSTREAM_RATE_LIMITED', 'http.response.status_code': 429, 'blockhouse.retry.next': 'key' } });
  t.match(second, {
    hasFailed: true,
    attributes: { 'http.response.status_code': 503, 'http.request.resend_count': 1, 'blockhouse.retry.next': 'repeat', 'blockhouse.retry.delay_ms': Number },
  });
  t.match(third, { hasFailed: false, attributes: { 'http.request.resend_count': 2, 'gen_ai.usage.input_tokens': 12 } });
  t.not(first?.attributes['blockhouse.credential'], second?.attributes['blockhouse.credential']);
  t.ok((first?.to ?? 0) <= (second?.from ?? 0) && (second?.to ?? 0) <= (third?.from ?? 0), 'one after the other');
});

t.test('a call that fails for good has its error at the last attempt, and its request the status', async (t) => {
  const server = await startGpu(t, { answer: (_request, res) => void res.writeHead(500).end(), retries: 0 });
  const { status } = await server.call('POST', '/v1/chat', { body: BODY });
  const spans = await spansOf(server, 2);
  const names = spans.map(({ name }) => name).filter((name) => name !== 'queue'); // which a busy machine may add
  t.strictSame(names.sort(), ['POST /v1/chat', 'chat m']);
  t.match(server.collector.span('chat m'), { hasFailed: true, attributes: { 'error.type': 'UPSTREAM_FAILED', 'http.response.status_code': 500 } });
  t.match(server.collector.span('POST /v1/chat'), {
    hasFailed: status >= 500,
    attributes: { 'http.response.status_code': status, 'error.type': String(status) },
  });
});

t.test('a call that waits for its place has a span for that', async (t) => {
  const held: (() => void)[] = [];
  const server = await startGpu(t, { answer: (_request, res) => void held.push(() => sendJson(res, COMPLETION)), queue: { concurrency: 1, waiting: 10 } });
  const calls = [server.call('POST', '/v1/chat', { body: BODY }), server.call('POST', '/v1/chat', { body: BODY })];
  await until('one waits', () => held.length === 1 && server.core.load('gpu').waiting === 1);
  held[0]?.();
  await until('the other one is sent', () => held.length === 2);
  held[1]?.();
  await Promise.all(calls);
  await spansOf(server, 5);
  const queue = server.collector.span('queue');
  t.match(queue, { kind: 'INTERNAL', attributes: { 'blockhouse.connection': 'gpu' } });
  const attempts = server.collector.spans.filter(({ name }) => name === 'chat m');
  const attempt = attempts.find(({ parentSpanId }) => parentSpanId === queue?.parentSpanId);
  const other = attempts.find((each) => each !== attempt);
  t.ok((queue?.from ?? 0) < (other?.to ?? 0), 'it begins while the other one has the place');
  t.ok((queue?.to ?? 0) > (queue?.from ?? 0));
  t.ok((queue?.to ?? 0) <= (attempt?.from ?? 0) + 0.1, 'before the attempt');
});

t.test('a provider gets the trace where that is switched on, and its parent is the span of the attempt', async (t) => {
  let count = 0;
  const server = await startGpu(t, {
    tracesProviders: true,
    retries: 1,
    random: () => 0,
    answer: (_request, res) => {
      count += 1;
      if (count === 1) res.writeHead(503).end();
      else sendJson(res, COMPLETION);
    },
  });
  await server.call('POST', '/v1/chat', { body: BODY });
  await server.call('POST', '/v1/chat/completions', { body: { model: 'gpu/m', messages: BODY.messages } });
  await spansOf(server, 5);
  const sent = server.upstream.requests.map(({ headers }) => headers['traceparent']);
  const attempts = server.collector.spans.filter(({ name }) => name === 'chat m');
  t.equal(attempts.length, 3);
  t.strictSame(
    sent,
    attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
  );
});

t.test('every name that we use of the conventions is one of theirs', async (t) => {
  for (const name of Object.values(CONVENTION)) t.ok(KNOWN.has(name), name);
});

t.test('each call has its own cost, whether that is known in its turn, after the next call has ended, or later', async (t) => {
  const events = createBus();
  const noted: Noted[] = [];
  const parent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', flags: 1 };
  const ids = { within: () => parent } as unknown as SpanIds;
  const upstreams = { of: () => ({ provider: 'openai', address: 'a', port: 1 }) } as unknown as Upstreams;
  new CallSpans({ events }, { clock: new SpanClock(), ids, note: (one) => noted.push(one) }, upstreams, () => parent);
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const finish = (call: number): void =>
    events.emit('call.finished', {
      kind: 'chat',
      call,
      requestId: `r${call}`,
      adapter: 'gpu',
      model: 'm',
      attempts: 1,
      durationMs: 3,
      queuedMs: 0,
      sentMs: 0,
      usage,
    });
  const count = (call: number): void =>
    events.emit('call.counted', { call, requestId: `r${call}`, key: null, provider: 'gpu', model: 'm', usage, costUsd: call, error: null });
  finish(1);
  count(1);
  t.strictSame([noted.length, noted[0]?.isReady], [1, true], 'one that is counted at once waits for nothing');
  finish(2);
  finish(3);
  count(3);
  count(2);
  finish(4);
  await undefined;
  t.equal(noted.length, 4, 'one that is not is noted all the same');
  t.equal(noted.filter(({ isReady }) => !isReady).length, 1);
  count(4);
  count(4);
  const batch = new ObjectBatch({ resource: {}, scope: { name: 'x' } } as Origin);
  for (const one of noted) one.write(batch);
  const costs = batch.spans.map(({ attributes }) => `${String(attributes[OWN.requestId])} ${String(attributes[OWN.cost])}`);
  t.strictSame(costs.sort(), ['r1 1', 'r2 2', 'r3 3', 'r4 4']);
});
