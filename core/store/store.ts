// What the core asks of a store as a whole: the blocks with their logs, and the archive. Pure: types only.

import type { CoreBus } from '../bus.ts';
import type { ArchiveInfo, BlockEntry, LogFile, LogPart } from '../schemas/block-api.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { BlockState, BlockStatus } from '../schemas/block-pulse.ts';
import type { Finding, ServerNode, StreamFrame } from '../types.ts';
import type { ApprovalStore } from './approvals.ts';
import type { PassStore } from './passes.ts';
import type { RunFact } from './run-fact.ts';
import type { SearchStore } from './search.ts';
import type {
  BlockContents,
  BlockDocuments,
  BlockFacts,
  BlockRef,
  CallNotes,
  Claim,
  Document,
  GatewayBook,
  LedgerStore,
  LogRange,
  Membership,
  ScheduleStates,
  SettingStore,
  Standing,
  Stored,
  Unconfirmed,
} from './port.ts';

export type * from './search.ts';

/** The levels of a log line, the least important first. */
export type LogLevel = 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
/** The fields of an event, by name. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The log of one block. G1: `open` and `write` hold nobody up and never fail; lines that were dropped are counted in the log. G2: lines stay in order. */
export interface LogStore {
  /** The next line begins a new file. */
  open(channel: string): void;
  write(level: LogLevel, event: string, fields?: LogFields): void;
  /** Lines that other servers write are reported with `onLogged` as well, within a second, until the returned function is called. One at a time. */
  follow(): () => void;
  /** Resolves when every line is stored, or its failure was reported. */
  flush(): Promise<void>;
  /** Deletes everything, and resolves with the number of files. Rejects with BLOCK_DAMAGED, or the system's own error. */
  clear(): Promise<number>;
  /** The newest files with the end of each, after the lines that wait. Rejects as `clear` does. */
  newest(): Promise<LogFile[]>;
  /** The last whole lines before a place in a file, after the lines that wait. Rejects with INVALID_REQUEST naming the field, or as `clear` does. */
  part(file: string, range: LogRange): Promise<LogPart>;
}

/** How a document has changed. */
export interface ChangeNotice {
  /** True if this server wrote it, not a person or another program. */
  readonly own: boolean;
  /** True if the writer asked for no callbacks. */
  readonly quiet: boolean;
  /** True if the content before it was damaged. */
  readonly healed: boolean;
}

/** Callbacks for what can't be read. */
export interface DamageListener {
  /** Called once for each damaged content. `copy` is the name of what keeps it. */
  onDamaged(document: keyof BlockContents, reason: string, copy: string | undefined): void;
  /** Called when a derived document could not be read and is made again. */
  onRebuilt(document: keyof BlockContents, reason: string): void;
}

/** Callbacks for what happens to a block that is open. */
export interface BlockListener extends DamageListener {
  /** Called after each change of a document, by the server or by anybody else. */
  onChanged(document: keyof BlockContents, change: ChangeNotice): void;
  /** Called when somebody has changed anything else of the block; only during a `watch`. */
  onOther(): void;
  /** Called with lines of the log, and where they begin in their file, in bytes. */
  onLogged(file: string, offset: number, text: string): void;
  /** The log can't be written. */
  onLogFault(error: Error): void;
  /** Asked at each write, so that a change of the configuration takes effect at once. */
  logLimits(): { readonly maxFileBytes: number; readonly maxFiles: number };
}

/** A block that is open. Its writes are ordered, so there is at most one for each block in a process. */
export interface StoredBlock {
  /** How it stands for all servers; undefined where only this process knows, which then has the truth. Rejects with BLOCK_NOT_FOUND. */
  standing(): Promise<Standing | undefined>;
  readonly documents: BlockDocuments;
  /** Empty where nothing was stored yet, which makes no document. */
  readonly schedules: Document<ScheduleStates>;
  readonly log: LogStore;
  /** True when nothing is being read or written. */
  readonly isQuiet: boolean;
  /** All documents. Rejects with BLOCK_DAMAGED. */
  contents(): Promise<BlockContents>;
  /** Looks for changes by others, and reports them at once, until the returned function is called. Without it they are found when something is read. */
  watch(): () => void;
  /** How much it holds, logs and archived messages included. Empty if that is not known. */
  measure(): Promise<{ readonly sizeBytes?: number; readonly files?: number }>;
  /** Everything as a tar.gz. Rejects with INVALID_REQUEST when that is too large, or with BLOCK_DAMAGED. */
  pack(): Promise<Uint8Array>;
  /** Refuses further writes. Resolves when the waiting ones are durable. */
  close(): Promise<void>;
  /** Allows writes again, after a move that failed. */
  reopen(): void;
}

