// Anthropic's stream: named server-sent events, blocks opened, filled and closed by index. Pure: no I/O.
//
// known-fields: of the reports that come again and again, only the fields that are read are kept, so each costs the same however many have come.
// bounded: what is kept counts, blocks that never close as well.
// lead-once: thinking that comes before all else is one state, which is told when something else begins.
import { isDeeperThan, isObject, MAX_JSON_DEPTH, tryParseJson } from '../../core/base/json.ts';
import { ANSWER_LIMITS, AnswerSize, type ChatEvent } from '../../core/index.ts';
import { SseReader, type SseRecord } from '../outbound/sse-read.ts';
import { type ChatContext, cutShort, malformed, type StreamDecoder, StreamError } from '../shared/provider.ts';
import { asObject, assertRecord, asString, expectObject, expectText, parseArguments } from '../shared/read.ts';
import { toldAnswer } from '../shared/told-answer.ts';
import { readErrorObject } from './errors.ts';
import { leadingState, readEnd, readUsage, STOP_FIELDS, USAGE_FIELDS, usageAtStart } from './response.ts';
import type { RawBlock } from './schema.ts';
import { isThinking } from './thinking.ts';

interface OpenBlock {
  readonly block: RawBlock;
  /** Arguments so far, as text. */
  json: string;
  /** The place among the answer's calls, for a call. */
  readonly call?: number;
}

/** Decodes one streamed answer. It throws UPSTREAM_MALFORMED for an event that is not JSON or that belongs to no open block. */
export class AnthropicDecoder implements StreamDecoder {
  told: StreamDecoder['told'];
  readonly #context: ChatContext;
  readonly #sse = new SseReader();
  readonly #open = new Map<unknown, OpenBlock>();
  readonly #blocks: RawBlock[] = [];
  /** The calls among the blocks; absent until there is one. */
  #calls: Map<RawBlock, number> | undefined;
  #started = 0;
  /** known-fields. */
  readonly #usage: Record<string, unknown> = {};
  /** known-fields: `stop_reason` and `stop_sequence`, once they have come. */
  readonly #stop: Record<string, unknown> = {};
  /** bounded. */
  readonly #size = new AnswerSize();
  /** lead-once: nothing but thinking has come. */
  #leads = true;
  /** lead-once: how many blocks there were when the last thinking with a signature ended. */
  #signed = 0;
  #hasBegun = false;
  #stopped = false;

  constructor(context: ChatContext) {
    this.#context = context;
  }

  get complete(): boolean {
    return this.#stopped;
  }

  push(chunk: Buffer, events: ChatEvent[] = []): ChatEvent[] {
    return this.#read(this.#sse.push(chunk), events);
  }

  end(events: ChatEvent[] = []): ChatEvent[] {
    this.#read(this.#sse.end(), events);
    if (!this.#stopped) throw cutShort('message_stop');
    return events;
  }

  #read(records: readonly SseRecord[], events: ChatEvent[]): ChatEvent[] {
    for (const { data } of records) {
      if (this.#stopped) break;
      assertRecord(data, ANSWER_LIMITS.lineValues);
      const json = tryParseJson(data);
      if (!isObject(json)) throw malformed('an event of the stream is not JSON');
      this.#take(json, events);
    }
    return events;
  }

  /** Anthropic adds event types every month; unknown ones are skipped. */
  #take(event: Record<string, unknown>, events: ChatEvent[]): void {
    switch (event['type']) {
      case 'content_block_delta':
        this.#delta(event, events);
        break;
      case 'content_block_start':
        this.#hasBegun = true;
        this.#start(event['index'], { ...expectObject(event['content_block'], 'a content block') }, events);
        break;
      case 'content_block_stop':
        this.#close(event['index'], events);
        break;
      case 'message_start':
        this.told = toldAnswer(asObject(event['message'])['id'], asObject(event['message'])['model']);
        this.#addUsage(usageAtStart(event), events);
        break;
      case 'message_delta':
        this.#addUsage(event['usage'], events);
        update(this.#stop, event['delta'], STOP_FIELDS);
        break;
      case 'message_stop':
        if (isObject(event['usage'])) this.#addUsage(event['usage'], events);
        this.#finish(events);
        break;
      case 'error':
        throw this.#error(event['error']);
      case undefined:
        // The bare error object of a compatible server or a proxy.
        if (event['error'] !== undefined) throw this.#error(event['error']);
    }
  }

  /** Anthropic may report an overload before the first block instead of HTTP 529: then the model has not run. */
  #error(value: unknown): StreamError {
    return new StreamError({ ...readErrorObject(value), mayHaveRun: this.#hasBegun });
  }

  /** A text block may open with its first words. */
  #start(index: unknown, block: RawBlock, events: ChatEvent[]): void {
    this.#size.addBlock();
    this.#size.addValue(block);
    if (!isThinking(block)) this.#endLead(events);
    if (block['type'] === 'tool_use') {
      const call = this.#started++;
      this.#open.set(index, { block, json: '', call });
      events.push({ type: 'toolCallStart', index: call, id: asString(block['id']) ?? '', name: expectText(block['name'], 'the name of a tool call') });
      return;
    }
    this.#open.set(index, { block, json: '' });
    const text = expectText(block['text'], 'the text of a block');
    if (text !== '') events.push({ type: 'text', text });
    if (block['type'] === 'thinking') pushReasoning(block['thinking'], events);
  }

  #delta(event: Record<string, unknown>, events: ChatEvent[]): void {
    const open = this.#open.get(event['index']);
    const delta = expectObject(event['delta'], 'a piece');
    if (open === undefined) throw malformed('a piece belongs to no block');
    switch (delta['type']) {
      case 'text_delta': {
        const text = expectText(delta['text'], 'a piece of text');
        this.#append(open.block, 'text', text);
        if (text !== '') events.push({ type: 'text', text });
        break;
      }
      case 'input_json_delta':
        this.#addJson(open, expectText(delta['partial_json'], 'a piece of a tool call'), events);
        break;
      case 'thinking_delta':
        this.#append(open.block, 'thinking', asString(delta['thinking']) ?? '');
        pushReasoning(delta['thinking'], events);
        break;
      case 'signature_delta':
        this.#append(open.block, 'signature', asString(delta['signature']) ?? '');
        break;
    }
  }

