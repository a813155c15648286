import t from 'tap';
import { FAMILIES, type Family } from '../../../transports/metrics/families.ts';
import { Histogram } from '../../../transports/metrics/series.ts';
import type { GenAiFigures } from '../../../transports/telemetry/gen-ai-figures.ts';
import { MetricPush, type MetricPushOptions } from '../../../transports/telemetry/metric-push.ts';
import { BODY, startGpu } from '../../support/otlp/gpu.ts';
import type { ReceivedMetric } from '../../support/otlp/collector.ts';
import { readScrape, sumOf } from '../../support/observability/scrape.ts';
import { until } from '../../support/until.ts';

const KINDS = { counter: 'sum', gauge: 'gauge', histogram: 'histogram' } as const;

/** The labels and value of each point, in an order of its own. */
const pointsOf = (metric: ReceivedMetric | undefined): string[] =>
  (metric?.points ?? []).map(({ attributes, value, count, sum }) => JSON.stringify([Object.entries(attributes).sort(), value, count, sum])).sort();

t.test('a collector gets the figures of GET /metrics, by the same names', async (t) => {
  const server = await startGpu(t);
  for (let count = 0; count < 3; count += 1) await server.call('POST', '/v1/chat', { body: BODY });
  await server.call('POST', '/v1/chat', { body: { ...BODY, adapter: 'nobody' } });
  const scrape = readScrape((await server.call('GET', '/metrics')).text);
  await server.flush();
  const metrics = new Map(server.collector.metrics.map((metric) => [metric.name, metric]));
  for (const { name, kind } of Object.values<Family>(FAMILIES)) {
    const metric = metrics.get(name);
    if (metric === undefined) t.notOk(scrape.has(name), `${name} is in neither`);
    else {
      t.equal(metric.kind, KINDS[kind], name);
      if (kind !== 'gauge') t.equal(metric.temporality, 'CUMULATIVE');
      if (kind === 'counter') t.equal(metric.isMonotonic, true);
    }
  }
  for (const name of ['blockhouse_calls_total', 'blockhouse_tokens_total', 'blockhouse_cost_usd_total', 'blockhouse_attempts_total'])
    t.equal(
      metrics.get(name)?.points.reduce((sum, { value }) => sum + value, 0),
      sumOf(scrape, name),
      name,
    );
  const seconds = metrics.get('blockhouse_call_duration_seconds');
  t.match(seconds, { unit: 's', points: [{ count: 3, attributes: { connection: 'gpu', model: 'm', path: '/v1/chat', status: 'ok' } }] });
  t.equal(seconds?.points[0]?.bucketCounts.length, FAMILIES.callSeconds.edges.length + 1);
  t.equal(
    seconds?.points[0]?.bucketCounts.reduce((sum, count) => sum + count, 0),
    3,
  );
  t.ok(pointsOf(metrics.get('blockhouse_http_requests_total')).length >= 2);
});

t.test('the metrics of the conventions for generative AI are there, too', async (t) => {
  const server = await startGpu(t);
  await server.call('POST', '/v1/chat', { body: BODY });
  await server.flush();
  const find = (name: string) => server.collector.metrics.find((metric) => metric.name === name);
  const common = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'm', 'server.address': '127.0.0.1' };
  t.match(find('gen_ai.client.operation.duration'), { unit: 's', kind: 'histogram', points: [{ count: 1, attributes: common }] });
  t.match(find('gen_ai.client.token.usage'), {
    unit: '{token}',
    points: [
      { count: 1, sum: 12, attributes: { ...common, 'gen_ai.token.type': 'input' } },
      { count: 1, sum: 3, attributes: { ...common, 'gen_ai.token.type': 'output' } },
    ],
  });
});

/** A push whose exports the test ends. */
function held(options: Partial<MetricPushOptions> = {}) {
  const ends: ((code: number) => void)[] = [];
  const failures: string[] = [];
  const family: Family = { name: 'x_seconds', kind: 'histogram', help: '', labels: [], edges: [1] };
  const metrics = {
    labels: { worker: '2' },
    async *families(): AsyncGenerator<readonly [Family, Iterable<readonly [readonly string[], Histogram]>]> {
      yield [family, [[[], new Histogram(family)]]];
    },
  };
  const push = new MetricPush({
    metrics,
    genAi: { all: () => [] } as unknown as GenAiFigures,
    exporter: { export: (_metrics, done) => void ends.push((code) => done({ code })) },
    resource: {} as MetricPushOptions['resource'],
    scope: { name: 'x' },
    everyMs: 2,
    timeoutMs: 60_000,
    failed: ({ message }) => failures.push(message),
    ...options,
  });
  return { push, ends, failures };
}

t.test('one export is under way at a time, and the next one comes by itself', async (t) => {
  const { push, ends, failures } = held();
  await until('the first is there', () => ends.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(ends.length, 1);
  ends[0]?.(0);
  await until('the next is there', () => ends.length === 2);
  ends[1]?.(1);
  await until('its failure is told', () => failures.length === 1);
  let isOver = false;
  void push.shutdown(60_000).then(() => {
    isOver = true;
  });
  await until('the last figures are sent', () => {
    for (const end of ends.splice(0)) end(0);
    return isOver;
  });
  t.match(failures, ['The collector has refused it.']);
});

t.test('a collector that does not answer is a failure after a while, and the end does not wait for it', async (t) => {
  const late = held({ timeoutMs: 5 });
  await until('it has failed', () => late.failures.length > 0);
  t.match(late.failures[0], /within 5 ms/);
  const never = held();
  await until('it is under way', () => never.ends.length === 1);
  await never.push.shutdown(5);
  t.strictSame(never.failures, []);
  await late.push.shutdown(5);
});
