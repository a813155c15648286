// What code that works on one block gets: its files, its log, its feed, and the workspace. Pure: types only.
import type { CoreBus } from '../../bus.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { CurrentTask } from '../../schemas/block-pulse.ts';
import type { HaltState } from '../../schemas/workspace-api.ts';
import type { BlockDocuments, Claim, Membership } from '../../store/port.ts';
import type { LogStore, Store } from '../../store/store.ts';
import type { Notify } from '../../notify/notify.ts';
import type { Schedules } from '../../schedule/schedules.ts';
import type { BlockWork } from '../../tools/builtin/work.ts';
import type { ToolHost } from '../../tools/port.ts';
import type { HeartbeatWheel } from '../status/heartbeats.ts';
import type { RetryWait } from '../status/retry-wait.ts';
import type { ModelCalls } from './call-model.ts';
import type { ReplyStream, StepCounter } from './reply-stream.ts';
import type { UnsavedAnswer } from './unsaved-answer.ts';

/** Where the secrets of hooks are kept. All throw or reject with ADAPTER_NOT_CONFIGURED while auth.json can't be used. */
export interface HookSecrets {
  /** `madeAt`: when the block was made, in epoch milliseconds. A secret that is known to be of another block, which had the name before, is left out. */
  hookSecret(block: string, hook: string, madeAt?: number): string | undefined;
  /** Undefined removes it. With `madeAt`, those of another block go. */
  setHookSecret(block: string, hook: string, secret: string | undefined, madeAt?: number): Promise<void>;
  /** A block has another name. `isResumed`: a part of that may be done already, so what is kept under the new name stays if nothing is under the old one. */
  renameHooks(from: string, to: string, isResumed?: boolean): Promise<void>;
  /** A block is new, so what an earlier one of its name has left opens nothing. */
  forgetHooks(block: string): Promise<void>;
}

/** Shared by all blocks of a workspace. */
export interface WorkspaceContext {
  /** Absolute path of the workspace. */
  readonly workspace: string;
  readonly bus: CoreBus;
  readonly gateway: Gateway;
  readonly calls: ModelCalls;
  readonly store: Store;
  /** Undefined where no journal of a run can be kept. */
  readonly tools: WorkspaceTools | undefined;
  /** The present one. */
  member(): Membership;
  /** Joins again, after the present membership is lost. Rejects with STORE_UNREACHABLE. */
  rejoin(): Promise<void>;
  readonly heartbeats: HeartbeatWheel;
  readonly steps: StepCounter;
  readonly schedules: Schedules;
  readonly notify: Notify;
  /** Undefined for a core without auth.json. */
  readonly hookSecrets: HookSecrets | undefined;
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  /** From 0 to 1. */
  random(): number;
  halted(): HaltState;
  /** Reads auth.json if it has changed; the bus reports a change. */
  refreshCredentials(): void;
}

/** What runs the tools of blocks. */
export interface WorkspaceTools {
  /** Where there is none, one that has no tools. */
  readonly host: ToolHost;
  readonly hasHost: boolean;
  /** Called once, before the first block runs. */
  provide(work: BlockWork): void;
  /** What the built-in tools ask of the blocks. */
  work(): BlockWork;
  /** The path with the links of its existing parents resolved; undefined for one that can't be. */
  realPath(path: string): Promise<string | undefined>;
}

/** One block, as its monitor works on it. */
export interface BlockContext {
  readonly name: string;
  /** What the owner's work carries. Throws LEASE_LOST while this server does not have the block. */
  readonly claim: Claim;
  readonly files: BlockDocuments;
  readonly log: LogStore;
  readonly feed: ReplyStream;
  readonly retryWait: RetryWait;
  readonly unsaved: UnsavedAnswer;
  readonly world: WorkspaceContext;
  /** The present time, ISO 8601. */
  at(): string;
  /** Another server has the block: everything here ends, and nothing is written any more. */
  drop(): void;
  /** Called before everything else in a run. Throws BLOCK_DAMAGED if a file of the block is damaged. */
  beginRun(): Promise<void>;
  /** Called after everything else in a run. */
  endRun(): Promise<void>;
  /** Shows the current task in pulse.json. While it streams, its length is that of the feed. */
  setTask(task: CurrentTask): void;
  /** Called when the reply to a message is over, or, with null, a compaction. */
  endTask(messageId: string | null): void;
  /** The number of failures since the last answer. */
  failures(): number;
}