  /** Calls are emitted at the end of the answer, because only its stop reason says whether the token limit cut them off. */
  #close(index: unknown, events: ChatEvent[]): void {
    const open = this.#open.get(index);
    if (open === undefined) return;
    this.#open.delete(index);
    const block = finishBlock(open);
    if (block !== open.block) this.#size.addValue(block['input']);
    this.#blocks.push(block);
    if (this.#leads && isSigned(block)) this.#signed = this.#blocks.length;
    if (open.call === undefined) return;
    this.#calls ??= new Map();
    this.#calls.set(block, open.call);
    // Compatible servers send the arguments with the start, and a call without arguments has no piece. What can't be written is for the gateway to refuse.
    if (open.json === '' && !isDeeperThan(block['input'], MAX_JSON_DEPTH))
      events.push({ type: 'toolCallDelta', index: open.call, text: JSON.stringify(block['input'] ?? {}) });
  }

  /** lead-once. */
  #endLead(events: ChatEvent[]): void {
    if (this.#leads && this.#signed > 0) events.push(leadingState(this.#blocks.slice(0, this.#signed), this.#context));
    this.#leads = false;
  }

  #append(block: RawBlock, key: string, text: string): void {
    this.#size.add(text.length);
    block[key] = (asString(block[key]) ?? '') + text;
  }

  #addJson(open: OpenBlock, text: string, events: ChatEvent[]): void {
    this.#size.add(text.length);
    open.json += text;
    if (open.call !== undefined && text !== '') events.push({ type: 'toolCallDelta', index: open.call, text });
  }

  #addUsage(value: unknown, events: ChatEvent[]): void {
    update(this.#usage, value, USAGE_FIELDS);
    events.push({ type: 'usage', usage: readUsage(this.#usage) });
  }

  #finish(events: ChatEvent[]): void {
    this.#stopped = true;
    for (const index of this.#open.keys()) this.#close(index, events);
    this.#endLead(events);
    for (const event of readEnd(this.#blocks, this.#stop, this.#context, this.#calls)) events.push(event);
  }
}

/** Later reports overwrite earlier ones; absent or null parts don't. */
function update(known: Record<string, unknown>, report: unknown, fields: readonly string[]): void {
  const fresh = asObject(report);
  for (const name of fields) known[name] = fresh[name] ?? known[name];
}

/** The block in the form that a whole answer has. `input: null` marks a call whose arguments are not a JSON object. */
function finishBlock({ block, json }: OpenBlock): RawBlock {
  if (block['type'] !== 'tool_use' || json === '') return block;
  return { ...block, input: parseArguments(json) ?? null };
}

/** Thinking that is whole: a block that was cut off has no signature, and Claude would refuse it. */
function isSigned(block: RawBlock): boolean {
  return block['type'] === 'redacted_thinking' || (block['type'] === 'thinking' && (asString(block['signature']) ?? '') !== '');
}

function pushReasoning(value: unknown, events: ChatEvent[]): void {
  const text = asString(value) ?? '';
  if (text !== '') events.push({ type: 'reasoning', text });
}
