// Spans that are alike but for their ids, their times and a few values: most of those that a server makes.
//
// written-once: the bytes of such a span are made once. Each further one is a copy of them, into which the rest is written where it stands. That takes a third of the time that it takes
//   to write all of it, and the code for it is short, which counts as much: it has to come into the caches of the processor for each request.
import type { TraceParent } from '../../core/base/traceparent.ts';
import { type Key, LONG_TEXT, ProtobufWriter, type Value, varintSize } from './protobuf.ts';
import { RawIds, SPAN_BYTES, TRACE_BYTES } from './raw-ids.ts';
import { Recent } from './recent.ts';

/** `SpanKind` of the API. */
export const KINDS = { INTERNAL: 0, SERVER: 1, CLIENT: 2 } as const;
/** Fields of opentelemetry/proto/trace/v1/trace.proto, `Span`. */
export const SPAN = { traceId: 1, spanId: 2, parent: 4, name: 5, kind: 6, start: 7, end: 8, attributes: 9, links: 13, status: 15, flags: 16 } as const;
export const HAS_REMOTE = 0x100;
export const IS_REMOTE = 0x200;

/** Attributes that many spans have alike, written once. */
export class SharedAttributes {
  readonly entries: readonly (readonly [Key, Value])[];
  #bytes: Uint8Array | undefined;

  constructor(entries: readonly (readonly [Key, Value | undefined])[]) {
    this.entries = entries.filter((entry): entry is readonly [Key, Value] => entry[1] !== undefined);
  }

  get bytes(): Uint8Array {
    this.#bytes ??= this.#written();
    return this.#bytes;
  }

  #written(): Uint8Array {
    const writer = new ProtobufWriter(Buffer.allocUnsafe(512));
    for (const [key, value] of this.entries) writer.attribute(SPAN.attributes, key, value);
    return Buffer.from(writer.bytes.subarray(0, writer.at));
  }
}

/** What spans of a form have each for itself, besides its values. Times in milliseconds of the epoch. */
export interface SpanPlace {
  readonly own: TraceParent;
  /** Undefined for the root of a trace. */
  readonly parent: TraceParent | undefined;
  readonly from: number;
  readonly to: number;
}

/** A value that differs from span to span. Undefined if this one has none. */
export type FormValue = string | number | undefined;

/** Values of other lengths make another template. */
const USUAL_TEMPLATES = 8;

/** What spans have in common that did not fail. */
export class SpanForm {
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  /** True if their parents are in other processes. */
  readonly isRemote: boolean;
  readonly attributes: SharedAttributes;
  /** The names of the values, in their order. */
  readonly keys: readonly Key[];
  readonly #templates = new Recent<Template>(USUAL_TEMPLATES);

  constructor({ name, kind, isRemote = false, attributes, keys }: Pick<SpanForm, 'name' | 'kind' | 'attributes' | 'keys'> & { readonly isRemote?: boolean }) {
    this.name = name;
    this.kind = kind;
    this.isRemote = isRemote;
    this.attributes = attributes;
    this.keys = keys;
  }

  /** Writes a span; false if it has a value that no template has, and then nothing is written. */
  write(writer: ProtobufWriter, place: SpanPlace, values: readonly FormValue[]): boolean {
    const hasParent = place.parent !== undefined;
    for (const known of this.#templates.all) if (known.fits(hasParent, values)) return known.write(writer, place, values);
    const template = Template.of(this, hasParent, values);
    return template !== undefined && this.#templates.keep(template).write(writer, place, values);
  }
}

/** What a value is like in its bytes: a text of so many characters (below LONG_TEXT), an integer of so many bytes, a double, or none. */
type Shape = number;
const INTEGER: Shape = 100;
const FRACTION: Shape = 120;
const ABSENT: Shape = 121;
const OTHER: Shape = 122;
const MAX_INTEGER = 0x7fff_ffff;

function shapeOf(value: FormValue): Shape {
  if (value === undefined) return ABSENT;
  if (typeof value === 'string') return value.length < LONG_TEXT ? value.length : OTHER;
  if (!Number.isInteger(value)) return FRACTION;
  return value >= 0 && value <= MAX_INTEGER ? INTEGER + varintSize(value) : OTHER;
}

/** The length in front takes two bytes for these. */
const LENGTH_BYTES = 2;
const MIN_LENGTH = 0x80;
const MAX_LENGTH = 0x3fff;

function isOtherText(value: FormValue): boolean {
  return typeof value === 'string' && Buffer.byteLength(value) !== value.length;
}

/** The bytes of a span, and where in them stands what differs. */
class Template {
  readonly #hasParent: boolean;
  readonly #shapes: readonly Shape[];
  readonly #bytes: Uint8Array;
  /** Where the values are; -1 where there is none. */
  readonly #places: readonly number[];

