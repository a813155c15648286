// What can be seen of the gateway at one moment: its calls under way, and how busy each provider is. Types alone.
import type { CallKind, FailedAttempt } from '../bus.ts';
import type { BlockhouseError } from '../errors.ts';
import type { DebuggedBodies, Usage } from '../types.ts';
import type { EndedCall, MeterPoint, Window } from './meter.ts';
import type { QueueLimits } from './queue.ts';

/** A call under way, as it is at this moment. */
export interface LiveCall {
  readonly requestId: string;
  state(): CallState;
  /** Stops reading the answer for the account alone, whose caller has left or leaves; false if that is not done with it. With `closing`, the reason, for a caller who waits as well. */
  stopReading(closing?: BlockhouseError): boolean;
  /** Settles the call if it has not ended when the gateway has closed. */
  abandon(): void;
}

/** How far a call has come. Milliseconds since its acceptance. */
export interface CallState {
  readonly kind: CallKind;
  readonly requestId: string;
  readonly adapter: string;
  readonly model: string;
  /** As `call.finished` says. */
  readonly asked: string | undefined;
  readonly path: string | undefined;
  readonly caller: string | undefined;
  readonly key: string | undefined;
  /** The label of the key of its connection, where that has several. */
  readonly credential?: string | undefined;
  /** The message of a block that the call is to answer. */
  readonly messageId: string | undefined;
  readonly phase: 'waiting' | 'sent' | 'streaming';
  /** How many were made, the one that is under way included. */
  readonly attempts: number;
  readonly failed: readonly FailedAttempt[] | undefined;
  readonly queuedMs: number | undefined;
  /** Until the last attempt was sent. */
  readonly sentMs: number | undefined;
  readonly firstTextMs: number | undefined;
  readonly durationMs: number;
  readonly usage: Usage | undefined;
}

/** The phase of a breaker, and how many milliseconds until the next caller may try. `trying`: at least one call has been let through, and its end is awaited. */
export interface BreakerState {
  readonly phase: 'closed' | 'open' | 'trying';
  readonly opensInMs: number;
}

/**
 * What is paused although the destination is called for others: a model for everybody; a caller's calls, to one model if there is `model`; or one prompt of programs
 * with the token, who have neither `key` nor `caller`.
 */
export interface PausedSource {
  readonly scope: 'model' | 'caller' | 'prompt';
  readonly key: string | undefined;
  readonly caller: string | undefined;
  readonly model: string | undefined;
  readonly opensInMs: number;
}

/** What was used at one place since the server has started. */
export interface PlaceCounts {
  calls: number;
  inputTokens: number;
  cachedTokens: number;
}

/** How busy a provider is. */
export interface GatewayLoad {
  readonly atWork: number;
  readonly waiting: number;
  readonly limits: QueueLimits;
  readonly breaker: BreakerState;
  /** What calls have used there. */
  readonly counts?: PlaceCounts;
  /** Models and callers that are paused, although it is called for others. */
  readonly paused: readonly PausedSource[];
  /** What is missing for a call, judged by the settings alone; no provider is asked. */
  readonly missing: string | undefined;
}

/** How a provider does. */
export interface AdapterFigures {
  readonly id: string;
  readonly load: GatewayLoad;
  readonly series: readonly MeterPoint[];
}

/** The calls under way, and those that have ended; the newest first. */
export interface GatewayCalls {
  readonly live: readonly CallState[];
  readonly ended: readonly EndedCall[];
}

/** The bodies of requests of keys that are debugged. */
export interface BodyKeeper {
  /** Keeps them, if their key is debugged still. Must not throw. */
  keep(bodies: DebuggedBodies): void;
  /** Those of a request, the oldest first. */
  of(requestId: string): Promise<readonly DebuggedBodies[]>;
  /** Looks which keys are debugged now. Resolves when the bodies of all others are deleted. */
  look(): Promise<void>;
}

/** Ends the work for a request of a client of this process; false if there is none of this id. */
export type EndRequest = (requestId: string) => boolean;

/** What people watch of the gateway: of all processes that serve the same port. */
export interface GatewayView {
  figures(window: Window): Promise<readonly AdapterFigures[]>;
  calls(): Promise<GatewayCalls>;
  /** Ends a request of a client of another process; false if none of them has it. */
  endElsewhere(requestId: string): Promise<boolean>;
  /** For a transport: how requests of its clients end, when another process asks. */
  addEnd(end: EndRequest): void;
}
