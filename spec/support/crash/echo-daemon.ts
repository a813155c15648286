// A daemon that repeats the last message after a moment, in pieces, and remembers how often it was asked for each: it outlives the
// servers that are killed, so it knows what they have really called.
//
// E1 A call that the server leaves of its own accord is known as such: it broke off before the server can have read its end, and not because
//    the server was killed. What broke before a kill is judged before it, and what broke by it before the next life begins.
import { EventEmitter, once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { DAEMON_END, daemonLine } from '../server.ts';
import { Random } from './random.ts';

/** Only messages of this form are counted; what else is asked is a summary. */
const COUNTED = /^msg \S+$/;
const LONGEST_PAUSE_MS = 8;
/** A server that closes the connection so soon after the end of an answer may not have read it. */
const UNREAD_MS = 100;
/** Of the event loop: within them a connection that is closed already is seen to be. */
const TURNS = 5;

export const echoOf = (message: string): string => `You said: ${message}`;

interface Call {
  readonly asked: string;
  /** As `performance.now()` tells it; undefined until all of the answer was sent. */
  endedAt: number | undefined;
}

export class EchoDaemon {
  /** How often each message was asked. */
  readonly calls = new Map<string, number>();
  /** How many of these calls the server has left of its own accord (E1). */
  readonly leftEarly = new Map<string, number>();
  /** Messages whose answer was sent to its end. */
  readonly answered = new Set<string>();
  /** `called` and `answered`, for whoever wants to kill just then. */
  readonly moments = new EventEmitter();
  readonly #random: Random;
  readonly #server: Server;
  /** The last one of each connection. */
  readonly #lastCalls = new WeakMap<Socket, Call>();
  readonly #longestPauseMs: number;
  #isKilled = (): boolean => false;

  /** `longestPauseMs` is that before each piece. */
  constructor(seed: number, longestPauseMs = LONGEST_PAUSE_MS) {
    this.#random = new Random(seed);
    this.#longestPauseMs = longestPauseMs;
    this.#server = createServer((req, res) => {
      res.on('error', () => undefined); // servers are killed in mid-answer
      readText(req).then(
        (body) => this.#answer(body, res, req.socket),
        () => undefined, // and in mid-request
      );
    });
    this.#server.on('connection', (socket: Socket) => void socket.once('close', () => this.#judgeBreak(socket)));
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

  /**
   * Says what it means from now on when a connection breaks: that the server has left, or that it was killed. A function is asked at each break
   * whether it was. To be called right before a kill, and again for the next life.
   */
  async judgeBreaks(meaning: 'left' | 'killed' | (() => boolean)): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn(); // E1: what has broken so far is judged as it was said before
    this.#isKilled = typeof meaning === 'function' ? meaning : () => meaning === 'killed';
  }

  /** E1. */
  #judgeBreak(socket: Socket): void {
    const call = this.#lastCalls.get(socket);
    if (call === undefined || this.#isKilled()) return;
    const isRead = call.endedAt !== undefined && performance.now() - call.endedAt > UNREAD_MS;
    if (!isRead && COUNTED.test(call.asked)) count(this.leftEarly, call.asked);
  }

  async #answer(body: string, res: ServerResponse, socket: Socket): Promise<void> {
    const { messages } = JSON.parse(body) as { messages?: { content: string }[] };
    if (messages === undefined) {
      res.writeHead(404).end(); // a question about the model
      return;
    }
    const call: Call = { asked: messages.at(-1)?.content ?? '', endedAt: undefined };
    const { asked } = call;
    const isCounted = COUNTED.test(asked);
    if (isCounted) count(this.calls, asked);
    this.#lastCalls.set(socket, call);
    this.moments.emit('called');
    res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    for (const piece of piecesOf(isCounted ? echoOf(asked) : 'They talked.', 1 + this.#random.below(3))) {
      await delay(this.#random.below(this.#longestPauseMs));
      res.write(daemonLine(piece));
    }
    res.end(DAEMON_END);
    call.endedAt = performance.now();
    if (isCounted) this.answered.add(asked);
    this.moments.emit('answered');
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function piecesOf(text: string, count: number): string[] {
  const size = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, index) => text.slice(index * size, (index + 1) * size)).filter((piece) => piece !== '');
}
