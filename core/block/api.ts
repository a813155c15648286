// The operations on blocks: the port between the core and its transports. Pure: types only.
import type { BlockhouseError } from '../errors.ts';
import type { CostsFilter, LogRange } from '../store/port.ts';
import type { RunFact } from '../store/run-fact.ts';
import type { ListPage, ListQuery } from '../store/store.ts';
import type {
  AddFact,
  ApprovalList,
  ApprovalQuery,
  ApproveSkill,
  ArchiveInfo,
  AskAgain,
  AwaitedMessage,
  BlockConfig,
  BlockConfigPatch,
  BlockCosts,
  BlockEntry,
  BlockMemory,
  BlockPulse,
  BlockToolList,
  ChangeFact,
  Channel,
  ChatEntry,
  ChatReceipt,
  CostsReport,
  CreateBlock,
  Decide,
  Decider,
  DoctorReport,
  Explanation,
  Fact,
  HaltState,
  HistoryPage,
  HookList,
  HookView,
  LinkDecided,
  LinkDecision,
  LinkedApproval,
  LogFile,
  LogPart,
  MessageFound,
  MessageVersions,
  NotifyList,
  NotifySet,
  NotifyTest,
  PostMessage,
  RestoreArchive,
  RunJournal,
  ResultPage,
  RunResult,
  ScheduleList,
  ScheduleView,
  SearchQuery,
  SearchResult,
  SetHalt,
  SetHook,
  SetNotifyTarget,
  ShownApproval,
  SkillView,
  Warning,
} from '../types.ts';
import type { FleetChanges } from './fleet-feed.ts';
import type { ReplyStep } from './reply/reply-stream.ts';

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

/** Lines that were written into a log file. */
export interface LogLines {
  readonly file: string;
  /** Where they begin in the file, in bytes. A larger one than the end of the lines before says that some were left out. */
  readonly offset: number;
  readonly text: string;
}

/** Callbacks of a follower. A callback that throws gives a process warning and nothing else. */
export interface FollowOptions {
  /** Called after a real change of a file of the block; many changes at once may call it many times. */
  onChange?(): void;
  /** Called once when the block is gone (archived or renamed). Nothing is called after it. */
  onGone?(): void;
  /** Called with each step of a reply. For a reply under way, the steps after `sinceSeq` come at once, with the text so far as one `content`. */
  onReply?(step: ReplyStep): void;
  readonly sinceSeq?: number | undefined;
  /** Called with the lines of the block's log as they are written. */
  onLog?(lines: LogLines): void;
  /** Called with each call of a tool, and each that waits for a person, as they come; of another server within a moment. */
  onRun?(fact: RunFact): void;
}

/** What a client asks a block as if it were a model. */
export interface BlockQuestion {
  /** The last turn of the user. */
  readonly message: string;
  /** The turns before it, for telling the same question from another one. */
  readonly conversation: string;
  /** The client's own id of the question. */
  readonly idempotencyKey?: string | undefined;
  /** The error for a question that is no message yet; one that was sent before gets its answer. */
  readonly refusal?: BlockhouseError | undefined;
  /** The key that the client has presented; undefined for the token of the workspace. */
  readonly key?: { readonly name: string; readonly hash: string; readonly trusted?: boolean | undefined } | undefined;
  readonly traceparent?: string | undefined;
}

/** What another agent says to a block over MCP. */
export interface AgentMessage {
  /** Checked when it is sent. */
  readonly body: PostMessage;
  /** The error for a message that was not sent before; one that was is found again. */
  readonly refusal?: BlockhouseError | undefined;
  /** The key that it has presented; undefined for the token of the workspace. */
  readonly key?: { readonly name: string; readonly hash: string; readonly trusted?: boolean | undefined } | undefined;
  readonly traceparent?: string | undefined;
}

/** The message that a question has become. */
export interface AskedBlock {
  readonly id: string;
  /** To be called once a client has got the whole outcome: the same words are a new message from then on. */
  delivered(): void;
}

