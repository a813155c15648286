// The blocks of a workspace in PostgreSQL.
import type { BlockConfig } from '../../schemas/block-config.ts';
import { blockNotFound } from '../../schemas/names.ts';
import { DOCUMENTS } from '../parts/documents.ts';
import type { BlockContents, BlockRef, Unconfirmed } from '../port.ts';
import type { BlockListener, BlockStore, DamageListener, EntrySource, StoredBlock } from '../store.ts';
import { PostgresBlockList } from './block-list.ts';
import { listColumns, nameTaken } from './documents.ts';
import { sqlStateOf } from './faults.ts';
import * as sql from './sql/blocks.ts';
import { type BlockWorld, PostgresBlock } from './stored-block.ts';

const IS_THERE = '23505';

/** The blocks that all servers share. */
export class PostgresBlocks implements BlockStore {
  readonly #world: BlockWorld;
  readonly #lists = new Set<PostgresBlockList>();

  constructor(world: BlockWorld) {
    this.#world = world;
    world.signals.on((hint) => {
      if (hint.what === 'moved') this.#forget(hint.name);
    });
  }

  /** A crash leaves nothing half. */
  async open(): Promise<void> {
    await Promise.resolve();
  }

  async close(): Promise<void> {
    await this.#world.projection.flush();
  }

  list(source: EntrySource): PostgresBlockList {
    const list = new PostgresBlockList(this.#world, source);
    this.#lists.add(list);
    return list;
  }

  block(ref: BlockRef, listener: BlockListener): StoredBlock {
    return new PostgresBlock(ref, this.#world, listener);
  }

  async contents(name: string, listener: DamageListener): Promise<BlockContents> {
    const ref = await this.find(name);
    if (ref === undefined) throw blockNotFound(name);
    return new PostgresBlock(ref, this.#world, { ...SILENT, ...listener }).contents();
  }

  async assertFree(name: string): Promise<void> {
    if ((await this.find(name)) !== undefined) throw nameTaken(name);
  }

  async create(config: BlockConfig): Promise<Unconfirmed> {
    const { memory, costs, pulse } = DOCUMENTS;
    const documents = { config, memory: memory.missing(), costs: costs.missing(), pulse: pulse.missing() };
    const [description, provider, model, tags] = listColumns(config);
    const texts = Object.values(documents).map((value) => JSON.stringify(value));
    const values = [config.name, config.enabled, Object.keys(documents), texts, description, provider, model, tags];
    await this.#world.database.query(sql.CREATE, values).catch((error: unknown) => {
      throw sqlStateOf(error) === IS_THERE ? nameTaken(config.name) : error;
    });
    this.moved(config.name);
    return undefined;
  }

  /** The two moves of a rename are whole by themselves. */
  async beginRename(): Promise<void> {
    await Promise.resolve();
  }

  async endRename(): Promise<void> {
    await Promise.resolve();
  }

  /** A block of this name has come or gone. */
  moved(name: string): void {
    this.#forget(name);
    this.#world.signals.tell({ what: 'moved', name });
  }

  #forget(name: string): void {
    for (const list of this.#lists) list.moved(name);
  }

  /** The block of this name. */
  async find(name: string): Promise<BlockRef | undefined> {
    const [ref] = await this.#world.database.query<{ block: number; name: string }>(sql.FIND, [name]);
    return ref;
  }
}

const ignored = (): void => undefined;
const SILENT: BlockListener = {
  onChanged: ignored,
  onDamaged: ignored,
  onRebuilt: ignored,
  onOther: ignored,
  onLogged: ignored,
  onLogFault: ignored,
  logLimits: () => ({ maxFileBytes: Number.POSITIVE_INFINITY, maxFiles: Number.POSITIVE_INFINITY }),
};
