// Gemini's stream: data-only server-sent events, each a piece of an answer. There is no end mark; a finish reason must come before
// the end of the bytes. Pure: no I/O.
//
// stop-last: the stop is emitted at the end of the bytes, because signatures and counts come with the finish reason or after it.
// bare-error: an error may come in place of a record, without `data:`, on one line or on several.
import { Chunks } from '../../core/base/chunks.ts';
import { tryParseJson } from '../../core/base/json.ts';
import { ANSWER_LIMITS, type ChatEvent } from '../../core/index.ts';
import { SseReader, type SseRecord } from '../outbound/sse-read.ts';
import { cutShort, malformed, type StreamDecoder, StreamError } from '../shared/provider.ts';
import { assertRecord } from '../shared/read.ts';
import { recordError } from './errors.ts';
import { readRecord, readTold, usageIn } from './response.ts';

/** Larger than any error object. */
const TAIL_BYTES = 64 * 1024;
const BARE_ERROR = /^(?:\[\s{0,8})?\{\s{0,8}"error"/m;

/** Decodes one streamed answer. It throws a StreamError for an error record and UPSTREAM_MALFORMED if no finish reason came. */
export class GoogleDecoder implements StreamDecoder {
  /** Always false: usage and signatures may follow the finish reason. */
  readonly complete = false;
  readonly #reader = new SseReader(ANSWER_LIMITS.record);
  readonly #model: string;
  told: StreamDecoder['told'];
  #stop: ChatEvent | undefined;
  /** What has come since `#beforeTail`. Both together have the last TAIL_BYTES (bare-error). */
  readonly #tail = new Chunks();
  #beforeTail: Buffer = Buffer.alloc(0);

  constructor(model: string) {
    this.#model = model;
  }

  push(chunk: Buffer, events: ChatEvent[] = []): ChatEvent[] {
    const records = this.#reader.push(chunk);
    this.#keep(chunk);
    this.#read(records, events);
    return events;
  }

  end(events: ChatEvent[] = []): ChatEvent[] {
    this.#read(this.#reader.end(), events);
    if (this.#stop === undefined) throw this.#bareError() ?? cutShort('a finish reason');
    events.push(this.#stop); // stop-last
    return events;
  }

  #read(records: readonly SseRecord[], events: ChatEvent[]): void {
    for (const { data } of records) {
      // Gemini sends no [DONE], but proxies that imitate it do.
      if (data.trim() === '' || data === '[DONE]') continue;
      assertRecord(data);
      const json = tryParseJson(data);
      if (json === undefined) throw this.#bareError() ?? malformed('a record of the stream is not JSON');
      this.told ??= readTold(json);
      for (const event of this.#readRecord(json, events)) {
        if (event.type === 'stop') this.#stop = event;
        else events.push(event);
      }
    }
  }

  /** Appends the usage of a record that can't be read, or that says that the answer failed. */
  #readRecord(json: unknown, events: ChatEvent[]): ChatEvent[] {
    try {
      return readRecord(json, this.#model);
    } catch (error) {
      events.push(...usageIn(json));
      throw error;
    }
  }

  #keep(chunk: Buffer): void {
    this.#tail.add(chunk);
    if (this.#tail.bytes < TAIL_BYTES) return;
    this.#beforeTail = this.#tail.join();
    this.#tail.clear();
  }

  /** bare-error. */
  #bareError(): StreamError | undefined {
    const text = Buffer.concat([this.#beforeTail, this.#tail.join()]).toString('utf8');
    const at = text.search(BARE_ERROR);
    const json = at === -1 ? undefined : tryParseJson(text.slice(at));
    return json === undefined ? undefined : new StreamError(recordError(json));
  }
}
