// One request to a provider and its answer: the time limits, how it ends, and whether it is sent again. connection-errors.ts says what
// a broken connection means.
//
// abort-now: an aborted signal destroys the connection at once, in every phase. With `until`, a request that may have left is read on until that fires.
// own-limits: only our own limits end a call: no first byte, or no next byte. While the reader is paused, the time doesn't count.
// sent-once: a POST is sent a second time only if no byte of the first can have left this machine: the connection broke while
//   the request waited for it, or the system refused the first write. After that the provider may have worked on the request, so a break is
//   reported with `mayHaveRun`. A GET starts no work: it is sent a second time if its connection breaks before an answer.
// not-held: a POST that has left is forgotten, with its body and the key in its head: its answer may take an hour, and it is never sent again.
// linger: once the handler has all it needs, the connection gets LINGER_MS to end properly. How it ends doesn't change the result.
import type { IncomingHttpHeaders } from 'node:http';
import { offAbort, onAbort } from '../../core/base/abort.ts';
import { type AdapterCall, BlockhouseError } from '../../core/index.ts';
import type { Connection, Exchange } from './connection.ts';
import { brokenCall, closing, isBreakOfConnection } from './connection-errors.ts';

/** One HTTP request to a provider. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body?: Buffer | undefined;
}

/** Reads one answer. If a member throws, the call rejects with that error and its connection is destroyed. */
export interface UpstreamHandler {
  head(status: number, headers: IncomingHttpHeaders): void;
  /** False asks for a pause until `onceWritable` calls back. */
  data(chunk: Buffer): boolean;
  onceWritable(resume: () => void): void;
  /** Called after the last `data`. A promise for what it does later, in turns: the call settles with it. */
  end(): void | Promise<void>;
  /** Called instead of `end` when the answer breaks off. Must not throw. */
  broken?(): void;
  /** True once the handler needs no more bytes: it has the end mark of an answer, or the status of an error. */
  readonly complete: boolean;
}

/** What an error may quote of `content-encoding`: here nobody knows the secrets that other text in it could repeat. */
const CODINGS = /^(?:gzip|x-gzip|deflate|br|compress|zstd)(?:, *(?:gzip|deflate|br|zstd)){0,3}$/;

/** Thrown by a handler that needs no more bytes. The call ends as if the answer had ended. */
export class EnoughRead extends Error {}

/** After its last byte, a provider closes the connection within a round trip or keeps it for the next request. */
const LINGER_MS = 1000;
/** The body of an error may come later than its head, and it decides whether a retry makes sense. */
const ERROR_LINGER_MS = 5000;

/** Sends requests. */
export interface Dispatcher {
  /** Throws INVALID_REQUEST for an address that the egress rule refuses, SHUTTING_DOWN when it is closed. */
  dispatch(call: AdapterCall, url: URL, exchange: Exchange): Connection;
  /** Advice for the error when no connection is possible. */
  readonly unreachableHint: string | undefined;
}

/** One call. It settles a single promise, because a chain of promises would stay in memory until a long stream ends. */
export class UpstreamCall implements Exchange {
  readonly #call: AdapterCall;
  #request: UpstreamRequest;
  readonly #handler: UpstreamHandler;
  readonly #source: Dispatcher;
  head = '';
  #isRepeated = false;
  #connection: Connection | undefined;
  /** True once a byte of the request may have left (sent-once). */
  #mayHaveLeft = false;
  /** True once a connection was open for it. */
  #hasConnected = false;
  #isPaused = false;
  #status = 0;
  #bytes = 0;
  /** What the connection's timer is to do; undefined when it doesn't run. */
  #due: (() => void) | undefined;
  #settled = false;
  /** Among those that hear of the caller's leaving. */
  #place: ReturnType<typeof onAbort> | undefined;
  /** Among those that hear of the end of reading on. */
  #lastPlace: ReturnType<typeof onAbort> | undefined;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;

  constructor(call: AdapterCall, request: UpstreamRequest, handler: UpstreamHandler, source: Dispatcher) {
    this.#call = call;
    this.#request = request;
    this.#handler = handler;
    this.#source = source;
  }