/** How the list of blocks makes its entries. */
export interface EntrySource {
  /** Reads a block. Rejects with BLOCK_DAMAGED. */
  read(name: string): Promise<BlockContents>;
  /** The entry of a block, at an epoch time in milliseconds. */
  entryOf(facts: BlockFacts, now: number): BlockEntry;
  /** The same of a block that stands like this, with the pulse that people see. */
  asItStands(facts: BlockFacts, standing: Standing): BlockFacts;
  /** The entry of a block whose documents can't be used, for the reason `configError`. */
  damagedEntry(name: string, configError: string): BlockEntry;
  /** True for a block that reports its changes itself. */
  isOpen(name: string): boolean;
  /** How many monitors run in this process. */
  running(): number;
}

/** What a page of the list is sorted by: names and states upwards, times and costs downwards. */
export type ListSort = 'name' | 'lastMessageAt' | 'costUsd' | 'state';

/** Which blocks a page of the list has. */
export interface ListQuery {
  /** `name` when left out. */
  readonly sort?: ListSort | undefined;
  /** What the name begins with. */
  readonly prefix?: string | undefined;
  /** One of these states. */
  readonly state?: readonly BlockState[] | undefined;
  readonly status?: BlockStatus | undefined;
  readonly tag?: string | undefined;
  /** A part of the name or of the description, in any case. */
  readonly text?: string | undefined;
  /** 1 to 1000; 100 when left out. */
  readonly limit?: number | undefined;
  /** Of the page before. */
  readonly cursor?: string | undefined;
}

/** A page of the list. */
export interface ListPage {
  readonly entries: readonly BlockEntry[];
  /** The cursor of the next one; null at the end. */
  readonly next: string | null;
}

/** Which blocks there are, and an entry for each, which is made again when its block has changed. */
export interface BlockList {
  /** How many there are, and how many of them answer messages. */
  counts(): Promise<{ readonly blocks: number; readonly monitorsRunning: number }>;
  /** The names that are known here; a misspelt one is looked for among them. */
  names(): readonly string[];
  /** The block of this name. A promise only where the store must be asked. */
  find(name: string): BlockRef | undefined | Promise<BlockRef | undefined>;
  /** True if an entry is out of date, as far as it is known. */
  readonly isStale: boolean;
  /** What the last caller of `list` got, unless it is out of date. */
  readonly listed: readonly BlockEntry[] | undefined;
  /** Sorted by name. The same frozen entries until something changes. */
  list(): Promise<readonly BlockEntry[]>;
  /** A page of the blocks that fit. Pages neither skip nor repeat what stays. Rejects with INVALID_REQUEST naming the field. */
  page(query: ListQuery): Promise<ListPage>;
  /** The entry of a block may be out of date. */
  markStale(name: string): void;
  /** All entries may be out of date, because the credentials have changed. */
  markAllStale(): void;
}

/** A rename that is under way: two moves. */
export interface Rename {
  readonly from: string;
  readonly to: string;
  /** Whether the block's monitor ran. */
  readonly wasRunning: boolean;
  /** ISO 8601: the block was archived after this. */
  readonly at: string;
}

/** How a block gets another name where that is one step. */
export interface RenameInOneStep {
  /** Renames a block and ends its claim: its spending goes along, and it is to run as before. Rejects with NAME_TAKEN, LEASE_LOST. */
  rename(claim: Claim, to: string): Promise<void>;
}

/** How a block gets another name where that is two moves, into the archive and back. */
export interface RenameByMoves {
  /** Notes a rename before anything moves: if the process ends before `end`, the next `open` of the store ends it. Rejects with STORAGE_FULL or STORAGE_FAILED; then nothing may move. */
  begin(rename: Rename): Promise<void>;
  end(): Promise<void>;
}

