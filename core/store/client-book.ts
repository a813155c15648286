// What the core asks of a store for the calls of clients and the caps of their keys. Pure: types only.
import type { ErrorCode } from '../errors.ts';
import type { Usage } from '../schemas/chat.ts';

/** What a key has spent in a day. A call without a known price counts with what it costs at least, and of a model without one in tokens only. */
export interface KeySpend {
  readonly usd: number;
  readonly tokens: number;
  /** Calls that cost something, or may have. */
  readonly calls: number;
  /** Of them, those that do not count in `usd`, because their price is not known. */
  readonly unpricedCalls: number;
}

/** What a key or a group has spent on a UTC day, in its week (from Monday) and in its month. */
export interface PeriodSums {
  readonly day: KeySpend;
  readonly week: KeySpend;
  readonly month: KeySpend;
}

/** The same, with its last use. */
export interface PeriodSpend extends PeriodSums {
  /** The newest UTC day with a call that counts; null without one that is still known. */
  readonly lastDay: string | null;
}

/** One call of a client. */
export interface GatewayCall {
  /** When it ended: ISO 8601, UTC. */
  readonly at: string;
  readonly requestId: string;
  /** The name of the client's key; null for the token of the workspace. */
  readonly key: string | null;
  /** The group in which the key was. */
  readonly group?: string | undefined;
  readonly provider: string;
  /** The label of the key of the connection, where it has several. */
  readonly credential?: string | undefined;
  readonly model: string;
  /** Null when nothing is known of it. */
  readonly usage: Usage | null;
  /** Null without a known price. */
  readonly costUsd: number | null;
  /** Only where `costUsd` is null although its model has a price: USD that the call costs at least, which caps count. */
  readonly leastUsd?: number | null | undefined;
  /** Milliseconds from acceptance to the first text; null when there was none. */
  readonly firstTextMs: number | null;
  readonly durationMs: number;
  /** Null when it succeeded. */
  readonly error: ErrorCode | null;
  /** Set if the call had a line of its own in the journal. */
  readonly id?: string | undefined;
  /** For how many calls its line is, which have all cost nothing: 1 if absent; 0 for a call that a later line has, too. */
  readonly calls?: number | undefined;
}

/** What is noted of a call: the counts that apply if it never settles. */
export type CallNote = Pick<OpenCall, 'usage' | 'costUsd' | 'leastUsd'>;

/** A call that is about to be sent, or under way, or whose end the ledger does not have yet; with the counts that apply if it never settles. A book that keeps it copies its members by their names: some may be worked out. */
export interface OpenCall {
  /** Unique in the workspace. */
  readonly id: string;
  /** When it was noted: ISO 8601, UTC. */
  readonly at: string;
  readonly requestId: string;
  readonly key: string;
  readonly group?: string | undefined;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd: number | null;
  /** As in the ledger. */
  readonly leastUsd?: number | null | undefined;
  /** What the line of its end says: SHUTTING_DOWN until it has ended. */
  readonly error: ErrorCode | null;
  /** Where the book keeps it; set by the book alone. */
  place?: unknown;
}

/** A call that was noted, by what the book knows it by. */
export type NotedCall = CallNote & Pick<OpenCall, 'id' | 'place'>;

/**
 * Where the calls under way of keys with limits are noted on this machine, so that a process that is killed leaves what they may have cost. `note` and `noteAlone` are those of a
 * book; no other call of this process is noted before `left` has resolved.
 */
export interface CallNotes extends Pick<GatewayBook, 'note' | 'noteAlone'> {
  /** What earlier processes have left: each call once, as it was noted last, or as it ended. Rejects with STORAGE_FAILED, WORKSPACE_DAMAGED. */
  left(): Promise<readonly OpenCall[]>;
  /** Notes how a call has ended, and returns its id if it has a line of its own. */
  end(noted: NotedCall, call: GatewayCall): string | undefined;
  /** The lines of all calls that have ended by now are being written. */
  beginForget(): void;
  /** They are written, with those of the calls of these ids. */
  forget(ids: readonly string[]): void;
  /** What was not forgotten stays for the next process. */
  close(): Promise<void>;
}

