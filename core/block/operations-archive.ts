// A block in the archive: moved there, listed, brought back, deleted; and the same in a file.
//
// A1 Each move is an event to the block's actor, whose order it is: nothing moves while a monitor runs.
// A2 A restored block is stopped, under whatever name; its spending goes with it.
// A3 Where the disk did not confirm a move, what follows from it is done all the same, and then the error is thrown.
// A4 Restores and deletions are made one after the other: of two for the same archive the second finds that it has gone.
import { join } from 'node:path';
import { createActor, fromPromise, waitFor } from 'xstate';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { isObject } from '../json.ts';
import { createMonitorMachine } from '../monitor/machine.ts';
import type { ArchiveInfo, BlockConfig } from '../schemas/block.ts';
import { RestoreArchive } from '../schemas/block-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { BLOCK_FILE_LIMITS } from '../workspace/block-layout.ts';
import { packFolder, unpackInto } from '../workspace/bundle.ts';
import { parseBytes } from '../workspace/json-bytes.ts';
import { isPassingFault, readFault, readRegular } from '../workspace/regular-file.ts';
import type { Block } from './block.ts';
import { countQueue } from './chat-file.ts';
import { assertConfigSize } from './config-rules.ts';
import { formatFile, parseConfig } from './contents.ts';
import { checkFiles } from './files.ts';
import { measure } from './folder-size.ts';
import { type BlockContext, createBlockMachine } from './machine.ts';
import { assertNewName } from './names.ts';
import type { OpenBlocks } from './open-blocks.ts';
import type { Stored, Unconfirmed, Vault } from './vault.ts';
import type { World } from './workshop.ts';

const checkRestore: Validator<RestoreArchive> = compile(RestoreArchive);

export interface ArchiveOperationsOptions {
  readonly world: World;
  readonly vault: Vault;
  readonly blocks: OpenBlocks;
  /** Throws SHUTTING_DOWN once the server ends. */
  assertOpen(): void;
  /** Names have come or gone. */
  onMoved(): void;
  /** A block whose monitor has ended for the archive stays where it is. Must not reject. */
  onStayed(block: Block): Promise<void>;
}

