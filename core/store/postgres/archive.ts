// The archive of a workspace in PostgreSQL: blocks that have a name in the archive.
//
// whole: each move is one transaction, so a block is in one of two places, and of two moves at once one wins.
import type { ArchiveInfo } from '../../schemas/block-api.ts';
import { BlockhouseError, leaseLost } from '../../errors.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import { archiveName, archiveNotFound } from '../../schemas/names.ts';
import { stoppedConfig } from '../parts/documents.ts';
import type { Claim, Stored, Unconfirmed } from '../port.ts';
import type { ArchiveStore, Built } from '../store.ts';
import type { PostgresBlocks } from './blocks.ts';
import { listColumns, nameTaken } from './documents.ts';
import { sqlStateOf } from './faults.ts';
import * as sql from './sql/archive.ts';
import { CONFIGURED } from './sql/blocks.ts';
import type { BlockWorld } from './stored-block.ts';

/** What a statement returns of an archived block. */
export interface Row {
  readonly archive_name: string;
  readonly name: string;
  readonly archived_at: Date;
  readonly archive: Omit<ArchiveInfo, 'archiveName' | 'originalName' | 'archivedAt'> | null;
}

const IS_THERE = '23505';

/** The blocks that were put away. */
export class PostgresArchive implements ArchiveStore {
  readonly #world: BlockWorld;
  readonly #blocks: PostgresBlocks;

  constructor(world: BlockWorld, blocks: PostgresBlocks) {
    this.#world = world;
    this.#blocks = blocks;
  }

  async store({ block, name, owner, fence }: Claim, facts: Row['archive'] & object, at: Date): Promise<Stored> {
    const { database, projection, signals } = this.#world;
    await projection.flush();
    for (let ms = at.getTime(); ; ms += 1) {
      const stored = archiveName(name, new Date(ms));
      try {
        const [row] = await database.query(sql.STORE, [block, owner, fence, stored, at.toISOString(), JSON.stringify(facts)]);
        if (row === undefined) throw leaseLost();
      } catch (error) {
        if (sqlStateOf(error) === IS_THERE) continue;
        throw error;
      }
      projection.drop(block);
      this.#blocks.moved(name);
      signals.tell({ what: 'released', block });
      return { archiveName: stored, unconfirmed: undefined };
    }
  }

  async list(): Promise<ArchiveInfo[]> {
    return (await this.#world.database.query<Row>(sql.LIST)).map(infoOf);
  }

  async find(given: string): Promise<ArchiveInfo> {
    const found = (await this.#world.database.query<Row>(sql.FIND, [given.replaceAll('\0', '')])).map(infoOf);
    const exact = found.find((info) => info.archiveName === given);
    if (exact !== undefined) return exact;
    if (found.length > 1) {
      const choices = found.map((one) => one.archiveName).join(', ');
      throw new BlockhouseError('AMBIGUOUS_ARCHIVE', `There are ${found.length} archived blocks named ${given}. Use one of the archive names ${choices}.`);
    }
    if (found[0] === undefined)
      throw archiveNotFound(
        given,
        (await this.list()).map(({ originalName }) => originalName),
      );
    return found[0];
  }

  async config(info: ArchiveInfo, name: string): Promise<BlockConfig> {
    const [row] = await this.#world.database.query<{ value: unknown }>(sql.CONFIG, [info.archiveName]);
    if (row === undefined) throw archiveNotFound(info.archiveName, []);
    try {
      return stoppedConfig(row.value, name, this.#world.now());
    } catch (error) {
      const text = `The config.json of ${info.archiveName} can't be used: ${(error as Error).message.replace(/\.$/, '')}. Repair it in the database.`;
      throw new BlockhouseError('BLOCK_DAMAGED', text, { cause: error });
    }
  }

  async restore(info: ArchiveInfo, config: BlockConfig): Promise<Unconfirmed> {
    const { name } = config;
    await this.#world.database
      .transaction(async (run) => {
        const [row] = await run<{ block: number }>(sql.RESTORE, [info.archiveName, name]);
        if (row === undefined) throw archiveNotFound(info.archiveName, []);
        const [description, provider, model, tags] = listColumns(config);
        await run(sql.SET_CONFIG, [row.block, JSON.stringify(config)]);
        await run(CONFIGURED, [row.block, config.enabled, description, provider, model, tags, name, true]);
      })
      .catch((error: unknown) => {
        throw sqlStateOf(error) === IS_THERE ? nameTaken(name) : error;
      });
    this.#blocks.moved(name);
    return undefined;
  }

  async remove({ archiveName }: ArchiveInfo): Promise<Unconfirmed> {
    await this.#world.database.transaction(async (run) => {
      const [row] = await run<{ block: number }>(sql.REMOVE, [archiveName]);
      if (row === undefined) throw archiveNotFound(archiveName, []);
      await run(sql.REMOVE_MESSAGES, [row.block]);
      await run(sql.REMOVE_LINES, [row.block]);
    });
    return undefined;
  }

  async import(bundle: Uint8Array, wanted: string | undefined, accept: (config: BlockConfig) => Promise<void>): Promise<Built> {
    const { unpackBlock } = await import('./bundles.ts'); // its packages are loaded with the first import
    const { database, now } = this.#world;
    const built = await unpackBlock(database, bundle, { wanted, now: now(), accept });
    this.#blocks.moved(built.name);
    return { ...built, unconfirmed: undefined };
  }
}

/** The facts of a row. */
export function infoOf({ archive_name, name, archived_at, archive }: Row): ArchiveInfo {
  return { ...archive, archiveName: archive_name, originalName: name, archivedAt: archived_at.toISOString() };
}
