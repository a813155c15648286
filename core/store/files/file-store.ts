// A workspace in its folder.
import type { CoreBus } from '../../bus.ts';
import { BlockhouseError, nodeNotFound } from '../../errors.ts';
import type { Finding, ServerNode } from '../../types.ts';
import type { GatewayBook, LedgerStore, Membership } from '../port.ts';
import type { ArchiveStore, Signals, Store } from '../store.ts';
import { BlockFolders } from './block/block-folders.ts';
import { FileArchive } from './block/file-archive.ts';
import { FileBlocks } from './block/file-blocks.ts';
import { FileSearch } from './search/file-search.ts';
import { GatewayLedger } from './ledger/gateway-ledger.ts';
import { Ledger } from './ledger/ledger.ts';
import type { WorkspaceLock } from './lock.ts';
import { FileMembership, type MembershipOptions } from './membership.ts';

// Together, so that a process that only looks at a ledger loads no further pieces of the program.
export { CALL_NOTES, CallParts } from './ledger/call-parts.ts';
export { DEBUG_FILE, DebugFile } from './debug-file.ts';
export { NOTICE_FOLDER, NoticeFolder } from './notice-folder.ts';
export { realPathOf } from './real-path.ts';
export { GatewayLedger, Ledger };

/** What a store works with. */
export interface FileStoreOptions extends Omit<MembershipOptions, 'enabled'> {
  readonly workspace: string;
  readonly bus: CoreBus;
  /** Epoch milliseconds. */
  now(): number;
}

/** Nobody else works on this workspace, so there is nobody to tell. */
const noop = (): void => undefined;
const NOBODY: Signals = { on: () => noop, follow: () => noop, publish: () => noop, tellRun: noop, onRun: () => noop };

/** The store of a workspace whose lock this process holds. */
export class FileStore implements Store {
  readonly blocks: FileBlocks;
  readonly archive: ArchiveStore;
  readonly ledger: LedgerStore;
  readonly gateway: GatewayBook;
  readonly signals = NOBODY;
  readonly search: FileSearch;
  readonly now: () => number;
  readonly #membership: FileMembership;
  readonly #lock: WorkspaceLock;

  constructor(options: FileStoreOptions) {
    const { workspace, bus, now } = options;
    const folders = new BlockFolders(workspace);
    const blocks = new FileBlocks({ folders, bus, now });
    this.blocks = blocks;
    this.search = new FileSearch(workspace, folders);
    this.archive = new FileArchive({ folders, now, onMoved: (name) => blocks.moved(name), onRemoved: () => this.search.erase() });
    this.ledger = new Ledger(workspace, bus, now);
    this.gateway = new GatewayLedger({ workspace, bus, now });
    this.now = now;
    this.#lock = options.lock;
    this.#membership = new FileMembership({ ...options, enabled: () => blocks.enabled() });
  }

  async join(): Promise<Membership> {
    return this.#membership;
  }

  /** This one: the lock names it. */
  async nodes(): Promise<readonly ServerNode[]> {
    const now = new Date(this.now()).toISOString();
    const { startedAt, url, version } = this.#lock.holder;
    return [{ id: this.#membership.node, self: true, version, url, startedAt, seenAt: now, alive: true, draining: false, blocks: this.blocks.count() }];
  }

  async drain(node: string): Promise<never> {
    if (node !== this.#membership.node) throw nodeNotFound(node);
    throw new BlockhouseError(
      'WRONG_STATE',
      'This workspace is kept in a folder, so there is no other server that could take its blocks. Stop the server instead.',
    );
  }

  health(): undefined {
    return undefined;
  }

  /** The doctor looks at the files itself, since it also does where no server has them. */
  async check(): Promise<readonly Finding[]> {
    return [];
  }

  announce(url: string): Promise<void> {
    return this.#membership.announce(url);
  }

  async close(): Promise<void> {
    await this.search.close();
    return this.#membership.leave();
  }
}
