// The operations on blocks: the port between the core and its transports. Pure: types only.
import type {
  AddFact,
  ArchiveInfo,
  AwaitedMessage,
  BlockConfig,
  BlockConfigPatch,
  BlockCosts,
  BlockEntry,
  BlockMemory,
  BlockPulse,
  Channel,
  ChatEntry,
  ChatReceipt,
  CostsReport,
  CreateBlock,
  DoctorReport,
  Explanation,
  Fact,
  HaltState,
  HistoryPage,
  LogFile,
  MessageFound,
  PostMessage,
  RestoreArchive,
  SetHalt,
  StreamFrame,
  Warning,
} from '../types.ts';

/** Stops following. A second call does nothing. */
export type StopFollowing = () => void;

/** The contents of a block's files. */
export interface BlockDetails {
  readonly name: string;
  readonly config: BlockConfig;
  readonly memory: BlockMemory;
  readonly costs: BlockCosts;
  readonly pulse: BlockPulse;
}

type StepOf<F> = F extends StreamFrame ? Readonly<Omit<F, 'type' | 'block'>> : never;
/**
 * One step of a reply while it is written. `seq` only grows, so a reader can pass the last one to get the rest. After an `error`, discard the text of
 * that attempt.
 */
export type ReplyStep = StepOf<StreamFrame>;

/** Callbacks of a follower. A callback that throws gives a process warning and nothing else. */
export interface FollowOptions {
  /** Called after a real change of a file of the block; many changes at once may call it many times. */
  onChange?(): void;
  /** Called once when the block is gone (archived). Nothing is called after it. */
  onGone?(): void;
  /** Called with each step of a reply. Steps after `sinceSeq` of a reply under way come at once, with the text so far as one `content`. */
  onReply?(step: ReplyStep): void;
  readonly sinceSeq?: number | undefined;
}

/** How long to wait for an answer. */
export interface AnswerOptions {
  /** 0 to 600,000, which is the default. */
  readonly waitMs?: number | undefined;
  /** Ends the wait with CANCELLED. The message goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the wait as the end of `waitMs` does. */
  readonly until?: AbortSignal | undefined;
  /**
   * Called with each step of the reply but its end, which is the result: `start` and `content`, the text so far at once, and `error` when an attempt
   * has failed and another one follows.
   */
  onReply?(step: ReplyStep): void;
}

/**
 * Blocks and their archive. Names are checked here: a bad one is INVALID_REQUEST where a block is made and BLOCK_NOT_FOUND
 * elsewhere. Bodies are checked at run time. Every promise may reject with a BlockhouseError; a change is on disk when its promise resolves.
 */
