// A collector of OpenTelemetry for one test: a server of node:http that decodes what it gets with the official definitions, as an earlier release of OpenTelemetry's own
// package has them compiled (`otlp-definitions`).
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import DEFINITIONS from 'otlp-definitions/build/src/generated/root.js';
import type { Test } from 'tap';

export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };
export type Attributes = Readonly<Record<string, Value>>;

/** A span as the collector has it. Times in milliseconds of the epoch. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** '' for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** True unless it is in order. */
  readonly hasFailed: boolean;
  readonly resource: Attributes;
}

/** An event as the collector has it. Times in milliseconds of the epoch. */
export interface ReceivedEvent {
  readonly name: string;
  /** '' without a span. */
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
  readonly severity: number;
  readonly at: number;
  readonly observedAt: number;
  readonly attributes: Attributes;
  readonly resource: Attributes;
}

/** A point of a metric. */
export interface ReceivedPoint {
  readonly attributes: Attributes;
  /** Of a sum or a gauge. */
  readonly value: number;
  /** Of a histogram. */
  readonly count: number;
  readonly sum: number;
  readonly bucketCounts: readonly number[];
  readonly explicitBounds: readonly number[];
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: 'sum' | 'gauge' | 'histogram';
  readonly isMonotonic: boolean;
  readonly temporality: string;
  readonly points: readonly ReceivedPoint[];
  readonly resource: Attributes;
}

export interface Collector {
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly bytes: number }[];
  readonly spans: ReceivedSpan[];
  /** The requests with spans, as the definitions decode them. */
  readonly traces: unknown[];
  readonly events: ReceivedEvent[];
  /** The requests with events, as the definitions decode them. */
  readonly logs: unknown[];
  /** Those of the last export. */
  metrics: ReceivedMetric[];
  /** What happens to a request instead of an answer of success; undefined for that. */
  answer: ((res: ServerResponse) => void) | undefined;
  span(name: string, attributes?: Attributes): ReceivedSpan | undefined;
  close(): Promise<void>;
}

// As plain JSON of them looks: `longs` and ids as texts.
interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
}
interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}
interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: string | number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: string | number };
}
interface WireRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber?: number;
  readonly eventName?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly flags?: number;
  readonly attributes?: readonly KeyValue[];
}
interface WirePoint {
  readonly attributes?: readonly KeyValue[];
  readonly asDouble?: number;
  readonly asInt?: string;
  readonly count?: string | number;
  readonly sum?: number;
  readonly bucketCounts?: readonly (string | number)[];
  readonly explicitBounds?: readonly number[];
}
interface WireData {
  readonly dataPoints: readonly WirePoint[];
  readonly isMonotonic?: boolean;
  readonly aggregationTemporality?: string | number;
}
interface WireMetric {
  readonly name: string;
  readonly unit?: string;
  readonly sum?: WireData;
  readonly gauge?: WireData;
  readonly histogram?: WireData;
}
interface WireResource {
  readonly resource?: { readonly attributes?: readonly KeyValue[] };
}
interface TraceRequest {
  readonly resourceSpans?: readonly (WireResource & { readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[] })[];
}
interface MetricRequest {
  readonly resourceMetrics?: readonly (WireResource & { readonly scopeMetrics: readonly { readonly metrics: readonly WireMetric[] }[] })[];
}
interface LogRequest {
  readonly resourceLogs?: readonly (WireResource & { readonly scopeLogs: readonly { readonly logRecords: readonly WireRecord[] }[] })[];
}

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];
const TEMPORALITIES = ['UNSPECIFIED', 'DELTA', 'CUMULATIVE'];
const ERROR = 2;

interface Reader {
  pos: number;
  uint32(): number;
  string(): string;
  skipType(type: number): void;
}
interface Message {
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): object;
}
interface Definitions {
  readonly collector: Readonly<Record<'trace' | 'metrics' | 'logs', { v1: Record<string, Message> }>>;
  readonly logs: {
    readonly v1: { readonly LogRecord: { decode(reader: Reader, length: number): object; toObject(record: object, options: object): object } };
  };
}

const { collector: services, logs } = (DEFINITIONS as unknown as { opentelemetry: { proto: Definitions } }).opentelemetry.proto;
const TYPES = {
  '/v1/traces': services.trace.v1['ExportTraceServiceRequest'] as Message,
  '/v1/metrics': services.metrics.v1['ExportMetricsServiceRequest'] as Message,
  '/v1/logs': services.logs.v1['ExportLogsServiceRequest'] as Message,
};

/** `event_name`, which is younger than these definitions. */
const EVENT_NAME = 12;
const { decode, toObject } = logs.v1.LogRecord;
logs.v1.LogRecord.decode = (reader, length) => {
  const start = reader.pos;
  const record = decode(reader, length);
  const end = reader.pos;
  let eventName: string | undefined;
  for (reader.pos = start; reader.pos < end; ) {
    const tag = reader.uint32();
    if (tag >>> 3 === EVENT_NAME) eventName = reader.string();
    else reader.skipType(tag & 7);
  }
  return Object.assign(record, { eventName });
};
logs.v1.LogRecord.toObject = (record, options) => ({ ...toObject(record, options), eventName: (record as { eventName?: string }).eventName });

