// The stream of Chat Completions: chunks without names, then `[DONE]`. Pure: no I/O.
//
// Calls and stop are emitted at the end of the bytes, because any of them may still change until then. Usage may even follow `[DONE]`.
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { ANSWER_LIMITS, type ChatEvent } from '../../core/index.ts';
import { SseReader, type SseRecord } from '../outbound/sse-read.ts';
import { cutShort, malformed, type StreamDecoder, StreamError } from '../shared/provider.ts';
import { asObject, assertRecord } from '../shared/read.ts';
import { toldAnswer } from '../shared/told-answer.ts';
import { streamError } from './errors.ts';
import { Choice } from './response-chat.ts';
import { usageOfChat, withCost } from './usage.ts';

/** Decodes one streamed answer. It throws a StreamError for an error chunk and UPSTREAM_MALFORMED for a stream without an end. */
export class ChatDecoder implements StreamDecoder {
  readonly #records = new SseReader(ANSWER_LIMITS.record);
  readonly #choice: Choice;
  readonly #costField: string | undefined;
  told: StreamDecoder['told'];
  #done = false;

  /** `costField`: where the answer tells what the call costs. */
  constructor(costField?: string) {
    this.#choice = new Choice(costField);
    this.#costField = costField;
  }

  get complete(): boolean {
    return this.#done;
  }

  push(chunk: Buffer, events: ChatEvent[] = []): ChatEvent[] {
    for (const record of this.#records.push(chunk)) this.#read(record, events);
    return events;
  }

  end(events: ChatEvent[] = []): ChatEvent[] {
    for (const record of this.#records.end()) this.#read(record, events);
    // Some servers leave out [DONE], some the finish reason; a stream without both was cut short.
    if (!this.#done && !this.#choice.isFinished) throw cutShort('a finish reason or [DONE]');
    for (const event of this.#choice.end()) events.push(event);
    return events;
  }

  #read({ event, data }: SseRecord, events: ChatEvent[]): void {
    if (data === '') return;
    assertRecord(data);
    if (this.#done) {
      this.#readLate(data, events);
      return;
    }
    if (data.trim() === '[DONE]') {
      this.#done = true;
      return;
    }
    const json = tryParseJson(data);
    if (event === 'error') throw new StreamError(streamError(json ?? { message: data }));
    if (!isObject(json)) throw malformed('a chunk of the stream is not a JSON object');
    this.told ??= toldAnswer(json['id'], json['model']);
    this.#choice.takeChunk(json, events);
  }

  /** The answer is complete, so nothing but usage matters. */
  #readLate(data: string, events: ChatEvent[]): void {
    const late = asObject(tryParseJson(data));
    const usage = withCost(usageOfChat(late), late, this.#costField);
    if (usage !== undefined) events.push({ type: 'usage', usage });
  }
}