/** The blocks of a workspace. */
export interface BlockStore {
  /**
   * Removes what a crash left behind, and ends a rename that it interrupted; faults of that are reported on the bus. Resolves with a rename whose block has its new
   * name: `end` is called once what is kept by that name elsewhere has it, too. Rejects with the system's own error.
   */
  open(): Promise<Rename | undefined>;
  /** Ends every `watch`. */
  close(): Promise<void>;
  list(source: EntrySource): BlockList;
  /** Opens a block, which must exist. */
  block(ref: BlockRef, listener: BlockListener): StoredBlock;
  /** The documents of a block that is not open. Rejects with BLOCK_DAMAGED. */
  contents(name: string, listener: DamageListener): Promise<BlockContents>;
  /** Rejects with NAME_TAKEN. */
  assertFree(name: string): Promise<void>;
  /** Makes a block with this configuration: all of it is there, or nothing. Rejects with NAME_TAKEN. */
  create(config: BlockConfig): Promise<Unconfirmed>;
  readonly renaming: RenameInOneStep | RenameByMoves;
}

/** The archive. A move is whole: the block is in one of two places, and of two moves at once one wins. */
export interface ArchiveStore {
  /** Moves a block into the archive, and ends its claim. Its name is free when this resolves. Rejects with LEASE_LOST. */
  store(claim: Claim, facts: Omit<ArchiveInfo, 'archiveName' | 'originalName' | 'archivedAt'>, at: Date): Promise<Stored>;
  /** The archived blocks, the newest first. */
  list(): Promise<ArchiveInfo[]>;
  /** The archived block with this archive name, or with this original name if only one has it. Rejects with ARCHIVE_NOT_FOUND, AMBIGUOUS_ARCHIVE. */
  find(given: string): Promise<ArchiveInfo>;
  /** The configuration that an archived block would have as a stopped block with this name. Rejects with BLOCK_DAMAGED. */
  config(info: ArchiveInfo, name: string): Promise<BlockConfig>;
  /** Brings a block back with this configuration, which names it. Rejects with NAME_TAKEN. */
  restore(info: ArchiveInfo, config: BlockConfig): Promise<Unconfirmed>;
  /** Deletes an archived block. */
  remove(info: ArchiveInfo): Promise<Unconfirmed>;
  /**
   * Makes a block of what `pack` has made, under `name` or its own. `accept` gets the configuration before the block is there, and may refuse it. Rejects with
   * INVALID_REQUEST, NAME_TAKEN, or what `accept` rejects with.
   */
  import(bundle: Uint8Array, name: string | undefined, accept: (config: BlockConfig) => Promise<void>): Promise<Built>;
}

/** The result of making a block. */
export interface Built {
  readonly name: string;
  readonly unconfirmed: Unconfirmed;
  /** It came with skills of its own, which this store does not keep. */
  readonly leftSkills?: boolean;
}

/** Something has changed, here or on another server. */
export interface Hint extends Pick<BlockRef, 'block'> {
  /** Something is to be done; somebody wishes something; the block has been given back. */
  readonly what: 'work' | 'wish' | 'released';
}

type StepOf<F> = F extends StreamFrame ? Readonly<Omit<F, 'type' | 'block'>> : never;
/**
 * One step of a reply while it is written. `seq` only grows, so a reader can pass the last one to get the rest. After an `error`, discard the text of
 * that attempt.
 */
export type ReplyStep = StepOf<StreamFrame>;

/**
 * What servers tell each other. S1: hints may be lost, doubled, late, or in another order; nothing is true because of one, and who needs to know looks each
 * second, too. The store itself tells of what it stores.
 */
export interface Signals {
  /** Calls back with hints of all servers, this one among them, until the returned function is called. */
  on(listener: (hint: Hint) => void): () => void;
  /** Calls back with the steps of a block's replies that another server makes: first those of one under way after `sinceSeq`, with the text so far as one `content`. */
  follow(ref: BlockRef, onStep: (step: ReplyStep) => void, sinceSeq: number): () => void;
  /** Takes the replies of a block that this server has, for readers on other ones: `join` is called for each reader that comes. Ends with the returned function. */
  publish(ref: BlockRef, join: (onStep: (step: ReplyStep) => void, sinceSeq: number) => () => void): () => void;
  /** Takes what has happened here in a run, for those who follow its block on other servers. */
  tellRun(fact: RunFact): void;
  /** Calls back with what happens in runs of other servers, until the returned function is called. */
  onRun(listener: (fact: RunFact) => void): () => void;
}

/** Where a server of a workspace answers: its origins, and the paths below which it calls providers. */
export interface ServedAt {
  readonly origins: readonly string[];
  readonly paths: readonly string[];
}

/** What a server tells the others of where it answers, and what they tell it. */
export interface Addresses {
  readonly own: readonly ServedAt[];
  /** All others, in place of those that were known. */
  know(servers: readonly { readonly isSameMachine: boolean; readonly served: readonly ServedAt[] }[]): void;
}

