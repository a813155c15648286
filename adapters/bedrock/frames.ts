// The frames of `application/vnd.amazon.eventstream`: cut from the stream by their length, decoded one by one with
// AWS's own codec, which checks both checksums. Pure: no I/O, but the codec is loaded on first use.
//
// Frame: u32 total length | u32 headers length | u32 CRC of the first 8 bytes | headers | payload | u32 CRC of all before.
import type { EventStreamCodec } from '@smithy/eventstream-codec';
import { malformed } from '../parts.ts';

export const EVENT_STREAM = 'application/vnd.amazon.eventstream';

const LENGTH_BYTES = 4;
/** A frame without headers and payload. */
const MIN_FRAME_BYTES = 16;
/** AWS's own limit: larger lengths are damage, or no event stream at all. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

export interface Frame {
  /** Those of type string; others say nothing to us. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

let codec: EventStreamCodec | undefined;

/** Must have resolved before the first `decodeFrame`. */
export async function loadFrameCodec(): Promise<void> {
  if (codec !== undefined) return;
  const { EventStreamCodec: Codec } = await import('@smithy/eventstream-codec');
  codec = new Codec(
    (bytes) => (typeof bytes === 'string' ? bytes : textOf(bytes)),
    (text) => Buffer.from(text),
  );
}

/** Throws UPSTREAM_MALFORMED for a frame that was damaged on its way. */
export function decodeFrame(bytes: Buffer): Frame {
  if (codec === undefined) throw new Error('loadFrameCodec() must come before decodeFrame()');
  try {
    const { headers, body } = codec.decode(bytes);
    const texts = Object.entries(headers).flatMap(([name, header]) => (header.type === 'string' ? [[name, header.value] as const] : []));
    return { headers: Object.fromEntries(texts), payload: textOf(body) };
  } catch (error) {
    throw malformed(`a frame is damaged (${(error as Error).message})`);
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Cuts a stream into whole frames, wherever its chunks end. */
export class FrameSplitter {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Length of the frame that has begun; 0 while its prefix is incomplete. */
  #length = 0;

  /** True while a frame has begun and not ended. */
  get inFrame(): boolean {
    return this.#bytes > 0;
  }

  /** Yields the frames that `chunk` completes. Throws UPSTREAM_MALFORMED behind the last good one for a length that no frame has. */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#knowsLength() && this.#bytes >= this.#length) {
      const all = this.#joined();
      const frame = all.subarray(0, this.#length);
      this.#chunks = [all.subarray(this.#length)];
      this.#bytes -= this.#length;
      this.#length = 0;
      yield frame;
    }
  }

  #knowsLength(): boolean {
    if (this.#length > 0) return true;
    if (this.#bytes < LENGTH_BYTES) return false;
    const length = this.#joined().readUInt32BE(0);
    if (length < MIN_FRAME_BYTES || length > MAX_FRAME_BYTES) throw malformed(`a frame claims a length of ${length} bytes`);
    this.#length = length;
    return true;
  }

  /** Called when a prefix or a frame is complete, never for each chunk of a long frame. */
  #joined(): Buffer {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}