export interface Blocks {
  /** The numbers of blocks and of running monitors. Reads no files. */
  counts(): { readonly blocks: number; readonly monitorsRunning: number };
  /** Sorted by name. Entries are frozen, and the same object until the block changes. */
  list(): Promise<readonly BlockEntry[]>;
  /** `body` is `{name, config?}`. `warnings` name its unknown fields. NAME_TAKEN, INVALID_REQUEST. */
  create(body: CreateBlock): Promise<{ readonly name: string; readonly warnings: readonly Warning[] }>;
  details(name: string): Promise<BlockDetails>;
  explain(name: string): Promise<Explanation>;
  config(name: string): Promise<BlockConfig>;
  /** Shallow merge; `warnings` name unknown fields. REVISION_MISMATCH if `ifMatch` is not the current revision. */
  updateConfig(
    name: string,
    patch: BlockConfigPatch,
    options?: { readonly ifMatch?: number | undefined },
  ): Promise<{ readonly config: BlockConfig; readonly warnings: readonly Warning[] }>;
  /** Idempotent. INVALID_REQUEST, which says what to do, if no model or credential is set. */
  start(name: string): Promise<{ readonly message: string; readonly pulse: BlockPulse }>;
  /** Idempotent. A reply under way has ten seconds to end; then it is aborted and its text is kept as interrupted. */
  stop(name: string): Promise<{ readonly message: string; readonly pulse: BlockPulse }>;
  restart(name: string): Promise<{ readonly message: string; readonly pulse: BlockPulse }>;
  /** Clears memory, costs and pulse; with `hard` also the logs. Chat history and configuration stay. */
  reset(name: string, options?: { readonly hard?: boolean }): Promise<{ readonly message: string; readonly cleared: readonly string[] }>;
  /**
   * `body` is `{message, clientId?}`. On disk when it resolves. QUEUE_FULL beyond the cap of the block. A `clientId` is known while its message is
   * active, and while the message is among the 20,000 with a clientId that were archived last.
   */
  post(name: string, body: PostMessage, channel: Channel): Promise<ChatReceipt>;
  /**
   * The active entries, oldest first. With `page`, entries of the whole conversation, archived ones included; an empty page is the end of it.
   * MESSAGE_NOT_FOUND if the page refers to an entry that does not exist.
   */
  history(name: string, page?: HistoryPage): Promise<readonly ChatEntry[]>;
  /** A message with its answer, or an answer, active or archived. MESSAGE_NOT_FOUND. */
  message(name: string, messageId: string): Promise<MessageFound>;
  /**
   * Waits until a message has its outcome: an answer, a failure (`entry.error`), or that it was cancelled or has expired. Resolves without one, and
   * with the reason as `note`, when the time is over, and at once while the block does not answer because it is stopped, paused or failed.
   * MESSAGE_NOT_FOUND; BLOCK_NOT_FOUND also when the block is archived or renamed meanwhile; CANCELLED.
   */
  answer(name: string, messageId: string, options?: AnswerOptions): Promise<AwaitedMessage>;
  /**
   * Cancels a waiting message, ends a reply under way and keeps its text so far, or gives up a failed message. WRONG_STATE if the message has
   * another outcome.
   */
  cancel(name: string, messageId: string): Promise<ChatEntry>;
  /** Queues a failed, cancelled or expired message again. WRONG_STATE otherwise; QUEUE_FULL beyond the cap of the block. */
  retry(name: string, messageId: string): Promise<ChatEntry>;
  /** The 20 newest log files, newest first, the last 64 KiB of each. */
  logs(name: string): Promise<readonly LogFile[]>;
  /** `body` is `{text, pinned?}`. */
  addFact(name: string, body: AddFact): Promise<Fact>;
  removeFact(name: string, factId: string): Promise<void>;
  /** Lets the block's model summarise all but the newest messages. */
  compact(name: string): Promise<BlockMemory>;
  /** Brings back the summary and the window from before the last compaction. WRONG_STATE when there is none. */
  undoCompaction(name: string): Promise<BlockMemory>;
  /** Stops the monitor, then moves the block to the archive. */
  archive(name: string): Promise<{ readonly archiveName: string }>;
  /**
   * `body` is `{name}`. Stops the monitor, moves the block, and starts it again if it ran. After a crash in between, the block is in the archive.
   * Its spending counts under the new name too. NAME_TAKEN if there is such a block.
   */
  rename(name: string, body: unknown): Promise<{ readonly name: string }>;
  /** Newest first. */
  archives(): Promise<readonly ArchiveInfo[]>;
  /** `archive` is an archive name, or an original name that only one archive has; `body` is `{name?}`. The restored block is stopped. */
  restore(archive: string, body?: RestoreArchive): Promise<{ readonly name: string }>;
  /** Deletes an archived block for good. */
  purge(archive: string): Promise<{ readonly archiveName: string }>;
  /** A tar.gz of the block's files. */
  export(name: string): Promise<Uint8Array>;
  /** Makes a stopped block from such a tar.gz, under its own or another name. Two are unpacked at a time; the others wait. */
  import(archive: Uint8Array, name?: string): Promise<{ readonly name: string }>;
  /** Money and tokens of all blocks, or of one, from the ledger. Resets and archives don't change them. */
  costs(query: { readonly by: 'block' | 'model' | 'day'; readonly block?: string | undefined }): Promise<CostsReport>;
  /** Examines every file and message. */
  check(): Promise<DoctorReport>;
  halted(): HaltState;
  /** The kill switch: no monitor calls a model until it is released. Survives a restart. */
  halt(body?: SetHalt): Promise<HaltState>;
  unhalt(): Promise<HaltState>;
  /** Calls back on changes until the returned function is called. Throws BLOCK_NOT_FOUND. */
  follow(name: string, options: FollowOptions): StopFollowing;
}
