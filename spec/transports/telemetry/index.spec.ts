import t from 'tap';
import { readScrape, sumOf } from '../../support/observability/scrape.ts';
import { startCollector } from '../../support/otlp/collector.ts';
import { BODY, spansOf, startGpu } from '../../support/otlp/gpu.ts';
import { startTraced } from '../../support/otlp/traced.ts';
import { until as untilTrue } from '../../support/server.ts';
import { until } from '../../support/until.ts';

t.test('the variables of OpenTelemetry say where to, how, and with what', async (t) => {
  const server = await startGpu(t, {
    otel: {
      OTEL_SERVICE_NAME: 'gate',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.instance.id=one',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    },
  });
  await server.call('POST', '/v1/chat', { body: BODY });
  const [span] = await spansOf(server, 2);
  t.match(span?.resource, { 'service.name': 'gate', 'deployment.environment.name': 'test', 'service.instance.id': 'one' });
  t.match(server.collector.requests[0], {
    path: '/v1/traces',
    headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip', 'x-team': 'blue' },
  });
  await server.flush();
  t.equal(server.collector.requests.at(-1)?.path, '/v1/metrics', 'the last figures go when the server ends');
  t.equal(server.collector.metrics[0]?.resource['service.name'], 'gate');
});

t.test('each of several workers is an instance of its own, also where the variables name one for all', async (t) => {
  const idOf = async (worker: string, otel: Record<string, string> = {}) => {
    const server = await startGpu(t, { otel, worker });
    await server.call('POST', '/v1/chat', { body: BODY });
    const [span] = await spansOf(server, 2);
    return String(span?.resource['service.instance.id']);
  };
  const named = { OTEL_RESOURCE_ATTRIBUTES: 'service.instance.id=one' };
  t.same(await Promise.all([idOf('1', named), idOf('2', named)]), ['one-1', 'one-2']);
  t.not(await idOf('1'), await idOf('1'));
});

t.test('with http/json, a collector gets the same as JSON', async (t) => {
  const server = await startGpu(t, { otel: { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' } });
  await server.call('POST', '/v1/chat', { body: BODY });
  await spansOf(server, 2);
  await server.flush();
  t.strictSame(new Set(server.collector.requests.map(({ headers }) => headers['content-type'])), new Set(['application/json']));
  const request = server.collector.span('POST /v1/chat');
  t.match(server.collector.span('chat m'), {
    kind: 'CLIENT',
    traceId: /^[0-9a-f]{32}$/,
    parentSpanId: request?.spanId,
    attributes: { 'gen_ai.usage.input_tokens': 12 },
  });
  t.ok(server.collector.metrics.some(({ name }) => name === 'blockhouse_calls_total'));
});

t.test('only what is wanted is exported', async (t) => {
  const noTraces = await startGpu(t, { otel: { OTEL_TRACES_EXPORTER: 'none' } });
  t.equal(noTraces.telemetry.trace, undefined);
  await noTraces.call('POST', '/v1/chat', { body: BODY });
  await noTraces.flush();
  t.strictSame(
    noTraces.collector.requests.map(({ path }) => path),
    ['/v1/metrics'],
  );
  const noMetrics = await startGpu(t, { otel: { OTEL_METRICS_EXPORTER: 'none' } });
  await noMetrics.call('GET', '/api/health');
  await noMetrics.flush();
  t.strictSame(
    noMetrics.collector.requests.map(({ path }) => path),
    ['/v1/traces'],
  );
  const none = await startTraced(t, { otel: { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' } });
  await none.flush();
  t.strictSame(none.collector.requests, []);
});

t.test('a collector that is away costs spans, which are counted, and a line of the log', async (t) => {
  const collector = await startCollector(t);
  await collector.close();
  const server = await startGpu(t, { collector, otel: { OTEL_EXPORTER_OTLP_TIMEOUT: '50' } });
  for (let count = 0; count < 3; count += 1) t.equal((await server.call('POST', '/v1/chat', { body: BODY })).status, 200);
  const dropped = async () => sumOf(readScrape((await server.call('GET', '/metrics')).text), 'blockhouse_spans_dropped_total', { reason: 'export_failed' });
  t.equal(sumOf(readScrape((await server.call('GET', '/metrics')).text), 'blockhouse_spans_dropped_total', { reason: 'queue_full' }), 0, 'from the start on');
  await untilTrue(async () => (await dropped()) >= 6, 'they are counted');
  t.equal(server.problems.filter(({ message }) => message === 'spans could not be exported').length, 1, 'one line in a minute');
});

t.test('a collector that hangs keeps no request waiting, nor the end for longer than it may', async (t) => {
  const server = await startGpu(t, { otel: { OTEL_EXPORTER_OTLP_TIMEOUT: '500' } });
  server.collector.answer = () => undefined;
  await server.call('POST', '/v1/chat', { body: BODY });
  await until('an export hangs', () => server.collector.requests.length > 0);
  t.equal((await server.call('POST', '/v1/chat', { body: BODY })).status, 200);
  await server.telemetry.close(20);
  t.equal(sumOf(readScrape((await server.call('GET', '/metrics')).text), 'blockhouse_spans_dropped_total', { reason: 'shutdown' }) >= 4, true);
  t.equal((await server.call('GET', '/api/health')).status, 200);
});
