// What the core asks of the world. Adapters implement `Adapter`; whoever shows an answer while it is
// written implements `StreamSink`. Pure: types only.
import type { EgressRule } from './gateway/egress.ts';
import type { Prompt } from './gateway/prompt.ts';
import type { ResolvedSettings, SettingsSpec } from './gateway/settings.ts';
import type { ChatStart, StopReason, ToolCall, Usage, Warning } from './schemas/chat.ts';

/**
 * One step of an answer. The law of a sequence of events:
 * - any number of events in any order; `text` fragments concatenate in order;
 * - a `toolCall` is complete and has parsed arguments;
 * - `usage` fields and `providerMetadata` keys overwrite earlier ones, they never add up;
 * - exactly one `stop`; usage may still follow it;
 * - the sequence ends when the adapter's promise resolves; a rejection means that no answer is complete.
 */
export type ChatEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'toolCall'; readonly toolCall: ToolCall }
  | { readonly type: 'usage'; readonly usage: ReportedUsage }
  | { readonly type: 'providerMetadata'; readonly providerMetadata: Record<string, unknown> }
  | { readonly type: 'warning'; readonly warning: Warning }
  | { readonly type: 'stop'; readonly stopReason: StopReason };

/** Counts as the provider reported them, made inclusive of cached tokens; unknown is absent. */
export type ReportedUsage = { readonly [K in keyof Omit<Usage, 'totalTokens' | 'estimated'>]?: number | undefined };

/** Takes the events of one attempt. Called synchronously, never after the attempt's promise settled. */
export interface EventSink {
  /** Events that arrived together. False asks the adapter to stop reading until `onceWritable` calls back. */
  emit(events: readonly ChatEvent[]): boolean;
  /** Registers the one callback that is called when more may be emitted. */
  onceWritable(resume: () => void): void;
}

/** Milliseconds; 0 switches a limit off. */
export interface UpstreamTimeouts {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
}

/** What every upstream call of an adapter needs. */
export interface AdapterCall {
  readonly settings: ResolvedSettings;
  readonly egress: EgressRule;
  readonly timeouts: UpstreamTimeouts;
  /** Aborted when the caller left: the upstream request must be torn down at once. */
  readonly signal: AbortSignal;
}

export interface ChatCall extends AdapterCall {
  readonly model: string;
  readonly prompt: Prompt;
  /** True when the caller wants the answer while it is written. */
  readonly stream: boolean;
  readonly sink: EventSink;
}

/** One provider. Everything but the three calls is data. */
export interface Adapter {
  readonly id: string;
  /** Other ids accepted on input, never emitted. */
  readonly aliases: readonly string[];
  readonly displayName: string;
  readonly authRequired: boolean;
  readonly defaultModel: string;
  /** The name of this provider in the price data; absent where there are no prices. */
  readonly pricesAs?: string;
  readonly supportsStreaming: boolean;
  /** Names of environment variables shown to callers. */
  readonly envVars: readonly string[];
  readonly settings: SettingsSpec;
  /** Fixed limits of this provider that differ from the gateway's defaults. */
  readonly timeouts?: Partial<UpstreamTimeouts>;
  /** Origins beside those of `baseURL` that stored keys may go to: for providers whose hosts follow from other settings. */
  trustedOrigins?(settings: ResolvedSettings): readonly string[];
  /** Says what is missing before a call can be made, or undefined. Must not do I/O. */
  missingCredential(settings: ResolvedSettings): string | undefined;
  /**
   * The most tokens that a prompt and its answer may have together; undefined where the adapter knows no limit. May ask the provider once for
   * each model. Absent where nothing needs to know. Rejects with a BlockhouseError when there is no connection.
   */
  contextTokens?(call: AdapterCall, model: string): Promise<number | undefined>;
  /** Makes one attempt. Rejects with a BlockhouseError whose `retryable` and `mayHaveRun` are true to the facts. */
  chat(call: ChatCall): Promise<void>;
  /** Model ids for people to choose from, where they need not be asked for. */
  readonly curatedModels?: readonly string[];
  /** Asks the provider for them; called only where there is no curated list. */
  listModels(call: AdapterCall): Promise<readonly string[]>;
  /** The cheapest authenticated probe, never an inference. Resolves with a sentence for people; rejects with a BlockhouseError. */
  verify(call: AdapterCall): Promise<string>;
  /** Loads what the first call needs, so that it needs no time for that. May be left out. */
  prepare?(): Promise<void>;
  /** Closes idle connections. Called once, at shutdown; may be slow, must not throw. */
  close(): Promise<void>;
}

/** Where a streamed answer goes. `start` comes exactly once and first; then `content`. */
export interface StreamSink {
  start(start: ChatStart): void;
  /** Text fragments that arrived together. False asks for a pause until `onceWritable` calls back. */
  content(fragments: readonly string[]): boolean;
  onceWritable(resume: () => void): void;
  /** True once any byte has left towards the caller: from then on an attempt is never repeated. */
  readonly opened: boolean;
  /** Milliseconds until it opens by itself for want of content; Infinity where it never does. No wait for a repetition outlasts it. */
  readonly opensInMs: number;
}