export class ArchiveOperations {
  readonly #options: ArchiveOperationsOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ArchiveOperationsOptions) {
    this.#options = options;
  }

  /** Of many that ask at the same time, all get the name that the one move gives. */
  async archive(name: string): Promise<{ readonly archiveName: string }> {
    const { blocks, onStayed } = this.#options;
    const block = await blocks.find(name);
    const wasRunning = block.isRunning;
    const { archiveName, unconfirmed } = await block.archive().catch(async (error: unknown) => {
      if (wasRunning) await onStayed(block);
      throw error;
    });
    if (unconfirmed !== undefined) throw unconfirmed; // A3
    return { archiveName };
  }

  /** The work behind the actor's `archiving`: the monitor has ended by then (A1). */
  async moveToArchive(block: Block, wasRunning: boolean): Promise<Stored> {
    const { blocks, vault, world } = this.#options;
    const { name } = block;
    const stored = await blocks.whileMoving(name, async () => {
      await world.compactions.end(name); // what it has cost is to be known here, and to whoever restores the block
      const facts = await factsOf(block, wasRunning);
      await block.close();
      try {
        return await vault.store(name, facts, new Date(world.now()));
      } catch (error) {
        block.reopen();
        throw error;
      }
    });
    blocks.forget(name);
    this.#options.onMoved();
    world.bus.emit('block.archived', { block: name, archiveName: stored.archiveName });
    return stored;
  }

  async archives(): Promise<readonly ArchiveInfo[]> {
    return this.#options.vault.list();
  }

  async restore(given: string, body: unknown = {}): Promise<{ readonly name: string }> {
    checkRestore(body);
    const { name } = body;
    if (name !== undefined) assertNewName(name);
    return this.#inTurn(() => this.#restore(given, name));
  }

  purge(given: string): Promise<{ readonly archiveName: string }> {
    return this.#inTurn(() => this.#purge(given));
  }

  /** A4. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => {
      this.#options.assertOpen();
      return work();
    });
    this.#last = result.catch(() => undefined); // its caller has the failure; the next one is not concerned
    return result;
  }

  async #restore(given: string, wanted: string | undefined): Promise<{ readonly name: string }> {
    const { vault, world } = this.#options;
    const info = await vault.find(given);
    const name = wanted ?? info.originalName;
    const config = await this.#configIn(vault.archivedFolder(info), name).catch((error: Error) => {
      if (isPassingFault(error)) throw error;
      const place = `archive/${info.archiveName}/config.json`;
      throw new BlockhouseError('BLOCK_DAMAGED', `${place} can't be used: ${readFault(error)}. Repair it by hand.`, { cause: error });
    });
    const unconfirmed = await this.#steer(info, { type: 'block.restore', name }, async () => {
      vault.assertFree(name);
      await this.#options.blocks.dismiss(name);
      // A2: the caps of the new name know what the old one has spent. Before the move: a crash in between must not lift a cap.
      if (name !== info.originalName) await world.ledger.carry(info.originalName, name);
      return vault.restore(info, config);
    });
    this.#options.onMoved();
    world.bus.emit('block.restored', { block: name, archiveName: info.archiveName });
    if (unconfirmed !== undefined) throw unconfirmed; // A3
    return { name };
  }

  async #purge(given: string): Promise<{ readonly archiveName: string }> {
    const { vault, world } = this.#options;
    const info = await vault.find(given);
    const unconfirmed = await this.#steer(info, { type: 'block.remove' }, () => vault.remove(info));
    world.bus.emit('archive.removed', { archiveName: info.archiveName });
    if (unconfirmed !== undefined) throw unconfirmed; // A3
    return { archiveName: info.archiveName };
  }

  export(name: string): Promise<Uint8Array> {
    return this.#options.blocks.whileCopying(name, async (block) => {
      await block.pulse(); // after everything that was to be written before
      // As it was checked: config.json on disk may be replaced meanwhile by one that holds a key.
      return packFolder(block.folder, name, { 'config.json': formatFile(await block.files.config.read()) });
    });
  }

  async import(bundle: Uint8Array, wanted?: string): Promise<{ readonly name: string }> {
    if (wanted !== undefined) assertNewName(wanted);
    const { vault, world } = this.#options;
    const { name, unconfirmed } = await vault.import(
      (folder) => unpackInto(bundle, folder),
      async (folder) => {
        const config = await this.#configIn(folder, wanted).catch((error: Error) => {
          if (isPassingFault(error)) throw error;
          throw invalidRequest('', `The config.json of the archive can't be used: ${readFault(error)}.`);
        });
        await checkFiles(folder);
        assertNewName(config.name);
        assertConfigSize(config);
        await this.#options.blocks.dismiss(config.name);
        return config;
      },
    );
    this.#options.onMoved();
    world.bus.emit('block.created', { block: name });
    if (unconfirmed !== undefined) throw unconfirmed; // A3
    return { name };
  }

  /** A2: what config.json says, for a block of this name, or of its own. Throws an Error that says what is wrong. */
  async #configIn(folder: string, name: string | undefined): Promise<BlockConfig> {
    const at = new Date(this.#options.world.now()).toISOString();
    const bytes = await readRegular(join(folder, 'config.json'), BLOCK_FILE_LIMITS['config.json'].bytes);
    if (bytes === undefined) throw new Error('it is missing');
    const value = parseBytes(bytes);
    const called = name ?? (isObject(value) ? value['name'] : undefined);
    if (!isObject(value) || typeof called !== 'string') throw new Error('it has no name');
    const config = parseConfig({ ...value, name: called }, called, at);
    return { ...config, enabled: false, updatedAt: at, rev: config.rev + 1 };
  }

  /** A1: the life of an archived block, as long as it takes. */
  async #steer(
    info: ArchiveInfo,
    event: { readonly type: 'block.restore'; readonly name: string } | { readonly type: 'block.remove' },
    work: () => Promise<Unconfirmed>,
  ): Promise<Unconfirmed> {
    const { blocks, world } = this.#options;
    let failure: unknown;
    let unconfirmed: Unconfirmed;
    const place = event.type === 'block.restore' ? event.name : `archive/${info.archiveName}`;
    const move = fromPromise<void, BlockContext>(async () => {
      try {
        unconfirmed = await blocks.whileMoving(place, work);
      } catch (error) {
        failure = error;
        throw error;
      }
    });
    const machine = createBlockMachine(createMonitorMachine(() => world.now())).provide({ actors: { restore: move, remove: move } });
    const actor = createActor(machine, { input: { name: info.originalName, archiveName: info.archiveName } }).start();
    actor.send(event);
    await waitFor(actor, (snapshot) => snapshot.matches('active') || snapshot.matches('removed') || snapshot.context.fault !== null, {
      timeout: Number.POSITIVE_INFINITY,
    });
    actor.stop();
    if (failure !== undefined) throw failure;
    return unconfirmed;
  }
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
