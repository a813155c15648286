// A daemon that repeats the last message after a moment, in pieces, and remembers how often it was asked for each: it outlives the
// servers that are killed, so it knows what they have really called.
import { EventEmitter, once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { DAEMON_END, daemonLine } from '../server.ts';
import { Random } from './random.ts';

/** Only messages of this form are counted; what else is asked is a summary. */
const COUNTED = /^msg \S+$/;
const LONGEST_PAUSE_MS = 8;

export const echoOf = (message: string): string => `You said: ${message}`;

export class EchoDaemon {
  /** How often each message was asked. */
  readonly calls = new Map<string, number>();
  /** Messages whose answer was sent to its end. */
  readonly answered = new Set<string>();
  /** `called` and `answered`, for whoever wants to kill just then. */
  readonly moments = new EventEmitter();
  readonly #random: Random;
  readonly #server: Server;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#server = createServer((req, res) => {
      res.on('error', () => undefined); // servers are killed in mid-answer
      readText(req).then(
        (body) => this.#answer(body, res),
        () => undefined, // and in mid-request
      );
    });
    // A connection that is closed while it waits would make a second call of one that had not been read.
    this.#server.keepAliveTimeout = 0;
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(body: string, res: ServerResponse): Promise<void> {
    const { messages } = JSON.parse(body) as { messages: { content: string }[] };
    const asked = messages.at(-1)?.content ?? '';
    const isCounted = COUNTED.test(asked);
    if (isCounted) this.calls.set(asked, (this.calls.get(asked) ?? 0) + 1);
    this.moments.emit('called');
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    for (const piece of piecesOf(isCounted ? echoOf(asked) : 'They talked.', 1 + this.#random.below(3))) {
      await delay(this.#random.below(LONGEST_PAUSE_MS));
      res.write(daemonLine(piece));
    }
    res.end(DAEMON_END);
    if (isCounted) this.answered.add(asked);
    this.moments.emit('answered');
  }
}

function piecesOf(text: string, count: number): string[] {
  const size = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, index) => text.slice(index * size, (index + 1) * size)).filter((piece) => piece !== '');
}
