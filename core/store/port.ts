// What the core asks of a store: the types that stores and their users share. Pure: types only.
import type { BlockhouseError } from '../errors.ts';
import type { Failures } from '../schemas/block-api.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { BlockCosts, BudgetStand, CallPurpose } from '../schemas/block-costs.ts';
import type { BlockMemory } from '../schemas/block-memory.ts';
import type { BlockPulse, QueueCounts } from '../schemas/block-pulse.ts';
import type { Usage } from '../schemas/chat.ts';
import type { MessageFound } from '../schemas/chat-api.ts';
import type { AskedModel, ChatEntry, EntryError } from '../schemas/chat-entry.ts';
import type { CostsReport, DebuggedBodies, Finding, RunRecord, ScheduleState } from '../types.ts';
import type { Claim } from './claim.ts';

export type * from './claim.ts';
export type * from './client-book.ts';
export type * from './setting.ts';

/** Where the bodies of calls of debugged keys are kept, in the folder of the machine. */
export interface BodyFile {
  /** Must not throw. */
  add(bodies: DebuggedBodies): void;
  of(requestId: string): Promise<readonly DebuggedBodies[]>;
  keepOnly(keys: Iterable<string>): Promise<void>;
  remove(): Promise<void>;
}

/** Small JSON files in folders of `notify/`, of this machine with any store. No name comes from outside unchecked. */
export interface NoticeFiles {
  /** The files of a folder in the order of their names; none without the folder. Those that can't be read are told to `onBad` and left out. */
  all(folder: string, onBad: (name: string, error: unknown) => void): Promise<readonly (readonly [name: string, value: unknown])[]>;
  /** On disk when it resolves. Rejects with STORAGE_FULL or the system's own error. */
  write(folder: string, name: string, value: unknown): Promise<void>;
  /** Nothing for a file that is not there. */
  remove(folder: string, name: string): Promise<void>;
}

/** The new content, or the same object when nothing changes, and the result for the caller. */
export interface Change<T, R> {
  readonly value: T;
  readonly result: R;
}

/** One model call. */
export interface LedgerLine {
  /** When the call ended: ISO 8601, UTC, with milliseconds. */
  readonly at: string;
  readonly block: string;
  readonly provider: string;
  /** The label of the key of the connection, where it has several. */
  readonly credential?: string | undefined;
  readonly model: string;
  readonly purpose: CallPurpose;
  /** Null when the provider reported none. */
  readonly usage: Usage | null;
  /** Null when the price is not known. */
  readonly costUsd: number | null;
  readonly leastUsd?: number | null | undefined; // as in a call of a client; a database counts it when the line is written, and does not keep it
  readonly messageId: string | null;
  /** Of a run with tools: which call of the model it was. */
  readonly step?: number | undefined;
  /** Unique to the call, so that a line that a failed write left in the file twice counts once. Older lines have none. */
  readonly id?: string;
  /** The call failed, but has, or may have, cost something. */
  readonly failed?: true;
}

/** A call of a block for a message that was sent with a key. */
export interface CallOfKey extends LedgerLine {
  readonly key: string;
  readonly latencyMs: number;
  readonly ttftMs: number | null;
}

/** Which calls a report counts. */
export interface CostsFilter {
  /** Those of this block. */
  readonly block?: string | undefined;
  /** Those of this UTC day and later ones: `2026-11-01`. */
  readonly from?: string | undefined;
  /** Those of this UTC day and earlier ones. */
  readonly to?: string | undefined;
}

/** A report: what its rows are, and which calls it counts. */
export type CostsQuery = CostsFilter & { readonly by: CostsReport['by'] };

/** How a bill is read and compared, as a person writes it. */
export interface BillQuery {
  /** The provider or connection whose bill it is; the one that was called, if it is missing. */
  readonly connection?: string | undefined;
  /** What may differ, such as `0.5%`. */
  readonly tolerance?: string | undefined;
  /** Which column is which, such as `date=Day,model=SKU,usd=Cost`. */
  readonly columns?: string | undefined;
}

/** What was spent in a period. A call without a known price counts in tokens only. */
export interface Spend {
  readonly usd: number;
  readonly tokens: number;
}

/** What a call may cost at most. */
export interface WorstCase {
  /** Null when the price is unknown. */
  readonly usd: number | null;
  readonly tokens: number;
}

/** The fields of `budget` that are caps. */
export type BudgetCap = 'dailyUsd' | 'monthlyUsd' | 'dailyTokens';

