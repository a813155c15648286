// Bedrock's stream: binary frames with JSON payloads. `messageStop` ends the text, `metadata` with the usage follows, then the
// connection ends. Pure: no I/O.
import { isObject, tryParseJson } from '../../core/base/json.ts';
import type { ChatEvent } from '../../core/index.ts';
import { type ChatContext, cutShort, malformed, type StreamDecoder, StreamError } from '../shared/provider.ts';
import { asObject, asString, expectObject } from '../shared/read.ts';
import { AnswerBlocks } from './blocks.ts';
import { frameError } from './errors.ts';
import { decodeFrame, type Frame, FrameSplitter } from './frames.ts';
import { readStopReason, readUsage, stopEvent } from './response.ts';

/** Decodes one streamed answer. It throws UPSTREAM_MALFORMED for a damaged frame and a StreamError for an exception frame. */
export class BedrockDecoder implements StreamDecoder {
  readonly #frames = new FrameSplitter();
  readonly #blocks: AnswerBlocks;
  /** A block has come, of reasoning that can't be read as well: the model has run. */
  #hasBegun = false;
  #stopped = false;
  /** The usage has come, which is the last frame. */
  #metered = false;
  /** Why the answer can't be used; thrown at the end, because the usage comes after `messageStop`. */
  #failure: unknown;

  constructor(context: ChatContext) {
    this.#blocks = new AnswerBlocks(context);
  }

  get complete(): boolean {
    return this.#stopped && this.#metered;
  }

  push(chunk: Buffer, events: ChatEvent[] = []): ChatEvent[] {
    for (const bytes of this.#frames.push(chunk)) for (const event of this.#read(decodeFrame(bytes))) events.push(event);
    return events;
  }

  /** A missing `metadata` frame is accepted; a missing `messageStop` throws. */
  end(events: ChatEvent[] = []): ChatEvent[] {
    if (this.#frames.inFrame || !this.#stopped) throw cutShort(this.#stopped ? 'the end of a frame' : 'messageStop');
    if (this.#failure !== undefined) throw this.#failure;
    return events;
  }

  #read({ headers, payload }: Frame): ChatEvent[] {
    switch (headers[':message-type']) {
      case 'event':
        return this.#take(headers[':event-type'], payload);
      case 'exception': {
        const body = asObject(tryParseJson(payload));
        throw this.#error(headers[':exception-type'], asString(body['message']) ?? asString(body['Message']));
      }
      case 'error':
        throw this.#error(headers[':error-code'], headers[':error-message']);
      default:
        return [];
    }
  }

  #error(type = '', message: string | undefined): StreamError {
    return new StreamError({ ...frameError(type, message), ...(this.#hasBegun && { mayHaveRun: true }) });
  }

  /** Unknown types are skipped without parsing. */
  #take(type: string | undefined, payload: string): ChatEvent[] {
    switch (type) {
      case 'contentBlockStart': {
        const event = parsed(payload);
        this.#hasBegun = true;
        return this.#blocks.open(event['contentBlockIndex'], expectObject(event['start'], 'the start of a block'));
      }
      case 'contentBlockDelta': {
        const event = parsed(payload);
        this.#hasBegun = true;
        return this.#blocks.add(event['contentBlockIndex'], expectObject(event['delta'], 'a piece of a block'));
      }
      case 'messageStop':
        return this.#stop(parsed(payload));
      case 'metadata':
        this.#metered = true;
        return [{ type: 'usage', usage: readUsage(parsed(payload)) }];
      default:
        return [];
    }
  }

  #stop(event: Record<string, unknown>): ChatEvent[] {
    if (this.#stopped) return [];
    this.#stopped = true;
    try {
      const stopReason = readStopReason(event['stopReason']);
      return [...this.#blocks.finish(stopReason), stopEvent(stopReason, event['additionalModelResponseFields'])];
    } catch (error) {
      this.#failure = error;
      return [];
    }
  }
}

function parsed(payload: string): Record<string, unknown> {
  const json = tryParseJson(payload);
  if (!isObject(json)) throw malformed('an event of the stream is not JSON');
  return json;
}
