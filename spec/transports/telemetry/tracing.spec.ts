import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import { SpanClock } from '../../../transports/telemetry/clock.ts';
import type { Noted, SpanIds } from '../../../transports/telemetry/spans.ts';
import { RequestSpans } from '../../../transports/telemetry/tracing.ts';
import { ANSWER, BODY, COMPLETION, KEYS, SECRET, spansOf, startGpu, TWO_KEYS } from '../../support/otlp/gpu.ts';
import { startTraced } from '../../support/otlp/traced.ts';
import { CHAT } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { sendJson } from '../../support/upstream.ts';

const PARENT = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const headerOf = (flags: string): string => `00-${PARENT.traceId}-${PARENT.spanId}-${flags}`;

t.test('the trace of a caller is continued, if it is well formed', async (t) => {
  const server = await startGpu(t);
  await server.call('POST', '/v1/chat', { body: BODY, headers: { traceparent: headerOf('01') } });
  await spansOf(server, 2);
  t.match(server.collector.span('POST /v1/chat'), { traceId: PARENT.traceId, parentSpanId: PARENT.spanId });
  t.match(server.collector.span('chat m'), { traceId: PARENT.traceId });
  t.equal(server.upstream.requests[0]?.headers['traceparent'], undefined, 'and goes to no provider');
  server.collector.spans.length = 0;
  for (const traceparent of [
    '',
    'x',
    headerOf('01').toUpperCase(),
    `${headerOf('01')}-x`,
    `ff${headerOf('01').slice(2)}`,
    headerOf('01').replace(/b7ad\w+/, '0'.repeat(16)),
  ])
    await server.call('GET', '/api/health', { headers: { traceparent } });
  await server.call('GET', '/api/health', { headers: { traceparent: [headerOf('01'), headerOf('01')] } });
  for (const { traceId, parentSpanId } of await spansOf(server, 7)) {
    t.not(traceId, PARENT.traceId);
    t.equal(parentSpanId, '');
  }
});

t.test('a caller that does not record its trace has no spans here, and the sampler is that of the variables', async (t) => {
  const server = await startGpu(t);
  await server.call('POST', '/v1/chat', { body: BODY, headers: { traceparent: headerOf('00') } });
  await server.call('GET', '/api/health');
  await spansOf(server, 1);
  t.strictSame(
    server.collector.spans.map(({ name }) => name),
    ['GET /api/health'],
  );
  const never = await startGpu(t, { otel: { OTEL_TRACES_SAMPLER: 'always_off' } });
  await never.call('POST', '/v1/chat', { body: BODY });
  await never.flush();
  t.strictSame(never.collector.spans, []);
  const apart = await startGpu(t, { otel: { OTEL_PROPAGATORS: 'none' } });
  await apart.call('GET', '/api/health', { headers: { traceparent: headerOf('01') } });
  t.not((await spansOf(apart, 1))[0]?.traceId, PARENT.traceId, 'without the propagator, callers are not asked');
});

t.test('no span has a word of a prompt or an answer, nor a key', async (t) => {
  const server = await startGpu(t, {}, TWO_KEYS);
  const { json } = await server.call('POST', '/api/keys', { body: { name: 'app' } });
  await server.call('POST', '/v1/chat', { body: { ...BODY, stream: true } });
  await server.call('POST', '/v1/chat/completions', {
    token: false,
    headers: { authorization: `Bearer ${String(json['key'])}` },
    body: { model: 'gpu/m', messages: BODY.messages },
  });
  await server.call('GET', `/api/search?q=${encodeURIComponent(SECRET)}`);
  const text = JSON.stringify(await spansOf(server, 6));
  t.ok(text.includes('"blockhouse.key":"app"'));
  for (const hidden of [SECRET, encodeURIComponent(SECRET), ANSWER, ...KEYS, String(json['key']), server.token]) t.notOk(text.includes(hidden), hidden);
});

t.test('a method and a path that a client makes up make no name of a span', async (t) => {
  const server = await startTraced(t);
  await server.call('PURGE', '/made/up');
  const [span] = await spansOf(server, 1);
  t.match(span, { name: 'HTTP', attributes: { 'http.request.method': '_OTHER', 'http.request.method_original': 'PURGE', 'url.path': '/made/up' } });
  t.notOk(Object.hasOwn(span?.attributes ?? {}, 'http.route'));
});

t.test('the calls of two requests with the same id stay apart', async (t) => {
  const held: (() => void)[] = [];
  const server = await startGpu(t, { answer: (_request, res) => void held.push(() => sendJson(res, COMPLETION)) });
  const calls = [1, 2].map(() => server.call('POST', '/v1/chat', { body: { ...CHAT, ...BODY }, headers: { 'x-request-id': 'same' } }));
  await until('both are sent', () => held.length === 2);
  for (const answer of held.reverse()) answer();
  await Promise.all(calls);
  const spans = await spansOf(server, 4);
  const requests = spans.filter(({ kind }) => kind === 'SERVER');
  const attempts = spans.filter(({ kind }) => kind === 'CLIENT');
  t.strictSame(new Set(attempts.map(({ parentSpanId }) => parentSpanId)), new Set(requests.map(({ spanId }) => spanId)));
});

t.test('own-parents: each request under way is found by its header, also where ids begin alike, and none after its end', async (t) => {
  const events = createBus();
  const noted: Noted[] = [];
  let count = 0;
  const begin = () => {
    count += 1;
    return { traceId: PARENT.traceId, spanId: `abc${String(count).padStart(13, '0')}`, flags: 1 };
  };
  const ids = { begin } as unknown as SpanIds;
  const spans = new RequestSpans({ events }, { clock: new SpanClock(), ids, note: (one) => noted.push(one) }, true);
  const headers = Array.from({ length: 5 }, () => spans.begin({ headers: {}, url: '/x' } as IncomingMessage));
  const [first = '', second = '', third = '', ...others] = headers;
  const idOf = (header: string) => spans.find(header)?.spanId;
  const end = (traceparent: string): void =>
    events.emit('request.served', { requestId: 'r', method: 'GET', route: '/x', status: 200, durationMs: 1, traceparent });
  for (const header of headers) t.equal(idOf(header), header.slice(36, 52));
  end(second);
  end(first);
  end(first);
  t.equal(noted.length, 2, 'each ends once');
  const again = spans.begin({ headers: {}, url: '/x' } as IncomingMessage);
  t.strictSame([first, second, third, again].map(idOf), [undefined, undefined, third.slice(36, 52), again.slice(36, 52)]);
  for (const header of [third, again, ...others]) end(header);
  t.equal(noted.length, 6);
  for (const header of [...headers, again, '', 'x', headerOf('01'), headerOf('01').replace('b7ad', 'zzzz')]) t.equal(spans.find(header), undefined);
});