/** Whether the next call fits. */
export type BudgetVerdict =
  | { readonly kind: 'ok'; readonly stand: BudgetStand }
  | {
      readonly kind: 'exceeded';
      readonly stand: BudgetStand;
      /** If several are reached, the one that resets last. */
      readonly cap: BudgetCap;
      /** Epoch milliseconds. */
      readonly resetsAt: number;
      readonly message: string;
      readonly fix: string;
    };

/** A call that needs room under the caps of its block. */
export interface CallToReserve {
  /** The `id` that the line of the call will have. */
  readonly id: string;
  readonly block: string;
  readonly budget: BlockConfig['budget'];
  readonly worstCase: WorstCase;
}

/** `beside`: the call fits, but not beside the block's calls under way. Ask again when `changed` resolves. */
export type Reserved = BudgetVerdict | { readonly kind: 'beside'; readonly changed: Promise<void> };

/** The line of a call that is written together with the answer that it has paid for. */
export interface HandedLine {
  readonly line: LedgerLine;
  /** Called once the line is durable, before the answer is told to anybody. Must not reject. */
  kept(): Promise<void>;
}

/** A reading of all lines. */
export interface LedgerLines extends AsyncIterable<LedgerLine> {
  /** How many lines were skipped; known when the reading has ended. */
  readonly damagedLines: number;
  /** The number of the first line that was skipped, from 1; empty lines don't count. */
  readonly firstDamaged: number | undefined;
}

/**
 * What blocks have spent. Caps are computed from it, so that a reset, an archive or a restore under another name never lifts one.
 *
 * L1: a line whose `id` was appended before changes nothing. L2: what was paid counts, even where its line can't be written yet. L3: a line ends the
 * reservation of its `id` in the step in which it begins to count.
 */
export interface LedgerStore {
  /** Looks and holds in one step: with `ok` the call is held until its line is appended, or `release`. `changed` resolves when `signal` fires, too. */
  reserve(call: CallToReserve, signal: AbortSignal): Promise<Reserved>;
  /** The call has cost nothing. Does nothing if it isn't held. */
  release(call: Pick<CallToReserve, 'block' | 'id'>): void;
  /** The line is durable when this resolves. Rejects with STORAGE_FULL, or the system's own error; the line counts all the same. */
  append(line: LedgerLine): Promise<void>;
  /**
   * Where a store has both in one place: the line comes with the `settle` of its message, which ends the reservation, too. One that does not come within a second, or whose
   * outcome is not known, is written as `append` does.
   */
  hand?(line: LedgerLine): void;
  /** Resolves when every paid call is durable. Rejects as `append` does. */
  ready(): Promise<void>;
  /** What `from` has spent until now counts for `to` from now on. */
  carry(from: string, to: string): Promise<void>;
  /** What a block has spent since each of some instants, in epoch milliseconds, at most 32 days ago. Rejects while the ledger can't be read. */
  spend<const T extends readonly number[]>(block: string, sinceMs: T): Promise<{ readonly [I in keyof T]: Spend }>;
  /** Epoch milliseconds of the newest call; undefined when there is none. Rejects as `spend` does. */
  newest(block: string): Promise<number | undefined>;
  /** The calls of a block after an instant, in epoch milliseconds, the newest first. Earlier names of the block count. */
  newestFirst(block: string, sinceMs: number): AsyncIterable<LedgerLine>;
  /** All calls, the oldest first. */
  lines(): LedgerLines;
  /** What the calls that the query has come to, as from all lines. Rejects with INVALID_REQUEST for a filter that is wrong. */
  report(query: CostsQuery): Promise<CostsReport>;
  /** Reports on the bus when the ledger can't be used. Never rejects. */
  tellDamage(): Promise<void>;
  /** Waits for the appended lines; later ones are refused. */
  close(): Promise<void>;
}

/** The entries of a conversation in their order. */
export type Entries = readonly ChatEntry[];

/** A message to append. */
export interface MessageToAppend {
  /** Undefined for that of the message that is asked again. */
  readonly content: string | undefined;
  /** The last message, or its answer, that is asked again by this one, and the model to ask. */
  readonly again?: { readonly id: string; readonly asks: AskedModel | undefined } | undefined;
  readonly channel: ChatEntry['channel'];
  /** How many earlier exchanges the model sees; undefined for all that fit. */
  readonly window?: number | undefined;
  /** How it came, where that is kept. */
  readonly chain?: ChatEntry['chain'];
  /** The same `clientId` is the same message. */
  readonly clientId: string | undefined;
  /** How many messages may wait. */
  readonly cap: number;
}

