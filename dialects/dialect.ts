// The interface of a dialect: another provider's protocol in front of the gateway. A dialect knows no provider, an adapter knows no dialect. Pure: types only.
import type { AnswerPiece, BlockhouseError, ChatDone, ChatRequest, Warning } from '../core/index.ts';

/** A client's request, understood. `E` is what the answer repeats or depends on, such as the tools. */
export interface DialectRequest<E = unknown> {
  /** The name as the client wrote it; answers carry it again. */
  readonly model: string;
  readonly chat: Omit<ChatRequest, 'adapter' | 'model' | 'stream'>;
  readonly stream: boolean;
  /** What was ignored, by the client's own field names. */
  readonly warnings: readonly Warning[];
  readonly echo: E;
}

/** What an answer of a dialect is made with. */
export interface AnswerContext<E = unknown> {
  readonly requestId: string;
  /** Epoch seconds. */
  readonly created: number;
  /** Milliseconds since the request was understood, for a protocol whose answers say how long they took. */
  readonly elapsedMs?: () => number;
  readonly request: DialectRequest<E>;
}

/** A whole answer: its parts in their order, texts and reasonings joined, calls complete. */
export interface WholeAnswer {
  readonly pieces: readonly Extract<AnswerPiece, { readonly type: 'text' | 'reasoning' | 'toolCall' }>[];
  readonly done: ChatDone;
}

/** The frames of one streamed answer. Each text is whole frames, or empty. The stream begins with the first piece, or with its end. */
export interface DialectStream {
  pieces(pieces: readonly AnswerPiece[]): string;
  /** The end of a whole answer. */
  done(done: ChatDone): string;
  /** The end of an answer that broke off: it must not look whole. */
  error(failure: BlockhouseError): string;
  /** Sent while the answer is silent. */
  keepAlive(): string;
}

/** An error in the client's own form. */
export interface DialectError {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One protocol. Every function is pure. */
export interface Dialect<E = unknown> {
  readonly id: 'openai-chat' | 'openai-responses' | 'anthropic' | 'ollama';
  /** The media type of a stream. Without it, server-sent events. */
  readonly streamType?: string;
  /** Throws INVALID_REQUEST whose path is the client's own field name (`messages.2.content.0`). Unknown fields are ignored. */
  read(body: unknown): DialectRequest<E>;
  /** The body of an answer that needs no model, such as to a request that would only load one. */
  ready?(context: AnswerContext<E>): object | undefined;
  /** The body of a whole answer. */
  answer(whole: WholeAnswer, context: AnswerContext<E>): object;
  stream(context: AnswerContext<E>): DialectStream;
  error(failure: BlockhouseError, requestId: string): DialectError;
}
