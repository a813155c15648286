import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import * as nodeHttp from '@opentelemetry/otlp-exporter-base/node-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import t from 'tap';
import type { TraceParent } from '../../../core/base/traceparent.ts';
import { KEY } from '../../../transports/telemetry/attributes.ts';
import { ByteOutlet } from '../../../transports/telemetry/outlets.ts';
import { newRoot, newWithin } from '../../../transports/telemetry/raw-ids.ts';
import { ObjectBatch, type Origin, type SpanBatch } from '../../../transports/telemetry/span-batch.ts';
import { type FormValue, SharedAttributes, SpanForm } from '../../../transports/telemetry/span-form.ts';
import { startCollector } from '../../support/otlp/collector.ts';
import { withVariables } from '../../support/otlp/traced.ts';

const ORIGIN: Origin = { resource: resourceFromAttributes({ 'service.name': 'blockhouse' }), scope: { name: 'blockhouse', version: '1.2.3' } };
const GIVEN: TraceParent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', flags: 3 };
const KEYS = [KEY.requestId, KEY.inputTokens, KEY.cost];
const attributes = new SharedAttributes([
  [KEY.method, 'POST'],
  [KEY.status, 200],
  [KEY.finishReasons, ['end_turn']],
]);
const FORMS = [
  new SpanForm({ name: 'POST /v1/chat', kind: 'SERVER', isRemote: true, attributes, keys: KEYS }),
  new SpanForm({ name: 'chat m', kind: 'CLIENT', attributes, keys: KEYS }),
  new SpanForm({ name: `long ${'é'.repeat(400)}`, kind: 'INTERNAL', attributes: new SharedAttributes([[KEY.path, 'x'.repeat(20_000)]]), keys: KEYS }),
  new SpanForm({ name: '', kind: 'INTERNAL', attributes: new SharedAttributes([]), keys: KEYS }),
];
const TEXTS = [undefined, '', 'r', 'req_1', 'req_2', 'ünser', 'x'.repeat(94), 'x'.repeat(95), 'x'.repeat(96), 'é'.repeat(95), 'half \ud83d'];
const NUMBERS = [undefined, 0, 1, 127, 128, 16_384, 2 ** 31 - 1, 2 ** 31, 2 ** 45, 0.5];
const COSTS = [undefined, 0.000123, 1e-9, 2];

/** Twice, so that what was made for the first is used for the second. */
function writeAll(batch: SpanBatch, ids: readonly (readonly [TraceParent, TraceParent | undefined])[]): void {
  let at = 1_764_358_870_000;
  const fill = (values: readonly FormValue[]): void => {
    for (const form of FORMS)
      for (const [own, parent] of ids) {
        at += 20.125;
        batch.fill(form, { own, parent, from: at, to: at + 12.5 }, values);
      }
  };
  for (let round = 0; round < 2; round += 1) {
    for (const text of TEXTS) fill([text, 20, 0.001]);
    for (const number of NUMBERS) fill(['req_1', number, 0.001]);
    for (const cost of COSTS) fill(['req_1', 20, cost]);
  }
}

t.test('a collector gets of spans of a form what the package would have sent', async (t) => {
  const collector = await startCollector(t);
  const [exporter, outlet] = await withVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, async () => [
    new OTLPTraceExporter(),
    new ByteOutlet(nodeHttp, ORIGIN),
  ]);
  const root = newRoot();
  const ids = [
    [root, undefined],
    [newWithin(root), root],
    [{ ...GIVEN, spanId: '00000000000000ff' }, GIVEN],
    [newWithin(root), GIVEN],
  ] as const;
  const [objects, bytes] = [new ObjectBatch(ORIGIN), outlet.open()];
  writeAll(objects, ids);
  writeAll(bytes, ids);
  t.equal(bytes.count, objects.count);
  await new Promise<void>((resolve, reject) => exporter.export(objects.spans, ({ error }) => (error === undefined ? resolve() : reject(error))));
  await new Promise<void>((resolve, reject) => outlet.export(bytes, ({ failure }) => (failure === undefined ? resolve() : reject(failure))));
  const [theirs, own] = collector.traces.map(spansOf);
  t.equal(own?.length, 2 * (TEXTS.length + NUMBERS.length + COSTS.length) * FORMS.length * ids.length);
  t.strictSame(own, theirs);
});

/** Their attributes and fields in one order, without the zeros that the package writes out. */
function spansOf(trace: unknown): unknown[] {
  const { resourceSpans } = trace as { resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[] };
  return (resourceSpans[0]?.scopeSpans[0]?.spans ?? []).map(({ attributes: list, status: _, ...span }) => {
    const kept = Object.entries(span).filter(([name]) => !name.startsWith('dropped'));
    const named = (list as { key: string }[] | undefined)?.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    return [...kept, ['attributes', named ?? []]].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  });
}

t.test('ids are random, in one trace, and the header says them', async (t) => {
  const roots = Array.from({ length: 2000 }, newRoot);
  t.equal(new Set(roots.map(({ traceId }) => traceId)).size, 2000);
  for (const { header, traceId, spanId } of roots.slice(-600)) t.equal(header, `00-${traceId}-${spanId}-01`);
  const inner = roots.map(newWithin);
  t.equal(new Set(inner.map(({ spanId }) => spanId)).size, 2000);
  t.ok(inner.every(({ traceId }, index) => traceId === roots[index]?.traceId));
});
