// What a block's actor hears, answers and knows. Pure: types only.
import type { BlockMemory, BlockState, Compaction, Reason, TransitionActor } from '../schemas/block.ts';
import type { Stored, Unconfirmed } from './block-folders.ts';

/** What `choose` found to do. */
export type Choice =
  | { readonly kind: 'reply'; readonly messageId: string }
  | { readonly kind: 'wait'; readonly until: number; readonly reason: Reason }
  | { readonly kind: 'pause'; readonly until: number | null; readonly reason: Reason; readonly actor: TransitionActor }
  | { readonly kind: 'fail'; readonly reason: Reason }
  | { readonly kind: 'nothing' };

/** How a reply ended. */
export type ReplyOutcome =
  /** `compact`: the window has passed its threshold. */
  | { readonly kind: 'answered'; readonly compact: boolean }
  /** The message has its outcome, and it is no answer; also when there was nothing to do any more. `cancelled`: a command ended it. */
  | { readonly kind: 'over'; readonly failed: boolean; readonly cancelled?: boolean }
  | { readonly kind: 'wait'; readonly until: number; readonly reason: Reason }
  | { readonly kind: 'pause'; readonly until: number | null; readonly reason: Reason; readonly actor: TransitionActor }
  | { readonly kind: 'fail'; readonly reason: Reason };

/** Who wants a step, and why. */
export interface Cause {
  readonly cause: string;
  readonly actor: TransitionActor;
}

/** Commands: each is answered (see `Answers`). `ticket` is that of its asker. */
export type Command =
  | ({ readonly type: 'block.start' } & Cause)
  /** A second one leaves a reply no more time. */
  | ({ readonly type: 'block.stop' } & Cause)
  | { readonly type: 'block.archive' }
  | { readonly type: 'block.restore'; readonly name: string }
  | { readonly type: 'block.remove' }
  | { readonly type: 'block.compact' }
  /** The server ends. A second one leaves a reply no more time. */
  | { readonly type: 'block.close' }
  | { readonly type: 'message.cancel'; readonly messageId: string };

/** What the answer to each command holds. */
export interface Answers {
  /** The monitor has come through its recovery, or ran already. */
  'block.start': undefined;
  /** No monitor runs. */
  'block.stop': undefined;
  'block.archive': Stored;
  'block.restore': Unconfirmed;
  'block.remove': Unconfirmed;
  /** The memory afterwards. */
  'block.compact': BlockMemory;
  /** No monitor runs and nothing is compacted, now or ever. */
  'block.close': undefined;
  /** True when the message was cancelled by ending its reply. */
  'message.cancel': boolean;
}

/** A command and, where it was asked, the ticket of its asker. */
export type Ticketed<C> = C extends Command ? C & { readonly ticket?: number } : never;

/** Everything that a block's actor hears. */
export type BlockEvent =
  | Ticketed<Command>
  /** There may be something to do. */
  | { readonly type: 'chat.changed' }
  /** What kept the monitor from working may be gone: configuration or credentials. */
  | ({ readonly type: 'settings.changed' } & Cause)
  /** A file was changed by hand, or is sound again. */
  | ({ readonly type: 'file.repaired' } & Cause)
  | ({ readonly type: 'file.damaged' } & Cause)
  /** The kill switch was set or released, which cures nothing that has failed. */
  | ({ readonly type: 'halt.changed' } & Cause)
  /** From one region to another: the window has passed its threshold; a compaction is over. */
  | { readonly type: 'window.full' }
  | { readonly type: 'memory.settled'; readonly cause: string };

/** The end of a command: to the asker with this ticket, or, without one, to all whose command is of this type. */
export interface Answer {
  readonly type: 'answer';
  readonly to: Command['type'];
  readonly ticket?: number | undefined;
  readonly value?: unknown;
  readonly error?: unknown;
}

/** Where the block is when its actor is made. */
export interface BlockInput {
  readonly name: string;
  /** The name in the archive, when that is where the block is. */
  readonly archiveName: string | null;
}

/** What the machine knows beside its states. */
export interface MachineContext extends BlockInput {
  /** The state of the monitor as people know it. While the next message is being chosen it is that of the step before. */
  readonly shown: BlockState;
  readonly messageId: string | null;
  readonly reason: Reason | null;
  /** Epoch milliseconds; null for no time of its own. */
  readonly wakeUpAt: number | null;
  /** Of the last step. */
  readonly cause: string;
  readonly actor: TransitionActor;
  readonly isStopping: boolean;
  /** Who wants another run after the one that ends. */
  readonly next: Cause | null;
  /** Something changed while the next step was being chosen, the files were read, or a reply was made. */
  readonly chooseAgain: boolean;
  /** What changed while a reply was made may cure what it failed of. */
  readonly beginAgain: boolean;
  /** The message whose attempt has just ended without an answer (not-at-once). */
  readonly overId: string | null;
  /** The wait of the message is over, or somebody wants no more of it. */
  readonly isUrgent: boolean;
  /** The reply did not end in time; it may yet be saved. */
  readonly isReplyLeft: boolean;
  /** Epoch milliseconds of the last faults of its actors. */
  readonly crashes: readonly number[];
  readonly restarts: number;
  readonly consecutiveFailures: number;
  /** Why the memory is being compacted. */
  readonly trigger: Extract<Compaction['trigger'], 'threshold' | 'manual'>;
  /** When the block left for the archive. */
  readonly wasRunning: boolean;
}
