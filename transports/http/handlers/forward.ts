// Serves a request whose provider speaks the client's protocol itself: the bytes of the request and of its answer go through.
//
// apart: all keys of applications ask a provider with one key of ours. So an Idempotency-Key goes there with its sender in it, and no key gets what the provider remembers for another one.
import { hash } from 'node:crypto';
import { Chunks } from '../../../core/base/chunks.ts';
import {
  type BlockhouseError,
  BlockhouseError as Failure,
  type ForwardedRequest,
  type ForwardTarget,
  type ModelTarget,
  toBlockhouseError,
} from '../../../core/index.ts';
import { COMMENT } from '../wire/chat-frames.ts';
import { type JsonReply, type Reply, STREAMED, Written } from '../wire/reply.ts';
import { forCaller, type RouteContext } from '../wire/route.ts';
import { SseWriter } from '../wire/sse.ts';

/** A model that may answer. The last one is asked again after a failure; of the others, the next is asked. */
export interface Candidate extends ModelTarget {
  readonly isLast: boolean;
  /** The name that the client has sent. */
  readonly askedAs: string;
}

/** One request to send on. */
export interface Forwarding {
  readonly target: Candidate;
  readonly request: ForwardedRequest;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The last frames of a stream that broke off; undefined if the client wants the whole answer. */
  readonly broken: ((failure: BlockhouseError) => string) | undefined;
  /** The conversation that the request belongs to, if it had to be known. */
  readonly conversation: string | undefined;
}

/** The headers of the client as the provider may get them (apart). */
export function headersFrom({ key, req: { headers } }: Pick<RouteContext, 'key' | 'req'>): ForwardedRequest['headers'] {
  const { 'idempotency-key': given } = headers;
  if (key === undefined || given === undefined) return headers;
  return { ...headers, 'idempotency-key': hash('sha256', JSON.stringify([key.name, key.hash, given]), 'base64url') };
}

/** Of ours, a forwarded stream has only comments and its error. */
const FRAMES = { done: () => '', keepAlive: () => COMMENT };

/** The answer of the provider, its own error answer included. Rejects with a BlockhouseError. */
export async function forward(forwarding: Forwarding, context: RouteContext): Promise<Reply<object>> {
  const { target, request, headers, broken, conversation } = forwarding;
  const { core, signal, requestId, path, key, res, server, rates } = context;
  const writer =
    broken === undefined ? undefined : new SseWriter(res, requestId, server.sse, { frames: { ...FRAMES, error: broken }, headers: () => headers, rates });
  const answer = new Answer(writer, headers);
  try {
    await core.forward(target.adapter, target.model, request, answer, {
      signal,
      requestId,
      path,
      key: key?.name,
      askedAs: target.askedAs,
      repeats: target.isLast,
      ofRequest: res,
      headers: request.headers,
      conversation,
    });
    return answer.finish();
  } catch (error) {
    const failure = toBlockhouseError(error);
    writer?.stop();
    if (writer?.opened !== true) throw failure;
    if (failure.providerFault === 'sent') writer.finish();
    else writer.end(forCaller(failure, key));
    throw failure;
  }
}

/** The provider's own answer with an error status; undefined if there is none to pass on. */
export function faultReply({ providerFault }: BlockhouseError, headers: Readonly<Record<string, string>>): JsonReply<object> | undefined {
  if (providerFault === undefined || providerFault === 'sent') return undefined;
  const { status, body, headers: own } = providerFault;
  const { 'content-type': type, ...others } = own;
  return { status, body: new Written(body, type), headers: besides(headers, others) };
}

/** Where the provider's id of a request is that has ours in its place. */
const UPSTREAM_ID = 'x-blockhouse-upstream-request-id';

/** Our headers and those of the provider, but for the type, which belongs to the body. Field by field: this runs for every answer. */
function besides(own: Readonly<Record<string, string>>, theirs: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in own) headers[name] = own[name] ?? '';
  for (const name in theirs) {
    if (name === 'content-type') continue;
    if (own[name] === undefined) headers[name] = theirs[name] ?? '';
    else if (name.endsWith('request-id')) headers[UPSTREAM_ID] ??= theirs[name] ?? '';
  }
  return headers;
}

/** Takes the answer as it comes. */
class Answer implements ForwardTarget {
  readonly reader: SseWriter | undefined;
  readonly #own: Readonly<Record<string, string>>;
  #headers: Readonly<Record<string, string>> = {};
  #isStream = false;
  /** A whole answer. */
  readonly #whole = new Chunks();

  constructor(reader: SseWriter | undefined, own: Readonly<Record<string, string>>) {
    this.reader = reader;
    this.#own = own;
  }

  head(headers: Readonly<Record<string, string>>, isStream: boolean): void {
    this.#headers = headers;
    this.#isStream = isStream && this.reader !== undefined;
    if (this.#isStream) this.reader?.useHeaders(besides(this.#own, headers));
  }

  bytes(bytes: Buffer): boolean {
    if (this.#isStream) return this.reader?.bytes(bytes) ?? true;
    this.#whole.add(bytes);
    return true;
  }

  onceWritable(resume: () => void): void {
    if (this.#isStream) this.reader?.onceWritable(resume);
    else resume();
  }

  finish(): Reply<object> {
    if (this.#isStream) {
      this.reader?.finish();
      return STREAMED;
    }
    this.reader?.stop();
    if (this.reader?.opened === true)
      throw new Failure('UPSTREAM_MALFORMED', 'The provider answered with a body instead of the stream that it was asked for.', { mayHaveRun: true });
    return { status: 200, body: new Written(this.#whole.join(), this.#headers['content-type']), headers: besides(this.#own, this.#headers) };
  }
}