/** What calls of clients use. */
export type Used = Pick<KeySpend, 'usd' | 'tokens'>;

/** The caps of a key or of a group. Null means that there is no cap. */
export interface Caps {
  readonly kind: 'key' | 'group';
  readonly name: string;
  readonly usdPerDay: number | null;
  readonly usdPerWeek: number | null;
  readonly usdPerMonth: number | null;
  readonly tokensPerDay: number | null;
  readonly tokensPerMonth: number | null;
}

/** A key, as far as its caps go: its own, and those of its group. */
export interface CappedKey {
  readonly name: string;
  readonly bounds: readonly Caps[];
  /** Where the book keeps what was spent, for as long as the limits of the key are the same; set by the book alone. */
  place?: unknown;
}

/** What the calls under way of a server use of the caps of a key or a group, without the call that asks. */
export interface UnderWay {
  /** A running sum, which is at most a tenth of a second old, with the call that asks. */
  roughly(bound: Pick<Caps, 'kind' | 'name'>): Used;
  exactly(bound: Pick<Caps, 'kind' | 'name'>): Used;
  /** What the call that asks may use by itself, where that is known. */
  own?(): Used;
}

/** Why a key may make no call now. */
export interface NoRoom {
  /** Whose cap is reached. */
  readonly bound: Pick<Caps, 'kind' | 'name'>;
  /** The cap, for people: `5 USD a day`. */
  readonly cap: string;
  /** Calls under way may use it up, so there may be room when one has ended; otherwise it is used up until its period ends. */
  readonly isUnderWay: boolean;
  /** When its period ends, for people: `on Monday at 00:00 UTC`. */
  readonly resets: string;
  readonly retryAfterMs: number;
}

/**
 * The calls of clients. K1: what may be sent at once is answered at once. K2: what servers may spend for a key is together never more than its caps leave,
 * except for the calls under way. K3: a call counts once, from its end on, whether or not its line could be written.
 */
export interface GatewayBook {
  /** True where other servers count, too: then there may be room for a call, and not for one that uses more. */
  readonly isShared?: boolean;
  /**
   * Whether a call of a key may be sent beside its calls under way here. Answers with a promise only where the book must be read or asked first; then ask
   * again, for meanwhile others may have come. `now`: epoch milliseconds, from who has just looked at the clock. Rejects with STORE_UNREACHABLE, or while the book can't be read.
   */
  room(key: CappedKey, underWay: UnderWay, now?: number): true | NoRoom | Promise<true | NoRoom>;
  /**
   * Undefined, or a promise that resolves, lets the call be sent: if the process is killed, the call counts, by itself or together with others of its key and model. A
   * later note of the same call replaces the one `before`. Rejects with STORAGE_FULL, or the system's own error.
   */
  note(call: OpenCall, before?: CallNote): Promise<void> | undefined;
  /** A noted call lasts longer than most: from the next moments on it counts by itself if the process is killed. */
  noteAlone(call: OpenCall): void;
  /**
   * Counts a call, and writes its line soon. `noted` is what was noted of it last: from now on, the call counts with no less than this if the process is killed; one of
   * many that count together, from the end of this turn of the event loop on. A line that can't be written is tried again with the next ones; the bus reports it once.
   */
  record(call: GatewayCall, noted?: NotedCall): void;
  /** Writes the lines that wait. What can't be written waits on, and where a database is away this rejects with STORE_UNREACHABLE. */
  flush(): Promise<void>;
  /**
   * What a key or a group has spent up to now, on all servers. A group has what its keys have spent in it, also those that have left it or were revoked.
   * Rejects as `room` does.
   */
  spent(kind: 'key' | 'group', name: string): Promise<PeriodSpend>;
  /** The mean output of a key's answers, in tokens; undefined without an answer that is known here. */
  meanOutput(key: string): number | undefined;
  /** All lines that are kept, the oldest first. Damaged ones are left out. */
  lines(): AsyncIterable<GatewayCall>;
  /** Writes the lines that wait. */
  close(): Promise<void>;
}
