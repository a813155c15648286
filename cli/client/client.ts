// Talks HTTP to the server that runs on the workspace.
//
// token-to-server-only: the token is sent only to the address in the lock of the workspace, and no message contains it. The lock is read before each
//   request, because a server may end while a person edits, and then its port is free for anybody. `connection.ts` judges who answers there.
// clear-failure: a failure says whether no server runs, the server does not answer, it refuses the token, or what it answered.
import { existsSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { buffer as readBytes } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { tryParseJson } from '../../core/base/json.ts';
import type { ErrorBody } from '../../core/index.ts';
import { CliError, errorCodeOf, kindOfCode } from '../terminal/exit-codes.ts';
import { oneLine } from '../terminal/output.ts';
import type { ServerPlace } from './connection.ts';
import { connectTo } from './connection.ts';

/** How long a starting server may take to write its address into the lock, which it does once it listens. */
const START_PATIENCE_MS = 5000;
const POLL_MS = 50;
/** How long an answer may take: longer than a monitor may take to stop. */
const ANSWER_PATIENCE_MS = 60_000;

/** A connection on which the token may be sent. */
export interface ServerConnection {
  readonly place: ServerPlace;
  readonly socket: Socket;
}

/** The optional parts of a call. */
export interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as `type`, or else as application/gzip. */
  readonly bytes?: Uint8Array;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** False for a call that may take as long as a model or an import: the answer may then take longer than 60 s. */
  readonly hurry?: boolean;
  /** An error status whose body is an answer, unless it is an error body. */
  readonly alsoAnswers?: number;
}

/** A parsed answer, and the path of the page after it; undefined for the last one. */
export interface Page<T> {
  readonly answer: T;
  readonly next: string | undefined;
}

const NEXT = /^<(\/[^>]*)>; rel="next"$/;

/** The server of this workspace. Rejects with a CliError when none runs, which names `serveCommand` as the way to start one. */
export async function findServer(workspace: string, serveCommand: string): Promise<ServerPlace> {
  if (!existsSync(workspace)) throw new CliError('place', `There is no workspace ${workspace}; \`${serveCommand}\` creates it.`);
  const place = await runningServer(workspace);
  if (place === undefined) throw new CliError('server', `No server is running for the workspace ${workspace}; start one with \`${serveCommand}\`.`);
  return place;
}

/** The server of this workspace; undefined when none runs. Waits `patienceMs` for one that is starting. */
export async function runningServer(workspace: string, patienceMs = START_PATIENCE_MS): Promise<ServerPlace | undefined> {
  const { readLock } = await import('../../core/client-parts.ts');
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const holder = await readLock(workspace);
    if (holder === undefined) return undefined;
    if (holder.url !== null) return placeOf(workspace, holder.url, holder.pid);
    if (performance.now() > deadline) throw new CliError('server', `The server of ${workspace} (process ${holder.pid}) is still starting; try again.`);
    await delay(POLL_MS);
  }
}

async function placeOf(workspace: string, url: string, pid: number): Promise<ServerPlace> {
  const { ApiToken, createBus, openSettings, ownerOf } = await import('../../core/client-parts.ts');
  const token = tokenOf(() => new ApiToken(openSettings(workspace), createBus()).reveal());
  return { url: addressOf(url), pid, owner: await ownerOf(pid), token };
}

/** A server that listens on all addresses is reached over loopback. */
function addressOf(text: string): URL {
  const url = new URL(text);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  return url;
}

function tokenOf(reveal: () => string): string {
  try {
    return reveal();
  } catch (error) {
    throw new CliError('place', (error as Error).message, error);
  }
}

/** Calls one server (token-to-server-only). */
export class Client {
  readonly signal: AbortSignal;
  readonly #find: () => Promise<ServerPlace>;
  #place: ServerPlace;

  /** `signal` aborts every call. `find` finds the server before each request: it may have ended, or started again elsewhere. */
  constructor(place: ServerPlace, signal: AbortSignal, find = async (): Promise<ServerPlace> => place) {
    this.#place = place;
    this.signal = signal;
    this.#find = find;
  }

  get place(): ServerPlace {
    return this.#place;
  }

