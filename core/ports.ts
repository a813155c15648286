// The interfaces that the core needs. Adapters implement `Adapter`; a transport that streams an answer implements `StreamSink`. Pure: types only.
import type { Endpoint } from './auth/endpoint.ts';
import type { KnownPreset, Presets } from './auth/preset.ts';
import type { ResolvedSettings, SettingsSpec } from './auth/settings.ts';
import type { AnswerFacts } from './bus.ts';
import type { EgressRule } from './gateway/egress.ts';
import type { Prompt, PromptOptions } from './gateway/prompt.ts';
import type { AssistantTurn } from './gateway/turns.ts';
import type { ChatStart, StopReason, TokenLogprob, ToolCall, Usage, Warning } from './types.ts';

/**
 * One step of an answer. The rules of a sequence of events:
 * - Events come in any number and order. The answer's text is the `text` fragments in their order.
 * - A `toolCall` is complete, and its arguments are parsed. If its pieces came before, it has the `index` of its `toolCallStart`.
 * - `reasoning`, `toolCallStart` and `toolCallDelta` are for readers that ask for them; an adapter may leave them out.
 * - `reasoningState` is the state of reasoning that leads the answer, sent as soon as it is complete; a later one takes the place of an earlier one. It is
 *   enough for an answer that goes on with one text at most, and then with calls. An adapter may leave it out, since `providerMetadata` has all of the state.
 * - `logprobs` add up to those of the whole text.
 * - `providerMetadata` keys overwrite earlier ones. Of each `usage` count the largest holds; they do not add up.
 * - `answer` is what the provider calls the answer, and the model that has made it. An adapter may leave it out.
 * - `unread` is the size of a whole answer that broke off or could not be read: the provider bills it all the same.
 * - There is exactly one `stop`. Usage may still follow it.
 * - The sequence ends when the adapter's promise resolves. When the promise rejects, there is no complete answer.
 */
export type ChatEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'reasoningState'; readonly providerMetadata: Record<string, unknown> }
  | { readonly type: 'toolCallStart'; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: 'toolCallDelta'; readonly index: number; readonly text: string }
  | { readonly type: 'toolCall'; readonly toolCall: ToolCall; readonly index?: number }
  | { readonly type: 'logprobs'; readonly logprobs: readonly TokenLogprob[] }
  | { readonly type: 'usage'; readonly usage: ReportedUsage }
  | { readonly type: 'answer'; readonly id?: string | undefined; readonly model?: string | undefined }
  | { readonly type: 'unread'; readonly bytes: number }
  | { readonly type: 'providerMetadata'; readonly providerMetadata: Record<string, unknown> }
  | { readonly type: 'warning'; readonly warning: Warning }
  | { readonly type: 'stop'; readonly stopReason: StopReason; readonly stopSequence?: string };

/** Counts as the provider reported them, with cached tokens included in the input. An unknown count is absent. */
export type ReportedUsage = { readonly [K in keyof Omit<Usage, 'totalTokens' | 'estimated' | 'unpricedTier'>]?: number | undefined } & {
  /** True if the answer names a processing tier that the price data does not know. */
  readonly unpricedTier?: true | undefined;
  /** True if no model has worked: 0 tokens are then 0, although there is an answer. */
  readonly usesNothing?: true | undefined;
};

/** Takes the events of one attempt. The adapter calls it synchronously, and never after its promise has settled. */
export interface EventSink {
  /** Takes events that arrived together. False asks the adapter to stop reading until `onceWritable` calls back. */
  emit(events: readonly ChatEvent[]): boolean;
  /** Calls `resume` once, as soon as more events may be emitted. There is one callback at a time. */
  onceWritable(resume: () => void): void;
}

/** A chat call whose attempt begins, as a `ContentTap` has it. */
export interface TappedCall {
  /** The number of the call, as in the facts of the bus. */
  readonly call: number;
  /** The span that it belongs to; undefined if its request names none. */
  readonly traceparent: string | undefined;
  /** The block that calls. */
  readonly caller: string | undefined;
  readonly prompt: Prompt;
}