/** The request whose bytes these are, as plain JSON. */
export function decodedLogs(bytes: Uint8Array): unknown {
  return decoded('/v1/logs', {}, Buffer.from(bytes));
}

/** Of protobuf, ids are bytes; in JSON they are hexadecimal. */
function decoded(path: keyof typeof TYPES, headers: IncomingHttpHeaders, body: Buffer): unknown {
  const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  if (headers['content-type'] === 'application/json') return JSON.parse(bytes.toString('utf8'));
  const type = TYPES[path];
  const object = type.toObject(type.decode(bytes), { longs: String, enums: Number });
  return JSON.parse(JSON.stringify(object, (_name, value: unknown) => (isBytes(value) ? Buffer.from(value.data).toString('hex') : value)));
}

/** A Buffer within JSON.stringify. */
function isBytes(value: unknown): value is { readonly data: number[] } {
  return typeof value === 'object' && value !== null && (value as { type?: unknown }).type === 'Buffer';
}

function plainValue(value: AnyValue): Value {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(plainValue);
  if (value.kvlistValue !== undefined) return attributesOf(value.kvlistValue.values);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue ?? null;
}

const attributesOf = (list: readonly KeyValue[] = []): Attributes => Object.fromEntries(list.map(({ key, value }) => [key, plainValue(value)]));

function spansOf(request: TraceRequest): ReceivedSpan[] {
  return (request.resourceSpans ?? []).flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: KINDS[Number(span.kind)] ?? '',
        from: Number(span.startTimeUnixNano) / 1e6,
        to: Number(span.endTimeUnixNano) / 1e6,
        attributes: attributesOf(span.attributes),
        links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
        hasFailed: Number(span.status?.code ?? 0) === ERROR,
        resource: attributesOf(resource?.attributes),
      })),
    ),
  );
}

function eventsOf(request: LogRequest): ReceivedEvent[] {
  return (request.resourceLogs ?? []).flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map((record) => ({
        name: record.eventName ?? '',
        traceId: record.traceId ?? '',
        spanId: record.spanId ?? '',
        flags: record.flags ?? 0,
        severity: record.severityNumber ?? 0,
        at: Number(record.timeUnixNano) / 1e6,
        observedAt: Number(record.observedTimeUnixNano) / 1e6,
        attributes: attributesOf(record.attributes),
        resource: attributesOf(resource?.attributes),
      })),
    ),
  );
}

function metricsOf(request: MetricRequest): ReceivedMetric[] {
  return (request.resourceMetrics ?? []).flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.map((metric) => {
        const kind = metric.sum !== undefined ? 'sum' : metric.gauge !== undefined ? 'gauge' : 'histogram';
        const data = metric[kind] as WireData;
        return {
          name: metric.name,
          unit: metric.unit ?? '',
          kind,
          isMonotonic: data.isMonotonic ?? false,
          temporality: TEMPORALITIES[Number(data.aggregationTemporality ?? 0)] ?? '',
          points: data.dataPoints.map(pointOf),
          resource: attributesOf(resource?.attributes),
        } as const;
      }),
    ),
  );
}

function pointOf({ attributes, asDouble, asInt, count, sum, bucketCounts = [], explicitBounds = [] }: WirePoint): ReceivedPoint {
  const value = asDouble ?? Number(asInt ?? 0);
  return { attributes: attributesOf(attributes), value, count: Number(count ?? 0), sum: sum ?? 0, bucketCounts: bucketCounts.map(Number), explicitBounds };
}

/** Listens until the test has ended. */
export async function startCollector(t: Test): Promise<Collector> {
  const server = createServer((req, res) => {
    void buffer(req).then((body) => {
      const [path] = (req.url ?? '').split('?') as [keyof typeof TYPES];
      collector.requests.push({ path, headers: req.headers, bytes: body.length });
      if (collector.answer !== undefined) return collector.answer(res);
      const request = decoded(path, req.headers, body);
      if (path === '/v1/traces') {
        collector.traces.push(request);
        collector.spans.push(...spansOf(request as TraceRequest));
      } else if (path === '/v1/logs') {
        collector.logs.push(request);
        collector.events.push(...eventsOf(request as LogRequest));
      } else collector.metrics = metricsOf(request as MetricRequest);
      return res.writeHead(200, { 'content-type': req.headers['content-type'] ?? '' }).end(req.headers['content-type'] === 'application/json' ? '{}' : '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  t.teardown(close);
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    spans: [],
    traces: [],
    events: [],
    logs: [],
    metrics: [],
    answer: undefined,
    span: (name, attributes = {}) =>
      collector.spans.find((span) => span.name === name && Object.entries(attributes).every(([key, value]) => span.attributes[key] === value)),
    close,
  };
  return collector;
}
