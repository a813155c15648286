// The blocks of a workspace in PostgreSQL.
import { parseConfig } from '../../block/documents/document-codecs.ts';
import { leaseLost } from '../../errors.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import { blockNotFound } from '../../schemas/names.ts';
import { DOCUMENTS } from '../parts/documents.ts';
import type { BlockContents, BlockRef, Claim, Unconfirmed } from '../port.ts';
import type { BlockListener, BlockStore, DamageListener, EntrySource, RenameInOneStep, StoredBlock } from '../store.ts';
import { PostgresBlockList } from './block-list.ts';
import { listColumns, nameTaken } from './documents.ts';
import { sqlStateOf } from './faults.ts';
import { SET_CONFIG } from './sql/archive.ts';
import * as sql from './sql/blocks.ts';
import { CARRY, LOCK } from './sql/ledger.ts';
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
  async open(): Promise<undefined> {
    return Promise.resolve(undefined);
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

  readonly renaming: RenameInOneStep = { rename: (claim, to) => this.#rename(claim, to) };

  /** A block of this name has come or gone. */
  moved(name: string): void {
    this.#forget(name);
    this.#world.signals.tell({ what: 'moved', name });
  }

  async #rename({ block, name, owner, fence }: Claim, to: string): Promise<void> {
    const { database, projection, signals, now } = this.#world;
    await projection.flush();
    await database
      .transaction(async (run) => {
        const [row] = await run<{ value: unknown }>(sql.RENAME, [block, owner, fence, to]);
        if (row === undefined) throw leaseLost();
        const at = new Date(now()).toISOString();
        const before = parseConfig(row.value, name, at);
        const config = { ...before, name: to, updatedAt: at, rev: before.rev + 1 };
        const [description, provider, model, tags] = listColumns(config);
        await run(SET_CONFIG, [block, JSON.stringify(config)]);
        await run(sql.CONFIGURED, [block, config.enabled, description, provider, model, tags, to, true]);
        for (const one of [name, to].sort()) await run(LOCK, [one]);
        await run(CARRY, [name, to]);
      })
      .catch((error: unknown) => {
        throw sqlStateOf(error) === IS_THERE ? nameTaken(to) : error;
      });
    for (const one of [name, to]) this.moved(one);
    signals.tell({ what: 'released', block });
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
