// Archives, lists, restores and deletes blocks; exports and imports them as files.
//
// actor-moves: each move is a command to the block's actor, which decides when: nothing moves while a monitor runs. `Moves` does the work.
// spending-follows: a restored block is stopped, and its spending counts under its new name too.
// tasks-end: nobody waits for what a server of tools does for a block in the archive, so its tasks are cancelled before the move.
// told-anyway: if the disk did not confirm a move, everything that follows from the move is still done, and then the error is thrown.
// one-at-a-time: restores and deletions take turns, so that the second of two for the same archive finds it gone.
// begins-now: the schedules of an imported block begin with the import. The block that was exported may still run elsewhere, and a bundle may come from anybody: it sends no messages of the past.
// few-imports: two archives are unpacked at a time, because one can take much memory and many files.

import PQueue from 'p-queue';
import { createActor } from 'xstate';
import type { ActorSystem } from '../base/abortable.ts';
import { type ArchiveInfo, RenameBlock, RestoreArchive } from '../schemas/block-api.ts';
import type { Warning } from '../schemas/chat.ts';
import { assertNewName } from '../schemas/names.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import type { Stored, Unconfirmed } from '../store/port.ts';
import { ask, type BlockActor } from './actor/ask.ts';
import type { BlockMachine } from './actor/machine.ts';
import type { Blocks } from './api.ts';
import { type Block, blockOf } from './block.ts';
import { waitingIn } from './conversation/counts.ts';
import type { OperationsContext } from './operations.ts';
import { renameBlock } from './operations-rename.ts';
import { cancelCopiedRuns } from './operations-runs.ts';
import { importedSkills } from './operations-skills.ts';
import type { WorkspaceContext } from './reply/block-context.ts';
import { assertConfigSize } from './status/config-rules.ts';
import { connectionWarnings } from './status/connection-warnings.ts';
import { unlessDamaged } from './status/readiness.ts';
import { ruleWarnings } from './status/rule-warnings.ts';

const checkRestore: Validator<RestoreArchive> = compile(RestoreArchive);
const checkRename: Validator<RenameBlock> = compile(RenameBlock);

type Named = { readonly name: string };
type Archived = { readonly archiveName: string };

/** The work of the states `archiving`, `restoring` and `removing`. */
export class Moves {
  readonly #context: OperationsContext;

  /** Blocks that leave their name for another one, in one step of the store. */
  readonly #renames = new Map<Block, string>();

  constructor(context: OperationsContext) {
    this.#context = context;
  }

  /** Blocks that leave for the archive, and not for another name by way of it. */
  readonly #leaving = new WeakSet<Block>();