/** What another program has delivered to a hook. */
export interface Delivery {
  /** Those that say who sent it, as they came. */
  readonly headers: {
    readonly 'webhook-id'?: string | undefined;
    readonly 'webhook-timestamp'?: string | undefined;
    readonly 'webhook-signature'?: string | undefined;
    readonly 'x-hub-signature-256'?: string | undefined;
  };
  /** As it came, or how to read it: a delivery without a signature of the right form and time is refused without that. */
  readonly body: Uint8Array | (() => Promise<Uint8Array>);
}

/** The options of `answer`. */
export interface AnswerOptions {
  /** The longest wait in milliseconds, 0 to 600,000; the default is 600,000. */
  readonly waitMs?: number | undefined;
  /** Ends the wait; the promise rejects with CANCELLED. The block still answers the message. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the wait early; the promise resolves as it does after `waitMs`. */
  readonly until?: AbortSignal | undefined;
  /** True to wait on while a call of a tool waits for a person, which ends the wait otherwise. */
  readonly waitsForPeople?: boolean | undefined;
  /**
   * Called with the steps of the reply: `start`, `content`, and `error` if an attempt has failed and another one follows. A reply under way begins
   * with the text so far. The end of the reply is not a step, because the promise resolves with it.
   */
  onReply?(step: ReplyStep): void;
}

/**
 * Blocks and their archive. Names and bodies are checked at run time: an invalid name gives INVALID_REQUEST when a block is created and
 * BLOCK_NOT_FOUND elsewhere. Every promise may reject with a BlockhouseError. A change is on disk when its promise resolves.
 */
