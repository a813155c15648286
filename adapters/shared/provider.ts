// The interface that an adapter folder implements. Its parts are pure; the driver (define.ts) does the I/O. Pure: no I/O.
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Adapter,
  type AssistantTurn,
  BlockhouseError,
  type ChatEvent,
  type EmbedBatch,
  type EmbedCall,
  type Endpoint,
  type ForwardedAnswer,
  type ForwardedRequest,
  type ListedModel,
  type Presets,
  type PricedCall,
  type Prompt,
  type ReportedUsage,
  type ResolvedSettings,
  type SettingsSpec,
  type UpstreamTimeouts,
  type Warning,
} from '../../core/index.ts';
import type { UpstreamRequest } from '../outbound/client.ts';
import type { Protocol } from './protocol.ts';
import type { ErrorAnswer, ProviderError } from './provider-errors.ts';
import type { toldAnswer } from './told-answer.ts';

/** What the translation of a request and of its answer needs; the same object for both directions of one attempt. */
export interface ChatContext {
  readonly model: string;
  readonly prompt: Prompt;
  readonly settings: ResolvedSettings;
  /** True when the caller wants the answer while it is written. */
  readonly stream: boolean;
  /** The result of the provider's `contextTokens`. */
  readonly contextTokens?: number | undefined;
}

/** One request in the provider's own form. */
export interface WireRequest {
  readonly url: URL;
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly body: unknown;
  /** True if the request asks for a stream; decides which reader gets the answer. */
  readonly stream: boolean;
  /** Notes for the caller about settings that were left out or changed. */
  readonly warnings: readonly Warning[];
}

/**
 * Turns the bytes of one streamed answer into events. An error inside the stream is thrown as a StreamError. Usage is an event as soon as it is reported, and
 * before any error, because the provider bills a stream that fails.
 */
export interface StreamDecoder {
  /** Appends to `events` and returns it. If it throws, the events before the error have already been appended. */
  push(chunk: Buffer, events?: ChatEvent[]): ChatEvent[];
  /** Called when the bytes have ended. Appends the last events as `push` does; throws `cutShort()` if the end mark is missing. */
  end(events?: ChatEvent[]): ChatEvent[];
  /** True once the end mark has come; always false for a provider without an end mark, or with data after it. */
  readonly complete: boolean;
  /** What the answer says of itself, once that has come. */
  readonly told?: ReturnType<typeof toldAnswer>;
}

/** How embeddings are asked for. Pure. */
export interface EmbeddingProvider {
  batch(model: string): number;
  readonly takesTokenIds?: boolean;
  build(call: EmbedCall): { readonly url: URL; readonly body: unknown };
  /** `costField`: where the answer tells what it costs. `headers`: those of the answer. */
  read(answer: Readonly<Record<string, unknown>>, costField?: string, headers?: IncomingHttpHeaders): EmbedBatch;
}

/** A question about the tokens of a prompt. */
export interface TokenQuestion {
  readonly url: URL;
  /** Sent as JSON. */
  readonly body: unknown;
  /** The count in the answer. */
  countIn(answer: Readonly<Record<string, unknown>>): unknown;
}

