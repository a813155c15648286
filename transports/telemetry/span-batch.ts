// Spans that go to the collector together, in the two forms that the packages of OpenTelemetry take: bytes, and objects for JSON.
//
// written-soon: a span is written soon after its end, and nothing of it stays: what waits for its export in objects is copied by each collection of garbage, which costs a small
//   request more than the writing itself.
import type { Attributes, HrTime, Link, SpanContext } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { TraceParent } from '../../core/base/traceparent.ts';
import { KEY, keyNamed } from './attributes.ts';
import { hrTime } from './clock.ts';
import { type Key, ProtobufWriter, type Value, varintSize } from './protobuf.ts';
import { type FormValue, HAS_REMOTE, IS_REMOTE, KINDS, type SharedAttributes, SPAN, type SpanForm, type SpanPlace } from './span-form.ts';

const STATUS = { unset: { code: 0 }, error: { code: 2 } } as const;
const NONE: never[] = [];

/** What a span has besides its attributes. Times in milliseconds of the epoch. */
export interface SpanHead {
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  readonly own: TraceParent;
  /** Undefined for the root of a trace. */
  readonly parent: TraceParent | undefined;
  /** True if the parent is in another process. */
  readonly isRemote?: boolean;
  readonly from: number;
  readonly to: number;
  /** Why it has failed; undefined if it has not. */
  readonly code?: string | undefined;
  /** Another span that it comes from. */
  readonly link?: TraceParent | undefined;
}

/** Takes spans. */
export interface SpanBatch {
  readonly count: number;
  /** Begins a span. Its attributes follow, and then `end`. */
  begin(head: SpanHead): void;
  put(key: Key, value: Value): void;
  putAll(shared: SharedAttributes): void;
  end(): void;
  /** A whole span, with the values of its form. They are read before it returns. */
  fill(form: SpanForm, place: SpanPlace, values: readonly FormValue[]): void;
}

/** Writes a span of a form as any other one. */
function putForm(batch: SpanBatch, { name, kind, isRemote, attributes, keys }: SpanForm, place: SpanPlace, values: readonly FormValue[]): void {
  batch.begin({ name, kind, isRemote, ...place });
  batch.putAll(attributes);
  for (const [index, key] of keys.entries()) {
    const value = values[index];
    if (value !== undefined) batch.put(key, value);
  }
  batch.end();
}

/** A resource as the packages make it. */
export interface Origin {
  readonly resource: ReadableSpan['resource'];
  readonly scope: { readonly name: string; readonly version?: string };
}

/** Of `Status` and `Span.Link` there. */
const STATUS_CODE = 3;
const LINK_FLAGS = 6;
/** The most that the two lengths in front of everything take, with their tags. */
const LENGTHS = 12;
/** Most spans have fewer bytes. */
const USUAL_SPAN = 640;
const USUAL_BATCH = 512;

/** What stands before the spans of each request to a collector. */
export class RequestHead {
  readonly #resource: Uint8Array;
  readonly #scope: Uint8Array;
  /** So much room it needs. */
  readonly size: number;

  constructor({ resource, scope }: Origin) {
    this.#resource = resourceBytes(resource);
    this.#scope = scopeBytes(scope);
    this.size = LENGTHS + this.#resource.length + this.#scope.length;
  }

  /** The whole request, of bytes whose spans begin at `size`: `ResourceSpans` with one `ScopeSpans`. */
  request(bytes: Buffer, end: number): Buffer {
    const ofScope = this.#scope.length + (end - this.size);
    const ofResource = this.#resource.length + 1 + varintSize(ofScope) + ofScope;
    const start = end - ofResource - 1 - varintSize(ofResource);
    const writer = new ProtobufWriter(bytes, start);
    writer.varint(0x0a);
    writer.varint(ofResource);
    writer.copy(this.#resource);
    writer.varint(0x12);
    writer.varint(ofScope);
    writer.copy(this.#scope);
    return bytes.subarray(start, end);
  }
}

function resourceBytes({ attributes, schemaUrl }: ReadableSpan['resource']): Uint8Array {
  const writer = new ProtobufWriter(Buffer.allocUnsafe(1024));
  const start = writer.open(1);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) writer.attribute(1, keyNamed(name), Array.isArray(value) ? value.map(String) : (value as Value));
  writer.close(start);
  if (schemaUrl !== undefined && schemaUrl !== '') writer.text(3, schemaUrl);
  return Buffer.from(writer.bytes.subarray(0, writer.at));
}

function scopeBytes({ name, version }: Origin['scope']): Uint8Array {
  const writer = new ProtobufWriter(Buffer.allocUnsafe(256));
  const start = writer.open(1);
  writer.text(1, name);
  if (version !== undefined) writer.text(2, version);
  writer.close(start);
  return Buffer.from(writer.bytes.subarray(0, writer.at));
}

/** Spans as bytes. */
export class ByteBatch implements SpanBatch {
  count = 0;
  readonly #head: RequestHead;
  readonly #writer: ProtobufWriter;
  #span = 0;

