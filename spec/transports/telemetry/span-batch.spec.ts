import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import * as nodeHttp from '@opentelemetry/otlp-exporter-base/node-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import t from 'tap';
import { KEY, keyNamed } from '../../../transports/telemetry/attributes.ts';
import { ByteOutlet } from '../../../transports/telemetry/outlets.ts';
import type { Value } from '../../../transports/telemetry/protobuf.ts';
import { ByteBatch, ObjectBatch, type Origin, RequestHead, type SpanBatch, type SpanHead } from '../../../transports/telemetry/span-batch.ts';
import { SharedAttributes } from '../../../transports/telemetry/span-form.ts';
import { type Collector, startCollector } from '../../support/otlp/collector.ts';
import { withVariables } from '../../support/otlp/traced.ts';

const ORIGIN: Origin = {
  resource: resourceFromAttributes({ 'service.name': 'blockhouse', 'host.name': 'dünn', list: ['a', 'b'], many: 'x'.repeat(200), on: true, count: 3 }),
  scope: { name: 'blockhouse', version: '1.2.3' },
};
const PARENT = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', flags: 1 };
const HEAD: SpanHead = { name: 'x', kind: 'INTERNAL', own: { ...PARENT, spanId: '00000000000000ff' }, parent: undefined, from: 1.5, to: 2 };

/** What a collector has of these spans, written by ourselves and by the package. */
async function bothOf(collector: Collector, write: (batch: SpanBatch) => void): Promise<{ readonly own: unknown; readonly theirs: unknown }> {
  const [exporter, outlet] = await withVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, async () => [
    new OTLPTraceExporter(),
    new ByteOutlet(nodeHttp, ORIGIN),
  ]);
  const objects = new ObjectBatch(ORIGIN);
  write(objects);
  const bytes = outlet.open();
  write(bytes);
  collector.traces.length = 0;
  await new Promise<void>((resolve, reject) => exporter.export(objects.spans, ({ error }) => (error === undefined ? resolve() : reject(error))));
  await new Promise<void>((resolve, reject) => outlet.export(bytes, ({ failure }) => (failure === undefined ? resolve() : reject(failure))));
  const [theirs, own] = collector.traces.map(sorted);
  return { own, theirs };
}

/** Without the zeros that the package writes out, and with fields in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const isZero = ([name, inner]: [string, unknown]): boolean =>
    (name.startsWith('dropped') && inner === 0) || (name === 'status' && (inner as { code?: number }).code === 0);
  const kept = Object.entries(value).filter((entry) => !isZero(entry));
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, sorted(inner)]));
}

const LENGTHS = [0, 1, 40, 93, 94, 95, 96, 97, 120, 125, 126, 127, 128, 129, 200, 16_300, 16_384, 70_000];
const TEXTS = [
  ...LENGTHS.map((length) => 'x'.repeat(length)),
  ...LENGTHS.slice(1, -2).map((length) => 'é'.repeat(length)),
  '日本',
  '😀',
  'half \ud83d',
  '\u0000',
];
const VALUES: readonly Value[] = [
  ...TEXTS,
  ...[0, 1, 127, 128, 300, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 45 + 7, Number.MAX_SAFE_INTEGER, 0.1, 1e-9, -0.5, 1e300],
  true,
  false,
  ['end_turn'],
  ['é', '', 'x'.repeat(300)],
];

t.test('a collector gets of each value what the package would have sent', async (t) => {
  const collector = await startCollector(t);
  const { own, theirs } = await bothOf(collector, (batch) => {
    for (const [index, value] of VALUES.entries()) {
      batch.begin({ ...HEAD, name: `v${index}` });
      batch.put(KEY.path, value);
      batch.put(keyNamed(`other.${'n'.repeat(index)}`), value);
      batch.end();
    }
  });
  t.equal(JSON.stringify(own).length > 10_000, true);
  t.strictSame(own, theirs);
});

t.test('and of each kind of span, name, time, parent, link and failure', async (t) => {
  const collector = await startCollector(t);
  const times = [
    ...Array.from({ length: 50 }, (_, index) => 1_764_358_870_000 + index * 20.125),
    ...[0, 0.000001, 999.9995, 1_700_000_000_999.75, 1_700_000_001_000.25, 1_764_358_870_123.456, 4_200_000_000_000.5],
  ];
  const { own, theirs } = await bothOf(collector, (batch) => {
    for (const from of times) {
      batch.begin({ ...HEAD, from, to: from + 12.125, kind: 'CLIENT', parent: PARENT, name: 'chat m' });
      batch.end();
    }
    for (const name of TEXTS) {
      batch.begin({ ...HEAD, name, kind: 'SERVER', parent: PARENT, isRemote: true, code: 'RATE_LIMITED' });
      batch.putAll(shared);
      batch.end();
    }
    batch.begin({ ...HEAD, link: PARENT, own: { ...HEAD.own, flags: 0 } });
    batch.end();
  });
  t.strictSame(own, theirs);
});

const shared = new SharedAttributes([
  [KEY.method, 'POST'],
  [KEY.status, 200],
  [KEY.route, undefined],
  [KEY.finishReasons, ['end_turn']],
]);

t.test('the bytes of a batch are used again for the next one, and nothing of it is left', async (t) => {
  const head = new RequestHead(ORIGIN);
  const first = new ByteBatch(head, Buffer.alloc(head.size));
  for (let count = 0; count < 50; count += 1) {
    first.begin({ ...HEAD, name: 'first'.repeat(40) });
    first.end();
  }
  t.equal(first.count, 50);
  t.ok(first.request().includes('first'));
  const second = new ByteBatch(head, first.bytes);
  second.begin(HEAD);
  second.end();
  t.notOk(second.request().includes('first'));
  t.ok(second.request().length < 600);
});
