// Bytes of protobuf as they are written (https://protobuf.dev/programming-guides/encoding/): what the spans of a small request need, and no more. Pure: no I/O.
//
// one-pass: nothing is measured first. A length is written before what it counts where that is known, and else into a place that is kept for it.
// few-instructions: short texts are copied here, byte by byte, since a call of the runtime for each takes longer. Every request pays for a thousand bytes.

/** Types of fields on the wire. */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

/** A text of this length or more is copied by the runtime. */
export const LONG_TEXT = 96;
const TWO_32 = 0x1_0000_0000;
/** The lengths of most spans take so many bytes. */
const KEPT = 2;
/** The most that a varint of a length takes. */
const MAX_VARINT = 5;

/** The value of an attribute. */
export type Value = string | number | boolean | readonly string[];

/** The name of an attribute, with its bytes at hand. */
export class Key {
  readonly name: string;
  /** The field `key` of a `KeyValue`. */
  readonly bytes: Uint8Array;

  constructor(name: string) {
    this.name = name;
    const text = Buffer.from(name);
    this.bytes = Buffer.concat([Buffer.from([tag(1, LENGTH), text.length]), text]);
  }
}

const HEX = Uint8Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0);
const DOUBLE = new Float64Array(1);
const DOUBLE_BYTES = new Uint8Array(DOUBLE.buffer);
/** Doubles are little-endian on the wire. */
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

function tag(field: number, type: number): number {
  return (field << 3) | type;
}

/** How many bytes the varint of this number takes. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1;
  return size;
}

/** Bytes that grow as they are written. */
export class ProtobufWriter {
  #bytes: Buffer;
  /** The last second that was written, in nanoseconds: both halves of 32 bits. */
  #second = 0;
  #secondLow = 0;
  #secondHigh = 0;
  /** Where the next byte goes. */
  at: number;

  /** `start` bytes stay free at the beginning. */
  constructor(bytes: Buffer, start = 0) {
    this.#bytes = bytes;
    this.at = start;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  /** From now on, so many bytes can be written. */
  room(count: number): void {
    if (this.at + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.at + count));
    this.#bytes.copy(larger, 0, 0, this.at);
    this.#bytes = larger;
  }

  /** A whole number from 0 to 2^53. Has room. */
  varint(value: number): void {
    const bytes = this.#bytes;
    let rest = value;
    for (; rest >= 0x8000_0000; rest = Math.floor(rest / 0x80)) bytes[this.at++] = (rest % 0x80) | 0x80;
    for (; rest >= 0x80; rest >>>= 7) bytes[this.at++] = (rest & 0x7f) | 0x80;
    bytes[this.at++] = rest;
  }

  /** A field of bytes, which are copied. */
  field(field: number, bytes: Uint8Array): void {
    this.room(bytes.length + 2 * MAX_VARINT);
    this.varint(tag(field, LENGTH));
    this.varint(bytes.length);
    this.copy(bytes);
  }

  /** Bytes as they are. Has room. */
  copy(from: Uint8Array): void {
    const { length } = from;
    if (length < LONG_TEXT) {
      const bytes = this.#bytes;
      let { at } = this;
      for (let index = 0; index < length; index += 1) bytes[at++] = from[index] as number;
      this.at = at;
    } else {
      this.#bytes.set(from, this.at);
      this.at += length;
    }
  }

  /** A field of an id: so many hexadecimal digits of a text. */
  id(field: number, hex: string): void {
    this.room(hex.length / 2 + 2);
    const bytes = this.#bytes;
    bytes[this.at++] = tag(field, LENGTH);
    bytes[this.at++] = hex.length / 2;
    this.hex(hex);
  }

  /** So many hexadecimal digits as bytes. Has room. */
  hex(hex: string): void {
    const bytes = this.#bytes;
    let { at } = this;
    for (let index = 0; index < hex.length; index += 2)
      bytes[at++] = ((HEX[hex.charCodeAt(index)] as number) << 4) | (HEX[hex.charCodeAt(index + 1)] as number);
    this.at = at;
  }

