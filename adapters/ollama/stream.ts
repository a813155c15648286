// Ollama's stream: one JSON object a line; the last has `done: true`. Pure: no I/O.
import { tryParseJson } from '../../core/base/json.ts';
import { ANSWER_LIMITS, type ChatEvent } from '../../core/index.ts';
import { LineReader } from '../outbound/lines.ts';
import { cutShort, malformed, type StreamDecoder } from '../shared/provider.ts';
import { asObject, assertRecord } from '../shared/read.ts';
import { toldAnswer } from '../shared/told-answer.ts';
import { readLine, usageIn } from './response.ts';

/** Decodes one streamed answer. It throws a StreamError for an error line and UPSTREAM_MALFORMED if no line said done. */
export class OllamaDecoder implements StreamDecoder {
  readonly #lines = new LineReader();
  told: StreamDecoder['told'];
  #done = false;

  get complete(): boolean {
    return this.#done;
  }

  push(chunk: Buffer, events: ChatEvent[] = []): ChatEvent[] {
    return this.#read(this.#lines.push(chunk), events);
  }

  end(events: ChatEvent[] = []): ChatEvent[] {
    const rest = this.#lines.end();
    if (rest !== undefined) this.#read([rest], events);
    if (!this.#done) throw cutShort('a line that says done');
    return events;
  }

  #read(lines: readonly string[], events: ChatEvent[]): ChatEvent[] {
    for (const line of lines) {
      if (this.#done || line.trim() === '') continue;
      assertRecord(line, ANSWER_LIMITS.lineValues);
      const json = tryParseJson(line);
      if (json === undefined) throw malformed('a line of the stream is not JSON');
      this.told ??= toldAnswer(undefined, asObject(json)['model']);
      for (const event of this.#readLine(json, events)) {
        if (event.type === 'stop') this.#done = true;
        events.push(event);
      }
    }
    return events;
  }

  /** Appends the usage of a line that can't be read. */
  #readLine(json: unknown, events: ChatEvent[]): ChatEvent[] {
    try {
      return readLine(json);
    } catch (error) {
      events.push(...usageIn(json));
      throw error;
    }
  }
}
