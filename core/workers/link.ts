// What two processes of one server say to each other: questions with an answer, and messages without one, in the order in which they were sent.
//
// one-write-a-turn: what is said in a turn of the event loop is sent together, since each write costs as much as a tenth of a small request. `now` sends it at once.
// answered-or-refused: a question gets its answer, the error that the other process has thrown, or SHUTTING_DOWN when that process is gone.
// known-names: a message that this version does not know is an error of ours, because both processes run the same files.
import { BlockhouseError, type ErrorCode, type ErrorDetail, toBlockhouseError } from '../errors.ts';
import type { ProcessLine } from './line.ts';

/** Names of messages, each with what it carries. */
type Tells = object;

type QuestionOf<A, N extends keyof A> = A[N] extends readonly [infer Q, unknown] ? Q : never;
type AnswerOf<A, N extends keyof A> = A[N] extends readonly [unknown, infer R] ? R : never;

/** What one side says. */
export interface Says {
  readonly tells: Tells;
  readonly asks: object;
}

/** How a side takes what the other says. */
export interface Takes<S extends Says> {
  readonly tell: { readonly [N in keyof S['tells']]: (body: S['tells'][N]) => void };
  readonly ask: { readonly [N in keyof S['asks']]: (question: QuestionOf<S['asks'], N>) => Promise<AnswerOf<S['asks'], N>> };
}

/** An error on its way to another process. */
interface SentError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterMs?: number;
  readonly details?: readonly ErrorDetail[];
}

type Message =
  | { readonly tell: string; readonly body: unknown }
  | { readonly ask: string; readonly id: number; readonly body: unknown }
  | { readonly id: number; readonly answer?: unknown; readonly error?: SentError };

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: BlockhouseError): void;
}

/** One end of a line. */
export class Link<Out extends Says, In extends Says> {
  readonly #line: ProcessLine;
  readonly #takes: Takes<In>;
  readonly #waiting = new Map<number, Waiting>();
  #outbox: Message[] = [];
  #asked = 0;
  #isClosed = false;

  constructor(line: ProcessLine, takes: Takes<In>) {
    this.#line = line;
    this.#takes = takes;
    line.onMessage((messages) => {
      for (const message of messages as readonly Message[]) this.#take(message);
    });
  }

  /** Does nothing when the other process is gone. With `now`, it can be read although this process is killed right after. */
  tell<N extends keyof Out['tells'] & string>(name: N, body: Out['tells'][N], now = false): void {
    this.#post({ tell: name, body });
    if (now) this.#send();
  }

  /** Rejects with what the other process throws, or SHUTTING_DOWN. */
  ask<N extends keyof Out['asks'] & string>(name: N, body: QuestionOf<Out['asks'], N>): Promise<AnswerOf<Out['asks'], N>> {
    if (this.#isClosed) return Promise.reject(gone());
    this.#asked += 1;
    const id = this.#asked;
    const answered = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#post({ ask: name, id, body });
    return answered as Promise<AnswerOf<Out['asks'], N>>;
  }

  /** The other process is gone. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(gone()); // answered-or-refused
    this.#waiting.clear();
  }

  #take(message: Message): void {
    if ('tell' in message) this.#takes.tell[message.tell as keyof In['tells']](message.body as never);
    else if ('ask' in message) void this.#answer(message.ask, message.id, message.body);
    else {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message.answer);
      else waiting?.reject(received(message.error));
    }
  }

  async #answer(name: string, id: number, body: unknown): Promise<void> {
    let answer: Message;
    try {
      answer = { id, answer: await this.#takes.ask[name as keyof In['asks']](body as never) };
    } catch (error) {
      answer = { id, error: sent(toBlockhouseError(error)) };
    }
    this.#post(answer);
  }

  /** one-write-a-turn. */
  #post(message: Message): void {
    if (this.#isClosed) return;
    this.#outbox.push(message);
    if (this.#outbox.length === 1) setImmediate(() => this.#send());
  }

  #send(): void {
    if (this.#outbox.length === 0 || this.#isClosed) return;
    const messages = this.#outbox;
    this.#outbox = [];
    this.#line.send(messages);
  }
}

function gone(): BlockhouseError {
  return new BlockhouseError('SHUTTING_DOWN', 'A process of the server has ended.');
}

function sent(error: BlockhouseError): SentError {
  const { code, message, retryAfterMs, details } = error;
  return { code, message, ...(retryAfterMs !== undefined && { retryAfterMs }), ...(details !== undefined && { details }) };
}

function received({ code, message, ...extras }: SentError): BlockhouseError {
  return new BlockhouseError(code, message, extras);
}