  /** A field of a small number. */
  small(field: number, value: number): void {
    this.room(2 * MAX_VARINT);
    this.varint(tag(field, VARINT));
    this.varint(value);
  }

  fixed32(field: number, value: number): void {
    this.room(MAX_VARINT + 4);
    this.varint(tag(field, FIXED32));
    this.at = this.#bytes.writeUInt32LE(value, this.at);
  }

  /** A field of a time: milliseconds of the epoch as nanoseconds, which are more than a number holds exactly. */
  time(field: number, ms: number): void {
    this.room(MAX_VARINT + 8);
    this.varint(tag(field, FIXED64));
    this.nanoseconds(ms);
  }

  /** The 8 bytes of a time. Has room. */
  nanoseconds(ms: number): void {
    const second = Math.floor(ms / 1000);
    if (second !== this.#second) this.#setSecond(second);
    const low = this.#secondLow + Math.round((ms - second * 1000) * 1e6);
    const isOver = low >= TWO_32;
    this.#word(isOver ? low - TWO_32 : low);
    this.#word(isOver ? this.#secondHigh + 1 : this.#secondHigh);
  }

  /** Remainders of large numbers take long, and the next times are mostly of the same second. */
  #setSecond(second: number): void {
    const upper = Math.floor(second / 0x1_0000) * 1e9; // 65,536 times as much
    const lower = (second % 0x1_0000) * 1e9;
    const low = (upper % 0x1_0000) * 0x1_0000 + (lower % TWO_32);
    this.#second = second;
    this.#secondLow = low % TWO_32;
    this.#secondHigh = Math.floor(upper / 0x1_0000) + Math.floor(lower / TWO_32) + Math.floor(low / TWO_32);
  }

