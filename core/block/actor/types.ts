// The events, answers and context of a block's actor. Pure: types only.

import type { BlockMemory, Compaction } from '../../schemas/block-memory.ts';
import type { BlockState, CurrentTask, Reason, TransitionActor } from '../../schemas/block-pulse.ts';
import type { Stored, Unconfirmed } from '../../store/port.ts';

/** Why the monitor can't go on now. */
type Hold =
  | { readonly kind: 'wait'; readonly until: number; readonly reason: Reason }
  | { readonly kind: 'pause'; readonly until: number | null; readonly reason: Reason; readonly actor: TransitionActor }
  /** The next message waits for people, or for a deadline. */
  | { readonly kind: 'approval'; readonly until: number; readonly reason: Reason }
  | { readonly kind: 'fail'; readonly reason: Reason };

/** What `choose` found to do. */
export type Choice = { readonly kind: 'reply'; readonly messageId: string } | Hold | { readonly kind: 'nothing' };

/** How a reply ended. */
export type ReplyOutcome =
  /** `compact`: the window has passed its threshold. */
  | { readonly kind: 'answered'; readonly compact: boolean }
  /**
   * The message has an outcome other than an answer, or there was nothing left to do. `cancelled`: a command ended it. `isCutOff`: the reply was ended from outside, and
   * its message may still wait.
   */
  | { readonly kind: 'over'; readonly failed: boolean; readonly cancelled?: boolean; readonly isCutOff?: boolean }
  | Hold;

/** Who asks for a step, and why. */
export interface Cause {
  readonly cause: string;
  readonly actor: TransitionActor;
}

/** Commands; each gets an answer (see `Answers`). */
export type Command =
  | ({ readonly type: 'block.start' } & Cause)
  /** A second one aborts a reply at once. */
  | ({ readonly type: 'block.stop' } & Cause)
  | { readonly type: 'block.archive' }
  | { readonly type: 'block.restore'; readonly name: string }
  | { readonly type: 'block.remove' }
  | { readonly type: 'block.compact' }
  /** The server ends. A second one aborts a reply at once. */
  | { readonly type: 'block.close' }
  | { readonly type: 'message.cancel'; readonly messageId: string };

/** The value of the answer to each command. */
export interface Answers {
  /** The monitor has finished its recovery, or ran already. */
  'block.start': undefined;
  /** No monitor runs. */
  'block.stop': undefined;
  'block.archive': Stored;
  'block.restore': Unconfirmed;
  'block.remove': Unconfirmed;
  /** The memory afterwards. */
  'block.compact': BlockMemory;
  /** No monitor runs and nothing is compacted, and neither will start again. */
  'block.close': undefined;
  /** True if ending the reply has cancelled the message. */
  'message.cancel': boolean;
}

/** A command with the ticket of its caller, if it has one. */
export type Ticketed<C> = C extends Command ? C & { readonly ticket?: number } : never;

/** All events of a block's actor. */
export type BlockEvent =
  | Ticketed<Command>
  /** There may be something to do. */
  | { readonly type: 'chat.changed' }
  /** Somebody has decided about a call that waited. */
  | { readonly type: 'approval.decided' }
  /** A person has removed the message, or has given it an outcome by hand. */
  | { readonly type: 'message.gone'; readonly messageId: string }
  /** Configuration or credentials have changed, so the monitor may be able to work again. */
  | ({ readonly type: 'settings.changed' } & Cause)
  /** A file was changed by hand, or is valid again. */
  | ({ readonly type: 'file.repaired' } & Cause)
  | ({ readonly type: 'file.damaged' } & Cause)
  /** The kill switch was set or released. This does not restart a monitor that has failed. */
  | ({ readonly type: 'halt.changed' } & Cause)
  /** From the work under way: what it does now. */
  | { readonly type: 'task.changed'; readonly task: CurrentTask }
  /** The reply to a message is over, or, with null, a compaction. */
  | { readonly type: 'task.ended'; readonly messageId: string | null }
  /** From one region to another: the window has passed its threshold; a compaction is over. */
  | { readonly type: 'window.full' }
  | { readonly type: 'memory.settled'; readonly cause: string };

/** The end of a command, for the caller with this ticket, or, without a ticket, for all callers of this type of command. */
export interface Answer {
  readonly type: 'answer';
  readonly to: Command['type'];
  readonly ticket?: number | undefined;
  readonly value?: unknown;
  readonly error?: unknown;
}

/** What an actor is made with. */
export interface BlockInput {
  readonly name: string;
  /** The name in the archive; null for an active block. */
  readonly archiveName: string | null;
}

/** The machine's data besides its states. */
export interface MachineContext extends BlockInput {
  /** The state of the monitor that people see. While the next message is chosen, it is that of the step before. */
  readonly shown: BlockState;
  readonly messageId: string | null;
  readonly reason: Reason | null;
  /** Epoch milliseconds; null if the monitor doesn't wait for a time. */
  readonly wakeUpAt: number | null;
  /** Of the last step. */
  readonly cause: string;
  readonly actor: TransitionActor;
  readonly isStopping: boolean;
  /** Who asks for another run after the one that ends; null if nobody does. */
  readonly next: Cause | null;
  /** Something changed while the next step was being chosen, the files were read, or a reply was made. */
  readonly chooseAgain: boolean;
  /** Something changed while a reply was made that may fix the cause of its failure. */
  readonly beginAgain: boolean;
  /** The message whose attempt has just ended without an answer. */
  readonly overId: string | null;
  /** The wait of the message is over, or a person has ended it. */
  readonly isUrgent: boolean;
  /** The reply did not end in time, but may still be saved. */
  readonly isReplyLeft: boolean;
  /** Epoch milliseconds of the last faults of its actors. */
  readonly crashes: readonly number[];
  readonly restarts: number;
  readonly consecutiveFailures: number;
  /** What the reply or the compaction under way does; null if no model is asked. */
  readonly task: CurrentTask | null;
  /** When the last run of this process began and ended, and its last reply ended, ISO 8601; null if there was none. */
  readonly startedAt: string | null;
  readonly stoppedAt: string | null;
  readonly lastRun: string | null;
  /** Why the memory is being compacted. */
  readonly trigger: Extract<Compaction['trigger'], 'threshold' | 'manual'>;
  /** When the block left for the archive. */
  readonly wasRunning: boolean;
}