/** The same of a call in the provider's own protocol. */
export interface TappedForward extends Omit<TappedCall, 'prompt'> {
  /** Of the protocol, such as `/v1/messages`. */
  readonly path: string;
  readonly body: Buffer;
  /** The members of the body; undefined if it was not parsed. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** Reads what calls ask and are answered, which no fact of the bus has. There is one only where somebody has asked for it. */
export interface ContentTap {
  /** An attempt at a call begins. Returns what takes the events of its answer; undefined if they are not wanted. Neither may throw. */
  begin(call: TappedCall): ((events: readonly ChatEvent[]) => void) | undefined;
  /** The same, where bytes go through: what it returns takes those of the answer, which it may not keep. */
  beginForward?(call: TappedForward): ((bytes: Buffer) => void) | undefined;
}

/** Time limits of one call to a provider, in milliseconds; 0 switches a limit off. */
export interface UpstreamTimeouts {
  /** The most time until the connection is open. */
  readonly connectMs: number;
  /** The most time without data before the answer starts. */
  readonly firstByteMs: number;
  /** The most time without data after the answer has started. */
  readonly idleMs: number;
}

/** What every call of an adapter gets. */
export interface AdapterCall {
  readonly settings: ResolvedSettings;
  readonly egress: EgressRule;
  readonly timeouts: UpstreamTimeouts;
  /** Fires when the caller aborts or disconnects. The adapter must then end its request at once, unless there is `until`. */
  readonly signal: AbortSignal;
  /**
   * Given if what the call uses must be known although its caller leaves. What was not sent yet ends with `signal`. What was sent is read to its end, or until
   * this fires, which it never does before `signal`. An adapter that ends with `signal` all the same makes the call count as if it had used all that it might.
   */
  readonly until?: AbortSignal | undefined;
  /** Given for a host that may be a server like this one: how many of them the call has passed with this one. The adapter sends it as `x-blockhouse-hop`. */
  readonly hop?: number | undefined;
  /** Given for a call of a block to such a host: what tells this server from others. The adapter sends it as `x-blockhouse-instance`. */
  readonly instance?: string | undefined;
  /** Given if the provider is to know the trace of the request. The adapter sends it as the header `traceparent`. */
  readonly traceparent?: string | undefined;
  /** Given if somebody wants to know when the answer begins: called at its first byte. */
  readonly onAnswer?: (() => void) | undefined;
  /** Who asks: a key, a block, or all programs with the token. They take turns where work on the answers of one provider waits. */
  readonly client?: string | undefined;
}

/** What an attempt at a chat request gets in addition. */
export interface ChatCall extends AdapterCall {
  readonly model: string;
  readonly prompt: Prompt;
  /** True if the caller wants the answer as a stream. */
  readonly stream: boolean;
  readonly sink: EventSink;
}

/** A request in a provider's own protocol, as the client has written it. */
export interface ForwardedRequest {
  /** The path of the protocol, such as `/v1/messages`. */
  readonly path: string;
  /** The query with its question mark; '' if there is none. */
  readonly search: string;
  /** All headers of the client. The adapter sends on those that its protocol names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Emptied once the client has left, where its answer is read on. */
  readonly body: Buffer;
  /** The places of the commas between the members of the body, from a large one; absent if they are not known. */
  readonly commas?: readonly number[];
  /** The members of the body; absent if it was not parsed. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** True if the client has not asked for the frame that has only the usage, so it does not get it. */
  readonly hidesUsage: boolean;
}

/** What a forwarded request says of the answer that it allows. */
export interface ForwardedAnswer {
  /** The most output tokens of one answer; absent if it sets no limit. */
  readonly limit?: number | undefined;
  /** How many answers it asks for; 1 if absent. */
  readonly choices?: number | undefined;
}

/** Takes the answer of one forwarded request. The adapter calls it synchronously, and never after its promise has settled. */
export interface ForwardSink {
  /** Called once, right before the first bytes. `headers` are those that the client gets. */
  head(headers: Readonly<Record<string, string>>, isStream: boolean): void;
  /** Takes whole frames of a stream, or a whole answer. False asks for a pause until `onceWritable` calls back. */
  bytes(bytes: Buffer): boolean;
  onceWritable(resume: () => void): void;
}

/** Where a transport wants the answer of a forwarded request. */
export interface ForwardTarget extends ForwardSink {
  /** The client's side of an answer that goes out while it comes; undefined if the client wants the whole answer. */
  readonly reader: Pick<StreamSink, 'opened' | 'opensInMs'> | undefined;
}

/** What an attempt at a forwarded request gets in addition. */
export interface ForwardCall extends AdapterCall {
  readonly request: ForwardedRequest;
  readonly sink: ForwardSink & {
    /** Counts as they become known; of each the largest holds. */
    usage(reported: ReportedUsage): void;
    /** What the answer says of itself, in one piece or in several; a later one adds to an earlier one. */
    answered?(facts: AnswerFacts): void;
    /** The size of a whole answer that broke off or could not be read: the provider bills it all the same. */
    unread(bytes: number): void;
  };
}

/** The tokens of a prompt. */
export interface TokenCount {
  readonly tokens: number;
  /** True if the provider did not count, so it is the length of the text and a tenth. */
  readonly isEstimated: boolean;
}

/** What a count of tokens gets in addition. */
export interface TokenCountCall extends AdapterCall {
  readonly model: string;
  readonly prompt: Prompt;
}

/** What a call for embeddings gets in addition. */
export interface EmbedCall extends AdapterCall {
  readonly model: string;
  /** As many as `batch` allows at most. */
  readonly inputs: readonly (string | readonly number[])[];
  readonly dimensions?: number | undefined;
  readonly user?: string | undefined;
}

/** The answer to one call for embeddings. */
export interface EmbedBatch {
  /** One for each input, in their order; the gateway checks them. */
  readonly vectors: unknown;
  /** Undefined if the provider does not report it. */
  readonly inputTokens?: number | undefined;
  /** What the provider says that the batch costs; undefined if nobody reads it. */
  readonly costUsd?: number | undefined;
}

/** How a provider makes embeddings. */
export interface Embedding {
  /** The most inputs of one call for this model. Throws INVALID_REQUEST for a model that makes none. */
  batch(model: string): number;
  /** True if inputs may be lists of token ids. */
  readonly takesTokenIds: boolean;
  /** Makes one call. Rejects as `Adapter.chat` does. */
  embed(call: EmbedCall): Promise<EmbedBatch>;
}

/** What the price of a call depends on, besides its tokens. */
export interface PricedCall {
  readonly model: string;
  readonly settings: ResolvedSettings;
  /** The processing tier that the request asks for; undefined if it asks for none. */
  readonly tier: string | undefined;
}

/** What makes a connection of an adapter: a named upstream that speaks its protocol. */
export interface ConnectionProfile {
  /** The name, which takes the place of the adapter's id. */
  readonly id: string;
  /** The id of the adapter. */
  readonly protocol: string;
  /** What it is built on; undefined for an entry that says everything itself. */
  readonly preset: KnownPreset | undefined;
  /** Those of the adapter, with the variables and defaults of the connection. */
  readonly settings: SettingsSpec;
  readonly defaultModel: string;
  missingCredential(settings: ResolvedSettings): string | undefined;
}

/** A model that an upstream has itself listed. */
export interface ListedModel {
  readonly id: string;
  /** The most tokens of a prompt and its answer together, where the list says it. */
  readonly contextWindow?: number | undefined;
}

/** One provider. Everything is data except the calls `chat`, `listModels` and `verify`. */
export interface Adapter {
  /** The id that requests use, such as `openai`. */
  readonly id: string;
  /** Other ids that requests may use; they never appear in answers. */
  readonly aliases: readonly string[];
  /** The name for people, such as `Google Gemini`. */
  readonly displayName: string;
  /** False if the provider needs no credential, like a local daemon. */
  readonly authRequired: boolean;
  /** The model to suggest to people. */
  readonly defaultModel: string;
  /** The name of this provider in the price data; absent when it has no prices. */
  readonly pricesAs?: string;
  /** The name of this provider in the conventions of OpenTelemetry for generative AI (`gen_ai.provider.name`); absent if it is the id. */
  readonly genAiProvider?: string;
  /** The name in the price data of the model that a call reaches; undefined if no price of it is known. Absent: the name in the request. Must not do I/O or throw. */
  pricedModel?(call: PricedCall): string | undefined;
  /** False where calls go to another server than the provider's, for which the price data don't hold. Absent: the setting `baseURL` tells. */
  isOwnAddress?(settings: ResolvedSettings): boolean;
  /** True for an adapter that reads from every answer what the call costs, where the quirks of an entry say in which field it is. */
  readonly readsCost?: true;
  readonly supportsStreaming: boolean;
  /** True for an adapter that answers without a model. It costs nothing, is in no list of adapters, and no name of a model leads to it; requests and blocks may name it. */
  readonly standsIn?: true;
  /** What requests may ask for besides text and tools. What is missing here is refused (parts) or left out with a warning (options). */
  readonly supports?: {
    readonly parts?: readonly ('image' | 'document' | 'audio')[];
    readonly options?: readonly (keyof PromptOptions)[];
  };
  /** The environment variables that the API lists for callers. */
  readonly envVars: readonly string[];
  /** The settings that the adapter reads, such as `apiKey` and `baseURL`. */
  readonly settings: SettingsSpec;
  /** Limits of this provider that differ from the gateway's defaults. */
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** The provider's own origins besides the defaults of its addresses; stored keys may go there. They may depend on settings such as the region. Must not throw. */
  trustedOrigins?(settings: ResolvedSettings): readonly string[];
  /** A sentence that says which credential is missing and how to set it; undefined if none is. Must not do I/O. */
  missingCredential(settings: ResolvedSettings): string | undefined;
  /**
   * The most tokens that a prompt and its answer may have together; undefined if the adapter knows no limit. May ask the provider once for
   * each model. Rejects with a BlockhouseError when there is no connection.
   */
  contextTokens?(call: AdapterCall, model: string): Promise<number | undefined>;
  /** Makes one attempt. Rejects with a BlockhouseError whose `retryable` and `mayHaveRun` describe this attempt. */
  chat(call: ChatCall): Promise<void>;
  /**
   * What goes back to this model of the state that an earlier answer left in its turn, besides the text and the calls of the turn: its size is estimated. Undefined
   * if nothing does. Absent for an adapter that sends no state. Must not throw.
   */
  replayed?(model: string, turn: AssistantTurn): unknown;
  /** The tokens that an estimate takes for what the provider fetches by the URL of an image or a document, where that may as well be a film. Absent where it can't. */
  readonly fetchedTokens?: number;
  /** Counts the tokens of a prompt without an inference. Absent if the provider can't. Rejects with a BlockhouseError. */
  countTokens?(call: TokenCountCall): Promise<number>;
  /** Absent if the provider makes no embeddings. */
  readonly embedding?: Embedding;
  /** The client protocol that the provider speaks natively with these settings, as a path such as `/v1/messages`; undefined if there is none. */
  protocol?(settings: ResolvedSettings): string | undefined;
  /** True for a request in the provider's own protocol that this upstream would refuse, so that it is translated. Called for an endpoint that has something to say. Must not throw. */
  mustTranslate?(endpoint: Endpoint, model: string, fields: Readonly<Record<string, unknown>>): boolean;
  /** What a request in the provider's own protocol asks for in vain, by the names of its fields. Called as `mustTranslate` is. Must not throw. */
  forwardWarnings?(endpoint: Endpoint, fields: Readonly<Record<string, unknown>>): readonly Warning[];
  /** Makes one attempt at a request in the provider's own protocol. Rejects as `chat` does. */
  forward?(call: ForwardCall): Promise<void>;
  /** The processing tier that a request in the provider's own protocol asks for, if it may cost more than the standard one. Must not throw. */
  forwardedTier?(request: ForwardedRequest): string | undefined;
  /** What a request in the provider's own protocol says of its answer, by the fields that this protocol knows. Must not throw. */
  forwardedAnswer?(request: ForwardedRequest): ForwardedAnswer;
  /** How the ids of this provider's models look, for names that come without a provider. */
  readonly modelNames?: RegExp;
  /**
   * How the ids of models look that reason openly or not at all: a stream shows all that they generate, apart from a part of its last moments. Of any other
   * model, a stream that breaks off may have cost the largest output that its request allowed.
   */
  readonly openModels?: RegExp;
  /** How the ids of models look that a local daemon passes on to a service which is paid: they are not free because the daemon is local. */
  readonly passedOn?: RegExp;
  /** Services that speak the protocol of this adapter. */
  readonly presets?: Presets;
  /** Set for a connection. */
  readonly connection?: ConnectionProfile;
  /** Makes a connection of this adapter, which shares its network connections and is closed with it. Absent for an adapter that has none. Must not do I/O. */
  connect?(profile: ConnectionProfile): Adapter;
  /** GETs a text without any credential; undefined if there is no answer, or an error. Never rejects for a fault of the server. */
  look?(call: AdapterCall, url: URL): Promise<string | undefined>;
  /** For a connection: asks the upstream for its own list; undefined if it has none. Rejects with a BlockhouseError. */
  listServed?(call: AdapterCall): Promise<readonly ListedModel[] | undefined>;
  /** Model ids for people to choose from; when set, the provider is not asked. */
  readonly curatedModels?: readonly string[];
  /** Asks the provider for its model ids; called only when there is no curated list. Rejects with a BlockhouseError. */
  listModels(call: AdapterCall): Promise<readonly string[]>;
  /** The cheapest authenticated probe, never an inference. Resolves with a sentence for people; rejects with a BlockhouseError. */
  verify(call: AdapterCall): Promise<string>;
  /**
   * Looks for what the settings can't tell: a daemon that answers, keys in a credential chain. Never leaves the machine and its own network for a
   * provider. Rejects with a BlockhouseError: ADAPTER_NOT_CONFIGURED if a credential is missing, an UPSTREAM_ code if nothing answers.
   */
  probe?(call: AdapterCall): Promise<void>;
  /** Loads what the first call needs, so that the call does not wait for it. Optional. */
  prepare?(): Promise<void>;
  /** Ends every call and closes all connections. Called once, at shutdown. May take time; must not reject. */
  close(): Promise<void>;
}

/** A part of an answer in its order, for a reader that wants more than the text. Ids of calls are unique in the answer. */
export type AnswerPiece = Extract<ChatEvent, { readonly type: 'text' | 'reasoning' | 'reasoningState' | 'toolCallStart' | 'toolCallDelta' | 'toolCall' }>;

/**
 * Where a streamed answer goes. `start` is called first, then `content`. A sink that is not `opened` after that has shown nothing; if the attempt fails,
 * `start` comes again with the next one.
 */
export interface StreamSink {
  /** The answer begins. `warnings` gives what was left out of the request. */
  start(start: ChatStart, warnings?: () => readonly Warning[]): void;
  /** Takes text fragments that arrived together. False asks for a pause until `onceWritable` calls back. */
  content(fragments: readonly string[]): boolean;
  /** Takes the parts of the answer that arrived together, instead of `content`. False asks for a pause until `onceWritable` calls back. */
  pieces?(pieces: readonly AnswerPiece[]): boolean;
  /** True for a reader that wants the answer in one: the provider is not asked for a stream. */
  readonly whole?: boolean;
  /** Calls `resume` once, as soon as more text may come. */
  onceWritable(resume: () => void): void;
  /** True once a byte has gone to the caller. From then on no further attempt is made. */
  readonly opened: boolean;
  /** Milliseconds until the stream opens by itself, without content; Infinity when it never does. No wait for a further attempt is longer. */
  readonly opensInMs: number;
}

/** What sends notices to people's own receivers. The core decides what is sent and when. */
export interface NoticeSender {
  /**
   * One POST, without redirects and without a second try. Resolves with the HTTP status as soon as the answer has begun; what follows is not read. Rejects with a
   * BlockhouseError: UPSTREAM_TIMEOUT, UPSTREAM_UNREACHABLE, INVALID_REQUEST for an address that no call may be made to, CANCELLED.
   */
  send(url: URL, headers: Readonly<Record<string, string>>, body: Uint8Array, signal: AbortSignal): Promise<number>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** What sends to a collector of OpenTelemetry that takes plain HTTP. */
export interface CollectorSender {
  /** One POST, without a second try. Rejects with a BlockhouseError if no whole answer came in time. */
  post(url: URL, headers: Readonly<Record<string, string>>, body: Buffer, timeoutMs: number): Promise<{ readonly status: number; readonly body: Buffer }>;
  close(): Promise<void>;
}
