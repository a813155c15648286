// Anthropic's stream: named server-sent events, blocks opened, filled and closed by index. Pure: no I/O.
import { type ChatEvent, isObject, type ReportedUsage, type StopReason, tryParseJson } from '../../core/index.ts';
import { type ChatContext, cutShort, malformed, type StreamDecoder, StreamFault } from '../define.ts';
import { asObject, asString, parseArguments } from '../read.ts';
import { SseReader, type SseRecord } from '../sse-read.ts';
import { readErrorObject } from './errors.ts';
import { readStopReason, readUsage, thinkingState, toolCallEvent } from './response.ts';
import type { RawBlock } from './schema.ts';

interface OpenBlock {
  readonly block: RawBlock;
  /** Arguments so far, as text. */
  json: string;
}

export class AnthropicDecoder implements StreamDecoder {
  readonly #context: ChatContext;
  readonly #sse = new SseReader();
  readonly #open = new Map<unknown, OpenBlock>();
  readonly #blocks: RawBlock[] = [];
  readonly #unfinished: OpenBlock[] = [];
  #usage: ReportedUsage = {};
  #stopReason: StopReason | undefined;
  #stopped = false;

  constructor(context: ChatContext) {
    this.#context = context;
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
      const json = tryParseJson(data);
      if (!isObject(json)) throw malformed('an event of the stream is not JSON');
      this.#take(json, events);
    }
    return events;
  }

  /** Types that are not known yet come monthly; they are skipped. */
  #take(event: Record<string, unknown>, events: ChatEvent[]): void {
    switch (event['type']) {
      case 'content_block_delta':
        this.#delta(event, events);
        break;
      case 'content_block_start':
        this.#open.set(event['index'], { block: { ...asObject(event['content_block']) }, json: '' });
        this.#startText(event, events);
        break;
      case 'content_block_stop':
        this.#close(event['index'], events);
        break;
      case 'message_start':
        this.#addUsage(asObject(event['message'])['usage']);
        break;
      case 'message_delta':
        this.#addUsage(event['usage']);
        this.#stopReason = readStopReason(asObject(event['delta'])['stop_reason']);
        break;
      case 'message_stop':
        this.#finish(events);
        break;
      case 'error':
        throw new StreamFault(readErrorObject(event['error']));
    }
  }

  /** A text block may open with its first words. */
  #startText(event: Record<string, unknown>, events: ChatEvent[]): void {
    const text = asString(asObject(event['content_block'])['text']);
    if (text !== undefined && text !== '') events.push({ type: 'text', text });
  }

  #delta(event: Record<string, unknown>, events: ChatEvent[]): void {
    const open = this.#open.get(event['index']);
    const delta = asObject(event['delta']);
    if (open === undefined) throw malformed('a piece belongs to no block');
    switch (delta['type']) {
      case 'text_delta': {
        const text = asString(delta['text']) ?? '';
        append(open.block, 'text', text);
        if (text !== '') events.push({ type: 'text', text });
        break;
      }
      case 'input_json_delta':
        open.json += asString(delta['partial_json']) ?? '';
        break;
      case 'thinking_delta':
        append(open.block, 'thinking', asString(delta['thinking']) ?? '');
        break;
      case 'signature_delta':
        append(open.block, 'signature', asString(delta['signature']) ?? '');
        break;
    }
  }

  #close(index: unknown, events: ChatEvent[]): void {
    const open = this.#open.get(index);
    if (open === undefined) return;
    this.#open.delete(index);
    if (open.block['type'] === 'tool_use') {
      const input = open.json === '' ? asObject(open.block['input']) : parseArguments(open.json);
      if (input === undefined) {
        this.#unfinished.push(open); // whether that is damage or a cut by max_tokens is known at the end
        return;
      }
      open.block['input'] = input;
      events.push(toolCallEvent(open.block, input));
    }
    this.#blocks.push(open.block);
  }

  #addUsage(value: unknown): void {
    const fresh = Object.entries(readUsage(value)).filter(([, count]) => count !== undefined);
    this.#usage = { ...this.#usage, ...Object.fromEntries(fresh) };
  }

  #finish(events: ChatEvent[]): void {
    this.#stopped = true;
    const stopReason = this.#stopReason ?? 'unknown';
    const cut = [...this.#unfinished, ...this.#open.values()].filter(({ block }) => block['type'] === 'tool_use');
    if (cut.length > 0 && stopReason !== 'max_tokens') throw malformed('a tool call has arguments that are no JSON object');
    for (const { block } of cut) {
      events.push({
        type: 'warning',
        warning: { field: 'message.toolCalls', message: `A call of ${asString(block['name'])} was cut off by the token limit and left out.` },
      });
    }
    // A turn with a block left out is no longer what the model wrote, and must not be sent back as such.
    if (cut.length === 0) events.push(...thinkingState(this.#blocks, this.#context));
    events.push({ type: 'usage', usage: this.#usage }, { type: 'stop', stopReason });
  }
}

function append(block: RawBlock, key: string, text: string): void {
  block[key] = (asString(block[key]) ?? '') + text;
}