/** What a store is opened with. */
export interface StoreOptions {
  readonly workspace: string;
  readonly bus: CoreBus;
  /** Epoch milliseconds by the clock of this machine. */
  now(): number;
  /** Called when another server has the workspace alone: nothing may be written any more. Called again until `close`. */
  onLost(other: { readonly pid: number }): Promise<void>;
  /** Left out where nothing is served. */
  readonly addresses?: Addresses;
}

/** The lock of the folder that a server has on its machine, with any store. */
export interface FolderLock {
  /** Rejects with WORKSPACE_BUSY when the lock is no longer ours. */
  announce(url: string): Promise<void>;
  release(): Promise<void>;
}

/** The folder that a server of a database has on its machine. */
export interface OwnFolder {
  readonly lock: FolderLock;
  /** Opens what this process notes of the calls of one workspace, by a name without a meaning; `now` in epoch milliseconds. Undefined: nothing is noted. Rejects with the system's own error. */
  openNotes?(workspace: string, now: () => number): Promise<CallNotes>;
}

/** How a database is reached. */
export interface ConnectOptions {
  /** The same database past a pooler, to listen there. */
  readonly direct?: string | undefined;
  /** The most connections, beside those that listen and tell; the default is 6. */
  readonly connections?: number | undefined;
  /** How long a server that is silent keeps its blocks, the same for all; the default is 8,000. */
  readonly leaseMs?: number | undefined;
  /** True if nothing will be written: a database without the schema does not get it, and counts as one without settings. Such a connection opens no store. */
  readonly isTrial?: boolean | undefined;
}

/** A database that answers and has the schema, as programs hold it. */
export interface StoreConnection {
  readonly kind: 'postgres';
  /** Ends the connections. Only where no core was made with it: a core ends them itself. */
  close(): Promise<void>;
}

/** The same, for the core that works in it. `close` may be called again. */
export interface ConnectedStore extends StoreConnection {
  readonly settings: SettingStore;
  readonly passes: PassStore;
  /** Joins; `lock` is released with the store. Rejects with STORE_UNREACHABLE. */
  open(options: StoreOptions & OwnFolder): Promise<Store>;
  /** Frees at once what a server had whose process has surely ended. Rejects with STORE_UNREACHABLE. */
  giveUp(node: string): Promise<void>;
}

/** What a server knows of its store without asking it. */
export interface StoreHealth {
  /** How long the last renewal of its lease took. */
  readonly latencyMs: number;
  /** The id of this server. */
  readonly node: string;
  /** How many servers there are. */
  readonly nodes: number;
  /** Whether this server is drained. */
  readonly draining: boolean;
  /** The store has not answered for the length of a lease. */
  readonly isAway: boolean;
}

/** Everything that a workspace keeps, besides its settings. */
export interface Store {
  readonly blocks: BlockStore;
  readonly archive: ArchiveStore;
  readonly ledger: LedgerStore;
  readonly gateway: GatewayBook;
  readonly signals: Signals;
  readonly search: SearchStore;
  /** Undefined where this process alone has the journals, and so finds all of them by itself. */
  readonly approvals?: ApprovalStore;
  /** Epoch milliseconds by the clock that all servers of the workspace share. */
  now(): number;
  /** Joins the servers of the workspace. The first membership is ready when the store is open; after `lost`, the next call makes another one. Rejects with STORE_UNREACHABLE. */
  join(): Promise<Membership>;
  /** The servers of the workspace, this one among them, the oldest first. Rejects with STORE_UNREACHABLE. */
  nodes(): Promise<readonly ServerNode[]>;
  /**
   * Asks a server of the workspace to give its blocks away, or to take some again, and resolves with it. Rejects with NODE_NOT_FOUND, STORE_UNREACHABLE, and
   * with WRONG_STATE where this server is alone.
   */
  drain(node: string, isDraining: boolean): Promise<ServerNode>;
  /** Undefined for a store that this server alone has. */
  health(): StoreHealth | undefined;
  /** What is wrong with what all blocks share. Changes nothing. Rejects with STORE_UNREACHABLE. */
  check(): Promise<readonly Finding[]>;
  /** Tells other programs where this server answers. Rejects with WORKSPACE_BUSY when another server has the workspace. */
  announce(url: string): Promise<void>;
  /** Gives the workspace to others, after the last write. What was claimed is free at once. A second call does nothing. */
  close(): Promise<void>;
}
