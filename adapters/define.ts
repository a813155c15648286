// What an adapter folder provides, and the one driver that makes an Adapter of it. A folder's parts are pure;
// the driver does the I/O.
//
// D1 An error status becomes the fault that the folder reads in it, with at most ERROR_BODY_BYTES read.
// D2 A whole answer is turned into the same events as a streamed one.
// D3 A stream that ends without its provider's end mark is an error, never a short answer.
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Adapter,
  type AdapterCall,
  BlockhouseError,
  type ChatCall,
  type ChatEvent,
  type Prompt,
  type ResolvedSettings,
  type SettingsSpec,
  secretsOf,
  tryParseJson,
  type UpstreamTimeouts,
  type Warning,
} from '../core/index.ts';
import { type ErrorAnswer, errorAnswer, faultToError, type ProviderFault } from './faults.ts';
import { Upstream, type UpstreamHandler, type UpstreamRequest } from './http.ts';

/** What a request or answer is translated from; the same for both directions of one attempt. */
export interface ChatContext {
  readonly model: string;
  readonly prompt: Prompt;
  readonly settings: ResolvedSettings;
  /** True when the caller wants the answer while it is written. */
  readonly stream: boolean;
}

export interface WireRequest {
  readonly url: URL;
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly body: unknown;
  /** Whether the provider was asked to stream; decides which reader gets the answer. */
  readonly stream: boolean;
  /** What was left out or changed by rule. */
  readonly warnings: readonly Warning[];
}

/** Turns the bytes of one streamed answer into events. A fault inside the stream is thrown as a StreamFault. */
export interface StreamDecoder {
  /** Appends to `events` and returns it. When it throws, the events before the fault are there all the same. */
  push(chunk: Buffer, events?: ChatEvent[]): ChatEvent[];
  /** The bytes have ended: the same for what they complete. Throws `cutShort()` when the end mark is missing (D3). */
  end(events?: ChatEvent[]): ChatEvent[];
  /** True once the end mark has come, where the provider has one that nothing follows. */
  readonly complete: boolean;
}

export interface AdapterParts {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly displayName: string;
  readonly authRequired: boolean;
  readonly defaultModel: string;
  readonly envVars: readonly string[];
  readonly settings: SettingsSpec;
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** What to try when nobody answers at its address. */
  readonly unreachableHint?: string;
  trustedOrigins?(settings: ResolvedSettings): readonly string[];
  missingCredential(settings: ResolvedSettings): string | undefined;
  /** Headers that prove who asks. Gets the finished request, for those that sign it. */
  authorize(request: UpstreamRequest, settings: ResolvedSettings): Record<string, string> | Promise<Record<string, string>>;
  buildChat(context: ChatContext): WireRequest;
  /** Events of a whole answer. Throws a StreamFault for an error in a 200, UPSTREAM_MALFORMED for what is no answer. */
  readAnswer(json: unknown, context: ChatContext): ChatEvent[];
  createDecoder(context: ChatContext): StreamDecoder;
  readFault(answer: ErrorAnswer, settings: ResolvedSettings): ProviderFault;
  readonly curatedModels?: readonly string[];
  /** For providers without a curated list. */
  listModels?(get: Get, settings: ResolvedSettings): Promise<readonly string[]>;
  verify(get: Get, settings: ResolvedSettings): Promise<string>;
}

/** GETs JSON from the provider. Rejects with the provider's fault for an error status. */
export type Get = (url: URL) => Promise<unknown>;

/** A fault that came inside a 200. */
export class StreamFault extends Error {
  readonly fault: ProviderFault;