export interface Blocks {
  /** The numbers of blocks and of running monitors. Reads no files. */
  counts(): Promise<{ readonly blocks: number; readonly monitorsRunning: number }>;
  /** The blocks, sorted by name. Entries are frozen; an entry is the same object until its block changes. */
  list(): Promise<readonly BlockEntry[]>;
  /**
   * The blocks that fit, a page at a time. Without any field, all of them in one page, sorted by name; of more than 10,000, the first 1,000. Rejects with
   * INVALID_REQUEST naming the field.
   */
  page(query?: ListQuery): Promise<ListPage>;
  /** Creates a stopped block. `warnings` name unknown fields of its configuration. Rejects with NAME_TAKEN or INVALID_REQUEST. */
  create(body: CreateBlock): Promise<{ readonly name: string; readonly warnings: readonly Warning[] }>;
  /** The contents of the block's files. */
  details(name: string): Promise<BlockDetails>;
  /** Why the block is in its state, what it will do next, and what you can do. Also works for a damaged block. */
  explain(name: string): Promise<Explanation>;
  /** The configuration with all defaults filled in. */
  config(name: string): Promise<BlockConfig>;
  /**
   * Changes fields of the configuration. The merge is shallow: each given field replaces the old one as a whole. `warnings` name unknown fields.
   * Rejects with REVISION_MISMATCH if `ifMatch` is not the current revision.
   */
  updateConfig(
    name: string,
    patch: BlockConfigPatch,
    options?: { readonly ifMatch?: number | undefined },
  ): Promise<{ readonly config: BlockConfig; readonly warnings: readonly Warning[] }>;
  /** Starts the monitor; does nothing if it is running. Rejects with INVALID_REQUEST, which says what to do, if no model or credential is set. */
  start(name: string): Promise<{ readonly message: string; readonly pulse: BlockPulse }>;
  /** Stops the monitor; does nothing if it is stopped. A reply under way has ten seconds to finish; then it is aborted and its text is kept as interrupted. */
  stop(name: string): Promise<{ readonly message: string; readonly pulse: BlockPulse }>;
  /** Stops the monitor and starts it again. */
  restart(name: string): Promise<{ readonly message: string; readonly pulse: BlockPulse }>;
  /** Clears memory, costs and pulse; with `hard` also the logs. Chat history and configuration are kept. */
  reset(name: string, options?: { readonly hard?: boolean }): Promise<{ readonly message: string; readonly cleared: readonly string[] }>;
  /**
   * Queues a message. Rejects with QUEUE_FULL if the queue of the block is full. The same `clientId` again does not queue a second message, as long as
   * the first one is active or among the last 20,000 archived messages with a clientId. `traceparent` is the span of the request that sends it, for events.
   */
  post(name: string, body: PostMessage, channel: Channel, traceparent?: string): Promise<ChatReceipt>;
  /**
   * Queues what another agent says over MCP, or finds the message that it has sent before with this clientId. Rejects with MCP_LIMIT after too many messages in an
   * hour, with IDEMPOTENCY_KEY_REUSED for a clientId with another message, and with QUEUE_FULL.
   */
  postFromAgent(name: string, message: AgentMessage): Promise<{ readonly id: string }>;
  /**
   * Queues the question of a client that asks the block as a model, or finds the message that it is already. Rejects with BLOCK_NOT_RUNNING and BUDGET_REACHED where
   * nobody would answer it, with QUEUE_FULL, and with IDEMPOTENCY_KEY_REUSED.
   */
  ask(name: string, question: BlockQuestion): Promise<AskedBlock>;
  /** Why the block does not answer now, as an error for a client that asks it; undefined while it does. */
  whyBlocked(name: string): Promise<BlockhouseError | undefined>;
  /**
   * The active entries, oldest first. With `page`, entries of the whole conversation, archived ones included; an empty page is the end of it.
   * Rejects with MESSAGE_NOT_FOUND if the page refers to an entry that does not exist.
   */
  history(name: string, page?: HistoryPage): Promise<readonly ChatEntry[]>;
  /** The `seq` of the last step of the block's replies. A history that is read afterwards is at least as new as that step. */
  lastStep(name: string): Promise<number>;
  /** A message with its answer, or an answer, active or archived. Rejects with MESSAGE_NOT_FOUND. */
  message(name: string, messageId: string): Promise<MessageFound>;
  /**
   * Asks the last message of the conversation again, with another text or another model where `body` says so. `messageId` is its id or that of its answer. Both stay in
   * the conversation as an earlier version, which models no longer see once the new one is answered. Rejects with WRONG_STATE if a message came after it
   * or it has no outcome yet, with MESSAGE_NOT_FOUND, and like `post`.
   */
  askAgain(name: string, messageId: string, body: AskAgain, channel: Channel, traceparent?: string): Promise<ChatReceipt>;
  /** All versions of a message that was asked again, the oldest first. `messageId` is the id of any of them or of its answer. Rejects with MESSAGE_NOT_FOUND. */
  versions(name: string, messageId: string): Promise<MessageVersions>;
  /**
   * Waits until a message is finished: answered, failed (`entry.error` says why), cancelled or expired. Resolves with a `note` that says why it is not
   * finished when the time is up, or at once if the block does not answer because it is stopped, paused or failed. Rejects with MESSAGE_NOT_FOUND,
   * with CANCELLED, and with BLOCK_NOT_FOUND also if the block is archived or renamed during the wait.
   */
  answer(name: string, messageId: string, options?: AnswerOptions): Promise<AwaitedMessage>;
  /**
   * Cancels a message that is waiting, is being answered or has failed. The text of a reply so far is kept. Rejects with WRONG_STATE if the message
   * has another outcome.
   */
  cancel(name: string, messageId: string): Promise<ChatEntry>;
  /** Retries a failed, cancelled or expired message. Rejects with WRONG_STATE for any other message, and with QUEUE_FULL if the queue is full. */
  retry(name: string, messageId: string): Promise<ChatEntry>;
  /**
   * Searches what was said to all blocks, the archived ones too: messages, answers and memories, the newest first. Rejects with QUEUE_FULL when too many searches
   * wait, and with BLOCK_NOT_FOUND.
   */
  search(query: SearchQuery, options?: { readonly signal?: AbortSignal | undefined }): Promise<SearchResult>;
  /** The journal of a message's run with tools. Rejects with RUN_NOT_FOUND. */
  run(name: string, messageId: string): Promise<RunJournal>;
  /** A whole result that was too long for the model, or these characters of its text. `ref` is its place in the run (`3.1`). Rejects with RUN_NOT_FOUND. */
  runResult(name: string, messageId: string, ref: string, page?: ResultPage): Promise<RunResult>;
  /** The servers and tools of a block, with the rule that holds for each. Starts nothing. */
  tools(name: string): Promise<BlockToolList>;
  /**
   * The calls of all blocks that wait for people, the next deadline first; with another `state` those that were decided since the server has started, the newest decision
   * first. A page at a time. Rejects with INVALID_REQUEST naming the field.
   */
  approvals(query?: ApprovalQuery): Promise<ApprovalList>;
  /** A call that waits or has waited. Rejects with APPROVAL_NOT_FOUND. */
  approval(approvalId: string): Promise<ShownApproval>;
  /** Decides about a call that waits in any block, as `decide` does. */
  decideApproval(approvalId: string, body: Decide, by: Decider): Promise<ShownApproval>;
  /**
   * Decides about a call of a block that waits. The decision is on disk when it resolves, and so is the rule of a `scope`. Rejects with APPROVAL_NOT_FOUND,
   * APPROVAL_DECIDED, APPROVAL_STALE, INVALID_REQUEST.
   */
  decide(name: string, approvalId: string, body: Decide, by: Decider): Promise<ShownApproval>;
  /** Where notices are sent. */
  notifyTargets(): Promise<NotifyList>;
  /** Makes a target of notifications, or replaces one; its secret stays. Rejects with INVALID_REQUEST naming the field. */
  setNotifyTarget(name: string, body: SetNotifyTarget): Promise<NotifySet>;
  /** With its secret, what waits for it, and its links. Rejects with NOTIFY_TARGET_NOT_FOUND. */
  removeNotifyTarget(name: string): Promise<void>;
  /** Sends one notice now, which says nothing. Rejects with NOTIFY_TARGET_NOT_FOUND. */
  testNotifyTarget(name: string): Promise<NotifyTest>;
  /** The call that a decision link is about. Rejects with NOT_FOUND, and with LINK_USED. */
  linkedApproval(ticket: string): Promise<LinkedApproval>;
  /** Decides with a link, once. Rejects with NOT_FOUND, LINK_USED, INVALID_REQUEST. */
  decideByLink(ticket: string, body: LinkDecision): Promise<LinkDecided>;
  /** The 20 newest log files, newest first, the last 64 KiB of each. */
  logs(name: string): Promise<readonly LogFile[]>;
  /** The last whole lines before a place in a log file, 64 KiB of them by default and 1 MiB at most. Rejects with INVALID_REQUEST naming the field. */
  logPart(name: string, file: string, range?: LogRange): Promise<LogPart>;
  /** The schedules of a block as they stand. Rejects with BLOCK_DAMAGED if schedule.json can't be used. */
  schedules(name: string): Promise<ScheduleList>;
  /** Sends the message of a schedule now, as an extra run. Rejects with SCHEDULE_NOT_FOUND, and with QUEUE_FULL. */
  runSchedule(name: string, schedule: string): Promise<ChatReceipt>;
  /** Lets a schedule rest until it is resumed. Rejects with SCHEDULE_NOT_FOUND. */
  pauseSchedule(name: string, schedule: string): Promise<ScheduleView>;
  /** Lets a schedule that was paused, or has paused itself, run again from now on. Rejects with SCHEDULE_NOT_FOUND. */
  resumeSchedule(name: string, schedule: string): Promise<ScheduleView>;
  /** The hooks of a block, without their secrets. */
  hooks(name: string): Promise<HookList>;
  /** Makes a hook, or changes one. Resolves with its secret if one was made: it is shown this once. Rejects with INVALID_REQUEST naming the field. */
  setHook(name: string, hook: string, body: SetHook): Promise<{ readonly hook: HookView; readonly secret?: string }>;
  /** Removes a hook with its secret. Rejects with HOOK_NOT_FOUND. */
  removeHook(name: string, hook: string): Promise<void>;
  /**
   * Makes a message of a delivery that is signed with the secret of a hook; the same delivery again is the same message. Rejects with HOOK_REFUSED, whatever is wrong,
   * with HOOK_LIMIT, and with HOOK_BUSY.
   */
  takeDelivery(name: string, hook: string, delivery: Delivery): Promise<{ readonly messageId: string }>;
  /** The skills of the workspace and of all blocks; of one block, those that it may have. Rejects with BLOCK_NOT_FOUND. */
  skills(block?: string): Promise<readonly SkillView[]>;
  /** A skill with its texts. `owner` is a block, or `_` for the workspace. Rejects with SKILL_NOT_FOUND, BLOCK_NOT_FOUND. */
  skill(owner: string, name: string): Promise<SkillView>;
  /** Approves a skill as it was shown. Rejects with TOOL_CHANGED if it is another one by now, and like `skill`. `by` says who, for people. */
  approveSkill(owner: string, name: string, body: ApproveSkill, by: string): Promise<SkillView>;
  /** Adds a fact to the memory of the block. */
  addFact(name: string, body: AddFact): Promise<Fact>;
  /** Changes the text of a fact, or whether it is pinned. Rejects with MESSAGE_NOT_FOUND for an unknown id. */
  changeFact(name: string, factId: string, body: ChangeFact): Promise<Fact>;
  /** Removes a fact from the memory of the block. */
  removeFact(name: string, factId: string): Promise<void>;
  /** Asks the block's model to summarise all but the newest messages. Nothing is deleted. */
  compact(name: string): Promise<BlockMemory>;
  /** Restores the summary and the window from before the last compaction. Rejects with WRONG_STATE if there is none. */
  undoCompaction(name: string): Promise<BlockMemory>;
  /** Stops the monitor, then moves the block to the archive. */
  archive(name: string): Promise<{ readonly archiveName: string }>;
  /**
   * Stops the monitor, renames the block, and starts it again if it was running. What a crash interrupts is ended by the next start. Its spending
   * counts under the new name too. Rejects with NAME_TAKEN if a block has the new name. `body` is `{name}`.
   */
  rename(name: string, body: unknown): Promise<{ readonly name: string }>;
  /** The archived blocks, newest first. */
  archives(): Promise<readonly ArchiveInfo[]>;
  /**
   * Makes an archived block active again, stopped, under the name in `body` or its old one. `archive` is an archive name, or an original name that
   * only one archive has.
   */
  restore(archive: string, body?: RestoreArchive): Promise<{ readonly name: string }>;
  /** Permanently deletes an archived block. */
  purge(archive: string): Promise<{ readonly archiveName: string }>;
  /** A tar.gz of the block's files. */
  export(name: string): Promise<Uint8Array>;
  /** Creates a stopped block from an exported tar.gz, under its own or another name. Two are unpacked at a time; the others wait. The warnings say which connections of this machine it will use, and which are missing. */
  import(archive: Uint8Array, name?: string): Promise<{ readonly name: string; readonly warnings: readonly Warning[] }>;
  /** Money and tokens of all blocks, or of one, and of all days, or of some, from the ledger. Resets and archives don't change them. Rejects with INVALID_REQUEST naming the field. */
  costs(query: { readonly by: Exclude<CostsReport['by'], 'key' | 'day-key'> } & CostsFilter): Promise<CostsReport>;
  /** Checks every file and message, and changes nothing. */
  check(): Promise<DoctorReport>;
  /** Whether the kill switch is set, since when and why. */
  halted(): HaltState;
  /** Sets the kill switch: no monitor calls a model until it is released, even after a restart. */
  halt(body?: SetHalt): Promise<HaltState>;
  /** Releases the kill switch. */
  unhalt(): Promise<HaltState>;
  /**
   * Calls back with what has changed in the list since the number `since` of an earlier call, then at most every half second with further changes, until
   * the returned function is called. `reset` says that the list must be read again.
   */
  followFleet(onChanges: (changes: FleetChanges) => void, since?: number): StopFollowing;
  /** Calls `options` back on changes and replies until the returned function is called. Throws BLOCK_NOT_FOUND. */
  follow(name: string, options: FollowOptions): StopFollowing;
}
