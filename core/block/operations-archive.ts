// A block in the archive: moved there, listed, brought back, deleted; and the same in a file.
//
// Actor-moves: each move is a command to the block's actor, whose order it is: nothing moves while a monitor runs. The work behind the command is
// here (`Moves`).
// Spending-follows: a restored block is stopped, under whatever name, and its spending goes with it.
// Told-all-the-same: where the disk did not confirm a move, what follows from it is done, and then the error is thrown.
// One-at-a-time: restores and deletions take turns: of two for the same archive the second finds that it has gone.
import { join } from 'node:path';
import PQueue from 'p-queue';
import { createActor } from 'xstate';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { isObject } from '../json.ts';
import type { ArchiveInfo, BlockConfig } from '../schemas/block.ts';
import { RestoreArchive } from '../schemas/block-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { BLOCK_FILE_LIMITS } from '../workspace/block-layout.ts';
import { packFolder, unpackInto } from '../workspace/bundle.ts';
import { parseBytes } from '../workspace/json-bytes.ts';
import { isPassingFault, readFault, readRegular } from '../workspace/regular-file.ts';
import type { Blocks } from './api.ts';
import { ask } from './ask.ts';
import type { Block } from './block.ts';
import type { Stored, Unconfirmed } from './block-folders.ts';
import { countQueue } from './chat-file.ts';
import { assertConfigSize } from './config-rules.ts';
import { formatFile, parseConfig } from './document-codecs.ts';
import { checkFiles } from './files.ts';
import { measure } from './folder-size.ts';
import type { BlockMachine } from './machine.ts';
import { assertNewName } from './names.ts';
import type { OperationsContext } from './operations.ts';

const checkRestore: Validator<RestoreArchive> = compile(RestoreArchive);

type Named = { readonly name: string };
type Archived = { readonly archiveName: string };

/** The work behind the states `archiving`, `restoring` and `removing`. */
export class Moves {
  readonly #context: OperationsContext;

  constructor(context: OperationsContext) {
    this.#context = context;
  }

  /** No monitor runs by then, and nothing is compacted (actor-moves). */
  async archive(block: Block, wasRunning: boolean): Promise<Stored> {
    const { blocks, folders, world, onMoved } = this.#context;
    const { name } = block;
    await block.copied();
    const facts = await factsOf(block, wasRunning);
    await block.close();
    const stored = await folders.store(name, facts, new Date(world.now())).catch((error: unknown) => {
      block.reopen();
      throw error;
    });
    blocks.forget(name);
    onMoved();
    world.bus.emit('block.archived', { block: name, archiveName: stored.archiveName });
    return stored;
  }

  async restore({ archiveName, name }: Archived & Named): Promise<Unconfirmed> {
    const { blocks, folders, world } = this.#context;
    const info = await folders.find(archiveName);
    const config = await configIn(folders.archivedFolder(info), name, world.now()).catch((error: Error) => {
      if (isPassingFault(error)) throw error;
      const place = `archive/${archiveName}/config.json`;
      throw new BlockhouseError('BLOCK_DAMAGED', `${place} can't be used: ${readFault(error)}. Repair it by hand.`, { cause: error });
    });
    folders.assertFree(name);
    await blocks.dismiss(name);
    // Spending-follows: the caps of the new name know what the old one has spent. Before the move: a crash in between must not lift a cap.
    if (name !== info.originalName) await world.ledger.carry(info.originalName, name);
    return folders.restore(info, config);
  }

  async remove({ archiveName }: Archived): Promise<Unconfirmed> {
    const { folders } = this.#context;
    return folders.remove(await folders.find(archiveName));
  }
}

/** What the archive needs beside the context of all operations. */
export interface ArchiveOperationsOptions {
  readonly machine: BlockMachine;
  /** A block whose monitor has ended for the archive stays where it is. Must not reject. */
  onStayed(block: Block): Promise<void>;
}

