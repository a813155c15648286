// Estimates the tokens of a forwarded stream by its bytes, without reading each frame. Pure: no I/O.
//
// sampled: the texts of some reads are looked at, and those say how many bytes are around the text of a frame. Of the other reads, what is more than that
//   is text. A read that is longer than expected is looked at, too: it has more text, or more around it, such as log probabilities.
// never-falls: the estimate of a stream only grows.
import { countFrames } from '../base/sse-frames.ts';
import { BYTES_A_TOKEN } from './accumulate.ts';

/** The first reads are all looked at, and then few: a look costs more than the rest of what is done with a small read. */
const FIRST_LOOKS = 16;
const LOOK_EVERY = 32;
/** A longer frame than expected is looked at. */
const LONGER_BYTES = 128;
/** What the newest look counts towards the overhead. */
const NEWEST_SHARE = 0.25;
/** Each protocol has it in every frame with a piece of the answer. The frames that repeat the finished answer don't have it. */
const PIECE = Buffer.from('delta');
const TEXT_BEGINS = /"(?:text|content|delta|thinking|partial_json|arguments|input|reasoning|reasoning_content|refusal|transcript|summary|quote)"\s*:\s*"/g;

/** The tokens of one stream. */
export class StreamTokens {
  #frames = 0;
  #reads = 0;
  /** Of text. */
  #bytes = 0;
  /** Bytes around the text of a frame; undefined until a frame has shown it. */
  #overhead: number | undefined;
  #most = 0;

  /** Takes whole frames. */
  add(bytes: Buffer): void {
    if (bytes.indexOf(PIECE) < 0) return;
    const frames = countFrames(bytes) || 1;
    this.#frames += frames;
    this.#reads += 1;
    const expected = (this.#overhead ?? 0) * frames;
    const isLookedAt = this.#reads <= FIRST_LOOKS || this.#reads % LOOK_EVERY === 0 || bytes.length - expected > LONGER_BYTES * frames;
    this.#bytes += isLookedAt ? this.#look(bytes, frames) : bytes.length - expected;
  }

  /** At least one for each frame. */
  get tokens(): number {
    this.#most = Math.max(this.#most, this.#frames, Math.ceil(this.#bytes / BYTES_A_TOKEN)); // never-falls
    return this.#most;
  }

  /** sampled. Returns the bytes of text. */
  #look(bytes: Buffer, frames: number): number {
    const text = textIn(bytes.toString('latin1'));
    if (text === 0) return 0;
    this.#learn((bytes.length - text) / frames);
    return text;
  }

  /** What is much longer than usual is something else that comes with some frames alone. */
  #learn(overhead: number): void {
    const known = this.#overhead ?? Number.POSITIVE_INFINITY;
    if (overhead < known - LONGER_BYTES) this.#overhead = overhead;
    else if (overhead < known + LONGER_BYTES) this.#overhead = known + (overhead - known) * NEWEST_SHARE;
  }
}

/** The characters in the texts of frames, escaped as they are. */
function textIn(frames: string): number {
  let length = 0;
  TEXT_BEGINS.lastIndex = 0;
  while (TEXT_BEGINS.test(frames)) {
    const end = endOfString(frames, TEXT_BEGINS.lastIndex);
    length += end - TEXT_BEGINS.lastIndex;
    TEXT_BEGINS.lastIndex = end;
  }
  return length;
}

/** The index of the quote that ends a string of JSON. A pattern that skips escapes needs a stack as long as the text. */
function endOfString(text: string, from: number): number {
  let at = from;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (quote - slashes > from && text.charCodeAt(quote - slashes - 1) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return quote;
    at = quote + 1;
  }
}
