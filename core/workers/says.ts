// What the processes of one server say: a primary that holds the workspace, and workers that serve its clients. Pure: types only.
import type { CodeHolder, PassKind, Timed } from '../auth/sessions.ts';
import type { CoreEvents } from '../bus.ts';
import type { Happened } from '../event-ring.ts';
import type { AdapterFigures, CallState, GatewayCalls, GatewayLoad } from '../gateway/live.ts';
import type { Window } from '../gateway/meter.ts';
import type { PricedModel } from '../gateway/pricing.ts';
import type { GatewayCostsBy, KeyLevels } from '../keys/named-key.ts';
import type { CostsFilter, PeriodSpend } from '../store/port.ts';
import type { CostsReport, DebuggedBodies, ServerNode, Usage } from '../types.ts';

/** A call of a key with limits that asks for room: what its account must know of it. */
export interface CallFacts {
  /** Of this worker. */
  readonly call: number;
  readonly requestId: string;
  readonly key: string;
  readonly adapterId: string;
  readonly model: string;
  readonly askedAs?: string | undefined;
  readonly hasOutput: boolean;
  readonly choices: number;
  readonly inputTokens: number;
  readonly hourInCache: boolean;
  /** Another model was asked for the same request before, and has counted. */
  readonly isCounted: boolean;
  readonly pricedAs?: PricedModel | undefined;
  readonly usage?: Usage | undefined;
}

/** Something that has happened in a worker. `call.finished` has what the account needs besides. */
export type WorkerFact =
  | { readonly name: Exclude<keyof CoreEvents, 'call.finished'>; readonly data: unknown }
  | {
      readonly name: 'call.finished';
      readonly data: CoreEvents['call.finished'];
      /** Set for a call that asked for room. */
      readonly call?: number | undefined;
      readonly pricedAs?: PricedModel | undefined;
      /** The group of its key. */
      readonly group?: string | undefined;
    };

/** What a worker says to the primary. */
export interface WorkerSays {
  readonly tells: {
    /** In their order. */
    readonly facts: readonly WorkerFact[];
    /** What calls of keys with limits have used so far. */
    readonly used: readonly { readonly call: number; readonly usage: Usage }[];
    /** A call waits for its next attempt, and has no place meanwhile. */
    readonly paused: { readonly call: number };
    /** A key with limits by the minute has asked something without a call. */
    readonly requested: { readonly key: string; readonly adapterId: string };
    readonly follow: { readonly id: number; readonly since?: number | undefined };
    readonly unfollow: { readonly id: number };
    readonly log: readonly string[];
    /** Of a key that is debugged. */
    readonly bodies: DebuggedBodies;
    /** The id of a whole server among those of its database. */
    readonly node: string;
  };
  readonly asks: {
    /** Answered when the call has its places and may be sent; rejects as `Hold.reserve` does. */
    readonly reserve: readonly [CallFacts, KeyLevels | undefined];
    readonly costs: readonly [{ readonly by: GatewayCostsBy; readonly filter: Omit<CostsFilter, 'block'> | undefined }, CostsReport];
    readonly spent: readonly [{ readonly kind: 'key' | 'group'; readonly name: string }, PeriodSpend];
    /** Answered when no other worker changes this file. */
    readonly turn: readonly [{ readonly path: string }, undefined];
    /** Answered when the other workers have looked at what was changed. */
    readonly endTurn: readonly [{ readonly path: string }, undefined];
    readonly addPass: readonly [{ readonly kind: PassKind; readonly ms: number; readonly holder: CodeHolder }, Timed];
    readonly passHolder: readonly [{ readonly kind: PassKind; readonly text: string }, { readonly holder?: CodeHolder | undefined }];
    readonly takePass: readonly [{ readonly kind: PassKind; readonly text: string }, boolean];
    readonly figures: readonly [{ readonly window: Window }, readonly AdapterFigures[]];
    readonly nodes: readonly [undefined, readonly ServerNode[]];
    readonly calls: readonly [undefined, GatewayCalls];
    readonly endRequest: readonly [{ readonly requestId: string }, boolean];
    readonly bodies: readonly [{ readonly requestId: string }, readonly DebuggedBodies[]];
    /** Answered when the bodies of keys that are no longer debugged are deleted. */
    readonly lookAtKeys: readonly [undefined, undefined];
    /** Answered when all that was said before has its effect. */
    readonly sync: readonly [undefined, undefined];
  };
}

/** What the primary says to a worker. */
export interface PrimarySays {
  readonly tells: {
    /** Somebody follows the events, so that all of them are wanted. */
    readonly watched: undefined;
    readonly happened: { readonly id: number; readonly event: Happened };
    /** The lines of its calls stand in the ledger. */
    readonly counted: readonly (readonly [call: number, costUsd: number | null])[];
  };
  readonly asks: {
    /** Another process has changed a setting or a credential. Answered when this one uses it. */
    readonly changed: readonly [undefined, undefined];
    /** Answered after all facts of the worker. So are the questions below. */
    readonly flush: readonly [undefined, undefined];
    readonly loads: readonly [undefined, readonly { readonly id: string; readonly load: GatewayLoad }[]];
    readonly live: readonly [undefined, readonly CallState[]];
    readonly endRequest: readonly [{ readonly requestId: string }, boolean];
  };
}
