// One block that is open, in PostgreSQL.
import { noCosts } from '../../block/costs/costs.ts';
import { parseConfig } from '../../block/documents/document-codecs.ts';
import type { BlockConfig } from '../../schemas/block-config.ts';
import type { BlockState } from '../../schemas/block-pulse.ts';
import type { ContentRoom } from '../parts/content-room.ts';
import { DOCUMENTS, SCHEDULES } from '../parts/documents.ts';
import type { BlockContents, BlockDocuments, BlockRef, Claim, Conversation, ScheduleStates, Standing } from '../port.ts';
import type { BlockListener, StoredBlock } from '../store.ts';
import { PostgresConversation } from './conversation.ts';
import { DerivedDocument, type DocumentOptions, listColumns, noBlock, PostgresDocument } from './documents.ts';
import type { PostgresLedger } from './ledger.ts';
import { PostgresLog } from './log.ts';
import type { LogWriter } from './log-writer.ts';
import type { Database, Run } from './pool.ts';
import type { Projection } from './projection.ts';
import type { PostgresSignals } from './signals/signals.ts';
import * as sql from './sql/blocks.ts';
import { toldConversation } from './told-conversation.ts';

/** What all blocks of a server share. */
export interface BlockWorld {
  readonly database: Database;
  readonly signals: PostgresSignals;
  readonly projection: Projection;
  readonly logs: LogWriter;
  readonly bills: Pick<PostgresLedger, 'send'>;
  /** What is known of conversations, of all blocks together. */
  readonly room: ContentRoom;
  /** The id of this server's membership. */
  node(): string;
  /** Epoch milliseconds by the database's clock. */
  now(): number;
  /** Monotonic milliseconds. */
  clock(): number;
  /** How often the database has restarted since this server began. */
  past(): number;
}

/** A block in the database. */
export class PostgresBlock implements StoredBlock {
  readonly documents: BlockDocuments;
  readonly schedules: PostgresDocument<ScheduleStates>;
  readonly log: PostgresLog;
  readonly #ref: BlockRef;
  readonly #world: BlockWorld;
  readonly #listener: BlockListener;
  readonly #config: PostgresDocument<BlockConfig>;
  readonly #memory: PostgresDocument<BlockContents['memory']>;
  readonly #costs: DerivedDocument<BlockContents['costs']>;
  readonly #pulse: DerivedDocument<BlockContents['pulse']>;
  readonly #conversation: Conversation;
  readonly #entries: PostgresConversation;

