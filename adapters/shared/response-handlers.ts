// Reads a provider's answer: the beginning of an error, a whole answer up to a cap, a stream through its decoder.
//
// bounded-error: at most ANSWER_LIMITS.error bytes of an error's body are read. The status and the beginning of the text suffice.
// bounded-answer: an answer is read up to a cap, whole or streamed. A decoder gathers tool calls and reasoning until the end of the stream, and a
//   provider that never ends it would fill the memory.
// whole-instead: a server may answer a request for a stream with a JSON body: an error with status 200, or the whole answer. It is read as such.
// events-first: events that were read before an error are emitted before the error.
// long-in-turns: a long answer is read after its end, in turns of the event loop (long-json.ts).
// counts-first: an answer that fails or can't be read is billed all the same, so its usage is emitted before the error. Where it reports no output, its size is.
import type { IncomingHttpHeaders } from 'node:http';
import { Chunks } from '../../core/base/chunks.ts';
import { tryParseJson } from '../../core/base/json.ts';
import { type AdapterCall, ANSWER_LIMITS, type BlockhouseError, type ChatCall, type ChatEvent, type ReportedUsage, secretsOf } from '../../core/index.ts';
import { EnoughRead } from '../outbound/call.ts';
import type { UpstreamHandler } from '../outbound/client.ts';
import { withoutMark } from '../outbound/lines.ts';
import { ANY_JSON, isLong, limitsOf, parseLong, type Reader, readerOf } from './long-json.ts';
import { type ChatContext, malformed, type Provider, type StreamDecoder, StreamError } from './provider.ts';
import { type ErrorAnswer, errorAnswer, fromProviderError } from './provider-errors.ts';

/** A page begins so, after any blanks and a byte order mark. */
const PAGE = /^(?:\xef\xbb\xbf)?\s*</;
const PAGE_START_BYTES = 256;

/** The error for an answer with an error status, under the provider's name and without the call's secrets. `unread` gets the size of what a model has written in it. */
export function toError(provider: Provider, call: AdapterCall, answer: ErrorAnswer, unread?: (bytes: number) => void): BlockhouseError {
  const error = provider.readError(answer, call.settings);
  const { mayHaveRun, writtenBytes = 0 } = error;
  if (writtenBytes > 0) unread?.(writtenBytes);
  return fromProviderError(error, {
    name: provider.displayName,
    status: answer.status,
    headers: answer.headers,
    secrets: secretsOf(provider.settings, call.settings),
    ...(mayHaveRun === true && { mayHaveRun }),
  });
}

/** counts-first, for `toError`. */
function counted({ sink }: ChatCall): (bytes: number) => void {
  return (bytes) => sink.emit([{ type: 'unread', bytes }]);
}

/** What has come of an answer before it failed. */
interface Came {
  /** A part of the answer. */
  readonly part: boolean;
  /** Usage of more than nothing. */
  readonly use: boolean;
}

/** What reading an answer has thrown: the provider's own error as a BlockhouseError without secrets, anything else as it is. */
export function readFailure(error: unknown, provider: Provider, call: AdapterCall, came: Came): unknown {
  if (!(error instanceof StreamError)) return error;
  const { providerError } = error;
  const mayHaveRun = came.part || (providerError.mayHaveRun ?? came.use);
  return fromProviderError(providerError, { name: provider.displayName, secrets: secretsOf(provider.settings, call.settings), mayHaveRun });
}

/** True for usage of more than nothing. */
export function tellsUse(usage: ReportedUsage | undefined): boolean {
  return (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0) > 0;
}

/** The error for an answer that is larger than `bytes`. */
export function tooLarge(bytes: number): BlockhouseError {
  return malformed(`it is larger than ${bytes} bytes`);
}

/** Collects a body: the beginning of an error, or the whole of an answer. */
export class BodyCollector implements UpstreamHandler {
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks = new Chunks();
  readonly #maxBytes: number;

  /** `maxBytes` of an answer that is no error. */
  constructor(maxBytes: number = ANSWER_LIMITS.whole) {
    this.#maxBytes = maxBytes;
  }

  get isError(): boolean {
    return this.#status < 200 || this.#status >= 300;
  }

