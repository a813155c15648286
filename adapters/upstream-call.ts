// One request to a provider and its answer: the time limits, how it ends, and whether it is sent again. connection-errors.ts says what
// a broken connection means.
//
// abort-now: an aborted signal destroys the connection at once, in every phase.
// own-limits: only our own limits end a call: no first byte, or no next byte. While the reader is paused, the time doesn't count.
// sent-once: a POST is sent a second time only if no byte of the first can have left this machine: the connection broke while
//   the request waited for it, or the system refused the first write. After that the provider may have worked on the request, so a break is
//   reported with `mayHaveRun`. A GET starts no work: it is sent a second time if its connection breaks before an answer.
// linger: once the handler has all it needs, the connection gets LINGER_MS to end properly. How it ends doesn't change the result.
// released: when a connection ends, its reader is resumed first (connection.ts says why) and gets the bytes that have already come.
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher, Pool } from 'undici';
import { type AdapterCall, BlockhouseError, offAbort, onAbort } from '../core/index.ts';
import type { Connection } from './connection.ts';
import { brokenCall, isBreakOfConnection } from './connection-errors.ts';

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
  /** Called after the last `data`. */
  end(): void;
  /** True once the handler needs no more bytes: it has the end mark of an answer, or the status of an error. */
  readonly complete: boolean;
}

/** Thrown by a handler that needs no more bytes. The call ends as if the answer had ended. */
export class EnoughRead extends Error {}

/** After its last byte, a provider closes the connection within a round trip or keeps it for the next request. */
const LINGER_MS = 1000;
/** The body of an error may come later than its head, and it decides whether a retry makes sense. */
const ERROR_LINGER_MS = 5000;

/** The connections to one origin. */
export interface OriginPool {
  readonly origin: string;
  readonly pool: Pool;
  /** The connection that the last dispatched request went to. */
  chosen: Connection | undefined;
}

/** Provides the connections. */
export interface PoolSource {
  /** Throws INVALID_REQUEST for an address that the egress rule refuses, SHUTTING_DOWN when it is closed. */
  poolFor(call: AdapterCall, url: URL): OriginPool;
  /** Advice for the error when no connection is possible. */
  readonly unreachableHint: string | undefined;
}

/** One call. It settles a single promise, because a chain of promises would stay in memory until a long stream ends. */
export class UpstreamCall implements Dispatcher.DispatchHandler {
  readonly #call: AdapterCall;
  readonly #request: UpstreamRequest;
  readonly #handler: UpstreamHandler;
  readonly #source: PoolSource;
  #isRepeated = false;
  #connection: Connection | undefined;
  #origin: OriginPool | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  /** True once a byte of the request may have left (sent-once). */
  #mayHaveLeft = false;
  #isEnding = false;
  #status = 0;
  #bytes = 0;
  /** What the connection's timer is to do; undefined when it doesn't run. */
  #due: (() => void) | undefined;
  #settled = false;
  /** Among those that hear of the caller's leaving. */
  #place: ReturnType<typeof onAbort> | undefined;
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
      this.#place = onAbort(signal, this.#onAbort);
      this.#guard(() => this.#dispatch());
    });
  }

  #dispatch(): void {
    const { url, method, body } = this.#request;
    const source = this.#source.poolFor(this.#call, url);
    this.#origin = source;
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
    if (this.#settled) {
      controller.abort(new Error('The call ended while it was waiting for a connection.'));
      return;
    }
    this.#noteWrite(this.#connection as Connection);
    this.#watch(this.#call.timeouts.firstByteMs, 'sent nothing');
  }

  /** sent-once: undici writes right after this. If the system refuses that write, the socket has its error before the next tick. */
  #noteWrite(connection: Connection): void {
    connection.awaitsAnswer = true;
    this.#mayHaveLeft = true;
    process.nextTick(() => {
      const refusal: NodeJS.ErrnoException | null | undefined = connection.socket?.errored;
      if (refusal?.syscall === 'write') this.#mayHaveLeft = false;
    });
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#settled || status < 200) return;
    controller.rawHeaders = null; // they would keep the buffer of the first bytes in memory for as long as the stream lasts
    this.#status = status;
    this.#guard(() => {
      const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
      const isCompressed = encoding !== '' && encoding !== 'identity';
      if (isCompressed && status < 300) {
        throw new BlockhouseError('UPSTREAM_MALFORMED', `The provider compressed its answer (${encoding.slice(0, 64)}) although it was asked not to.`, {
          upstreamStatus: status,
          mayHaveRun: true,
        });
      }
      this.#handler.head(status, headers);
      if (isCompressed) throw new EnoughRead(); // the status and the headers say most about an error
      if (this.#handler.complete) this.#linger(Math.min(ERROR_LINGER_MS, this.#call.timeouts.idleMs || ERROR_LINGER_MS));
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    const wasComplete = this.#handler.complete;
    if (this.#bytes === 0) this.#watchForSilence();
    else if (!wasComplete) this.#connection?.silence.refresh();
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
      this.#finish(); // linger
    else if (this.#mayRepeat(error)) this.#repeat();
    else this.#settle(() => this.#reject(this.#diagnose(error)));
  }

  /** sent-once. */
  #repeat(): void {
    this.#isRepeated = true;
    this.#controller = undefined;
    this.#stopTimer();
    this.#connection = undefined;
    // After undici's own callback and the other events of this turn, because the connections of a pool often break together.
    setImmediate(() => {
      if (!this.#settled) this.#guard(() => this.#dispatch());
    });
  }

  #pause(controller: Dispatcher.DispatchController): void {
    controller.pause();
    this.#stopTimer(); // own-limits: the reader is slow, not the provider
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
      this.#isEnding = true; // released
      goOn();
    };
    this.#handler.onceWritable(goOn);
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
    this.#controller?.abort(new Error('the answer is complete'));
  }

  readonly #onAbort = (): void => {
    this.#fail(cancelled(this.#call.signal.reason, this.#mayHaveLeft)); // abort-now
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
    if (this.#place !== undefined) offAbort(this.#call.signal, this.#place);
    if (this.#connection !== undefined) this.#connection.release = undefined;
    how();
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
    if (this.#isRepeated || this.#connection?.socket === undefined || !isBreakOfConnection(error)) return false;
    return !this.#mayHaveLeft || (this.#request.method === 'GET' && this.#status === 0);
  }
}

/** CANCELLED, for a caller that has left; `cause` is the reason of its signal. */
export function cancelled(cause: unknown, mayHaveRun = false): BlockhouseError {
  return new BlockhouseError('CANCELLED', 'The client closed the connection or aborted the request.', { cause, mayHaveRun });
}