  constructor(fault: ProviderFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** The error of D3. */
export function cutShort(what: string): BlockhouseError {
  return new BlockhouseError('UPSTREAM_MALFORMED', `The provider's answer was cut short: it ended without ${what}.`, { mayHaveRun: true });
}

export function malformed(what: string): BlockhouseError {
  return new BlockhouseError('UPSTREAM_MALFORMED', `The provider's answer could not be read: ${what}.`, { mayHaveRun: true });
}

const ERROR_BODY_BYTES = 64 * 1024;
/** A whole answer of 128 K tokens stays below 1 MiB; some providers echo the request's 10 MiB beside it. */
const ANSWER_BYTES = 32 * 1024 * 1024;

export function defineAdapter(parts: AdapterParts): Adapter {
  const upstream = new Upstream();
  const get =
    (call: AdapterCall): Get =>
    async (url) => {
      const request: UpstreamRequest = { method: 'GET', url, headers: { accept: 'application/json' } };
      const answer = await exchangeWhole(upstream, parts, call, request);
      return parseAnswer(answer);
    };
  return {
    id: parts.id,
    aliases: parts.aliases ?? [],
    displayName: parts.displayName,
    authRequired: parts.authRequired,
    defaultModel: parts.defaultModel,
    supportsStreaming: true,
    envVars: parts.envVars,
    settings: parts.settings,
    ...(parts.timeouts !== undefined && { timeouts: parts.timeouts }),
    ...(parts.trustedOrigins !== undefined && { trustedOrigins: parts.trustedOrigins.bind(parts) }),
    missingCredential: (settings) => parts.missingCredential(settings),
    chat: (call) => chat(upstream, parts, call),
    ...(parts.curatedModels !== undefined && { curatedModels: parts.curatedModels }),
    listModels: async (call) => parts.curatedModels ?? (await parts.listModels?.(get(call), call.settings)) ?? [],
    verify: async (call) => parts.verify(get(call), call.settings),
    close: () => upstream.close(),
  };
}

async function chat(upstream: Upstream, parts: AdapterParts, call: ChatCall): Promise<void> {
  const context: ChatContext = { model: call.model, prompt: call.prompt, settings: call.settings, stream: call.stream };
  const wire = parts.buildChat(context);
  const request: UpstreamRequest = {
    method: 'POST',
    url: wire.url,
    headers: { 'content-type': 'application/json', accept: wire.stream ? 'text/event-stream' : 'application/json', ...wire.headers },
    body: Buffer.from(JSON.stringify(wire.body)),
  };
  if (wire.warnings.length > 0) call.sink.emit(wire.warnings.map((warning) => ({ type: 'warning', warning })));
  if (!wire.stream) {
    const json = parseAnswer(await exchangeWhole(upstream, parts, call, request));
    call.sink.emit(withFaults(parts, call, () => parts.readAnswer(json, context)));
    return;
  }
  const decoder = parts.createDecoder(context);
  const handler = new StreamHandler(parts, call, decoder);
  await send(upstream, parts, call, request, handler);
  handler.finish();
}

/** Signs and sends. */
async function send(upstream: Upstream, parts: AdapterParts, call: AdapterCall, request: UpstreamRequest, handler: UpstreamHandler): Promise<void> {
  const authorization = await untilAborted(parts.authorize(request, call.settings), call.signal);
  const headers = { ...request.headers, ...authorization };
  try {
    await untilOversized(upstream.send(call, { ...request, headers }, handler));
  } catch (error) {
    throw withHint(error, parts.unreachableHint);
  }
}

function withHint(error: unknown, hint: string | undefined): unknown {
  if (hint === undefined || !(error instanceof BlockhouseError) || error.code !== 'UPSTREAM_UNREACHABLE' || error.mayHaveRun) return error;
  return new BlockhouseError(error.code, `${error.message} ${hint}`, { cause: error.cause });
}

/** Finding a credential may hang (a helper process, a metadata service), and a caller who leaves must not wait for it. */
async function untilAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  if (!(work instanceof Promise)) return work;
  let leave = (): void => undefined;
  const left = new Promise<never>((_resolve, reject) => {
    leave = () => reject(new BlockhouseError('CANCELLED', 'The caller left.', { cause: signal.reason }));
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Reads a whole answer into memory, up to a cap. Rejects for an error status. */
async function exchangeWhole(upstream: Upstream, parts: AdapterParts, call: AdapterCall, request: UpstreamRequest): Promise<string> {
  const body = new BodyCollector();
  await send(upstream, parts, call, request, body);
  if (body.isError) throw toError(parts, call, body.answer());
  return body.text();
}

function parseAnswer(text: string): unknown {
  const json = tryParseJson(text);
  if (json === undefined) throw malformed(text.trim() === '' ? 'it is empty' : 'it is not JSON');
  return json;
}

function toError(parts: AdapterParts, call: AdapterCall, answer: ErrorAnswer): BlockhouseError {
  return faultToError(parts.readFault(answer, call.settings), {
    name: parts.displayName,
    status: answer.status,
    headers: answer.headers,
    secrets: secretsOf(parts.settings, call.settings),
  });
}

/** Runs a reader of the folder and gives its StreamFault the adapter's name and secrets. */
function withFaults(parts: AdapterParts, call: AdapterCall, read: () => ChatEvent[]): ChatEvent[] {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error;
    throw faultToError(error.fault, { name: parts.displayName, secrets: secretsOf(parts.settings, call.settings) });
  }
}

/** Collects a body: of an error as much as helps, of an answer all of it or none. */
class BodyCollector implements UpstreamHandler {
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #bytes = 0;

  get isError(): boolean {
    return this.#status < 200 || this.#status >= 300;
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (!this.isError && this.#bytes > ANSWER_BYTES) throw malformed(`it is larger than ${ANSWER_BYTES} bytes`);
    this.#chunks.push(chunk);
    if (this.isError && this.#bytes > ERROR_BODY_BYTES) throw new OversizedError();
    return true;
  }

  onceWritable(): void {}

  /** A status and some of its text say enough of an error, however its connection ends. */
  get complete(): boolean {
    return this.#status !== 0 && this.isError;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  answer(): ErrorAnswer {
    return errorAnswer(this.#status, this.#headers, this.text());
  }
}

/** Ends the reading of an error body that is larger than any message (D1). */
class OversizedError extends Error {}

/** Runs an exchange; an error body that was broken off counts as read. */
async function untilOversized(exchange: Promise<void>): Promise<void> {
  try {
    await exchange;
  } catch (error) {
    if (!(error instanceof OversizedError)) throw error;
  }
}

/** Feeds a decoder, or collects the error where the status says so. */
class StreamHandler implements UpstreamHandler {
  readonly #parts: AdapterParts;
  readonly #call: ChatCall;
  readonly #decoder: StreamDecoder;
  #error: BodyCollector | undefined;

  constructor(parts: AdapterParts, call: ChatCall, decoder: StreamDecoder) {
    this.#parts = parts;
    this.#call = call;
    this.#decoder = decoder;
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200 && status < 300) return;
    this.#error = new BodyCollector();
    this.#error.head(status, headers);
  }

  data(chunk: Buffer): boolean {
    if (this.#error !== undefined) return this.#error.data(chunk);
    return this.#emit((events) => this.#decoder.push(chunk, events));
  }

  onceWritable(resume: () => void): void {
    this.#call.sink.onceWritable(resume);
  }

  get complete(): boolean {
    return this.#error?.complete ?? this.#decoder.complete;
  }

  finish(): void {
    if (this.#error !== undefined) throw toError(this.#parts, this.#call, this.#error.answer());
    this.#emit((events) => this.#decoder.end(events));
  }

  /** Hands over what was read, also when a fault came behind it. */
  #emit(read: (events: ChatEvent[]) => ChatEvent[]): boolean {
    let events: ChatEvent[] = [];
    try {
      events = withFaults(this.#parts, this.#call, () => read(events));
    } catch (error) {
      if (events.length > 0) this.#call.sink.emit(events);
      throw error;
    }
    return events.length === 0 || this.#call.sink.emit(events);
  }
}
