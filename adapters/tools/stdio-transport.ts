// Messages over the standard input and output of a server, one a line.
//
// own-limit: a line that is too long, too deep or has too many values fails the call that it answers, and no other.
// read-or-unasked: a server that does not read what it is sent gets no answers to its own requests, so that they do not fill our memory.
// in-turns: of what a server writes in a hurry, one piece is read in a turn of the event loop, so that others are served between two. Of the notices in a turn, some of
//   each kind are handed on (notices.ts).
// flood-ends: messages that answer nothing are counted, notifications, answers to no request, blank lines and lines that are too long alike, and very many, or very long ones,
//   end the server, also before their line ends. A line that turns out to be the answer to a call counts no longer: it fails that call alone (own-limit).
// open-only: an answer is handed on if its request is open: a late one, a second one, or one with a foreign id is dropped.
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { exceededLimit, isObject, MAX_JSON_DEPTH, tryParseJson } from '../../core/base/json.ts';
import { type CallTransport, callIdOf } from './call-id.ts';
import { LineReader } from './line-reader.ts';
import { UNREADABLE } from './mcp-result.ts';
import { MinuteCount } from './minute-count.ts';
import { Notices } from './notices.ts';
import { handable } from './task-answer.ts';

/** A result with so many values would stop the process for long. */
const MAX_VALUES = 200_000;
/** read-or-unasked. */
const MAX_UNREAD_BYTES = 65_536;
const MAX_ID = 200;
/** So many lines without a message in a minute end the server. */
const MAX_NOISE = 100;
/** So many messages that answer nothing, such as notifications, do, too (flood-ends). */
const MAX_UNASKED = 100_000;
const MAX_UNASKED_BYTES = 256 * 1024 * 1024;
/** A piece of the output of a server that writes faster than it is read. */
const WHOLE_PIECE = 65_536;

/** What a server may write within a minute that answers nothing. */
export interface MostUnasked {
  readonly messages: number;
  readonly bytes: number;
}

/** The pipes of a server. */
export interface Pipes {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

/** What the transport tells. */
export interface TransportListener {
  /** The server writes lines that are no messages. */
  onNoise(): void;
  /** It writes very many messages that answer nothing, or very long ones. */
  onFlood(): void;
  /** Something has come that is a message. */
  onLife(): void;
}

/** A transport of the client package. It owns neither the process nor its end. */
export class StdioTransport implements CallTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly begun = new Set<string>();
  readonly #pipes: Pipes;
  readonly #listener: TransportListener;
  readonly #most: MostUnasked;
  readonly #reader: LineReader;
  /** The ids of requests without an answer. */
  readonly #open = new Set<string | number>();
  readonly #noise = new MinuteCount();
  readonly #unasked = new MinuteCount();
  readonly #unaskedBytes = new MinuteCount();
  /** Of the line that is being skipped, what was counted as unasked. */
  #skipped = 0;
  readonly #notices = new Notices((request) => this.#open.has(request));
  #isClosed = false;

  /** `most` is for tests. */
  constructor(pipes: Pipes, maxLineBytes: number, listener: TransportListener, most: Partial<MostUnasked> = {}) {
    this.#most = { messages: MAX_UNASKED, bytes: MAX_UNASKED_BYTES, ...most };
    this.#pipes = pipes;
    this.#listener = listener;
    this.#reader = new LineReader(maxLineBytes, {
      line: (bytes) => this.#read(bytes),
      blank: () => this.#isFlood(1, 1),
      skips: (bytes) => {
        this.#skipped += bytes;
        this.#isFlood(0, bytes);
      },
      tooLong: (ids) => this.#refuse(ids, maxLineBytes, `The result is larger than ${maxLineBytes} bytes, which is the most that is taken (maxResultBytes).`),
    });
    pipes.stdin.on('error', () => undefined); // the process has ended, and its end is told
    pipes.stdout.on('error', () => undefined);
  }

  async start(): Promise<void> {
    const { stdout } = this.#pipes;
    stdout.on('data', (bytes: Buffer) => {
      this.#reader.read(bytes);
      if (bytes.length < WHOLE_PIECE) return;
      stdout.pause(); // in-turns
      setImmediate(() => stdout.resume());
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed || !this.#pipes.stdin.writable) throw new Error('The server has ended.');
    if ('method' in message && 'id' in message) this.#open.add(message.id);
    if ('method' in message && message.method === 'notifications/cancelled') this.#open.delete(message.params?.['requestId'] as number);
    const callId = callIdOf(message);
    if (callId !== undefined) this.begun.add(callId);
    this.#pipes.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #read(bytes: Buffer): void {
    if (this.#isClosed) return;
    const exceeded = exceededLimit(bytes, { values: MAX_VALUES, depth: MAX_JSON_DEPTH });
    if (exceeded !== undefined) {
      const edges = `${bytes.toString('utf8', 0, 256)}\n${bytes.toString('utf8', Math.max(0, bytes.length - 256))}`;
      const ids = [...edges.matchAll(/"id"\s*:\s*(\d{1,15})/g)].map(([, id = '']) => id);
      this.#refuse(
        ids,
        bytes.length,
        exceeded === 'depth' ? `The result is nested more than ${MAX_JSON_DEPTH} levels deep.` : `The result has more than ${MAX_VALUES} values.`,
      );
      return;
    }
    const message = tryParseJson(bytes.toString('utf8'));
    if (!isObject(message) || message['jsonrpc'] !== '2.0') this.#hear();
    else this.#take(message, bytes.length);
  }

  #take(message: Record<string, unknown>, length: number): void {
    this.#listener.onLife();
    const isAnswer = !('method' in message);
    const isUnasked = !(isAnswer && this.#open.delete(message['id'] as number));
    if (isUnasked && this.#isFlood(1, length)) return;
    if (isUnasked && isAnswer) return; // open-only
    if (!isAnswer && !('id' in message ? this.#mayAsk(message['id']) : this.#notices.take(message))) return;
    const isReadable = !isAnswer || isObject(message['result']) || isFault(message['error']);
    const fault = { jsonrpc: '2.0', id: message['id'], error: { code: UNREADABLE, message: 'The server has answered with what is no result.' } };
    this.onmessage?.((isReadable ? handable(message) : fault) as never);
  }

  /** flood-ends. */
  #isFlood(messages: number, bytes: number): boolean {
    const isFlood = this.#unasked.add(messages) >= this.#most.messages || this.#unaskedBytes.add(bytes) >= this.#most.bytes;
    if (isFlood) this.#listener.onFlood();
    return isFlood;
  }

  /** read-or-unasked. */
  #mayAsk(id: unknown): boolean {
    return this.#pipes.stdin.writableLength <= MAX_UNREAD_BYTES && String(id).length <= MAX_ID;
  }

  /** own-limit. Of a line without a known id, the only open call is meant. */
  #refuse(ids: readonly string[], length: number, message: string): void {
    this.#listener.onLife();
    const known = ids.map((id) => tryParseJson(id) as string | number).filter((id) => this.#open.has(id));
    const [id] = known.length === 0 && this.#open.size === 1 ? [...this.#open] : known;
    const skipped = this.#skipped;
    this.#skipped = 0;
    if (id === undefined) {
      this.#isFlood(1, length);
      return;
    }
    this.#open.delete(id);
    this.#unaskedBytes.add(-skipped); // flood-ends
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: UNREADABLE, message } } as never);
  }

  #hear(): void {
    if (this.#noise.add(1) === MAX_NOISE) this.#listener.onNoise();
  }
}

function isFault(error: unknown): boolean {
  return isObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string';
}
