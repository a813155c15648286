// Messages over HTTP: each is one POST, whose answer is one message or a stream of events.
//
// one-post: a call is one POST through our own outbound client: nothing is repeated, no redirect is followed, no answer is compressed, and the headers with secrets go to the
//   origin of the entry alone. Only what the server has refused for its token, and so has not begun, is sent once more, with another one.
// told-end: an answer that ends without the message that was asked for fails its call at once. The transport of the package would wait for the time limit.
// own-limit: an answer that is too large or too deep fails its call alone. So does one beside which too much else comes within a
//   minute. That is counted by the minute, since a long call may tell of its progress all the while.
// in-turns: of many notices beside an answer, some of each kind are handed on (notices.ts).
import type { IncomingHttpHeaders } from 'node:http';
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { exceededLimit, isObject, MAX_JSON_DEPTH, tryParseJson } from '../../core/base/json.ts';
import { type AdapterCall, BlockhouseError } from '../../core/index.ts';
import type { UpstreamHandler } from '../outbound/call.ts';
import { EnoughRead } from '../outbound/call.ts';
import type { Upstream } from '../outbound/client.ts';
import { SseReader } from '../outbound/sse-read.ts';
import { type CallTransport, callIdOf } from './call-id.ts';
import { valueWithout } from './masked-result.ts';
import { UNREADABLE } from './mcp-result.ts';
import { MinuteCount } from './minute-count.ts';
import { Notices } from './notices.ts';
import { type Challenge, challengeIn } from './oauth/challenge.ts';
import type { Refusal } from './oauth/sign-ins.ts';
import { handable } from './task-answer.ts';

const CONNECT_MS = 10_000;
const MAX_VALUES = 200_000;
/** Of an answer that is no success, so much is read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Notes beside the answer may take so much in a minute. */
const MAX_BESIDE_BYTES = 2 * 1024 * 1024;
/** And what stands around events, such as their names and comments, so much in all. */
const MAX_AROUND_BYTES = 1024 * 1024;
const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';

/** Where messages go, and with what. */
export interface HttpPlace {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly upstream: Upstream;
  /** Of a server that may want a sign-in. */
  readonly authorization?: Authorization | undefined;
}

/** Gives the tokens of a server. Both reject with TOOL_NOT_BEGUN where there is none. */
export interface Authorization {
  token(signal: AbortSignal): Promise<string | undefined>;
  afterRefusal(refusal: Refusal, signal: AbortSignal): Promise<string>;
}

