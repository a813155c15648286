// What is copied from one store into another, whichever they are. Pure: types only.
import type { ArchiveInfo } from '../../schemas/block-api.ts';
import type { BlockContents, Entries, GatewayCall, LedgerLine, ScheduleStates, Spend } from '../port.ts';
import type { KeyDay } from './spend-days.ts';

/** One file of the log of a block. */
export interface CopiedLog {
  readonly file: string;
  /** Of its last line. */
  readonly at: Date;
  /** Its bytes, each time from the beginning. */
  pieces(): AsyncIterable<Buffer>;
}

/** One file of the runs of a block: the journal of a run, or a whole result. */
export interface CopiedRun {
  readonly file: string;
  /** When a result was kept; undefined where that is not known. */
  readonly at: Date | undefined;
  /** Rejects with BLOCK_DAMAGED. */
  bytes(): Promise<Buffer>;
}

/** Everything of one block. */
export interface CopiedBlock {
  /** `blocks/<name>`, or `archive/<archive name>`. */
  readonly place: string;
  /** `schedule` only of a block that has, or had, schedules. */
  readonly documents: Omit<BlockContents, 'chat'> & { readonly schedule?: ScheduleStates };
  /** Undefined for a block that is not in the archive. */
  readonly archived: ArchiveInfo | undefined;
  readonly logs: readonly CopiedLog[];
  /** Sorted by their names. */
  readonly runs: readonly CopiedRun[];
  /** What of it is not copied, for people. */
  readonly left: readonly string[];
  /** The whole conversation in its order, some entries at a time, each time from the beginning. */
  entries(): AsyncIterable<Entries>;
}

/** From here on, what `from` has spent before counts for `block`. */
export interface CopiedCarry {
  readonly type: 'carried';
  /** ISO 8601. */
  readonly at: string;
  readonly from: string;
  readonly block: string;
}

/** A model call of a block, or a rename. */
export type CopiedLine = (LedgerLine & { readonly id: string }) | CopiedCarry;

/** What a key or a group has spent on a UTC day. */
export type CopiedSpend = readonly [day: string, account: string, sums: KeyDay];

/** The small contents of a workspace. `token` is its hash. */
export type CopiedSetting = 'halt' | 'keys' | 'models' | 'token' | 'mcp' | 'mcp-pins' | 'prices' | 'presets';

/** What a target remembers of the copy that it holds, until a server uses it. */
export interface CopyNote {
  /** The `id` of the source. */
  readonly source: string;
  /** The source, for people. */
  readonly from: string;
  /** False from the beginning of a copy until its end: no server may use it. */
  readonly isWhole: boolean;
}

/** A workspace that is read. All reject with STORE_UNREACHABLE, or the system's own error. */
export interface CopySource {
  readonly kind: 'files' | 'postgres';
  /** For people. */
  readonly shown: string;
  /** Tells it apart from other workspaces. */
  readonly id: string;
  /** Of all blocks, sorted. */
  places(): Promise<readonly string[]>;
  /** Rejects with BLOCK_DAMAGED. */
  block(place: string): Promise<CopiedBlock>;
  /** The oldest first. */
  ledger(): AsyncIterable<CopiedLine>;
  /** What blocks of these names have spent since an instant, as servers count it. */
  spends(blocks: readonly string[], sinceMs: number): Promise<readonly Spend[]>;
  /** The calls of clients that are kept, the oldest first. */
  calls(): AsyncIterable<GatewayCall>;
  /** Of the last two months, by day. */
  spent(): Promise<readonly CopiedSpend[]>;
  settings(): Promise<ReadonlyMap<CopiedSetting, string>>;
  /** Undefined for what is no copy, or a copy that a server has used. */
  note(): Promise<CopyNote | undefined>;
  /** Rejects with WORKSPACE_BUSY if a server uses it. */
  assertUnused(): Promise<void>;
  close(): Promise<void>;
}

/** A workspace that is written. What each replaces, it replaces as a whole, or, when it rejects or the process is killed, not at all; it may read its source more than once. */
export interface CopyTarget extends CopySource {
  /** False if nothing is there yet, not even a schema. */
  readonly isThere: boolean;
  /** True if there is nothing that a copy would replace. */
  isEmpty(): Promise<boolean>;
  setNote(note: CopyNote): Promise<void>;
  put(block: CopiedBlock): Promise<void>;
  remove(place: string): Promise<void>;
  putLedger(lines: () => AsyncIterable<CopiedLine>): Promise<void>;
  putCalls(calls: () => AsyncIterable<GatewayCall>, spent: readonly CopiedSpend[]): Promise<void>;
  putSettings(settings: ReadonlyMap<CopiedSetting, string>): Promise<void>;
}
