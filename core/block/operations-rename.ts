// Renames a block. A store may do that in one step; otherwise it is archived, and restored under its new name, and both moves are safe by themselves.
//
// nowhere-lost: between the two moves the block is in the archive, complete. When the second move fails, the first one is undone. After a crash the
//   next start ends the rename (`open` of the store).
// goes-along: what is kept by the name of a block elsewhere gets the new name before the rename counts as over, so that the next start does what a crash has left.
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { Rename, RenameByMoves } from '../store/store.ts';
import type { Block } from './block.ts';
import type { OperationsContext } from './operations.ts';
import type { WorkspaceContext } from './reply/block-context.ts';

/** What a rename is made of. */
export interface RenameSteps {
  /** Stops the monitor, and renames the block in one step. */
  rename(block: Block, to: string): Promise<void>;
  archive(block: Block): Promise<{ readonly archiveName: string }>;
  restore(archiveName: string, name: string): Promise<{ readonly name: string }>;
  start(name: string): Promise<unknown>;
}

/** A monitor that ran, or was about to, runs again, also when the name stays. Throws NAME_TAKEN and BLOCK_DAMAGED before anything moves. */
export async function renameBlock({ blocks, world }: OperationsContext, steps: RenameSteps, from: string, to: string): Promise<{ readonly name: string }> {
  const store = world.store.blocks;
  const block = await blocks.find(from);
  await store.assertFree(to);
  const { config } = await block.contents();
  const wasRunning = block.isRunning || config.enabled; // the server may not have started it yet
  const rename = { from, to, wasRunning, at: new Date(world.now()).toISOString() };
  let isNamed = false;
  const named = (): Promise<void> => {
    isNamed = true;
    return moveNamed(world, rename);
  };
  try {
    if (!('rename' in store.renaming)) await renameByMoves(store.renaming, steps, block, rename, named);
    else {
      await steps.rename(block, to);
      await named();
      if (wasRunning) await started(steps, rename);
    }
  } finally {
    if (isNamed) world.bus.emit('block.renamed', { block: to, from });
  }
  return { name: to };
}

/** What is kept by the name of a block outside of it: secrets of hooks, and approvals of skills. `isResumed`: a crash may have come after a part of it. */
async function moveNamed({ hookSecrets, tools }: Pick<WorkspaceContext, 'hookSecrets' | 'tools'>, { from, to }: Rename, isResumed = false): Promise<void> {
  await hookSecrets?.renameHooks(from, to, isResumed);
  await tools?.host.skills?.rename(from, to, isResumed);
}

/** Ends a rename whose block has its new name since before the start (goes-along). Rejects with what keeps it from ending; the next start tries again. */
export async function resumeRename(world: Pick<WorkspaceContext, 'hookSecrets' | 'tools' | 'store'>, rename: Rename): Promise<void> {
  await moveNamed(world, rename, true);
  const { renaming } = world.store.blocks;
  if (!('rename' in renaming)) await renaming.end();
}

async function renameByMoves(moves: RenameByMoves, steps: RenameSteps, block: Block, rename: Rename, named: () => Promise<void>): Promise<void> {
  const { from, to, wasRunning } = rename;
  await moves.begin(rename);
  const { archiveName } = await steps.archive(block).catch(async (error: unknown) => {
    await moves.end();
    throw error;
  });
  try {
    await steps.restore(archiveName, to);
  } catch (error) {
    await undo(steps, archiveName, from, wasRunning, toBlockhouseError(error));
    await moves.end();
    throw error;
  }
  const fault = await named().then(
    () => undefined,
    (error: unknown) => toBlockhouseError(error),
  );
  try {
    if (wasRunning) await started(steps, rename);
  } finally {
    if (fault === undefined) await moves.end(); // goes-along
  }
  if (fault !== undefined) throw leftBehind(rename, fault);
}

function leftBehind({ from, to }: Rename, fault: BlockhouseError): BlockhouseError {
  const what = `${from} was renamed to ${to}, but the secrets of its hooks and what is approved of its skills are still kept under the old name: ${fault.message}`;
  return new BlockhouseError(fault.code, `${what} The next start of the server tries again.`, { cause: fault });
}

/** nowhere-lost. Throws an error that says where the block is, when it can't be brought back: the next start tries again. */
async function undo(steps: RenameSteps, archiveName: string, from: string, wasRunning: boolean, { code, message }: BlockhouseError): Promise<void> {
  try {
    await steps.restore(archiveName, from);
    if (wasRunning) await steps.start(from);
  } catch (error) {
    throw new BlockhouseError(code, `${message} ${from} could not be restored completely; look for ${archiveName} with \`blockhouse archive ls\`.`, {
      cause: error,
    });
  }
}

async function started(steps: RenameSteps, { from, to }: Rename): Promise<void> {
  try {
    await steps.start(to);
  } catch (error) {
    const { code, message } = toBlockhouseError(error);
    throw new BlockhouseError(code, `${from} was renamed to ${to}, but could not be started: ${message}`, { cause: error });
  }
}