/** One provider. All functions are pure, except those that get a FetchJson and `authorize`. */
export interface Provider {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly displayName: string;
  readonly authRequired: boolean;
  readonly defaultModel: string;
  /** The provider's name in the price data, if it is listed there. */
  readonly pricesAs?: string;
  /** See `Adapter.genAiProvider`. */
  readonly genAiProvider?: string;
  /** See `Adapter.pricedModel`. */
  pricedModel?(call: PricedCall): string | undefined;
  /** See `Adapter.isOwnAddress`. */
  isOwnAddress?(settings: ResolvedSettings): boolean;
  /** See `Adapter.readsCost`. */
  readonly readsCost?: true;
  readonly envVars: readonly string[];
  readonly settings: SettingsSpec;
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** Advice for the error when no connection to the provider is possible. */
  readonly unreachableHint?: string;
  trustedOrigins?(settings: ResolvedSettings): readonly string[];
  missingCredential(settings: ResolvedSettings): string | undefined;
  /** Returns the headers with the credentials. It gets the finished request, because some providers want it signed. */
  authorize(request: UpstreamRequest, settings: ResolvedSettings): Record<string, string> | Promise<Record<string, string>>;
  /**
   * The most tokens that a prompt and its answer may have together; undefined if no limit is known. For providers that cut a longer prompt
   * without an error. Called before each chat, so it should return without a promise if it can.
   */
  contextTokens?(fetchJson: FetchJson, settings: ResolvedSettings, model: string): Promise<number | undefined> | number | undefined;
  /** The protocol that it speaks with these settings, if clients speak it too. */
  protocol?(settings: ResolvedSettings): Protocol | undefined;
  /** See `Adapter.forwardedTier`. */
  forwardedTier?(request: ForwardedRequest): string | undefined;
  /** See `Adapter.forwardedAnswer`. */
  forwardedAnswer?(request: ForwardedRequest): ForwardedAnswer;
  /** See `Adapter.mustTranslate`. */
  mustTranslate?(endpoint: Endpoint, model: string, fields: Readonly<Record<string, unknown>>): boolean;
  /** See `Adapter.forwardWarnings`. */
  forwardWarnings?(endpoint: Endpoint, fields: Readonly<Record<string, unknown>>): readonly Warning[];
  /** The bytes of a request in its own protocol as this upstream takes them, and headers that go with them. Called for an endpoint that has something to say. */
  editForwarded?(endpoint: Endpoint, request: ForwardedRequest): { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> };
  buildChat(context: ChatContext): WireRequest;
  readonly embedding?: EmbeddingProvider;
  /** See `Adapter.replayed`. */
  replayed?(model: string, turn: AssistantTurn): unknown;
  /** See `Adapter.fetchedTokens`. */
  readonly fetchedTokens?: number;
  /** For a provider that counts tokens without an inference. */
  countTokens?(context: ChatContext): TokenQuestion;
  /** How the ids of its models look; see `Adapter.modelNames`. */
  readonly modelNames?: RegExp;
  /** How the ids of models look that hide no output; see `Adapter.openModels`. */
  readonly openModels?: RegExp;
  /** See `Adapter.passedOn`. */
  readonly passedOn?: RegExp;
  /** What requests may ask for besides text and tools; see `Adapter.supports`. */
  readonly supports?: Adapter['supports'];
  /** Events of a whole answer. Throws a StreamError for an error in a 200, and UPSTREAM_MALFORMED for a body that is not an answer. */
  readAnswer(json: unknown, context: ChatContext): ChatEvent[];
  /** What a whole answer says of itself. Must not throw. */
  readTold?(json: unknown): ReturnType<typeof toldAnswer>;
  /** What a whole answer reports of its usage, also one that `readAnswer` refuses: the provider bills it all the same. Must not throw. */
  readUsage(json: unknown, context: ChatContext): ReportedUsage | undefined;
  createDecoder(context: ChatContext): StreamDecoder;
  /** True if the stream itself is JSON, a value on each line: then a body of the type JSON is one. */
  readonly streamsJson?: true;
  readError(answer: ErrorAnswer, settings: ResolvedSettings): ProviderError;
  readonly curatedModels?: readonly string[];
  /** See `Adapter.presets`. */
  readonly presets?: Presets;
  /** Asks the provider for its model ids. For providers without a curated list. */
  listModels?(fetchJson: FetchJson, settings: ResolvedSettings): Promise<readonly string[]>;
  /** Asks the server of a connection for its own list; undefined if it has none. Without this member, its list is that of `listModels` or the curated one. */
  listServed?(fetchJson: FetchJson, settings: ResolvedSettings): Promise<readonly ListedModel[] | undefined>;
  verify(fetchJson: FetchJson, settings: ResolvedSettings): Promise<string>;
  /** For a provider that may be away although its settings are complete, such as a local daemon: see `Adapter.probe`. */
  probe?(fetchJson: FetchJson, settings: ResolvedSettings): Promise<void>;
}

/** GETs JSON from the provider, or POSTs `body` as JSON. Resolves with the parsed answer; rejects with the provider's error for an error status. */
export type FetchJson = (url: URL, body?: unknown) => Promise<unknown>;

/** An error that came inside a 200. */
export class StreamError extends Error {
  readonly providerError: ProviderError;

  constructor(providerError: ProviderError) {
    super(providerError.message);
    this.providerError = providerError;
  }
}

/** The error for an answer that ended before its end mark; `what` names the mark. */
export function cutShort(what: string): BlockhouseError {
  return new BlockhouseError('UPSTREAM_MALFORMED', `The provider's answer was cut short: it ended without ${what}.`, { mayHaveRun: true });
}

/** The error for an answer that can't be read; `what` says why, such as "it has no choices". */
export function malformed(what: string): BlockhouseError {
  return new BlockhouseError('UPSTREAM_MALFORMED', `The provider's answer could not be read: ${what}.`, { mayHaveRun: true });
}
