// Calls to a server that may be killed at any time.
import { Agent, type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';

export interface Reply {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

export class ServerClient {
  readonly url: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(url: string, token: string, maxSockets: number) {
    this.url = url;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets });
  }

  /** Undefined when the connection broke before the whole answer was there: whether the request was carried out is not known. */
  async call(method: string, path: string, body?: unknown): Promise<Reply | undefined> {
    try {
      return await this.#send(method, path, body);
    } catch (error) {
      if (BROKEN.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }

  #send(method: string, path: string, body: unknown): Promise<Reply> {
    const bytes = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.url), {
        method,
        agent: this.#agent,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(bytes !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
        },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        readText(response).then((text) => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) as Record<string, unknown> }), reject);
      });
      sent.end(bytes);
    });
  }

  #open(path: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      request(new URL(path, this.url), { agent: this.#agent, headers: { authorization: `Bearer ${this.#token}` } }, resolve)
        .on('error', reject)
        .end();
    });
  }

  async fetchText(path: string): Promise<string> {
    return readText(await this.#open(path));
  }

  /** The size of an answer, read to its end and not looked at. */
  async fetchBytes(path: string): Promise<{ readonly status: number; readonly bytes: number }> {
    const response = await this.#open(path);
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    return { status: response.statusCode ?? 0, bytes };
  }

  close(): void {
    this.#agent.destroy();
  }
}

const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNABORTED']);