  #word(value: number): void {
    const bytes = this.#bytes;
    let { at } = this;
    bytes[at++] = value & 0xff;
    bytes[at++] = (value >>> 8) & 0xff;
    bytes[at++] = (value >>> 16) & 0xff;
    bytes[at++] = value >>> 24;
    this.at = at;
  }

  /** A field of a text. One that is no Unicode (half of a pair) has U+FFFD in that place, as protobuf asks. */
  text(field: number, text: string): void {
    const { length } = text;
    if (length < LONG_TEXT) {
      this.room(length + 3);
      const start = this.at;
      const bytes = this.#bytes;
      bytes[this.at++] = tag(field, LENGTH);
      bytes[this.at++] = length;
      if (this.ascii(text)) return;
      this.at = start;
    }
    const size = Buffer.byteLength(text);
    this.room(size + 2 * MAX_VARINT);
    this.varint(tag(field, LENGTH));
    this.varint(size);
    this.at += this.#bytes.write(text, this.at);
  }

  /** The characters of a text; false if it has others, and then nothing of it counts. Has room. */
  ascii(text: string): boolean {
    const bytes = this.#bytes;
    const { length } = text;
    let { at } = this;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) return false;
      bytes[at++] = code;
    }
    this.at = at;
    return true;
  }

  /** A field that is an attribute (`KeyValue`). */
  attribute(field: number, key: Key, value: Value): void {
    if (typeof value === 'string') this.#textAttribute(field, key, value);
    else if (typeof value === 'number') this.#numberAttribute(field, key, value);
    else if (typeof value === 'boolean') {
      this.#head(field, key, 2);
      this.#bytes[this.at++] = tag(2, VARINT);
      this.#bytes[this.at++] = value ? 1 : 0;
    } else this.#listAttribute(field, key, value);
  }

  /** Everything before a value that takes so many bytes. */
  #head(field: number, key: Key, size: number): void {
    const from = key.bytes;
    const inner = from.length + 1 + varintSize(size) + size;
    this.room(inner + 3 * MAX_VARINT);
    const bytes = this.#bytes;
    let { at } = this;
    bytes[at++] = tag(field, LENGTH);
    if (inner < 0x80) bytes[at++] = inner;
    else {
      this.at = at;
      this.varint(inner);
      at = this.at;
    }
    for (let index = 0; index < from.length; index += 1) bytes[at++] = from[index] as number; // names are short
    bytes[at++] = tag(2, LENGTH);
    this.at = at;
    if (size < 0x80) bytes[this.at++] = size;
    else this.varint(size);
  }

  #textAttribute(field: number, key: Key, value: string): void {
    const { length } = value;
    if (length < LONG_TEXT) {
      const start = this.at;
      this.#head(field, key, length + 2);
      this.#bytes[this.at++] = tag(1, LENGTH);
      this.#bytes[this.at++] = length;
      if (this.ascii(value)) return;
      this.at = start;
    }
    const size = Buffer.byteLength(value);
    this.#head(field, key, 1 + varintSize(size) + size);
    this.text(1, value);
  }

  /** A whole number is an integer, as the packages have it. */
  #numberAttribute(field: number, key: Key, value: number): void {
    if (value >= 0 && Number.isSafeInteger(value)) {
      this.#head(field, key, 1 + varintSize(value));
      this.#bytes[this.at++] = tag(3, VARINT);
      this.varint(value);
    } else {
      this.#head(field, key, 9);
      this.#double(value);
    }
  }

  /** A value that is no whole number. Has room. */
  #double(value: number): void {
    const bytes = this.#bytes;
    bytes[this.at++] = tag(4, FIXED64);
    this.double(value);
  }

  /** The 8 bytes of a number. Has room. */
  double(value: number): void {
    const bytes = this.#bytes;
    DOUBLE[0] = value;
    for (let index = 0; index < 8; index += 1) bytes[this.at++] = DOUBLE_BYTES[IS_LITTLE ? index : 7 - index] as number;
  }

  #listAttribute(field: number, key: Key, values: readonly string[]): void {
    const list = new ProtobufWriter(Buffer.allocUnsafe(256));
    for (const value of values) {
      const size = Buffer.byteLength(value);
      list.room(size + 4 * MAX_VARINT);
      list.varint(tag(1, LENGTH));
      list.varint(1 + varintSize(size) + size);
      list.text(1, value);
    }
    this.#head(field, key, 1 + varintSize(list.at) + list.at);
    this.field(5, list.#bytes.subarray(0, list.at));
  }

  /** A field that is an attribute with a value of JSON, in its structure (`AnyValue`). */
  structure(field: number, key: Key, value: unknown): void {
    const start = this.open(field);
    this.room(key.bytes.length);
    this.copy(key.bytes);
    this.#anyValue(2, value);
    this.close(start);
  }

  #anyValue(field: number, value: unknown): void {
    const start = this.open(field);
    if (typeof value === 'string') this.text(1, value);
    else if (typeof value === 'boolean') this.small(2, value ? 1 : 0);
    else if (typeof value === 'number') {
      this.room(2 * MAX_VARINT);
      if (value >= 0 && Number.isSafeInteger(value)) this.small(3, value);
      else this.#double(value);
    } else if (Array.isArray(value)) {
      const list = this.open(5);
      for (const one of value) this.#anyValue(1, one);
      this.close(list);
    } else if (typeof value === 'object' && value !== null) this.#entries(value);
    this.close(start); // null is a value without one
  }

  #entries(value: object): void {
    const list = this.open(6);
    for (const [name, inner] of Object.entries(value)) {
      if (inner === undefined) continue;
      const entry = this.open(1);
      this.text(1, name);
      this.#anyValue(2, inner);
      this.close(entry);
    }
    this.close(list);
  }

  /** Begins a field whose length `close` writes. */
  open(field: number): number {
    this.room(1 + MAX_VARINT);
    this.#bytes[this.at++] = tag(field, LENGTH);
    const start = this.at;
    this.at += KEPT;
    return start;
  }

  /** Ends what `open` began there. */
  close(start: number): void {
    const size = this.at - start - KEPT;
    const kept = varintSize(size);
    if (kept !== KEPT) {
      this.room(MAX_VARINT);
      this.#bytes.copyWithin(start + kept, start + KEPT, this.at);
    }
    this.at = start;
    this.varint(size);
    this.at += size;
  }
}
