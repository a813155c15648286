// One request on one connection: its limits, its end, and whether a break in it is met by another try. What a break means: breaks.ts.
//
// X1 An aborted signal destroys the connection at once, in every phase.
// X2 Limits are ours alone: silence before the first byte, silence between bytes; a pause that the reader asked for doesn't
//    count as silence.
// X3 A break after sending is reported with `mayHaveRun`, but for a kept-alive connection that the provider had already
//    closed when the request met it: then the request is sent again, once. Nothing of an answer may have come, not even half a head.
// X4 Once the handler has all it needs, the connection has LINGER_MS to end properly; how it ends changes nothing any more.
// X5 Where a connection ends, its reader is paused no longer: what has come is handed over first. undici 7 throws in the socket's own
//    event when a paused answer ends, which nobody can catch.
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import { type AdapterCall, BlockhouseError } from '../core/index.ts';
import { brokenCall, isBreakOfConnection } from './connection-errors.ts';

export interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body?: Buffer | undefined;
}

/** Takes one answer. What it throws ends the call with that error, and the connection with it. */
export interface UpstreamHandler {
  head(status: number, headers: IncomingHttpHeaders): void;
  /** False asks for a pause until `onceWritable` calls back. */
  data(chunk: Buffer): boolean;
  onceWritable(resume: () => void): void;
  /** Everything has been handed over. */
  end(): void;
  /** True once what came suffices: the end mark of an answer, the status of an error (X4). */
  readonly complete: boolean;
}

/** Thrown by a handler that wants nothing more: the call ends as if the answer had. */
export class EnoughRead extends Error {}

/** News of a connection that was closed before the request came needs a round trip around the world; what breaks later broke at work (X3). */
const STALE_WITHIN_MS = 300;
/** A provider that has said all closes within a round trip, or keeps the connection for the next request. */
const LINGER_MS = 1000;
/** The body of an error may come later than its head, and says whether another try is worth it. */
const ERROR_LINGER_MS = 5000;
const ONCE = { once: true } as const;

/** What undici keeps for one request at a time: a connection, and after it the next. */
export interface Connection {
  /** While it is being opened. */
  opening: Socket | undefined;
  /** True while a connection that has just been opened begins with its first request. */
  isFresh: boolean;
  /** Set while the reader is paused; called before undici hears that the connection ends (X5). */
  release: (() => void) | undefined;
}

export interface OriginPool {
  readonly origin: string;
  readonly pool: Pool;
  /** Where the last request that was dispatched went. */
  chosen: Connection | undefined;
}

/** Where the connections come from. */
export interface PoolSource {
  /** Throws INVALID_REQUEST for an address that the egress rule refuses, SHUTTING_DOWN when it is closed. */
  poolFor(call: AdapterCall, url: URL): OriginPool;
  /** What to try when nobody answers. */
  readonly unreachableHint: string | undefined;
}

/** All of it settles one promise: each link of a chain of them would be kept for as long as a stream lasts. */
export class UpstreamCall implements Dispatcher.DispatchHandler {
  readonly #call: AdapterCall;
  readonly #request: UpstreamRequest;
  readonly #handler: UpstreamHandler;
  readonly #source: PoolSource;
  #isReplay = false;
  #dispatchedAt = 0;
  #connection: Connection | undefined;
  #origin: OriginPool | undefined;
  /** The connection stood before the request came (X3). */
  #isReused = false;
  #controller: Dispatcher.DispatchController | undefined;
  /** The first bytes of an answer have come, of whatever kind. */
  #isAnswered = false;
  #isEnding = false;
  #status = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = 0;
  /** What the provider does while the timer runs, for the error. */
  #silence = '';
  #settled = false;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;

