// Talks HTTP to the server that runs on the workspace.
//
// H1 The token leaves this process for the address in the lock of the workspace only, and stands in no message.
// H2 A failure tells which of these it is: no server, a server that does not answer, a token that is not taken, or what the server said.
import { existsSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer as readBytes } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorBody } from '../core/index.ts';
import { CliError, errorCodeOf, kindOfCode } from './exit-codes.ts';
import { oneLine } from './output.ts';

/** A server that has just been started writes its address as soon as it listens. */
const START_PATIENCE_MS = 5000;
const POLL_MS = 50;
/** Longer than a monitor may take to stop. */
const ANSWER_PATIENCE_MS = 60_000;

export interface ServerPlace {
  readonly url: URL;
  readonly token: string;
  readonly pid: number;
}

export interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as they are. */
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** False for what takes as long as a model takes. */
  readonly hurry?: boolean;
}

/** The server of this workspace. `serveCommand` is how one is started here. Throws a CliError where there is none. */
export async function findServer(workspace: string, serveCommand: string): Promise<ServerPlace> {
  const { readLock, ApiToken, createBus } = await import('../core/index.ts');
  if (!existsSync(workspace)) throw new CliError('place', `there is no workspace ${workspace}; \`${serveCommand}\` makes it.`);
  const deadline = performance.now() + START_PATIENCE_MS;
  for (;;) {
    const holder = await readLock(workspace);
    if (holder === undefined) throw new CliError('server', `no server runs on ${workspace}; start one with \`${serveCommand}\`.`);
    if (holder.url !== null) return { url: addressOf(holder.url), pid: holder.pid, token: tokenOf(() => new ApiToken(workspace, createBus()).reveal()) };
    if (performance.now() > deadline) throw new CliError('server', `the server of ${workspace} (process ${holder.pid}) has not finished starting; try again.`);
    await delay(POLL_MS);
  }
}

/** Where a server that listens everywhere is reached from here. */
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

export class Client {
  readonly place: ServerPlace;
  readonly signal: AbortSignal;

  /** `signal` ends every call. */
  constructor(place: ServerPlace, signal: AbortSignal) {
    this.place = place;
    this.signal = signal;
  }

  /** The JSON answer. Rejects with a CliError that has the server's own text (H2). */
  async json<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const { status, bytes } = await this.#exchange(method, path, options);
    const { tryParseJson } = await import('../core/index.ts');
    const answer = tryParseJson(bytes.toString());
    if (status >= 400 || answer === undefined) throw this.#failure(status, answer);
    return answer as T;
  }

  /** The answer as it is. */
  async bytes(method: string, path: string): Promise<Buffer> {
    const { status, bytes } = await this.#exchange(method, path, {});
    if (status < 400) return bytes;
    const { tryParseJson } = await import('../core/index.ts');
    throw this.#failure(status, tryParseJson(bytes.toString()));
  }

  async #exchange(method: string, path: string, options: CallOptions): Promise<{ status: number; bytes: Buffer }> {
    try {
      const response = await this.#send(method, path, options);
      return { status: response.statusCode ?? 0, bytes: await readBytes(response) };
    } catch (error) {
      if (this.signal.aborted) throw error;
      throw this.#unreachable(error);
    }
  }

  #send(method: string, path: string, { body, bytes, headers, hurry = true }: CallOptions): Promise<IncomingMessage> {
    const content = bytes ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
    const type = bytes === undefined ? 'application/json' : 'application/gzip';
    return new Promise((resolve, reject) => {
      const request = httpRequest(new URL(path, this.place.url), {
        method,
        agent: false,
        signal: this.signal,
        headers: {
          authorization: `Bearer ${this.place.token}`,
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
      `the server of this workspace (process ${pid}) can't be reached at ${url.origin}: ${errorCodeOf(error) ?? (error as Error).message}.`,
      error,
    );
  }

  #failure(status: number, answer: unknown): CliError {
    if (isErrorBody(answer)) return failureOf(answer);
    return new CliError('server', `what answers at ${this.place.url.origin} is no Blockhouse server (status ${status}).`);
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

const TOKEN_HINT = 'the server refuses the token of this workspace; if .api-token was changed in the last second, try again.';

/** What a server refused, as a failure of this command. */
export function failureOf(body: ErrorBody): CliError {
  return new CliError(kindOfCode(body.code), body.code === 'UNAUTHORIZED' ? TOKEN_HINT : oneLine(body.error), undefined, body);
}
