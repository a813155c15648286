// The context that all operations on blocks share. Pure: types only.
import type { ChatReceipt } from '../schemas/chat-api.ts';
import type { MessageToAppend } from '../store/port.ts';
import type { Block } from './block.ts';
import type { ChangeGate } from './change-gate.ts';
import type { OpenBlocks } from './open-blocks.ts';
import type { Ownership } from './ownership.ts';
import type { WorkspaceContext } from './reply/block-context.ts';

/** Passed to each group of operations. */
export interface OperationsContext {
  readonly world: WorkspaceContext;
  readonly blocks: OpenBlocks;
  readonly owners: Ownership;
  readonly gate: ChangeGate;
  /** Finds the block and does the work; a shutdown waits for it. Rejects with SHUTTING_DOWN, BLOCK_NOT_FOUND. */
  change<T>(name: string, work: (block: Block) => Promise<T>): Promise<T>;
  onFault(what: string, error: unknown, block?: string): void;
}

/** Queues a message, as `post` does. */
export type QueueMessage = (
  block: Block,
  message: Omit<MessageToAppend, 'cap'>,
  autoStart: (block: Block) => Promise<void>,
  traceparent: string | undefined,
) => Promise<ChatReceipt>;