  private constructor(hasParent: boolean, shapes: readonly Shape[], bytes: Uint8Array, places: readonly number[]) {
    this.#hasParent = hasParent;
    this.#shapes = shapes;
    this.#bytes = bytes;
    this.#places = places;
  }

  /** Undefined if spans with such values have no template. */
  static of({ name, kind, isRemote, attributes, keys }: SpanForm, hasParent: boolean, values: readonly FormValue[]): Template | undefined {
    const shapes = keys.map((_, index) => shapeOf(values[index]));
    if (shapes.includes(OTHER) || values.some(isOtherText)) return undefined;
    const writer = new ProtobufWriter(Buffer.alloc(1024));
    const start = writer.open(2);
    writer.id(SPAN.traceId, '0'.repeat(2 * TRACE_BYTES));
    writer.id(SPAN.spanId, '0'.repeat(2 * SPAN_BYTES));
    writer.time(SPAN.start, 0);
    writer.time(SPAN.end, 0);
    writer.fixed32(SPAN.flags, HAS_REMOTE | (isRemote ? IS_REMOTE : 0));
    if (hasParent) writer.id(SPAN.parent, '0'.repeat(2 * SPAN_BYTES));
    writer.text(SPAN.name, name);
    writer.small(SPAN.kind, KINDS[kind] + 1); // the definitions have "unspecified" in front
    writer.room(attributes.bytes.length);
    writer.copy(attributes.bytes);
    const places = keys.map((key, index) => placeOf(writer, key, values[index]));
    const length = writer.at - start - LENGTH_BYTES;
    writer.close(start);
    return length > MAX_LENGTH || length < MIN_LENGTH ? undefined : new Template(hasParent, shapes, Buffer.from(writer.bytes.subarray(0, writer.at)), places);
  }

  fits(hasParent: boolean, values: readonly FormValue[]): boolean {
    if (hasParent !== this.#hasParent) return false;
    const shapes = this.#shapes;
    for (let index = 0; index < shapes.length; index += 1) if (shapeOf(values[index]) !== shapes[index]) return false;
    return true;
  }

  /** False for a text that is not ASCII. */
  write(writer: ProtobufWriter, { own, parent, from, to }: SpanPlace, values: readonly FormValue[]): boolean {
    const bytes = this.#bytes;
    writer.room(bytes.length);
    const start = writer.at;
    writer.bytes.set(bytes, start);
    const places = this.#places;
    for (let index = 0; index < places.length; index += 1) {
      const value = values[index];
      if (value === undefined) continue;
      writer.at = start + (places[index] as number);
      if (typeof value === 'number') putNumber(writer, value);
      else if (!writer.ascii(value)) {
        writer.at = start;
        return false;
      }
    }
    putTrace(writer, start + AT.trace, own);
    putSpan(writer, start + AT.span, own);
    writer.at = start + AT.from;
    writer.nanoseconds(from);
    writer.at = start + AT.to;
    writer.nanoseconds(to);
    writer.bytes[start + AT.flags] = own.flags;
    if (parent !== undefined) putSpan(writer, start + AT.parent, parent);
    writer.at = start + bytes.length;
    return true;
  }
}

/** Behind the tag of the span and the two bytes of its length, with the tags and lengths of these fields. */
const AT = { trace: 5, span: 23, from: 32, to: 41, flags: 51, parent: 57 } as const;

function placeOf(writer: ProtobufWriter, key: Key, value: FormValue): number {
  if (value === undefined) return -1;
  writer.attribute(SPAN.attributes, key, value);
  if (typeof value === 'string') return writer.at - value.length;
  return writer.at - (Number.isInteger(value) ? varintSize(value) : 8);
}

function putNumber(writer: ProtobufWriter, value: number): void {
  if (Number.isInteger(value)) writer.varint(value);
  else writer.double(value);
}

function putTrace(writer: ProtobufWriter, at: number, ids: TraceParent): void {
  writer.at = at;
  if (ids instanceof RawIds) copy(writer.bytes, at, ids.trace, ids.traceAt, TRACE_BYTES);
  else writer.hex(ids.traceId);
}

function putSpan(writer: ProtobufWriter, at: number, ids: TraceParent): void {
  writer.at = at;
  if (ids instanceof RawIds) copy(writer.bytes, at, ids.span, ids.spanAt, SPAN_BYTES);
  else writer.hex(ids.spanId);
}

function copy(to: Buffer, at: number, from: Buffer, fromAt: number, count: number): void {
  for (let index = 0; index < count; index += 1) to[at + index] = from[fromAt + index] as number;
}
