// What an adapter folder provides. Its parts are pure; the driver (define.ts) does the I/O. Pure: no I/O.
import { BlockhouseError, type ChatEvent, type Prompt, type ResolvedSettings, type SettingsSpec, type UpstreamTimeouts, type Warning } from '../core/index.ts';
import type { UpstreamRequest } from './http.ts';
import type { ErrorAnswer, ProviderError } from './provider-errors.ts';

/** What a request or answer is translated from; the same for both directions of one attempt. */
export interface ChatContext {
  readonly model: string;
  readonly prompt: Prompt;
  readonly settings: ResolvedSettings;
  /** True when the caller wants the answer while it is written. */
  readonly stream: boolean;
  /** What the provider's `contextTokens` said. */
  readonly contextTokens?: number | undefined;
}

export interface WireRequest {
  readonly url: URL;
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly body: unknown;
  /** Whether the provider was asked to stream; decides which reader gets the answer. */
  readonly stream: boolean;
  /** What was left out or changed by rule. */
  readonly warnings: readonly Warning[];
}

/** Turns the bytes of one streamed answer into events. An error inside the stream is thrown as a StreamError. */
export interface StreamDecoder {
  /** Appends to `events` and returns it. When it throws, the events before the error are there all the same. */
  push(chunk: Buffer, events?: ChatEvent[]): ChatEvent[];
  /** The bytes have ended: the same for what they complete. Throws `cutShort()` when the end mark is missing. */
  end(events?: ChatEvent[]): ChatEvent[];
  /** True once the end mark has come, where the provider has one that nothing follows. */
  readonly complete: boolean;
}

export interface Provider {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly displayName: string;
  readonly authRequired: boolean;
  readonly defaultModel: string;
  /** The name of this provider in the price data, where it is there. */
  readonly pricesAs?: string;
  readonly envVars: readonly string[];
  readonly settings: SettingsSpec;
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** What a person can try when nobody answers at the provider's address. */
  readonly unreachableHint?: string;
  trustedOrigins?(settings: ResolvedSettings): readonly string[];
  missingCredential(settings: ResolvedSettings): string | undefined;
  /** Headers with the credentials. Gets the finished request, because some providers want it signed. */
  authorize(request: UpstreamRequest, settings: ResolvedSettings): Record<string, string> | Promise<Record<string, string>>;
  /**
   * The most tokens that a prompt and its answer may have together; undefined where there is no limit to know. Asked before each chat, so it
   * answers at once wherever it can. For providers that cut a longer prompt without saying so.
   */
  contextTokens?(fetchJson: FetchJson, settings: ResolvedSettings, model: string): Promise<number | undefined> | number | undefined;
  buildChat(context: ChatContext): WireRequest;
  /** Events of a whole answer. Throws a StreamError for an error in a 200, and UPSTREAM_MALFORMED for a body that is not an answer. */
  readAnswer(json: unknown, context: ChatContext): ChatEvent[];
  createDecoder(context: ChatContext): StreamDecoder;
  readError(answer: ErrorAnswer, settings: ResolvedSettings): ProviderError;
  readonly curatedModels?: readonly string[];
  /** For providers without a curated list. */
  listModels?(fetchJson: FetchJson, settings: ResolvedSettings): Promise<readonly string[]>;
  verify(fetchJson: FetchJson, settings: ResolvedSettings): Promise<string>;
}

/** GETs JSON from the provider, or POSTs a body as JSON and takes the answer. Rejects with the provider's error for an error status. */
export type FetchJson = (url: URL, body?: unknown) => Promise<unknown>;

/** An error that came inside a 200. */
export class StreamError extends Error {
  readonly providerError: ProviderError;

  constructor(providerError: ProviderError) {
    super(providerError.message);
    this.providerError = providerError;
  }
}

/** For an answer that ended before its end mark, which `what` names. */
export function cutShort(what: string): BlockhouseError {
  return new BlockhouseError('UPSTREAM_MALFORMED', `The provider's answer was cut short: it ended without ${what}.`, { mayHaveRun: true });
}

/** For an answer that can't be read; `what` says why, as "it has no choices". */
export function malformed(what: string): BlockhouseError {
  return new BlockhouseError('UPSTREAM_MALFORMED', `The provider's answer could not be read: ${what}.`, { mayHaveRun: true });
}