/** A transport of the client package. */
export class HttpTransport implements CallTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly hasPerRequestStream = true;
  readonly begun = new Set<string>();
  sessionId: string | undefined;
  /** Called when the server does not know the session any more. */
  onLost: () => void = () => undefined;
  readonly #place: HttpPlace;
  readonly #all = new AbortController();
  /** What ends the POST of each open request. */
  readonly #open = new Map<unknown, AbortController>();
  readonly #notices = new Notices((request) => this.#open.has(request));
  #version: string | undefined;

  constructor(place: HttpPlace) {
    this.#place = place;
  }

  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  async close(): Promise<void> {
    if (this.#all.signal.aborted) return;
    this.#all.abort(new Error('the session has ended'));
    this.onclose?.();
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    this.#all.signal.throwIfAborted();
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if ('method' in message && message.method === 'notifications/cancelled') this.#open.get(message.params?.['requestId'])?.abort(new Error('cancelled'));
    const own = new AbortController();
    if (id !== undefined) this.#open.set(id, own);
    const signals = [this.#all.signal, own.signal, ...(options.requestSignal === undefined ? [] : [options.requestSignal])];
    try {
      await this.#postSignedIn(message, id, options.headers ?? {}, AbortSignal.any(signals));
    } finally {
      this.#open.delete(id);
    }
  }

  /** Without a token that the server takes, nothing has begun. */
  async #postSignedIn(message: JSONRPCMessage, id: unknown, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    const { authorization } = this.#place;
    let token = await authorization?.token(signal);
    let answer = await this.#post(message, id, headers, token, signal);
    if (authorization !== undefined && answer.isRefusal) {
      const { status, challenge } = answer;
      token = await authorization.afterRefusal({ status, challenge, token }, signal);
      answer = await this.#post(message, id, headers, token, signal);
      if (answer.isRefusal) throw new BlockhouseError('TOOL_NOT_BEGUN', `it refuses a token that was just given for it (HTTP ${answer.status})`);
    }
    this.#settle(answer, 'method' in message && message.method === 'initialize');
  }

  async #post(message: JSONRPCMessage, id: unknown, more: object, token: string | undefined, signal: AbortSignal): Promise<AnswerReader> {
    const { url, upstream, maxBytes, authorization } = this.#place;
    const answer = new AnswerReader(id, { maxBytes, token, mayRefuse: authorization !== undefined }, (one) => {
      if (!('method' in one) || this.#notices.take(one)) this.onmessage?.(one as never); // in-turns
    });
    const headers = { ...this.#headersOf(message), ...more, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const callId = callIdOf(message);
    if (callId !== undefined) this.begun.add(callId);
    try {
      await upstream.send(callOf(url, signal), { method: 'POST', url, headers, body: Buffer.from(JSON.stringify(message)) }, answer);
    } catch (error) {
      const isUnsent = error instanceof BlockhouseError && !error.mayHaveRun;
      if (callId !== undefined && isUnsent) this.begun.delete(callId);
      throw error;
    }
    if (callId !== undefined && answer.isRefusal) this.begun.delete(callId);
    return answer;
  }

  #settle(answer: AnswerReader, isGreeting: boolean): void {
    const { status, headers, isAnswered } = answer;
    const session = headers['mcp-session-id'];
    if (isGreeting && typeof session === 'string') this.sessionId = session;
    if (status === 404 && this.sessionId !== undefined) this.onLost();
    if (isAnswered || answer.id === undefined) return;
    if (status >= 400 && status < 500) answer.fail(`The server has refused the request (HTTP ${status}).`);
    else if (answer.wrong !== undefined) answer.fail(answer.wrong);
    else
      throw new BlockhouseError('UPSTREAM_MALFORMED', status >= 200 && status < 300 ? 'its answer ended too early' : `it answered with HTTP ${status}`, {
        mayHaveRun: true,
      });
  }

  #headersOf(message: JSONRPCMessage): Record<string, string> {
    const headers: Record<string, string> = { ...this.#place.headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    if (this.sessionId !== undefined) headers['mcp-session-id'] = this.sessionId;
    if (this.#version !== undefined) headers['mcp-protocol-version'] = this.#version;
    if (!('method' in message)) return headers;
    const meta = message.params?.['_meta'] as Record<string, unknown> | undefined;
    const version = meta?.[PROTOCOL_VERSION];
    if (typeof version !== 'string') return headers;
    const name = message.params?.[message.method.startsWith('tasks/') ? 'taskId' : 'name'];
    return {
      ...headers,
      'mcp-protocol-version': version,
      'mcp-method': message.method,
      ...(typeof name === 'string' && { 'mcp-name': headerText(name) }),
    };
  }
}

/** one-post: the rule lets a call go to its own origin, and nowhere else. */
function callOf({ origin }: URL, signal: AbortSignal): AdapterCall {
  const home = new Set([origin]);
  return {
    settings: { values: {}, sources: {} },
    egress: { trustedOrigins: home, allowedOrigins: new Set(), ownKey: true, isKeyless: false, home, staysPublic: true },
    timeouts: { connectMs: CONNECT_MS, firstByteMs: 0, idleMs: 0 }, // the limit of the call is the session's
    signal,
  };
}

/** Text outside of ASCII, as the protocol has it in headers. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) && text.trim() === text ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** How an answer is read. */
interface Reading {
  readonly maxBytes: number;
  /** With which the request was made. An answer that quotes it is read without it. */
  readonly token: string | undefined;
  /** A refusal for the token is none of the answers. */
  readonly mayRefuse: boolean;
}

/** Reads the answer to one POST. */
class AnswerReader implements UpstreamHandler {
  status = 0;
  headers: IncomingHttpHeaders = {};
  isAnswered = false;
  /** Why what has come can't be taken. */
  wrong: string | undefined;
  /** Undefined for a message that gets no answer. */
  readonly id: unknown;
  /** What the server says where it has refused the token, or wants one. */
  challenge: Challenge | undefined;
  isRefusal = false;
  readonly #reading: Reading;
  readonly #most: number;
  readonly #events: SseReader;
  readonly #onMessage: (message: Record<string, unknown>) => void;
  #pieces: Buffer[] = [];
  /** Without the events that were no answer. */
  #bytes = 0;
  readonly #beside = new MinuteCount();

  constructor(id: unknown, reading: Reading, onMessage: (message: Record<string, unknown>) => void) {
    const { maxBytes } = reading;
    this.id = id;
    this.#reading = reading;
    this.#most = maxBytes;
    this.#events = new SseReader(maxBytes + MAX_AROUND_BYTES);
    this.#onMessage = onMessage;
  }

  get complete(): boolean {
    return this.isAnswered || this.wrong !== undefined || (this.status !== 0 && this.#isEvents === false && this.status === 202);
  }

  get #isOk(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get #isEvents(): boolean {
    return this.#isOk && /^text\/event-stream\b/i.test(String(this.headers['content-type'] ?? ''));
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.headers = headers;
    if (!this.#reading.mayRefuse || (status !== 401 && status !== 403)) return;
    this.challenge = challengeIn(headers['www-authenticate']);
    this.isRefusal = status === 401 || this.challenge?.error === 'insufficient_scope';
  }

  data(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    const most = this.#isOk ? this.#most + (this.#isEvents ? MAX_AROUND_BYTES : 0) : MAX_ERROR_BYTES;
    if (this.#bytes > most) {
      if (this.#isOk) this.wrong = `The result is larger than ${this.#most} bytes, which is the most that is taken (maxResultBytes).`;
      throw new EnoughRead();
    }
    if (this.#isEvents) for (const { data } of this.#events.push(chunk)) this.#takeEvent(data);
    else this.#pieces.push(chunk);
    return true;
  }

  onceWritable(): void {}

  end(): void {
    if (this.#isEvents) for (const { data } of this.#events.end()) this.#take(Buffer.from(data));
    else if (this.#pieces.length > 0) this.#take(Buffer.concat(this.#pieces));
  }

  /** Answers in place of the server. */
  fail(message: string): void {
    this.isAnswered = true;
    this.#onMessage({ jsonrpc: '2.0', id: this.id, error: { code: UNREADABLE, message } });
  }

  /** own-limit. */
  #takeEvent(data: string): void {
    const bytes = Buffer.from(data);
    this.#take(bytes);
    if (this.isAnswered) return;
    this.#bytes = Math.max(0, this.#bytes - bytes.length); // bytes that are no UTF-8 are more once they are read
    if (this.#beside.add(bytes.length) <= MAX_BESIDE_BYTES) return;
    this.wrong ??= `The server has sent more than ${MAX_BESIDE_BYTES} bytes in a minute beside its answer.`;
    throw new EnoughRead();
  }

  #take(bytes: Buffer): void {
    const exceeded = exceededLimit(bytes, { values: MAX_VALUES, depth: MAX_JSON_DEPTH });
    if (exceeded === 'depth') this.wrong ??= `The result is nested more than ${MAX_JSON_DEPTH} levels deep.`;
    else if (exceeded !== undefined) this.wrong ??= `The result has more than ${MAX_VALUES} values.`;
    if (exceeded !== undefined || this.isAnswered || this.isRefusal) return;
    const { token } = this.#reading;
    const said = tryParseJson(bytes.toString('utf8'));
    const message = token === undefined ? said : valueWithout(said, [token]); // not in the text: JSON may have letters of it escaped
    for (const one of Array.isArray(message) ? message : [message]) if (isObject(one) && one['jsonrpc'] === '2.0') this.#hand(one);
  }

  #hand(message: Record<string, unknown>): void {
    if ('method' in message) {
      if (this.#isOk && !('id' in message)) this.#onMessage(message);
      return;
    }
    if (message['id'] !== this.id || this.id === undefined || this.isAnswered) return;
    const isFault = isObject(message['error']) && Number.isInteger(message['error']['code']) && typeof message['error']['message'] === 'string';
    if (!isFault && !(this.#isOk && isObject(message['result']))) {
      this.wrong ??= 'The server has answered with what is no result.';
      return;
    }
    this.isAnswered = true;
    this.#onMessage(handable(message));
  }
}