/** The result of appending: a new message, or an earlier one with the same clientId. */
export interface Added {
  readonly entry: ChatEntry;
  /** The number of messages that wait before it. */
  readonly position: number;
  readonly isNew: boolean;
}

/** What was cancelled. */
export interface Cancelled {
  readonly entry: ChatEntry;
  readonly hadFailed: boolean;
}

/** An outcome that was stored. */
export interface Settled {
  /** The answer as it is stored: its id is another one when others have grown past it. */
  readonly answer: ChatEntry | undefined;
}

/** The status that ends a message, and the fields to store with it. */
export type Outcome = Pick<ChatEntry, 'status'> & Partial<ChatEntry>;

/** How a message goes back into the queue. */
export interface BackInQueue {
  /** ISO 8601; left out: at once. */
  readonly nextAttemptAt?: string;
  readonly error?: EntryError | null;
  /** False takes the attempt back that `begin` has counted. */
  readonly countsAsAttempt: boolean;
  /** The message waits for a person to decide these. It keeps its place. */
  readonly waitingFor?: readonly string[];
}

/** How records of a run are written. */
export interface AppendOptions {
  /** True if they may be lost with the machine. They are not lost with the process. */
  readonly quiet?: boolean;
}

/** When a message is given up. */
export interface RecoverRules {
  /** A queued message that is older expires. */
  readonly staleAfterMs: number;
  readonly maxAttempts: number;
  /** Messages with runs, which are not given up here: true for one whose last attempt has got on, so that it does not count. */
  readonly runs?: ReadonlyMap<string, boolean>;
}

/** A conversation in order, and what that took. */
export interface Recovered {
  readonly queued: number;
  /** The message whose turn it is. */
  readonly next: ChatEntry | undefined;
  /** The messages that have expired or failed. */
  readonly over: Entries;
}

/** The place of a page: before an entry, after one, or, without both, at the end. */
export interface PagePlace {
  readonly limit: number;
  readonly before?: string | undefined;
  readonly since?: string | undefined;
}

/**
 * The messages of one block and their answers. Every change is durable when it resolves. All reject with BLOCK_DAMAGED, STORAGE_FAILED, STORE_UNREACHABLE or,
 * when something is written, STORAGE_FULL. What takes a claim is the work of the block's owner, and rejects with LEASE_LOST when another one has it.
 *
 * C1: the order of entries is their order here, never that of clocks. C2: a message has exactly one status. C3: it has at most one answer. C4: nothing is begun
 * while another is in process. C5: a new id is greater, as text, than all before it.
 */
export interface Conversation {
  /** The id of an entry that is about to be made. */
  newId(): string;
  /** An id between those of all entries and those that are made later. A damaged conversation has no entries. */
  border(): Promise<string>;
  /** The active entries. */
  entries(): Promise<Entries>;
  /** How many of them wait, are being answered, or have failed. */
  counts(): Promise<QueueCounts>;
  /** Entries of the whole conversation, the oldest first. Throws MESSAGE_NOT_FOUND if no entry has the id `before` or `since`. */
  page(place: PagePlace): Promise<Entries>;
  /** An entry of the whole conversation and its answer. `seen`: entries that were just read. Throws MESSAGE_NOT_FOUND. */
  message(id: string, seen?: Entries): Promise<MessageFound>;
  /**
   * Queues a message. The id alone is known of an earlier one with this clientId that is archived. Throws QUEUE_FULL. Where a message is asked again: also
   * MESSAGE_NOT_FOUND, and WRONG_STATE unless it is the last one and has its outcome.
   */
  append(message: MessageToAppend): Promise<Added | { readonly archivedId: string }>;
  /** Puts the conversation in order: completes entries that a person wrote, queues again what broke off, and ends what is given up. */
  recover(claim: Claim, rules: RecoverRules): Promise<Recovered>;
  /** Marks a message as being processed and counts the attempt; undefined if it is no longer queued. */
  begin(claim: Claim, id: string): Promise<ChatEntry | undefined>;
  /**
   * Gives a message its outcome, together with its answer. Undefined if it has an outcome already. A line that was handed to the ledger is written in the same step, also
   * where the claim is lost or the message has its outcome: what was paid counts.
   */
  settle(claim: Claim, id: string, outcome: Outcome, answer: ChatEntry | undefined, bill?: HandedLine): Promise<Settled | undefined>;
  /** Puts a message that is being processed back into the queue. False if it has an outcome. */
  requeue(claim: Claim, id: string, how: BackInQueue): Promise<boolean>;
  /** Puts every message that is being processed back into the queue; the attempt counts. */
  requeueAll(claim: Claim): Promise<void>;
  /** Ends a message that waits, or gives up on one that failed. `asked`: another server answers it, knows, and will act. Throws MESSAGE_NOT_FOUND, WRONG_STATE. */
  cancel(id: string, claim: Claim | undefined): Promise<Cancelled | 'asked'>;
  /** Queues a message again that ended without an answer, at the end. Throws MESSAGE_NOT_FOUND, WRONG_STATE, QUEUE_FULL. */
  retry(id: string, cap: number): Promise<ChatEntry>;
  /**
   * Appends to the journal of a message's run; the first of `records` has the number `from`, counted from 0. Durable when it resolves, unless `quiet`. The same
   * number again with the same record changes nothing; with another one it rejects with REVISION_MISMATCH. After LEASE_LOST nothing was appended. Without a claim, as
   * people decide: WRONG_STATE while another server works on a message of the block.
   */
  appendSteps(claim: Claim | undefined, messageId: string, from: number, records: readonly RunRecord[], options?: AppendOptions): Promise<void>;
  /** The journal of a message's run; empty if it has none. */
  steps(messageId: string): Promise<readonly RunRecord[]>;
  /** A whole result of a call, by its place in the run (`3.1`); undefined if there is none, or no longer. */
  result(messageId: string, ref: string): Promise<Uint8Array | undefined>;
  /** Keeps a whole result. It may be lost with the machine, and the oldest of a block are dropped. */
  keepResult(claim: Claim, messageId: string, ref: string, bytes: Uint8Array): Promise<void>;
  /** Deletes the journals of all messages that have their outcome. Resolves with the number of what was deleted. */
  clearSteps(): Promise<number>;
}

