// The frames of `application/vnd.amazon.eventstream`: cut from the stream by their length, decoded one by one. Every piece of text is a
// frame, so this is faster code of our own; the tests compare it with AWS's codec. Pure: no I/O.
//
// Frame: u32 total length | u32 headers length | u32 CRC of the first 8 bytes | headers | payload | u32 CRC of all before.
// Header: u8 length of the name | name | u8 type | value. Numbers are big-endian, checksums CRC-32 (IEEE).
// Source: the event stream encoding in AWS's documentation of Amazon Transcribe.
import { crc32 } from 'node:zlib';
import { Chunks } from '../../core/base/chunks.ts';
import { ANSWER_LIMITS, type BlockhouseError } from '../../core/index.ts';
import { malformed } from '../shared/provider.ts';
import { assertRecord } from '../shared/read.ts';

/** The content type of the stream. */
export const EVENT_STREAM = 'application/vnd.amazon.eventstream';

const LENGTH_BYTES = 4;
const PRELUDE_BYTES = 12;
/** A frame without headers and payload. */
const MIN_FRAME_BYTES = 16;
/** AWS's own limit: a larger length means damage, or that this is not an event stream. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** AWS's own limit as well. */
const MAX_HEADERS_BYTES = 128 * 1024;

/** Bytes of a header's value by its type: true, false, byte, short, integer, long; timestamp and UUID. */
const VALUE_BYTES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
/** These two begin with a u16 length. */
const BYTES = 6;
const TEXT = 7;

/** One decoded frame. */
export interface Frame {
  /** The headers of type string; we need no others. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

/** Throws UPSTREAM_MALFORMED for a damaged frame. `bytes` is exactly one frame, as `FrameSplitter` cuts it. */
export function decodeFrame(bytes: Buffer): Frame {
  const end = bytes.length - 4;
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw damaged('the checksum of its lengths is wrong');
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw damaged('its checksum is wrong');
  const headersEnd = PRELUDE_BYTES + bytes.readUInt32BE(4);
  if (headersEnd > end) throw damaged('its headers are longer than the frame');
  if (headersEnd > PRELUDE_BYTES + MAX_HEADERS_BYTES) throw damaged(`its headers are longer than ${MAX_HEADERS_BYTES} bytes`);
  assertRecord(bytes.subarray(headersEnd, end), ANSWER_LIMITS.lineValues);
  return { headers: readHeaders(bytes, headersEnd), payload: bytes.toString('utf8', headersEnd, end) };
}

function readHeaders(bytes: Buffer, end: number): Record<string, string> {
  const headers: Record<string, string> = {};
  let at = PRELUDE_BYTES;
  while (at < end) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    const name = bytes.toString('latin1', at + 1, nameEnd);
    const type = bytes[nameEnd] ?? -1;
    const isLong = type === BYTES || type === TEXT;
    const from = nameEnd + (isLong ? 3 : 1);
    const length = isLong && from <= end ? bytes.readUInt16BE(nameEnd + 1) : VALUE_BYTES[type];
    if (length === undefined || from + length > end) throw damaged('a header is cut off or has an unknown type');
    at = from + length;
    if (type === TEXT) headers[name] = bytes.toString('utf8', from, at);
  }
  return headers;
}

function damaged(what: string): BlockhouseError {
  return malformed(`a frame is damaged: ${what}`);
}

/** Cuts a stream into whole frames; chunks may end anywhere. */
export class FrameSplitter {
  readonly #begun = new Chunks();
  /** The bytes needed to go on: the prefix of a frame, or the whole frame once its length is known. */
  #needed = LENGTH_BYTES;

  /** True while a frame has begun and not ended. */
  get inFrame(): boolean {
    return this.#begun.bytes > 0;
  }

  /**
   * Yields the frames that `chunk` completes. Throws UPSTREAM_MALFORMED after the last good frame if the next has an impossible length. The
   * bytes of a frame are joined twice at most, for its prefix and for the whole, however many chunks it arrives in.
   */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    if (this.#begun.bytes + chunk.length < this.#needed) {
      this.#begun.add(chunk);
      return;
    }
    let bytes = this.#begun.join(chunk);
    this.#begun.clear();
    this.#needed = neededFor(bytes);
    while (bytes.length >= this.#needed) {
      yield bytes.subarray(0, this.#needed);
      bytes = bytes.subarray(this.#needed);
      this.#needed = neededFor(bytes);
    }
    this.#begun.add(bytes);
  }
}

function neededFor(bytes: Buffer): number {
  if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = bytes.readUInt32BE(0);
  if (length < MIN_FRAME_BYTES || length > MAX_FRAME_BYTES) throw malformed(`a frame claims a length of ${length} bytes`);
  return length;
}
