// What the operations on blocks share. Pure: types only.
import type { Block } from './block.ts';
import type { Door } from './door.ts';
import type { OpenBlocks } from './open-blocks.ts';
import type { Vault } from './vault.ts';
import type { World } from './workshop.ts';

/** Handed to each group of operations. */
export interface OperationsContext {
  readonly world: World;
  readonly vault: Vault;
  readonly blocks: OpenBlocks;
  readonly door: Door;
  /** Finds the block, and does the work while the server waits for it at its end. Throws SHUTTING_DOWN, BLOCK_NOT_FOUND. */
  change<T>(name: string, work: (block: Block) => Promise<T>): Promise<T>;
  /** Names have come or gone. */
  onMoved(): void;
  onFault(what: string, error: unknown, block?: string): void;
}