  /** A connection to the server that runs now (token-to-server-only). Rejects with a CliError. */
  async connect(): Promise<ServerConnection> {
    const place = await this.#find();
    this.#place = place;
    try {
      return { place, socket: await connectTo(place, this.signal, ANSWER_PATIENCE_MS) };
    } catch (error) {
      if (this.signal.aborted || error instanceof CliError) throw error;
      throw this.#unreachable(error);
    }
  }

  /** A client of the same server whose calls are aborted by another signal. */
  withSignal(signal: AbortSignal): Client {
    return new Client(this.#place, signal, this.#find);
  }

  /** The parsed JSON answer. Rejects with a CliError (clear-failure). */
  async json<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    return (await this.page<T>(method, path, options)).answer;
  }

  /** The same, with the path of the page after it. */
  async page<T>(method: string, path: string, options: CallOptions = {}): Promise<Page<T>> {
    const { status, bytes, link } = await this.exchange(method, path, options);
    const answer = tryParseJson(bytes.toString());
    const isAnswer = status < 400 || (status === options.alsoAnswers && !isErrorBody(answer));
    if (!isAnswer || answer === undefined) throw this.#failure(status, answer);
    return { answer: answer as T, next: NEXT.exec(link)?.[1] };
  }

  /** The answer as bytes. Rejects with a CliError. */
  async bytes(method: string, path: string): Promise<Buffer> {
    const { status, bytes } = await this.exchange(method, path, {});
    if (status < 400) return bytes;
    throw this.#failure(status, tryParseJson(bytes.toString()));
  }

  /** The answer, whatever its status. Rejects with a CliError where the server can't be reached, and with the reason of the signal. */
  async exchange(method: string, path: string, options: CallOptions): Promise<{ status: number; bytes: Buffer; link: string }> {
    try {
      const response = await this.#send(await this.connect(), method, path, options);
      if (response.headers['x-request-id'] === undefined) throw this.#stranger(response.statusCode ?? 0);
      return { status: response.statusCode ?? 0, bytes: await readBytes(response), link: String(response.headers['link'] ?? '') };
    } catch (error) {
      if (this.signal.aborted || error instanceof CliError) throw error;
      throw this.#unreachable(error);
    }
  }

  #send({ place, socket }: ServerConnection, method: string, path: string, options: CallOptions): Promise<IncomingMessage> {
    const { body, bytes, headers, hurry = true } = options;
    const content = bytes ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
    const { type = bytes === undefined ? 'application/json' : 'application/gzip' } = options;
    return new Promise((resolve, reject) => {
      const request = httpRequest(new URL(path, place.url), {
        method,
        createConnection: () => socket,
        signal: this.signal,
        headers: {
          authorization: `Bearer ${place.token}`,
          connection: 'close', // else it would be kept, and a later request would go over it
          ...(content !== undefined && { 'content-type': type, 'content-length': String(content.length) }),
          ...headers,
        },
      });
      if (hurry) request.setTimeout(ANSWER_PATIENCE_MS, () => request.destroy(new Error(`no answer within ${ANSWER_PATIENCE_MS / 1000} s`)));
      request.on('response', resolve).on('error', reject).end(content);
    });
  }

  #unreachable(error: unknown): CliError {
    const { url, pid } = this.place;
    return new CliError(
      'server',
      `The server of this workspace (process ${pid}) can't be reached at ${url.origin}: ${errorCodeOf(error) ?? (error as Error).message}.`,
      error,
    );
  }

  #failure(status: number, answer: unknown): CliError {
    if (isErrorBody(answer)) return failureOf(answer);
    return this.#stranger(status);
  }

  #stranger(status: number): CliError {
    return new CliError('server', `The program at ${this.place.url.origin} is not a Blockhouse server (status ${status}); start the server again.`);
  }
}

function isErrorBody(answer: unknown): answer is ErrorBody {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'error' in answer &&
    typeof answer.error === 'string' &&
    'code' in answer &&
    typeof answer.code === 'string'
  );
}

const TOKEN_HINT = 'The server rejected the token of this workspace. If .api-token was changed in the last second, try again.';

/** A server's error body as a CliError, with the exit code of its `code`. */
export function failureOf(body: ErrorBody): CliError {
  return new CliError(kindOfCode(body.code), body.code === 'UNAUTHORIZED' ? TOKEN_HINT : oneLine(body.error), undefined, body);
}