  /** While `work` archives the block, it is to stay in the archive: what its servers of tools still do for it is cancelled. */
  async leaving<T>(block: Block, work: () => Promise<T>): Promise<T> {
    this.#leaving.add(block);
    return work().finally(() => this.#leaving.delete(block));
  }

  /** While `work` archives the block, the move of its actor is a rename. Only where the store does that in one step. */
  async renaming<T>(block: Block, to: string, work: () => Promise<T>): Promise<T> {
    this.#renames.set(block, to);
    return work().finally(() => this.#renames.delete(block));
  }

  /** Moves the block. The actor calls it only when no monitor runs and nothing is compacted. */
  async archive(block: Block, wasRunning: boolean): Promise<Stored> {
    const { blocks, world } = this.#context;
    const { name } = block;
    const to = this.#renames.get(block);
    await block.copies.emptied();
    if (this.#leaving.has(block)) await cancelledTasks(block);
    const facts = to === undefined ? await factsOf(block, wasRunning) : undefined;
    await block.close();
    const move = facts === undefined ? this.#rename(block, to ?? '') : world.store.archive.store(block.claim, facts, new Date(world.now()));
    const stored = await move.catch((error: unknown) => {
      block.reopen();
      throw error;
    });
    block.tenure.end();
    blocks.forget(name);
    if (to === undefined) world.bus.emit('block.archived', { block: name, archiveName: stored.archiveName });
    return stored;
  }

  async #rename(block: Block, to: string): Promise<Stored> {
    const { renaming } = this.#context.world.store.blocks;
    if (!('rename' in renaming)) throw new Error('this store renames by moves');
    await this.#context.blocks.dismiss(to);
    await renaming.rename(block.claim, to);
    return { archiveName: '', unconfirmed: undefined };
  }

  async restore({ archiveName, name }: Archived & Named): Promise<Unconfirmed> {
    const { blocks, world } = this.#context;
    const { archive } = world.store;
    const info = await archive.find(archiveName);
    const config = await archive.config(info, name);
    await world.store.blocks.assertFree(name);
    await blocks.dismiss(name);
    // spending-follows. Before the move, so that a crash in between doesn't lift a cap.
    if (name !== info.originalName) await world.store.ledger.carry(info.originalName, name);
    return archive.restore(info, config);
  }

  async remove({ archiveName }: Archived): Promise<Unconfirmed> {
    const { archive } = this.#context.world.store;
    return archive.remove(await archive.find(archiveName));
  }
}

/** What the archive operations need in addition to their context. */
export interface ArchiveOperationsOptions {
  readonly machine: () => BlockMachine;
  readonly moves: Moves;
  /** Called when a move has failed after the monitor was stopped for it. Must not reject. */
  onStayed(block: Block): Promise<void>;
  /** Starts the monitor of a block. */
  start(name: string): Promise<unknown>;
}

const IMPORTS_AT_ONCE = 2;

/** The archive, exports and imports. */
export function archiveOperations(
  context: OperationsContext,
  options: ArchiveOperationsOptions,
): Pick<Blocks, 'archive' | 'archives' | 'rename' | 'restore' | 'purge' | 'export' | 'import'> {
  const { blocks, world, gate, change } = context;
  const turns = new PQueue({ concurrency: 1 }); // one-at-a-time
  const imports = new PQueue({ concurrency: IMPORTS_AT_ONCE }); // few-imports
  /** Work that still waits when the server ends is refused. */
  const inTurn = <T>(work: () => Promise<T>, queue = turns): Promise<T> =>
    gate.pass(() =>
      queue.add(() => {
        gate.assertOpen();
        return work();
      }),
    );
  return {
    archive: (name) => change(name, (block) => options.moves.leaving(block, () => archive(context, block, options))),
    archives: () => world.store.archive.list(),
    async rename(from, body) {
      gate.assertOpen();
      checkRename(body);
      const { name } = body;
      assertNewName(name);
      const steps = {
        rename: (block: Block, to: string) => options.moves.renaming(block, to, async () => void (await archive(context, block, options))),
        archive: (block: Block) => archive(context, block, options),
        restore: (archiveName: string, to: string) => restore(context, options.machine(), archiveName, to),
        start: options.start,
      };
      return inTurn(() => renameBlock(context, steps, from, name));
    },
    async restore(given, body = {}) {
      gate.assertOpen();
      checkRestore(body);
      const { name } = body;
      if (name !== undefined) assertNewName(name);
      return inTurn(() => restore(context, options.machine(), given, name));
    },
    purge: (given) => inTurn(() => purge(context, options.machine(), given)),
    async export(name) {
      const block = await blocks.find(name);
      return block.copies.pass(async () => {
        await block.pulse(); // waits for earlier writes
        return block.stored.pack();
      });
    },
    import: (bundle, wanted) => inTurn(() => importBundle(context, bundle, wanted), imports),
  };
}

/** Simultaneous calls share one move and get the same archive name. */
async function archive({ owners }: OperationsContext, block: Block, { onStayed }: ArchiveOperationsOptions): Promise<Archived> {
  const { isRunning: wasRunning } = await block.standing();
  await owners.take(block);
  const { archiveName, unconfirmed } = await block.archive().catch(async (error: unknown) => {
    if (wasRunning) await onStayed(block);
    throw error;
  });
  if (unconfirmed !== undefined) throw unconfirmed; // told-anyway
  return { archiveName };
}

/** tasks-end. Only where the block has runs: a damaged one can be archived, too. */
async function cancelledTasks(block: Block): Promise<void> {
  const chat = await block.files.conversation.entries().catch(unlessDamaged);
  if (block.world.tools === undefined || chat === undefined || waitingIn(chat) === 0) return;
  const { cancelTasksOf } = await import('./reply/run/parts.ts');
  await cancelTasksOf(block, block.claim);
}

/** Workspaces by actor system, of actors whose block is still in the archive. */
const archived = new WeakMap<ActorSystem, WorkspaceContext>();

/** The workspace of an actor system. */
export function worldOf(system: ActorSystem): WorkspaceContext {
  return archived.get(system) ?? blockOf(system).world;
}

/** The actor of a block that is in the archive. */
function startArchived(machine: BlockMachine, world: WorkspaceContext, input: Archived & Named): BlockActor {
  const actor = createActor(machine, { input });
  archived.set(actor.system, world);
  return actor.start();
}

/** The actor of the archived block becomes that of the restored one. */
async function restore({ world, blocks }: OperationsContext, machine: BlockMachine, given: string, wanted: string | undefined): Promise<Named> {
  const { archiveName, originalName } = await world.store.archive.find(given);
  const name = wanted ?? originalName;
  const actor = startArchived(machine, world, { name: originalName, archiveName });
  const unconfirmed = await blocks.restore(name, actor);
  world.bus.emit('block.restored', { block: name, archiveName });
  if (name !== originalName) {
    await world.hookSecrets?.forgetHooks(name);
    await world.tools?.host.skills?.forget(name);
  }
  if (unconfirmed !== undefined) throw unconfirmed; // told-anyway
  return { name };
}

async function purge({ world }: OperationsContext, machine: BlockMachine, given: string): Promise<Archived> {
  const { archiveName, originalName } = await world.store.archive.find(given);
  const actor = startArchived(machine, world, { name: originalName, archiveName });
  const unconfirmed = await ask(actor, { type: 'block.remove' });
  world.bus.emit('archive.removed', { archiveName });
  if (unconfirmed !== undefined) throw unconfirmed; // told-anyway
  return { archiveName };
}

async function importBundle({ world, blocks, owners }: OperationsContext, bundle: Uint8Array, wanted: string | undefined): ReturnType<Blocks['import']> {
  if (wanted !== undefined) assertNewName(wanted);
  let warnings: readonly Warning[] = [];
  let hasSchedules = false;
  const { name, unconfirmed, leftSkills } = await world.store.archive.import(bundle, wanted, async (config) => {
    assertNewName(config.name);
    assertConfigSize(config);
    await blocks.dismiss(config.name);
    warnings = [...connectionWarnings(world.gateway, config), ...ruleWarnings(config)];
    hasSchedules = config.schedule.length > 0;
  });
  world.bus.emit('block.created', { block: name });
  await world.hookSecrets?.forgetHooks(name);
  await world.tools?.host.skills?.forget(name);
  if (hasSchedules) await beginSchedules(await blocks.find(name));
  const copied = world.tools === undefined ? [] : await cancelCopiedRuns(owners, await blocks.find(name));
  if (unconfirmed !== undefined) throw unconfirmed; // told-anyway
  return { name, warnings: [...warnings, ...copied, ...(await importedSkills(world, name, leftSkills === true))] };
}

/** begins-now. What was counted stays, and so does a pause. */
async function beginSchedules(block: Block): Promise<void> {
  await block.stored.schedules.update((states) => {
    const all = Object.entries(states).map(([id, state]) => [id, { ...state, last: block.at(), next: null }]);
    return { value: all.length === 0 ? states : Object.fromEntries(all), result: undefined };
  });
}

async function factsOf(block: Block, wasRunning: boolean): Promise<Omit<ArchiveInfo, 'archiveName' | 'originalName' | 'archivedAt'>> {
  const size = await block.stored.measure();
  const contents = await block.contents().catch(unlessDamaged); // a damaged block can be archived too
  if (contents === undefined) return { ...size, wasRunning };
  const { config, costs, chat } = contents;
  const { totalInput, totalOutput, totalCost, calls } = costs;
  return { description: config.description, ...size, wasRunning, queuedMessages: waitingIn(chat), totals: { totalInput, totalOutput, totalCost, calls } };
}