  /** Resolves when the answer is complete and handed over. Rejects with a BlockhouseError, or with what the handler threw. */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const { signal, until } = this.#call;
      if (signal.aborted) return reject(cancelled(signal.reason));
      this.#place = onAbort(signal, until === undefined ? this.#cancel : this.#onLeave);
      this.#dispatch();
    });
  }

  #dispatch(): void {
    if (this.#settled) return;
    try {
      const { signal } = this.#call;
      if (signal.aborted) throw cancelled(signal.reason); // it would be sent a second time, and its caller has left
      if (this.head === '') this.head = headOf(this.#request);
      this.#connection = this.#source.dispatch(this.#call, this.#request.url, this);
    } catch (error) {
      this.#fail(error);
    }
  }

  get body(): Buffer | undefined {
    return this.#request.body;
  }

  onSend(connection: Connection): void {
    this.#connection = connection;
    this.#hasConnected = true;
    this.#mayHaveLeft = true;
    this.#watch(this.#call.timeouts.firstByteMs, 'sent nothing');
  }

  onWritten(): void {
    const { method, url } = this.#request;
    if (method !== 'POST') return;
    this.#request = { method, url, headers: {} }; // not-held
    this.head = '';
  }

  /** sent-once: the connection was closed while it was idle. */
  onStale(): void {
    this.#dispatch();
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    if (this.#settled) return;
    this.#status = status;
    this.#call.onAnswer?.();
    try {
      const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
      const isCompressed = encoding !== '' && encoding !== 'identity';
      if (isCompressed && status < 300) {
        const named = CODINGS.test(encoding) ? ` (${encoding})` : '';
        throw new BlockhouseError('UPSTREAM_MALFORMED', `The provider compressed its answer${named} although it was asked not to.`, {
          upstreamStatus: status,
          mayHaveRun: true,
        });
      }
      this.#handler.head(status, headers);
      if (isCompressed) throw new EnoughRead(); // the status and the headers say most about an error
      if (this.#handler.complete) this.#linger(Math.min(ERROR_LINGER_MS, this.#call.timeouts.idleMs || ERROR_LINGER_MS));
    } catch (error) {
      this.#stop(error);
    }
  }

  onData(chunk: Buffer): void {
    if (this.#settled) return;
    const wasComplete = this.#handler.complete;
    if (this.#bytes === 0) this.#watchForSilence();
    else if (!wasComplete) this.#connection?.silence.refresh();
    this.#bytes += chunk.length;
    try {
      const more = this.#handler.data(chunk);
      if (this.#handler.complete) {
        if (!wasComplete) this.#linger(LINGER_MS);
      } else if (!more && !this.#isPaused) this.#pause();
    } catch (error) {
      this.#stop(error);
    }
  }

  onEnd(): void {
    this.#finish();
  }

  onBreak(error: Error, isUnsent: boolean): void {
    if (this.#settled) return;
    if (isUnsent) this.#mayHaveLeft = false; // sent-once
    if (this.#handler.complete)
      this.#finish(); // linger
    else if (this.#mayRepeat(error)) this.#repeat();
    else this.#fail(this.#diagnose(error));
  }

  /** sent-once. */
  #repeat(): void {
    this.#isRepeated = true;
    this.#stopTimer();
    this.#connection = undefined;
    // After the other events of this turn, because the connections of a pool often break together.
    setImmediate(() => this.#dispatch());
  }

  #pause(): void {
    this.#isPaused = true;
    this.#connection?.pause();
    this.#stopTimer(); // own-limits: the reader is slow, not the provider
    this.#handler.onceWritable(() => {
      if (this.#settled || !this.#isPaused) return;
      this.#isPaused = false;
      this.#watchForSilence();
      this.#connection?.resume();
    });
  }

  #watchForSilence(): void {
    if (!this.#handler.complete) this.#watch(this.#call.timeouts.idleMs, 'stopped in the middle of its answer');
  }

  /** linger. */
  #linger(ms: number): void {
    this.#startTimer(ms, () => this.#finishEarly());
  }

  #finishEarly(): void {
    this.#finish();
    this.#connection?.destroy();
  }

  readonly #onLeave = (): void => {
    const { until } = this.#call;
    if (!this.#mayHaveLeft || until === undefined || until.aborted)
      this.#cancel(); // abort-now
    else this.#lastPlace = onAbort(until, this.#cancel);
  };

  readonly #cancel = (): void => {
    this.#fail(cancelled(this.#call.signal.reason, this.#mayHaveLeft)); // abort-now
  };

  /** What a handler has thrown. */
  #stop(error: unknown): void {
    if (error instanceof EnoughRead) this.#finishEarly();
    else this.#fail(error);
  }

  #finish(): void {
    if (!this.#settle()) return;
    try {
      const rest = this.#handler.end();
      if (rest === undefined) this.#resolve();
      else rest.then(this.#resolve, this.#reject);
    } catch (error) {
      this.#reject(error);
    }
  }

  #fail(error: unknown): void {
    if (!this.#settle()) return;
    this.#handler.broken?.();
    this.#reject(error);
    this.#connection?.destroy();
  }

  /** False if it was settled before. */
  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#stopTimer();
    if (this.#place !== undefined) offAbort(this.#place);
    if (this.#lastPlace !== undefined) offAbort(this.#lastPlace);
    return true;
  }

  /** own-limits: fails after `ms` milliseconds of silence, 0 for no limit. `silence` says what the provider did meanwhile. */
  #watch(ms: number, silence: string): void {
    if (ms === 0) this.#stopTimer();
    else this.#startTimer(ms, () => this.#fail(new BlockhouseError('UPSTREAM_TIMEOUT', `The provider ${silence} for ${ms / 1000} s.`, { mayHaveRun: true })));
  }

  #startTimer(ms: number, due: () => void): void {
    this.#due = due;
    this.#connection?.silence.start(ms, due);
  }

  #stopTimer(): void {
    if (this.#due === undefined) return;
    this.#connection?.silence.stop(this.#due);
    this.#due = undefined;
  }

  #diagnose(error: Error): BlockhouseError {
    const { url, method } = this.#request;
    const phase = !this.#mayHaveLeft ? 'connecting' : this.#status === 0 ? 'waiting' : 'answering';
    return brokenCall(error, { host: url.host, method, phase, unreachableHint: this.#source.unreachableHint });
  }

  /** sent-once. A connection that could not be opened is not tried again. */
  #mayRepeat(error: Error): boolean {
    if (this.#isRepeated || !this.#hasConnected || !isBreakOfConnection(error)) return false;
    return !this.#mayHaveLeft || (this.#request.method === 'GET' && this.#status === 0);
  }
}

/** CANCELLED, for a caller that has left; `cause` is the reason of its signal. SHUTTING_DOWN where that is the reason: the caller is there. */
export function cancelled(cause: unknown, mayHaveRun = false): BlockhouseError {
  if (cause instanceof BlockhouseError && cause.code === 'SHUTTING_DOWN') return closing({ cause, mayHaveRun });
  return new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { cause, mayHaveRun });
}

const BAD_HEADER = /[^\t\x20-\x7e\x80-\xff]/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What the call itself says. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['host', 'connection', 'accept-encoding', 'content-length', 'transfer-encoding']);

/** The head of a request. Throws for a name or a value that would break it. */
function headOf({ method, url, headers, body }: UpstreamRequest): string {
  let head = `${method} ${placeOf(url)}\r\nconnection: keep-alive\r\naccept-encoding: identity\r\n`;
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!isOurs(name)) continue;
    if (BAD_HEADER.test(value)) throw unfit(name);
    head += `${name}: ${value}\r\n`;
  }
  if (method === 'POST') head += `content-length: ${body?.length ?? 0}\r\n`;
  return `${head}\r\n`;
}

/** The URL that was called last, and what a head says of it. Most calls go where the one before went, with the same object. */
let last: { readonly url: URL; readonly place: string } | undefined;

function placeOf(url: URL): string {
  if (last?.url !== url) last = { url, place: `${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}` };
  return last.place;
}

/** The names that adapters send are few, so each is looked at once. */
const knownNames = new Map<string, boolean>();
const MAX_NAMES = 256;

/** False for a header that the call sets itself. Throws if the text is not a header name. */
function isOurs(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  if (!HEADER_NAME.test(name)) throw unfit(name);
  const ours = !OWN_HEADERS.has(name.toLowerCase());
  if (knownNames.size < MAX_NAMES) knownNames.set(name, ours);
  return ours;
}

function unfit(name: string): Error {
  return new Error(`The header ${JSON.stringify(name)} can't be sent.`);
}
