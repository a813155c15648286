// The interface of a dialect: another provider's protocol in front of the gateway. A dialect knows no provider, an adapter knows no dialect. Pure: types only.
import type { JsonOutline } from '../../../../core/base/json-members.ts';
import type { AnswerPiece, BlockhouseError, ChatDone, ChatRequest, RequestFields, Warning } from '../../../../core/index.ts';
import type { EditedText } from './json-edit.ts';

/** A client's request, understood. `E` is what the answer repeats or depends on, such as the tools. */
export interface DialectRequest<E = unknown> {
  /** The name as the client wrote it; answers carry it again. */
  readonly model: string;
  readonly chat: Omit<ChatRequest, 'adapter' | 'model' | 'stream'>;
  readonly stream: boolean;
  /** What was ignored, by the client's own field names. */
  readonly warnings: readonly Warning[];
  readonly echo: E;
  /** The client's name of a field of `chat`, such as `messages[1].content[0]`; undefined if it has none. */
  field?(path: string): string | undefined;
}

/** What an answer of a dialect is made with. */
export interface AnswerContext<E = unknown> {
  readonly requestId: string;
  /** Epoch seconds. */
  readonly created: number;
  /** Milliseconds since the request was understood, for a protocol whose answers say how long they took. */
  elapsedMs?(): number;
  /** Epoch seconds at this moment; without it, the end of an answer has the time of its beginning. */
  now?(): number;
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

/** A request that goes to a provider which speaks the dialect itself. */
export interface NativeBody extends EditedText {
  /** True if the client has not asked for the frame that has only the usage. */
  readonly hidesUsage: boolean;
}

/** How requests pass to a provider that speaks the dialect itself, without a translation. */
export interface NativeLane {
  /** The path of the endpoint, such as `/v1/messages`. A provider that names the same path speaks the dialect. */
  readonly path: string;
  /** The client's own bytes with the provider's model in them. By default nothing else changes. */
  toBody?(bytes: Buffer, body: Readonly<Record<string, unknown>>, model: string, outline?: JsonOutline): NativeBody;
  /** The last frames of a stream that broke off, of which only the failure is known. */
  broken(failure: BlockhouseError): string;
}

/** One protocol. Every function is pure. */
export interface Dialect<E = unknown> {
  readonly id: string;
  /** What each field of a request decides. */
  readonly fields: RequestFields;
  readonly native?: NativeLane;
  /** True if a request may ask a block, as the model `block/<name>`. */
  readonly asksBlocks?: true;
  /** The media type of a stream. Without it, server-sent events. */
  readonly streamType?: string;
  /** True if bodies are JSON whatever their media type says. */
  readonly anyType?: boolean;
  /** Headers of every answer to the request with this id. They take the place of the provider's own. */
  answerHeaders?(requestId: string): Readonly<Record<string, string>>;
  /** Throws INVALID_REQUEST whose path is the client's own field name (`messages.2.content.0`). Unknown fields are ignored. */
  read(body: unknown): DialectRequest<E>;
  /** The body of an answer that needs no model, such as to a request that would only load one. */
  ready?(context: AnswerContext<E>): object | undefined;
  /** The body of a whole answer, as JSON. */
  answer(whole: WholeAnswer, context: AnswerContext<E>): string;
  stream(context: AnswerContext<E>): DialectStream;
  error(failure: BlockhouseError, requestId: string): DialectError;
}
