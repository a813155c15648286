// A client that sends bytes as they are, for HTTP that no library would write.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { until } from './server.ts';

export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export class RawClient {
  readonly socket: Socket;
  #received = '';
  readonly #responses: RawResponse[] = [];
  /** How much of what was received these take. */
  #parsed = 0;
  #closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
    });
    socket.on('error', () => undefined); // a reset is one of the ends that the tests look for
    socket.once('close', () => {
      this.#closed = true;
    });
  }

  static async connect(t: Test, port: number, host = '127.0.0.1'): Promise<RawClient> {
    const socket = connect(port, host);
    const client = new RawClient(socket);
    t.teardown(() => socket.destroy());
    await once(socket, 'connect');
    return client;
  }

  get received(): string {
    return this.#received;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get responses(): RawResponse[] {
    const { responses, rest } = readResponses(this.#received.slice(this.#parsed));
    this.#responses.push(...responses);
    this.#parsed = this.#received.length - rest.length;
    return [...this.#responses];
  }

  send(bytes: string | Buffer): this {
    if (!this.socket.destroyed) this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** Waits until this many final responses are complete, or the connection is closed. */
  async settle(count = 1): Promise<RawResponse[]> {
    await until(() => this.#closed || this.responses.length >= count, `${count} responses, or a closed connection`);
    return this.responses;
  }

  async untilClosed(): Promise<RawResponse[]> {
    await until(() => this.#closed, 'a closed connection');
    return this.responses;
  }
}

/** Sends `bytes` on a new connection and reads until the server closes it. */
export async function exchange(t: Test, port: number, bytes: string | Buffer): Promise<{ responses: RawResponse[]; received: string }> {
  const client = await RawClient.connect(t, port);
  const responses = await client.send(bytes).untilClosed();
  return { responses, received: client.received };
}

/** Complete responses, informational ones included, and what comes behind them. Understands content-length and bodiless statuses, which is all that this server sends raw clients. */
function readResponses(received: string): { readonly responses: RawResponse[]; readonly rest: string } {
  const responses: RawResponse[] = [];
  let rest = received;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) return { responses, rest };
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
    const length = Number(headers.get('content-length') ?? 0);
    if (rest.length < end + 4 + length) return { responses, rest };
    responses.push({ status, headers, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
}
