// Requests to the own server. Every failure is an ApiError with the server's own sentence.
//
// no-dead-key: after a 401 the session is renewed once and the request repeated; if that fails too, the sign-in form comes and nothing is asked meanwhile.
import { signal } from '@preact/signals';
import { noteServerTime } from '../base/clock.ts';
import { ApiError } from './api-error.ts';
import { session } from './services.ts';

/** Grows with every good answer of the server. */
export const answers = signal(0);

/** What a request may have. */
export interface Options {
  readonly body?: unknown;
  /** Sent as it is, for imports. */
  readonly raw?: Blob;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** A status of a failure whose body is an answer all the same. */
  readonly accepts?: number;
}

/** An answer; `data` is undefined for a 304. */
export interface Answer<T> {
  readonly status: number;
  readonly data: T;
  readonly etag: string | undefined;
  /** The path of the next page, where the answer is a page of several. */
  readonly next?: string | undefined;
}

/** The data of `GET path`. Rejects with an ApiError. */
export async function get<T>(path: string, options: Options = {}): Promise<T> {
  return (await call<T>('GET', path, options)).data;
}

/** Callers of one turn of the event loop share one answer: several fields of a form want the same list. */
export function inOneTurn<T>(read: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => {
    if (asked === undefined) setTimeout(() => (asked = undefined));
    asked ??= read();
    return asked;
  };
}

/** The data of `POST path`. Rejects with an ApiError. */
export async function post<T>(path: string, body?: unknown, options: Options = {}): Promise<T> {
  return (await call<T>('POST', path, { ...options, body })).data;
}

/** Any request. Rejects with an ApiError. */
export async function call<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  const response = await send(method, path, options);
  if (response.status === 304) return { status: 304, data: undefined as T, etag: response.headers.get('etag') ?? undefined };
  const type = response.headers.get('content-type') ?? '';
  const data: unknown = type.includes('json') ? await response.json().catch(() => undefined) : undefined;
  if (!response.ok && response.status !== options.accepts) throw failureOf(response, data);
  const next = /^<(\/[^>]*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
  return { status: response.status, data: data as T, etag: response.headers.get('etag') ?? undefined, next };
}

/** The response itself, for files and streams. Rejects with an ApiError unless it is good or a 304. */
export async function respond(method: string, path: string, options: Options = {}): Promise<Response> {
  const response = await send(method, path, options);
  if (response.ok) return response;
  throw failureOf(response, await response.json().catch(() => undefined));
}

async function send(method: string, path: string, options: Options, isSecondTry = false): Promise<Response> {
  const { key, signIn } = session;
  if (key === undefined || signIn.value === 'out') throw new ApiError('You are signed out.', { status: 401, code: 'UNAUTHORIZED' });
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
      ...(options.raw !== undefined && { body: options.raw }),
      ...(options.signal !== undefined && { signal: options.signal }),
      credentials: 'omit',
      cache: 'no-store',
    });
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw new ApiError('The server does not answer.', { status: 0, code: 'NO_ANSWER' });
  }
  noteServerTime(response.headers.get('date'));
  if (response.ok) answers.value += 1;
  if (response.status !== 401) return response;
  if (!isSecondTry && (await session.renew())) return send(method, path, options, true); // no-dead-key
  session.end();
  return response;
}

function failureOf(response: Response, data: unknown): ApiError {
  const { error, code, requestId, details } = (data ?? {}) as {
    error?: string | { readonly message: string }; // an object in the form of other protocols
    code?: string;
    requestId?: string;
    details?: ApiError['details'];
  };
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const said = typeof error === 'object' ? error.message : error;
  return new ApiError(said ?? `${response.status} ${response.statusText}`, {
    status: response.status,
    code: code ?? String(response.status),
    requestId: requestId ?? response.headers.get('x-request-id') ?? undefined,
    details,
    retryAfterMs: Number.isNaN(seconds) ? undefined : seconds * 1000,
  });
}
