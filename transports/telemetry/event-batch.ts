// Events that go to the collector together: what calls ask and are answered, as log records of OTLP, in bytes or in JSON.
//
// structured: the conventions ask for content of events in its structure, where a span has it as a text of JSON.
// written-at-once: an event is large, so that it is written when it comes.
// bounded: a batch that is FULL_BYTES long takes no more, since collectors take 20 MiB in one request.
import type { TraceParent } from '../../core/base/traceparent.ts';
import { type Key, ProtobufWriter } from './protobuf.ts';
import type { Origin, RequestHead } from './span-batch.ts';

const FULL_BYTES = 4 * 1024 * 1024;
/** The first buffer. */
const USUAL_BYTES = 65_536;
/** `SeverityNumber.SEVERITY_NUMBER_INFO`. */
const INFO = 9;

/** What an event has besides its attributes. */
export interface EventHead {
  readonly name: string;
  /** Milliseconds of the epoch. */
  readonly at: number;
  /** The span that it belongs to; undefined where there are no traces. */
  readonly span: TraceParent | undefined;
}

/** Takes events. */
export interface EventBatch {
  readonly count: number;
  readonly isFull: boolean;
  /** In bytes, or characters. */
  readonly length: number;
  /** Begins an event. Its attributes follow, and then `end`. */
  begin(head: EventHead): void;
  /** Any value of JSON. */
  put(key: Key, value: unknown): void;
  end(): void;
  /** The whole request. */
  request(): Uint8Array;
}

/** Fields of opentelemetry/proto/logs/v1/logs.proto, `LogRecord`. The messages around it have the numbers of those around spans. */
const RECORD = { time: 1, severity: 2, attributes: 6, flags: 8, traceId: 9, spanId: 10, observed: 11, name: 12 } as const;

/** Events as bytes. */
export class ByteEvents implements EventBatch {
  count = 0;
  readonly #head: RequestHead;
  readonly #writer: ProtobufWriter;
  #start = 0;

  constructor(head: RequestHead) {
    this.#head = head;
    this.#writer = new ProtobufWriter(Buffer.allocUnsafeSlow(head.size + USUAL_BYTES), head.size);
  }

  get isFull(): boolean {
    return this.length >= FULL_BYTES;
  }

  get length(): number {
    return this.#writer.at;
  }

  begin({ name, at, span }: EventHead): void {
    const writer = this.#writer;
    this.#start = writer.open(2);
    writer.time(RECORD.time, at);
    writer.time(RECORD.observed, at);
    writer.small(RECORD.severity, INFO);
    writer.text(RECORD.name, name);
    if (span === undefined) return;
    writer.id(RECORD.traceId, span.traceId);
    writer.id(RECORD.spanId, span.spanId);
    writer.fixed32(RECORD.flags, span.flags);
  }

  put(key: Key, value: unknown): void {
    this.#writer.structure(RECORD.attributes, key, value);
  }

  end(): void {
    this.#writer.close(this.#start);
    this.count += 1;
  }

  request(): Uint8Array {
    return this.#head.request(this.#writer.bytes, this.#writer.at);
  }
}

/** Events as JSON. */
export class JsonEvents implements EventBatch {
  readonly #origin: Origin;
  readonly #records: string[] = [];
  length = 0;
  #open: { readonly attributes: object[]; readonly [field: string]: unknown } | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  get count(): number {
    return this.#records.length;
  }

  get isFull(): boolean {
    return this.length >= FULL_BYTES;
  }

  begin({ name, at, span }: EventHead): void {
    const time = nanoseconds(at);
    const context = span && { traceId: span.traceId, spanId: span.spanId, flags: span.flags };
    this.#open = { timeUnixNano: time, observedTimeUnixNano: time, severityNumber: INFO, eventName: name, ...context, attributes: [] };
  }

  put({ name: key }: Key, value: unknown): void {
    this.#open?.attributes.push({ key, value: anyValue(value) });
  }

  end(): void {
    const record = JSON.stringify(this.#open);
    this.#records.push(record);
    this.length += record.length;
  }

  request(): Uint8Array {
    const { resource, scope } = this.#origin;
    const attributes = Object.entries(resource.attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
    const start = `{"resourceLogs":[{"resource":${JSON.stringify({ attributes })},"scopeLogs":[{"scope":${JSON.stringify(scope)},"logRecords":[`;
    return Buffer.from(`${start}${this.#records.join(',')}]}]}]}`);
  }
}

/** More than a number holds exactly, so it is a text. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6)));
}

/** A value as the definitions have it. */
function anyValue(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return value >= 0 && Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  if (typeof value !== 'object' || value === null) return {};
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return { kvlistValue: { values: entries.map(([key, inner]) => ({ key, value: anyValue(inner) })) } };
}
