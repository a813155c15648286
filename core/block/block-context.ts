// What the work on one block needs: its files, its log, its feed, and the world around it. Pure: types only.
import type { CoreBus } from '../bus.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ModelCalls } from '../monitor/model-call.ts';
import type { RetryWait } from '../monitor/retry-wait.ts';
import type { CurrentTask } from '../schemas/block.ts';
import type { HaltState } from '../schemas/block-api.ts';
import type { BlockLog } from '../workspace/block-log.ts';
import type { Ledger } from '../workspace/ledger.ts';
import type { FolderWatches } from '../workspace/watch.ts';
import type { EntryIds } from './chat-file.ts';
import type { BlockFileSet } from './files.ts';
import type { HeartbeatWheel } from './heartbeats.ts';
import type { ReplyStream, StepCounter } from './reply-stream.ts';

/** Shared by all blocks of a workspace. */
export interface WorkspaceContext {
  /** Absolute path of the workspace. */
  readonly workspace: string;
  readonly bus: CoreBus;
  readonly gateway: Gateway;
  readonly calls: ModelCalls;
  readonly ledger: Ledger;
  readonly watches: FolderWatches;
  readonly heartbeats: HeartbeatWheel;
  readonly steps: StepCounter;
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds that no change of the clock touches. */
  monotonic(): number;
  /** From 0 to 1. */
  random(): number;
  halted(): HaltState;
  /** Looks whether auth.json has changed; the bus tells. */
  refreshCredentials(): void;
}

/** One block, as its monitor works on it. */
export interface BlockContext {
  readonly name: string;
  readonly files: BlockFileSet;
  readonly log: BlockLog;
  readonly feed: ReplyStream;
  readonly ids: EntryIds;
  readonly retryWait: RetryWait;
  readonly world: WorkspaceContext;
  /** The present time, ISO 8601. */
  at(): string;
  /** Before anything else of a run; throws BLOCK_DAMAGED when a file of the block is damaged. */
  beginRun(): Promise<void>;
  /** After everything else of a run. */
  endRun(): Promise<void>;
  /** Shows what is being done in pulse.json. */
  setTask(task: CurrentTask): void;
  /** Shows that text comes; seldom written. */
  growTask(outputChars: number): void;
  /** The reply to a message is over, or, with null, a compaction. */
  endTask(messageId: string | null): void;
  /** Failures since the last answer. */
  failures(): number;
}