  constructor(call: AdapterCall, request: UpstreamRequest, handler: UpstreamHandler, source: PoolSource) {
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
      const { signal } = this.#call;
      if (signal.aborted) return reject(cancelled(signal.reason));
      signal.addEventListener('abort', this.#onAbort, ONCE);
      this.#guard(() => this.#dispatch());
    });
  }

  #dispatch(): void {
    const { url, method, body } = this.#request;
    const source = this.#source.poolFor(this.#call, url);
    this.#origin = source;
    this.#dispatchedAt = performance.now();
    source.pool.dispatch({ origin: source.origin, path: url.pathname + url.search, method, headers: this.#headers(), body: body ?? null }, this);
    this.#connection ??= source.chosen;
  }

  /** A flat list, which undici takes as it is. */
  #headers(): string[] {
    const { headers } = this.#request;
    const list = ['accept-encoding', 'identity'];
    for (const name in headers) if (name.toLowerCase() !== 'accept-encoding') list.push(name, headers[name] ?? '');
    return list;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connection ??= this.#origin?.chosen; // undici may begin before `dispatch` returns
    this.#isReused = this.#connection?.isFresh === false;
    if (this.#settled) {
      controller.abort(new Error('aborted while connecting'));
      return;
    }
    this.#startTimer(this.#call.timeouts.firstByteMs, 'sent nothing');
  }

  /** Not among undici's types: the first bytes of an answer, be it a 1xx. */
  onResponseStarted(): void {
    this.#isAnswered = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#settled || status < 200) return;
    controller.rawHeaders = null; // views of the first bytes, which they would keep for as long as a stream lasts
    this.#status = status;
    this.#guard(() => {
      const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
      const isCompressed = encoding !== '' && encoding !== 'identity';
      if (isCompressed && status < 300) {
        throw new BlockhouseError('UPSTREAM_MALFORMED', `The provider compressed its answer (${encoding.slice(0, 64)}) though it was asked not to.`, {
          upstreamStatus: status,
          mayHaveRun: true,
        });
      }
      this.#handler.head(status, headers);
      if (isCompressed) throw new EnoughRead(); // of an error the status and the headers say most
      if (this.#handler.complete) this.#linger(Math.min(ERROR_LINGER_MS, this.#call.timeouts.idleMs || ERROR_LINGER_MS));
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    const wasComplete = this.#handler.complete;
    if (this.#bytes === 0) this.#watchForSilence();
    else if (!wasComplete) this.#timer?.refresh();
    this.#bytes += chunk.length;
    this.#guard(() => {
      const more = this.#handler.data(chunk);
      if (this.#handler.complete) {
        if (!wasComplete) this.#linger(LINGER_MS);
      } else if (!more && !this.#isEnding) this.#pause(controller);
    });
  }

  onResponseEnd(): void {
    this.#finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#settled) return;
    if (this.#handler.complete)
      this.#finish(); // X4
    else if (this.#metStaleConnection(error)) this.#replay();
    else this.#settle(() => this.#reject(this.#diagnose(error)));
  }

  /** X3. */
  #replay(): void {
    this.#isReplay = true;
    this.#controller = undefined;
    this.#connection = undefined;
    this.#stopTimer();
    // Not within undici's own callback: it is still clearing up behind the connection that broke.
    queueMicrotask(() => {
      if (!this.#settled) this.#guard(() => this.#dispatch());
    });
  }

  #pause(controller: Dispatcher.DispatchController): void {
    controller.pause();
    this.#stopTimer(); // X2: the reader is slow, not the provider
    const connection = this.#connection as Connection;
    let isPaused = true;
    const goOn = (): void => {
      if (this.#settled || !isPaused) return;
      isPaused = false;
      connection.release = undefined;
      this.#watchForSilence();
      controller.resume();
    };
    connection.release = () => {
      this.#isEnding = true; // X5
      goOn();
    };
    this.#handler.onceWritable(goOn);
  }

  #watchForSilence(): void {
    if (!this.#handler.complete) this.#startTimer(this.#call.timeouts.idleMs, 'stopped in the middle of its answer');
  }

  /** X4. */
  #linger(ms: number): void {
    this.#stopTimer();
    this.#timer = setTimeout(() => this.#finishEarly(), ms);
  }

  #finishEarly(): void {
    this.#finish();
    this.#controller?.abort(new Error('the answer is complete'));
  }

  readonly #onAbort = (): void => {
    this.#fail(cancelled(this.#call.signal.reason)); // X1
  };

  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (error instanceof EnoughRead) this.#finishEarly();
      else this.#fail(error);
    }
  }

  #finish(): void {
    this.#settle(() => {
      try {
        this.#handler.end();
        this.#resolve();
      } catch (error) {
        this.#reject(error);
      }
    });
  }

  #fail(error: unknown): void {
    this.#settle(() => {
      this.#reject(error);
      const cause = error instanceof Error ? error : new Error(String(error));
      if (this.#controller === undefined) this.#connection?.opening?.destroy(cause);
      else this.#controller.abort(cause);
    });
  }

  #settle(how: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#stopTimer();
    this.#call.signal.removeEventListener('abort', this.#onAbort);
    if (this.#connection !== undefined) this.#connection.release = undefined;
    how();
  }

  /** One timer after the other: as long as they are equally long, it is the same one. */
  #startTimer(ms: number, silence: string): void {
    this.#silence = silence;
    if (this.#timer !== undefined && this.#timerMs === ms) {
      this.#timer.refresh();
      return;
    }
    this.#stopTimer();
    if (ms === 0) return;
    this.#timerMs = ms;
    this.#timer = setTimeout(() => {
      this.#fail(new BlockhouseError('UPSTREAM_TIMEOUT', `The provider ${this.#silence} for ${ms / 1000} s.`, { mayHaveRun: true }));
    }, ms);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #diagnose(error: Error): BlockhouseError {
    const phase = this.#controller === undefined ? 'connecting' : this.#status === 0 ? 'waiting' : 'answering';
    return brokenCall(error, { host: this.#request.url.host, phase, unreachableHint: this.#source.unreachableHint });
  }

  /** The connection was dead before the request met it (X3). */
  #metStaleConnection(error: Error): boolean {
    if (this.#isReplay || !this.#isReused || this.#isAnswered || performance.now() - this.#dispatchedAt > STALE_WITHIN_MS) return false;
    return isBreakOfConnection(error);
  }
}

export function cancelled(cause: unknown): BlockhouseError {
  return new BlockhouseError('CANCELLED', 'The caller left.', { cause });
}