/** Everything of one block; of the conversation at least what counts of it (`countedOf`). */
export interface BlockContents {
  readonly config: BlockConfig;
  readonly memory: BlockMemory;
  readonly costs: BlockCosts;
  readonly pulse: BlockPulse;
  readonly chat: Entries;
}

/** What an entry of the list is made of: of the conversation, only what it came to. */
export interface BlockFacts extends Omit<BlockContents, 'chat' | 'memory'> {
  readonly queue: QueueCounts;
  readonly failures: Failures;
  /** ISO 8601. */
  readonly lastMessageAt: string | null;
}

/** How a document is changed. */
export interface UpdateOptions {
  readonly quiet?: boolean;
  readonly claim?: Claim;
  readonly isDerived?: boolean;
}

/** What was stored, of one block. D1: a change is a function without effects, applied to the newest content, maybe more than once. D2: it is durable when it resolves. */
export interface Document<T> {
  /** The content as it is now, which must not be changed. Throws BLOCK_DAMAGED, or STORAGE_FAILED when another try may succeed. */
  read(): Promise<T>;
  /**
   * Changes the content. Throws BLOCK_DAMAGED, STORAGE_FULL, STORAGE_FAILED, or what `change` throws; with a `claim`, LEASE_LOST when another server has the
   * block. `quiet`: readers need not look because of it. `isDerived`: the change can be made again, so it may be stored half a second later, or be lost with the
   * machine, or where somebody else changes the content meanwhile.
   */
  update<R>(change: (value: T) => Change<T, R>, options?: UpdateOptions): Promise<R>;
  /** Replaces the content, damaged or not; `make` gets undefined for damaged content, which has been kept by then. */
  replace(make: (old: T | undefined) => T): Promise<void>;
}

/** What is remembered of the schedules of a block, by their ids. */
export type ScheduleStates = Readonly<Record<string, ScheduleState>>;

/** What a block works with. */
export type BlockDocuments = { readonly [F in Exclude<keyof BlockContents, 'chat'>]: Document<BlockContents[F]> } & { readonly conversation: Conversation };

/** The error to throw after a change that the disk did not confirm, or that left files behind; undefined if there is none. */
export type Unconfirmed = BlockhouseError | undefined;

/** The result of archiving a block. */
export interface Stored {
  readonly archiveName: string;
  readonly unconfirmed: Unconfirmed;
}

/** Which bytes are read: those before `before`, by default before the end of the file, and `maxBytes` at most. */
export interface LogRange {
  readonly before?: number | undefined;
  readonly maxBytes?: number | undefined;
}

/** What the doctor finds in a database without a server. */
export interface StoreCheck {
  /** How many blocks there are. */
  readonly blocks: number;
  readonly findings: readonly Finding[];
}