  constructor(ref: BlockRef, world: BlockWorld, listener: BlockListener) {
    this.#ref = ref;
    this.#world = world;
    this.#listener = listener;
    const { block } = ref;
    const at = (): string => new Date(world.now()).toISOString();
    const parse = (value: unknown): BlockConfig => parseConfig(value, ref.name, at());
    this.#config = new PostgresDocument<BlockConfig>({ ...this.#options('config', parse), also: (run, config, claim) => this.#configured(run, config, claim) });
    this.#memory = new PostgresDocument<BlockContents['memory']>({
      ...this.#options('memory', DOCUMENTS.memory.parse),
      storeLater: (part) => world.projection.storeLater(block, 'memory', part),
      onStored: () => world.signals.tell({ what: 'document', block, kind: 'memory' }),
    });
    this.#costs = this.#derived(
      'costs',
      rebuilt(DOCUMENTS.costs.parse, noCosts, (reason) => listener.onRebuilt('costs', reason)),
      ({ totalCost }) => ({ costUsd: totalCost }),
    );
    this.#pulse = this.#derived(
      'pulse',
      rebuilt(DOCUMENTS.pulse.parse, DOCUMENTS.pulse.missing, (reason) => listener.onRebuilt('pulse', reason)),
      ({ state, status }) => ({ state, status }),
    );
    const { database } = world;
    this.schedules = new PostgresDocument<ScheduleStates>({
      ...{ database, block, name: ref.name, kind: 'schedule', parse: SCHEDULES.parse, missing: SCHEDULES.missing, clock: world.clock, past: world.past },
      onChanged: () => {
        listener.onOther();
        world.signals.tell({ what: 'document', block, kind: 'schedule' });
      },
      onDamaged: () => listener.onOther(),
    });
    this.#entries = new PostgresConversation({ database, block, at, clock: world.clock, past: world.past, bills: world.bills, room: world.room });
    this.#conversation = toldConversation(this.#entries, (what) => {
      world.projection.touch(block);
      world.signals.tell(what === 'chat' ? { what: 'document', block, kind: what } : { what, block });
      if (what !== 'wish') listener.onChanged('chat', { own: true, quiet: false, healed: false });
    });
    this.documents = { config: this.#config, memory: this.#memory, costs: this.#costs, pulse: this.#pulse, conversation: this.#conversation };
    const onWritten = (listener: () => void): (() => void) =>
      world.signals.on((hint) => {
        if (hint.what === 'document' && hint.block === block && hint.kind === 'log') listener();
      });
    this.log = new PostgresLog({ database, writer: world.logs, block, listener, onWritten, node: () => world.node(), now: () => world.now() });
  }

  get isQuiet(): boolean {
    return !this.#config.isBusy && !this.#memory.isBusy && !this.schedules.isBusy;
  }

  async standing(): Promise<Standing> {
    const [row] = await this.#world.database.query<{ wanted: boolean; state: BlockState; owner: string | null }>(sql.STANDING, [
      this.#ref.block,
      this.#ref.name,
    ]);
    if (row === undefined) throw noBlock();
    return { isRunning: row.wanted, state: row.owner === null ? row.state : (await this.#pulse.read()).state, heldBy: row.owner };
  }

  async contents(): Promise<BlockContents> {
    const [rows, chat] = await Promise.all([
      this.#world.database.query<{ kind: string; rev: number; value: unknown }>(sql.DOCUMENTS, [this.#ref.block, this.#ref.name]),
      this.#entries.outline(),
    ]);
    const found = new Map(rows.map((row) => [row.kind, row]));
    const of = <T>(kind: string, document: { take(rev: number, value: unknown): T }): T => {
      const row = found.get(kind);
      if (row === undefined) throw noBlock();
      return document.take(row.rev, row.value);
    };
    return { config: of('config', this.#config), memory: of('memory', this.#memory), costs: of('costs', this.#costs), pulse: of('pulse', this.#pulse), chat };
  }

  watch(): () => void {
    const { signals } = this.#world;
    const { block } = this.#ref;
    const unwatch = signals.watch(block);
    const other = { own: false, quiet: false, healed: false } as const;
    const unlisten = signals.on((hint) => {
      if (hint.block !== block) return;
      if (hint.what === 'work' || (hint.what === 'document' && hint.kind === 'chat')) this.#entries.hint();
      if (hint.what === 'document' && hint.kind !== 'chat')
        this.#changed(hint.kind); // of lines of the log, nothing else changes
      else if (hint.what === 'work' || hint.what === 'document') this.#listener.onChanged('chat', other);
      else if (hint.what === 'gone') this.#listener.onOther();
    });
    const ungap = signals.onGap(() => this.#changed(undefined));
    return () => {
      unwatch();
      unlisten();
      ungap();
    };
  }

  async measure(): Promise<{ readonly sizeBytes: number; readonly files: number }> {
    const [row] = await this.#world.database.query<{ size: number; logs: number }>(sql.MEASURE, [this.#ref.block]);
    return { sizeBytes: row?.size ?? 0, files: (row?.logs ?? 0) + BLOCK_FILES };
  }

  async pack(): Promise<Uint8Array> {
    await Promise.all([this.#world.projection.flush(), this.log.flush()]);
    const { packBlock } = await import('./bundles.ts'); // its packages are loaded with the first export
    return packBlock(this.#world.database, this.#ref, await this.contents(), await this.schedules.read());
  }

  async close(): Promise<void> {
    await Promise.all([this.#config.close(), this.#memory.close(), this.schedules.close(), this.log.close()]);
    await this.#world.projection.flush();
  }

  reopen(): void {
    for (const part of [this.#config, this.#memory, this.schedules, this.log]) part.reopen();
  }

  /** Somebody else has changed a document, or, without a kind, maybe any. */
  #changed(kind: string | undefined): void {
    const all = { config: this.#config, memory: this.#memory, costs: this.#costs, pulse: this.#pulse } as const;
    for (const [name, document] of Object.entries(all) as [keyof typeof all, { hint(): void }][]) {
      if (kind !== undefined && kind !== name) continue;
      document.hint();
      this.#listener.onChanged(name, { own: false, quiet: false, healed: false });
    }
    if (kind === undefined || kind === 'schedule') this.schedules.hint();
    if (kind === 'schedule') this.#listener.onOther();
    if (kind === undefined) this.#entries.hint();
    if (kind === undefined) this.#listener.onChanged('chat', { own: false, quiet: false, healed: false });
  }

  #options<K extends keyof Omit<BlockContents, 'chat'>>(kind: K, parse: (value: unknown) => BlockContents[K]): DocumentOptions<BlockContents[K]> {
    const { database, signals, clock, past } = this.#world;
    const { block, name } = this.#ref;
    return {
      database,
      block,
      name,
      kind,
      parse,
      clock,
      past,
      onChanged: (value, quiet, isStored) => {
        if (!quiet) this.#listener.onChanged(kind, { own: true, quiet, healed: false });
        if (isStored) signals.tell({ what: 'document', block, kind });
        if (kind === 'config') signals.tell({ what: (value as BlockConfig).enabled ? 'work' : 'wish', block });
      },
      onDamaged: (reason) => this.#listener.onDamaged(kind, reason, undefined),
    };
  }

  #derived<K extends 'costs' | 'pulse'>(
    kind: K,
    parse: (value: unknown) => BlockContents[K],
    shown: (value: BlockContents[K]) => object,
  ): DerivedDocument<BlockContents[K]> {
    const { projection } = this.#world;
    const { block } = this.#ref;
    return new DerivedDocument<BlockContents[K]>(this.#options(kind, parse), {
      store: (value) => projection.store(block, kind, JSON.stringify(value), shown(value)),
      isWaiting: () => projection.has(block, kind),
    });
  }

  /** What is to run is due; what is not to run any more is asked back from its owner. */
  async #configured(run: Run, config: BlockConfig, claim: Claim | undefined): Promise<void> {
    const [description, provider, model, tags] = listColumns(config);
    const { block, name } = this.#ref;
    await run(sql.CONFIGURED, [block, config.enabled, description, provider, model, tags, name, claim !== undefined]);
  }
}

/** Beside the logs. */
const BLOCK_FILES = 5;

/** What can be made again is made again where it can't be read. */
function rebuilt<T>(parse: (value: unknown) => T, missing: () => T, onRebuilt: (reason: string) => void): (value: unknown) => T {
  return (value) => {
    try {
      return parse(value);
    } catch (error) {
      onRebuilt((error as Error).message);
      return missing();
    }
  };
}