  get headers(): IncomingHttpHeaders {
    return this.#headers;
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  data(chunk: Buffer): boolean {
    if (!this.isError && this.#chunks.bytes + chunk.length > this.#maxBytes) throw tooLarge(this.#maxBytes); // bounded-answer
    this.#chunks.add(chunk);
    if (this.isError && this.#chunks.bytes > ANSWER_LIMITS.error) throw new EnoughRead(); // bounded-error
    return true;
  }

  onceWritable(): void {}

  end(): void | Promise<void> {}

  /** True for an error: its status and some of its text suffice, however the connection ends. */
  get complete(): boolean {
    return this.#status !== 0 && this.isError;
  }

  bytes(): Buffer {
    return this.#chunks.join();
  }

  /** The size of what has come of an answer; 0 for an error, and for the page of a proxy that no model has written. */
  get answerBytes(): number {
    return this.isError || PAGE.test(this.#chunks.start(PAGE_START_BYTES).toString('latin1')) ? 0 : this.#chunks.bytes;
  }

  text(): string {
    return withoutMark(this.bytes().toString('utf8'));
  }

  /** long-in-turns: true if `json` takes turns. */
  get isLong(): boolean {
    return isLong(this.bytes());
  }

  /** The JSON value of an answer. Rejects with UPSTREAM_MALFORMED for a body that is empty or not JSON, or exceeds the limits. */
  async json(reader: Reader, limits = ANY_JSON): Promise<unknown> {
    if (!this.isLong) return this.shortJson();
    const json = await parseLong(this.bytes(), limits, reader);
    if (json === undefined) throw malformed('it is not JSON');
    return json;
  }

  /** The same at once, for a body that is not long. */
  shortJson(): unknown {
    return parseAnswer(this.text());
  }

  answer(): ErrorAnswer {
    return errorAnswer(this.#status, this.#headers, this.text());
  }
}

/** Throws UPSTREAM_MALFORMED for text that is empty or not JSON. */
export function parseAnswer(text: string): unknown {
  const json = tryParseJson(text);
  if (json === undefined) throw malformed(text.trim() === '' ? 'it is empty' : 'it is not JSON');
  return json;
}

/** Collects a whole answer and reads it at its end. */
export class WholeHandler extends BodyCollector {
  readonly #provider: Provider;
  readonly #call: ChatCall;
  readonly #context: ChatContext;

  constructor(provider: Provider, call: ChatCall, context: ChatContext) {
    super();
    this.#provider = provider;
    this.#call = call;
    this.#context = context;
  }

  override end(): void | Promise<void> {
    if (this.isError) throw toError(this.#provider, this.#call, this.answer(), counted(this.#call));
    if (this.isLong) return this.#readLong();
    let json: unknown;
    try {
      json = this.shortJson();
    } catch (error) {
      this.broken();
      throw error;
    }
    this.#read(json);
  }

  /** long-in-turns. */
  async #readLong(): Promise<void> {
    let json: unknown;
    try {
      json = await this.json(readerOf(this.#provider, this.#call), limitsOf(this.#call));
    } catch (error) {
      this.broken();
      throw error;
    }
    this.#read(json);
  }

  #read(json: unknown): void {
    let events: ChatEvent[];
    try {
      events = this.#provider.readAnswer(json, this.#context);
    } catch (error) {
      const usage = this.#provider.readUsage(json, this.#context);
      this.#tellUse(usage, error);
      throw readFailure(error, this.#provider, this.#call, { part: false, use: tellsUse(usage) });
    }
    const told = this.#provider.readTold?.(json);
    if (told !== undefined) events.push({ type: 'answer', id: told.id, model: told.model });
    this.#call.sink.emit(events);
  }

  /** counts-first. An error instead of an answer is not billed, unless it says so. */
  #tellUse(usage: ReportedUsage | undefined, error: unknown): void {
    if (error instanceof StreamError && error.providerError.mayHaveRun !== true && !tellsUse(usage)) return;
    if (usage !== undefined) this.#call.sink.emit([{ type: 'usage', usage }]);
    if (usage?.outputTokens === undefined) this.broken();
  }

  broken(): void {
    if (this.answerBytes > 0) this.#call.sink.emit([{ type: 'unread', bytes: this.answerBytes }]);
  }
}

/** Passes a stream to its decoder, or collects the body of an error status. */
export class StreamHandler implements UpstreamHandler {
  readonly #provider: Provider;
  readonly #call: ChatCall;
  readonly #context: ChatContext | undefined;
  readonly #decoder: StreamDecoder;
  /** whole-instead. */
  #json: BodyCollector | undefined;
  #error: BodyCollector | undefined;
  #hasPart = false;
  #hasUse = false;
  #bytes = 0;
  /** Bytes of which nothing has been read yet. */
  #silentBytes = 0;

  /** Without `context`, a whole answer can't be read. */
  constructor(provider: Provider, call: ChatCall, decoder: StreamDecoder, context?: ChatContext) {
    this.#provider = provider;
    this.#call = call;
    this.#decoder = decoder;
    this.#context = context;
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    const isAnswer = status >= 200 && status < 300;
    const mayBeWhole = this.#provider.streamsJson !== true && headers['content-type']?.startsWith('application/json') === true;
    if (isAnswer && !mayBeWhole) return;
    const body = new BodyCollector();
    body.head(status, headers);
    if (isAnswer) this.#json = body;
    else this.#error = body;
  }

  data(chunk: Buffer): boolean {
    const body = this.#error ?? this.#json;
    if (body !== undefined) return body.data(chunk);
    this.#bytes += chunk.length;
    this.#silentBytes += chunk.length;
    if (this.#bytes > ANSWER_LIMITS.stream) throw tooLarge(ANSWER_LIMITS.stream); // bounded-answer
    const events: ChatEvent[] = [];
    try {
      this.#decoder.push(chunk, events);
    } catch (error) {
      // counts-first: such a record is too long to be read, and may be a picture
      if (this.#silentBytes > ANSWER_LIMITS.record) events.push({ type: 'unread', bytes: this.#silentBytes });
      this.#fail(error, events);
    }
    return this.#emit(events);
  }

  onceWritable(resume: () => void): void {
    this.#call.sink.onceWritable(resume);
  }

  get complete(): boolean {
    return (this.#error ?? this.#json)?.complete ?? this.#decoder.complete;
  }

  end(): void | Promise<void> {
    if (this.#error !== undefined) throw toError(this.#provider, this.#call, this.#error.answer(), counted(this.#call));
    const body = this.#json;
    if (body === undefined) this.#end((events) => this.#decoder.end(events));
    else if (body.isLong) return this.#endLong(body);
    else this.#endWhole(body, tryParseJson(body.text()));
  }

  /** long-in-turns. */
  async #endLong(body: BodyCollector): Promise<void> {
    let json: unknown;
    try {
      json = await parseLong(body.bytes(), limitsOf(this.#call), readerOf(this.#provider, this.#call)); // bounded-answer
    } catch (error) {
      this.broken();
      throw error;
    }
    this.#endWhole(body, json);
  }

  /** whole-instead. `json` is undefined for a body that is none. */
  #endWhole(body: BodyCollector, json: unknown): void {
    this.#end((events) => {
      try {
        this.#readWhole(body, json, events);
      } catch (error) {
        if (!(error instanceof StreamError)) this.broken();
        throw error;
      }
    });
  }

  /** Emits what `read` adds, and what is told of the answer. */
  #end(read: (events: ChatEvent[]) => void): void {
    const events: ChatEvent[] = [];
    try {
      read(events);
    } catch (error) {
      this.#fail(error, events);
    }
    const { told } = this.#decoder;
    if (told !== undefined) events.push({ type: 'answer', id: told.id, model: told.model });
    this.#emit(events);
  }

  broken(): void {
    const bytes = this.#json?.answerBytes ?? 0;
    if (bytes > 0) this.#call.sink.emit([{ type: 'unread', bytes }]);
  }

  /** A stream may come under a wrong type. */
  #readWhole(body: BodyCollector, json: unknown, events: ChatEvent[]): void {
    if (json !== undefined && this.#context !== undefined) {
      this.#readJson(json, this.#context, events);
      return;
    }
    this.#decoder.push(body.bytes(), events);
    this.#decoder.end(events);
  }

  /** counts-first. */
  #readJson(json: unknown, context: ChatContext, events: ChatEvent[]): void {
    try {
      for (const event of this.#provider.readAnswer(json, context)) events.push(event);
      const told = this.#provider.readTold?.(json);
      if (told !== undefined) events.push({ type: 'answer', id: told.id, model: told.model });
    } catch (error) {
      const usage = this.#provider.readUsage(json, context);
      if (usage !== undefined && tellsUse(usage)) events.push({ type: 'usage', usage });
      throw error;
    }
  }

  #emit(events: readonly ChatEvent[]): boolean {
    if (events.length === 0) return true;
    this.#silentBytes = 0;
    if (!this.#hasPart) this.#note(events);
    return this.#call.sink.emit(events);
  }

  #note(events: readonly ChatEvent[]): void {
    this.#hasPart = events.some(({ type }) => type !== 'usage');
    this.#hasUse ||= events.some((event) => event.type === 'usage' && tellsUse(event.usage));
  }

  /** events-first, counts-first. */
  #fail(error: unknown, events: readonly ChatEvent[]): never {
    const bytes = error instanceof StreamError ? (error.providerError.writtenBytes ?? 0) : 0;
    this.#emit(bytes > 0 ? [...events, { type: 'unread', bytes }] : events);
    throw readFailure(error, this.#provider, this.#call, { part: this.#hasPart, use: this.#hasUse });
  }
}
