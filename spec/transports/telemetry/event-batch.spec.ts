import { createRequire } from 'node:module';
import { resourceFromAttributes } from '@opentelemetry/resources';
import t from 'tap';
import { keyNamed } from '../../../transports/telemetry/attributes.ts';
import { hrTime } from '../../../transports/telemetry/clock.ts';
import { ByteEvents, type EventBatch, type EventHead, JsonEvents } from '../../../transports/telemetry/event-batch.ts';
import { type Origin, RequestHead } from '../../../transports/telemetry/span-batch.ts';
import { decodedLogs } from '../../support/otlp/collector.ts';

interface Serializer {
  serializeRequest(records: readonly object[]): Uint8Array;
}
/** What the packages write themselves, from the package that comes with their transport. */
const require = createRequire(createRequire(import.meta.url).resolve('@opentelemetry/otlp-exporter-base'));
const { ProtobufLogsSerializer, JsonLogsSerializer } = require('@opentelemetry/otlp-transformer') as Record<string, Serializer>;

const ORIGIN: Origin = {
  resource: resourceFromAttributes({ 'service.name': 'blockhouse', list: ['a', 'b'], on: true }),
  scope: { name: 'blockhouse', version: '1' },
};
const SPAN = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', flags: 1 };
const INFO = 9;

const deep = (levels: number): unknown => (levels === 0 ? 'x'.repeat(200) : [{ inner: deep(levels - 1) }]);
const VALUES: readonly unknown[] = [
  ...['', 'é', 'x'.repeat(95), 'x'.repeat(127), 'x'.repeat(128), 'x'.repeat(20_000), 'half \ud83d', '\u0000'],
  ...[0, 127, 128, 2 ** 32, Number.MAX_SAFE_INTEGER, 0.1, -0.5, 1e-300],
  ...[true, false, [], [[]], {}, [1, 'two', { three: 3 }]],
  [{ role: 'user', parts: [{ type: 'text', content: 'ü'.repeat(40_000) }] }],
  { '': 'no name', [`n${'é'.repeat(70)}`]: { a: { b: { c: [] } } } },
  deep(60),
];
const HEADS: readonly EventHead[] = [
  { name: 'some.event', at: 1_764_358_870_123.25, span: SPAN },
  { name: 'some.event', at: 0, span: undefined },
];

function fill(batch: EventBatch): EventBatch {
  for (const head of HEADS) {
    batch.begin(head);
    for (const [index, value] of VALUES.entries()) batch.put(keyNamed(`key.${index}`), value);
    batch.end();
  }
  return batch;
}

/** The same as the packages have it. */
const RECORDS = HEADS.map(({ name, at, span }) => ({
  hrTime: hrTime(at),
  hrTimeObserved: hrTime(at),
  severityNumber: INFO,
  eventName: name,
  spanContext: span && { ...span, traceFlags: span.flags },
  attributes: Object.fromEntries(VALUES.map((value, index) => [`key.${index}`, value])),
  droppedAttributesCount: 0,
  resource: ORIGIN.resource,
  instrumentationScope: ORIGIN.scope,
}));

/** Without the zeros and empty texts that the package writes out. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const isEmpty = ([name, inner]: [string, unknown]): boolean =>
    inner === undefined || (inner === 0 && (name.startsWith('dropped') || name === 'flags')) || (name === 'body' && JSON.stringify(inner) === '{}');
  const kept = Object.entries(value).filter((entry) => !isEmpty(entry));
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, plain(inner)]));
}

t.test('a collector gets of each value, in its structure, what the package would have sent', async (t) => {
  const batch = fill(new ByteEvents(new RequestHead(ORIGIN)));
  t.equal(batch.count, 2);
  const own = plain(decodedLogs(batch.request()));
  t.ok(JSON.stringify(own).length > 100_000);
  t.match(own, { resourceLogs: [{ scopeLogs: [{ logRecords: [{ eventName: 'some.event', ...SPAN }, {}] }] }] });
  t.strictSame(own, plain(decodedLogs(ProtobufLogsSerializer?.serializeRequest(RECORDS) ?? new Uint8Array())));
});

t.test('and the same as JSON', async (t) => {
  const read = (bytes: Uint8Array | undefined): unknown => plain(JSON.parse(Buffer.from(bytes ?? []).toString()));
  const batch = fill(new JsonEvents(ORIGIN));
  t.equal(batch.count, 2);
  t.strictSame(read(batch.request()), read(JsonLogsSerializer?.serializeRequest(RECORDS)));
});

t.test('null is a value without one', async (t) => {
  for (const batch of [new ByteEvents(new RequestHead(ORIGIN)), new JsonEvents(ORIGIN)]) {
    batch.begin({ name: 'x', at: 1, span: undefined });
    batch.put(keyNamed('nothing'), { is: null, left: undefined });
    batch.end();
    const bytes = Buffer.from(batch.request());
    const request = batch instanceof JsonEvents ? (JSON.parse(bytes.toString()) as unknown) : decodedLogs(bytes);
    const { attributes } = (request as { resourceLogs: [{ scopeLogs: [{ logRecords: [{ attributes: unknown }] }] }] }).resourceLogs[0].scopeLogs[0]
      .logRecords[0];
    t.strictSame(attributes, [{ key: 'nothing', value: { kvlistValue: { values: [{ key: 'is', value: {} }] } } }]);
  }
});

t.test('bounded: a batch says when it takes no more', async (t) => {
  for (const batch of [new ByteEvents(new RequestHead(ORIGIN)), new JsonEvents(ORIGIN)]) {
    const add = (): void => {
      batch.begin({ name: 'x', at: 1, span: undefined });
      batch.put(keyNamed('text'), 'x'.repeat(32_768));
      batch.end();
    };
    add();
    t.notOk(batch.isFull);
    while (!batch.isFull) add();
    t.ok(batch.count > 100 && batch.count < 130, String(batch.count));
    t.ok(batch.request().length < 5 * 1024 * 1024);
  }
});
