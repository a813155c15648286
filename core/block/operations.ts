// What the operations on blocks share. Pure: types only.
import type { Block } from './block.ts';
import type { WorkspaceContext } from './block-context.ts';
import type { BlockFolders } from './block-folders.ts';
import type { ChangeGate } from './change-gate.ts';
import type { OpenBlocks } from './open-blocks.ts';

/** Handed to each group of operations. */
export interface OperationsContext {
  readonly world: WorkspaceContext;
  readonly folders: BlockFolders;
  readonly blocks: OpenBlocks;
  readonly gate: ChangeGate;
  /** Finds the block, and does the work while the server waits for it at its end. Throws SHUTTING_DOWN, BLOCK_NOT_FOUND. */
  change<T>(name: string, work: (block: Block) => Promise<T>): Promise<T>;
  /** Names have come or gone. */
  onMoved(): void;
  onFault(what: string, error: unknown, block?: string): void;
}
