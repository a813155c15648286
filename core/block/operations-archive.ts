// A block in the archive: moved there, listed, brought back, deleted; and the same in a file.
//
// A1 Each move is an event to the block's actor, whose order it is: nothing moves while a monitor runs.
// A2 A restored block is stopped, under whatever name; its spending goes with it.

import { join } from 'node:path';
import { createActor, fromPromise, waitFor } from 'xstate';
import { BlockhouseError, invalidRequest } from '../errors.ts';
import { isObject } from '../json.ts';
import { createMonitorMachine } from '../monitor/machine.ts';
import type { ArchiveInfo, BlockConfig } from '../schemas/block.ts';
import { RestoreArchive } from '../schemas/block-api.ts';
import { compile, type Validator } from '../schemas/validate.ts';
import { packFolder, unpackInto } from '../workspace/bundle.ts';
import { JsonFile } from '../workspace/json-file.ts';
import type { Block } from './block.ts';
import { countQueue } from './chat-file.ts';
import { completeConfig, formatFile } from './contents.ts';
import { type BlockContext, createBlockMachine } from './machine.ts';
import { assertNewName } from './names.ts';
import type { OpenBlocks } from './open-blocks.ts';
import { measure, type Vault } from './vault.ts';
import type { World } from './workshop.ts';

const checkRestore: Validator<RestoreArchive> = compile(RestoreArchive);

export interface ArchiveOperationsOptions {
  readonly world: World;
  readonly vault: Vault;
  readonly blocks: OpenBlocks;
  /** Names have come or gone. */
  onMoved(): void;
}

export class ArchiveOperations {
  readonly #options: ArchiveOperationsOptions;

  constructor(options: ArchiveOperationsOptions) {
    this.#options = options;
  }

  async archive(name: string): Promise<{ readonly archiveName: string }> {
    const { blocks, world } = this.#options;
    const block = await blocks.find(name);
    const archiveName = await block.archive();
    blocks.forget(name);
    this.#options.onMoved();
    world.bus.emit('block.archived', { block: name, archiveName });
    return { archiveName };
  }

  /** The work behind the actor's `archiving`: the monitor has ended by then (A1). */
  async moveToArchive(block: Block, wasRunning: boolean): Promise<string> {
    const { blocks, vault, world } = this.#options;
    return blocks.whileMoving(block.name, async () => {
      const facts = await factsOf(block, wasRunning);
      await block.close();
      try {
        return await vault.store(block.name, facts, new Date(world.now()));
      } catch (error) {
        block.reopen();
        throw error;
      }
    });
  }

  async archives(): Promise<readonly ArchiveInfo[]> {
    return this.#options.vault.list();
  }

  async restore(given: string, body: unknown = {}): Promise<{ readonly name: string }> {
    checkRestore(body);
    if (body.name !== undefined) assertNewName(body.name);
    const { vault, world } = this.#options;
    const info = await vault.find(given);
    const name = body.name ?? info.originalName;
    const config = await this.#configIn(vault.archivedFolder(info), name);
    await this.#steer(info, { type: 'block.restore', name }, async () => {
      await vault.restore(info, config);
      // A2: the caps of the new name know what the old one has spent.
      if (name !== info.originalName) await world.ledger.carry(info.originalName, name);
    });
    this.#options.onMoved();
    world.bus.emit('block.restored', { block: name, archiveName: info.archiveName });
    return { name };
  }

  async purge(given: string): Promise<{ readonly archiveName: string }> {
    const { vault, world } = this.#options;
    const info = await vault.find(given);
    await this.#steer(info, { type: 'block.remove' }, () => vault.remove(info));
    world.bus.emit('archive.removed', { archiveName: info.archiveName });
    return { archiveName: info.archiveName };
  }

  async export(name: string): Promise<Uint8Array> {
    const block = await this.#options.blocks.find(name);
    await block.pulse(); // what was to be written is
    return packFolder(block.folder, name);
  }

  async import(bundle: Uint8Array, wanted?: string): Promise<{ readonly name: string }> {
    if (wanted !== undefined) assertNewName(wanted);
    const { vault, world } = this.#options;
    const name = await vault.import(
      (folder) => unpackInto(bundle, folder),
      async (folder) => {
        const config = await this.#configIn(folder, wanted);
        assertNewName(config.name);
        return config;
      },
    );
    this.#options.onMoved();
    world.bus.emit('block.created', { block: name });
    return { name };
  }

  /** A2. Throws BLOCK_DAMAGED. */
  async #configIn(folder: string, name: string | undefined): Promise<BlockConfig> {
    const at = new Date(this.#options.world.now()).toISOString();
    const parse = (value: unknown): BlockConfig => {
      if (!isObject(value)) throw new Error('it must be an object');
      const called = name ?? value['name'];
      if (typeof called !== 'string') throw invalidRequest('name', 'is missing in config.json');
      return completeConfig({ ...value, name: called, enabled: false }, called, at);
    };
    const config = await new JsonFile<BlockConfig>(join(folder, 'config.json'), { parse, format: formatFile, maxBytes: 4 * 1024 * 1024 }).read();
    return { ...config, updatedAt: at, rev: config.rev + 1 };
  }

  /** A1: the life of an archived block, as long as it takes. */
  async #steer(
    info: ArchiveInfo,
    event: { readonly type: 'block.restore'; readonly name: string } | { readonly type: 'block.remove' },
    work: () => Promise<void>,
  ): Promise<void> {
    const { blocks, world } = this.#options;
    let failure: unknown;
    const move = fromPromise<void, BlockContext>(() =>
      blocks.whileMoving(event.type === 'block.restore' ? event.name : `archive/${info.archiveName}`, work).catch((error: unknown) => {
        failure = error;
        throw error;
      }),
    );
    const machine = createBlockMachine(createMonitorMachine(() => world.now())).provide({ actors: { restore: move, remove: move } });
    const actor = createActor(machine, { input: { name: info.originalName, archiveName: info.archiveName } }).start();
    actor.send(event);
    await waitFor(actor, (snapshot) => snapshot.matches('active') || snapshot.matches('removed') || snapshot.context.fault !== null, {
      timeout: Number.POSITIVE_INFINITY,
    });
    actor.stop();
    if (failure !== undefined) throw failure;
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