  /** `bytes` are those of an earlier batch, which are of no use any more. */
  constructor(head: RequestHead, bytes: Buffer = Buffer.allocUnsafeSlow(head.size + USUAL_BATCH * USUAL_SPAN)) {
    this.#head = head;
    this.#writer = new ProtobufWriter(bytes, head.size);
  }

  begin({ name, kind, own, parent, isRemote, from, to, code, link }: SpanHead): void {
    const writer = this.#writer;
    writer.room(USUAL_SPAN);
    this.#span = writer.open(2);
    writer.id(SPAN.traceId, own.traceId);
    writer.id(SPAN.spanId, own.spanId);
    if (parent !== undefined) writer.id(SPAN.parent, parent.spanId);
    writer.text(SPAN.name, name);
    writer.small(SPAN.kind, KINDS[kind] + 1); // the definitions have "unspecified" in front
    writer.time(SPAN.start, from);
    writer.time(SPAN.end, to);
    if (link !== undefined) this.#link(link);
    if (code !== undefined) {
      const status = writer.open(SPAN.status);
      writer.small(STATUS_CODE, STATUS.error.code);
      writer.close(status);
      writer.attribute(SPAN.attributes, KEY.error, code);
    }
    writer.fixed32(SPAN.flags, own.flags | HAS_REMOTE | (isRemote === true ? IS_REMOTE : 0));
  }

  #link({ traceId, spanId, flags }: TraceParent): void {
    const writer = this.#writer;
    const start = writer.open(SPAN.links);
    writer.id(1, traceId);
    writer.id(2, spanId);
    writer.fixed32(LINK_FLAGS, flags | HAS_REMOTE);
    writer.close(start);
  }

  put(key: Key, value: Value): void {
    this.#writer.attribute(SPAN.attributes, key, value);
  }

  putAll({ bytes }: SharedAttributes): void {
    this.#writer.room(bytes.length);
    this.#writer.copy(bytes);
  }

  end(): void {
    this.#writer.close(this.#span);
    this.count += 1;
  }

  fill(form: SpanForm, place: SpanPlace, values: readonly FormValue[]): void {
    if (form.write(this.#writer, place, values)) this.count += 1;
    else putForm(this, form, place, values);
  }

  /** The whole request. */
  request(): Buffer {
    return this.#head.request(this.#writer.bytes, this.#writer.at);
  }

  /** For the next batch, once nobody needs these any more. */
  get bytes(): Buffer {
    return this.#writer.bytes;
  }
}

/** Spans as the exporters of the packages take them. */
export class ObjectBatch implements SpanBatch {
  readonly spans: EndedSpan[] = [];
  readonly #origin: Origin;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  get count(): number {
    return this.spans.length;
  }

  begin(head: SpanHead): void {
    const span = new EndedSpan(head, this.#origin);
    if (head.code !== undefined) span.attributes[KEY.error.name] = head.code;
    this.spans.push(span);
  }

  put({ name }: Key, value: Value): void {
    const span = this.spans.at(-1) as EndedSpan;
    span.attributes[name] = typeof value === 'object' ? [...value] : value;
  }

  putAll({ entries }: SharedAttributes): void {
    for (const [key, value] of entries) this.put(key, value);
  }

  end(): void {
    // It has all its attributes.
  }

  fill(form: SpanForm, place: SpanPlace, values: readonly FormValue[]): void {
    putForm(this, form, place, values);
  }
}

class EndedSpan implements ReadableSpan {
  readonly name: string;
  readonly kind: ReadableSpan['kind'];
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly status: ReadableSpan['status'];
  readonly attributes: Attributes = {};
  readonly links: Link[];
  readonly events: never[] = NONE;
  readonly ended = true;
  readonly resource: ReadableSpan['resource'];
  readonly instrumentationScope: ReadableSpan['instrumentationScope'];
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #context: SpanContext;

  constructor({ name, kind, own, parent, isRemote = false, from, to, code, link }: SpanHead, { resource, scope }: Origin) {
    this.name = name;
    this.kind = KINDS[kind];
    if (parent !== undefined) this.parentSpanContext = contextOf(parent, isRemote);
    this.startTime = hrTime(from);
    this.endTime = hrTime(to);
    this.duration = hrTime(to - from);
    this.status = code === undefined ? STATUS.unset : STATUS.error;
    this.links = link === undefined ? NONE : [{ context: contextOf(link) }];
    this.resource = resource;
    this.instrumentationScope = scope;
    this.#context = contextOf(own);
  }

  spanContext(): SpanContext {
    return this.#context;
  }
}

export function contextOf({ traceId, spanId, flags }: TraceParent, isRemote = false): SpanContext {
  return { traceId, spanId, traceFlags: flags, isRemote };
}
