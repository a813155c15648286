// What the schedules of a workspace work with. Pure: types only.
import type { CoreBus } from '../bus.ts';
import type { BlockConfig } from '../schemas/block-config.ts';
import type { BlockState } from '../schemas/block-pulse.ts';
import type { BlockDocuments, Conversation, Document, ScheduleStates } from '../store/port.ts';

/** A block whose schedules run. */
export interface ScheduledBlock {
  readonly name: string;
  readonly isRunning: boolean;
  readonly state: BlockState;
  readonly files: Pick<BlockDocuments, 'config'> & { readonly conversation: Pick<Conversation, 'entries' | 'message'> };
  readonly stored: { readonly schedules: Document<ScheduleStates> };
}

/** A message of a schedule. */
export interface ScheduledMessage {
  readonly content: string;
  readonly clientId: string;
  readonly window: number | undefined;
}

/** What schedules need of the blocks. */
export interface ScheduleWork {
  /** Queues a message, and resolves with its id when it is stored. Rejects with QUEUE_FULL, and as every change does. */
  post(block: ScheduledBlock, message: ScheduledMessage): Promise<string>;
  /** True if the next call of the block does not fit its caps. */
  isAtCap(block: ScheduledBlock, config: BlockConfig): Promise<boolean>;
  /** Work that a shutdown waits for. Rejects with SHUTTING_DOWN. */
  pass(work: () => Promise<void>): Promise<void>;
  isHalted(): boolean;
}

/** What the schedules of a workspace work with. */
export interface SchedulesOptions {
  readonly bus: CoreBus;
  /** Epoch milliseconds. */
  now(): number;
}