/** The archive, exports and imports. */
export function archiveOperations(
  context: OperationsContext,
  options: ArchiveOperationsOptions,
): Pick<Blocks, 'archive' | 'archives' | 'restore' | 'purge' | 'export' | 'import'> {
  const { blocks, folders, gate, change } = context;
  const turns = new PQueue({ concurrency: 1 });
  /** One-at-a-time; what has only waited when the server ends is not begun. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
    gate.pass(() =>
      turns.add(() => {
        gate.assertOpen();
        return work();
      }),
    );
  return {
    archive: (name) => change(name, (block) => archive(block, options)),
    archives: () => folders.list(),
    async restore(given, body = {}) {
      gate.assertOpen();
      checkRestore(body);
      const { name } = body;
      if (name !== undefined) assertNewName(name);
      return inTurn(() => restore(context, options.machine, given, name));
    },
    purge: (given) => inTurn(() => purge(context, options.machine, given)),
    async export(name) {
      const block = await blocks.find(name);
      return block.copy(async () => {
        await block.pulse(); // after everything that was to be written before
        // As it was checked: config.json on disk may be replaced meanwhile by one that holds a key.
        return packFolder(block.folder, name, { 'config.json': formatFile(await block.files.config.read()) });
      });
    },
    import: (bundle, wanted) => gate.pass(() => importBundle(context, bundle, wanted)),
  };
}

/** Of many that ask at the same time, all get the name that the one move gives. */
async function archive(block: Block, { onStayed }: ArchiveOperationsOptions): Promise<Archived> {
  const wasRunning = block.isRunning;
  const { archiveName, unconfirmed } = await block.archive().catch(async (error: unknown) => {
    if (wasRunning) await onStayed(block);
    throw error;
  });
  if (unconfirmed !== undefined) throw unconfirmed; // told-all-the-same
  return { archiveName };
}

/** The actor of the archived block goes on as that of the restored one. */
async function restore(
  { folders, world, blocks, onMoved }: OperationsContext,
  machine: BlockMachine,
  given: string,
  wanted: string | undefined,
): Promise<Named> {
  const { archiveName, originalName } = await folders.find(given);
  const name = wanted ?? originalName;
  const actor = createActor(machine, { input: { name: originalName, archiveName } }).start();
  const unconfirmed = await blocks.restore(name, actor);
  onMoved();
  world.bus.emit('block.restored', { block: name, archiveName });
  if (unconfirmed !== undefined) throw unconfirmed; // told-all-the-same
  return { name };
}

async function purge({ folders, world }: OperationsContext, machine: BlockMachine, given: string): Promise<Archived> {
  const { archiveName, originalName } = await folders.find(given);
  const actor = createActor(machine, { input: { name: originalName, archiveName } }).start();
  const unconfirmed = await ask(actor, { type: 'block.remove' });
  world.bus.emit('archive.removed', { archiveName });
  if (unconfirmed !== undefined) throw unconfirmed; // told-all-the-same
  return { archiveName };
}

async function importBundle({ folders, world, blocks, onMoved }: OperationsContext, bundle: Uint8Array, wanted: string | undefined): Promise<Named> {
  if (wanted !== undefined) assertNewName(wanted);
  const { name, unconfirmed } = await folders.import(
    (folder) => unpackInto(bundle, folder),
    async (folder) => {
      const config = await configIn(folder, wanted, world.now()).catch((error: Error) => {
        if (isPassingFault(error)) throw error;
        throw invalidRequest('', `The config.json of the archive can't be used: ${readFault(error)}.`);
      });
      await checkFiles(folder);
      assertNewName(config.name);
      assertConfigSize(config);
      await blocks.dismiss(config.name);
      return config;
    },
  );
  onMoved();
  world.bus.emit('block.created', { block: name });
  if (unconfirmed !== undefined) throw unconfirmed; // told-all-the-same
  return { name };
}

/** What config.json says, for a stopped block of this name, or of its own. Throws an Error that says what is wrong. */
async function configIn(folder: string, name: string | undefined, now: number): Promise<BlockConfig> {
  const at = new Date(now).toISOString();
  const bytes = await readRegular(join(folder, 'config.json'), BLOCK_FILE_LIMITS['config.json'].bytes);
  if (bytes === undefined) throw new Error('it is missing');
  const value = parseBytes(bytes);
  const called = name ?? (isObject(value) ? value['name'] : undefined);
  if (!isObject(value) || typeof called !== 'string') throw new Error('it has no name');
  const config = parseConfig({ ...value, name: called }, called, at);
  return { ...config, enabled: false, updatedAt: at, rev: config.rev + 1 };
}

async function factsOf(block: Block, wasRunning: boolean): Promise<Omit<ArchiveInfo, 'archiveName' | 'originalName' | 'archivedAt'>> {
  const size = await measure(block.folder);
  try {
    const { config, costs, chat } = await block.contents();
    const { queued, processing } = countQueue(chat);
    const { totalInput, totalOutput, totalCost, calls } = costs;
    return { description: config.description, ...size, wasRunning, queuedMessages: queued + processing, totals: { totalInput, totalOutput, totalCost, calls } };
  } catch (error) {
    // A damaged block can be put away like any other.
    if (error instanceof BlockhouseError && error.code === 'BLOCK_DAMAGED') return { ...size, wasRunning };
    throw error;
  }
}
