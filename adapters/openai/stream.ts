// The stream of the Responses endpoint: named events; one of them ends the answer. Pure: no I/O.
import { isObject, tryParseJson } from '../../core/base/json.ts';
import { ANSWER_LIMITS, type ChatEvent } from '../../core/index.ts';
import { SseReader, type SseRecord } from '../outbound/sse-read.ts';
import { logprobsIn } from '../shared/logprobs.ts';
import { cutShort, malformed, type StreamDecoder, StreamError } from '../shared/provider.ts';
import { asObject, asString, assertRecord, expectObject, shortened } from '../shared/read.ts';
import { toldAnswer } from '../shared/told-answer.ts';
import { streamError } from './errors.ts';
import { OutputItems } from './response.ts';
import { eventMembers, usageOfResponse, withCost } from './usage.ts';

/** The events that end an answer, with the status of each. */
const ENDS = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
]);

/** A call that has begun and not ended. */
interface OpenCall {
  readonly name: string;
  /** Its place among the calls. */
  readonly index: number;
}

/** Decodes one streamed answer. It throws a StreamError for a failed response and UPSTREAM_MALFORMED for a stream without an end. */
export class ResponsesDecoder implements StreamDecoder {
  /** The first events and the last one echo the instructions and tools of the request. */
  readonly #records = new SseReader(ANSWER_LIMITS.record);
  readonly #items: OutputItems;
  readonly #costField: string | undefined;
  /** Calls that have begun and not ended, by their place in the output. */
  readonly #open = new Map<unknown, OpenCall>();
  #calls = 0;
  told: StreamDecoder['told'];
  #done = false;

  /** `model` is the one of the request. `costField`: where the answer tells what the call costs. */
  constructor(model: string, costField?: string) {
    this.#items = new OutputItems(model);
    this.#costField = costField;
  }

  get complete(): boolean {
    return this.#done;
  }

  push(chunk: Buffer, events: ChatEvent[] = []): ChatEvent[] {
    for (const record of this.#records.push(chunk)) for (const event of this.#read(record, events)) events.push(event);
    return events;
  }

  end(events: ChatEvent[] = []): ChatEvent[] {
    for (const record of this.#records.end()) for (const event of this.#read(record, events)) events.push(event);
    if (!this.#done) throw cutShort('the event response.completed');
    return events;
  }

  #read({ event, data }: SseRecord, before: ChatEvent[]): ChatEvent[] {
    // OpenAI doesn't document [DONE] for this endpoint, but compatible servers send it.
    if (this.#done || data === '' || data === '[DONE]') return [];
    this.#assertParseable(data, before);
    const json = tryParseJson(data);
    if (!isObject(json))
      throw event === 'error' ? new StreamError({ kind: 'failed', message: data }) : malformed('an event of the stream is not a JSON object');
    const type = asString(json['type']) ?? event;
    if (type === 'error' || (type === '' && json['error'] !== undefined)) throw new StreamError(streamError(json));
    return this.#readEvent(type, json, before);
  }

  /** What an answer has used counts, although the rest of its last event is not read. */
  #assertParseable(data: string, before: ChatEvent[]): void {
    try {
      assertRecord(data);
    } catch (error) {
      const short = shortened(data, eventMembers(this.#costField));
      assertRecord(short);
      const response = asObject(asObject(tryParseJson(short))['response']);
      const usage = withCost(usageOfResponse(response), response, this.#costField);
      if (usage !== undefined) before.push({ type: 'usage', usage });
      throw error;
    }
  }

  /** OpenAI adds event types every few months; unknown ones are skipped. */
  #readEvent(type: string, json: Record<string, unknown>, before: ChatEvent[]): ChatEvent[] {
    switch (type) {
      case 'response.output_text.delta':
        return [...this.#items.text(json['delta']), ...logprobsIn(json['logprobs'])];
      case 'response.refusal.delta':
        return this.#items.refusal(json['delta']);
      case 'response.output_item.added':
        return this.#begin(json['output_index'], asObject(json['item']));
      case 'response.output_item.done': {
        const started = this.#open.get(json['output_index'])?.index;
        this.#open.delete(json['output_index']);
        return this.#items.take(expectObject(json['item'], 'an output item'), started);
      }
      case 'response.function_call_arguments.delta':
        return this.#argument(json);
      case 'response.reasoning_summary_part.added':
        return Number(json['summary_index']) > 0 ? [{ type: 'reasoning', text: '\n\n' }] : [];
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return [{ type: 'reasoning', text: asString(json['delta']) ?? '' }];
      default:
        return ENDS.has(type) ? this.#end(expectObject(json['response'], 'the response of the last event'), ENDS.get(type), before) : [];
    }
  }

  #begin(index: unknown, item: Record<string, unknown>): ChatEvent[] {
    if (item['type'] !== 'function_call') return [];
    const [id, name] = [asString(item['call_id']) ?? '', asString(item['name']) ?? ''];
    const call = { name, index: this.#calls };
    this.#calls += 1;
    this.#open.set(index, call);
    return [{ type: 'toolCallStart', index: call.index, id, name }];
  }

  #argument(json: Record<string, unknown>): ChatEvent[] {
    const call = this.#open.get(json['output_index']);
    const text = asString(json['delta']) ?? '';
    return call === undefined || text === '' ? [] : [{ type: 'toolCallDelta', index: call.index, text }];
  }

  /** The usage goes to `before`, because the rest throws for an answer that failed. */
  #end(response: Record<string, unknown>, status: string | undefined, before: ChatEvent[]): ChatEvent[] {
    this.#done = true;
    this.told = toldAnswer(response['id'], response['model']);
    const usage = withCost(usageOfResponse(response), response, this.#costField);
    if (usage !== undefined) before.push({ type: 'usage', usage });
    for (const { name } of this.#open.values()) this.#items.abandon(name);
    return this.#items.end(response, status);
  }
}
