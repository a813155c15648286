// The workspace that this process holds: its lock and its blocks. Their code is loaded at `start`, so that a program that only uses the
// gateway does not load it.
//
// books-last: the accounts of clients' calls stay open after the blocks have ended, until no call is under way.
// lock-first: nothing in a workspace is written before we hold the lock, and we release the lock only after the last write.
// lost-lock: when the lock names another server (a person deleted ours, and that server started), our monitors end, so that no message gets two
//   answers, and so do the calls of the gateway: no ledger could count them any longer.
import type { CredentialStore } from './auth/credentials.ts';
import type { Blocks } from './block/api.ts';
import type { WorkspaceBlocks } from './block/blocks.ts';
import type { ModelCalls } from './block/reply/call-model.ts';
import type { CoreBus } from './bus.ts';
import { DEFAULT_MONITOR_CALLS } from './config.ts';
import type { WorkspaceOptions } from './core-options.ts';
import { BlockhouseError, noBlocks } from './errors.ts';
import type { Gateway } from './gateway/gateway.ts';
import { secretVariables } from './gateway/known-secrets.ts';
import type { BodyKeeper } from './gateway/live.ts';
import { Prices } from './gateway/pricing.ts';
import type { DebuggedKeys } from './keys/debugged-keys.ts';
import type { GatewayAccounts } from './keys/gateway-accounts.ts';
import type { KeyStore } from './keys/key-store.ts';
import type { Accounts } from './keys/named-key.ts';
import { holdFolder, openDebugFile, openNotices, openStore, readGatewayBook, realPathOf } from './store/open.ts';
import type { SettingStore } from './store/port.ts';
import type { OwnAddresses } from './gateway/own-addresses.ts';
import type { ConnectedStore, FolderLock, Store, StoreHealth } from './store/store.ts';
import type { ServerNode } from './types.ts';

/** What a session works with. */
export interface SessionOptions {
  readonly workspace: string;
  readonly settings: SettingStore;
  /** Undefined: the workspace is kept in its folder. */
  readonly database: ConnectedStore | undefined;
  /** The process that has started this one holds the folder of a workspace in a database. */
  readonly isFolderHeld: boolean;
  readonly bus: CoreBus;
  readonly gateway: Gateway;
  readonly credentials: CredentialStore | undefined;
  readonly keys: KeyStore;
  readonly addresses: OwnAddresses;
  readonly options: WorkspaceOptions;
}

interface Held {
  /** Undefined for a session of the gateway alone. */
  readonly running: Running | undefined;
  readonly store: Store;
  readonly prices: Prices;
  readonly accounts: GatewayAccounts;
}

/** The blocks and their model calls. */
interface Running {
  readonly blocks: WorkspaceBlocks;
  readonly calls: ModelCalls;
}

/** One workspace from `start` to `close`. */
export class WorkspaceSession {
  readonly #options: SessionOptions;
  #bodies: DebuggedKeys | undefined;
  /** Where this server listens. */
  #address: string | undefined;
  #starting: Promise<Held> | undefined;
  #held: Held | undefined;
  #stopping: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    options.options.tools?.keepIn?.(options.settings, options.database?.kind ?? 'files');
  }

  /** True from the end of `start` to `stop`. */
  get isOpen(): boolean {
    return this.#held !== undefined && this.#stopping === undefined;
  }

  /** Throws an Error before `start`, and WRONG_STATE where there are none. */
  get blocks(): Blocks {
    if (this.#stopping !== undefined) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
    if (this.#options.options.gatewayOnly === true) throw noBlocks();
    if (this.#held?.running === undefined) throw new Error('Call start() first: it opens the workspace that has the blocks.');
    return this.#held.running.blocks;
  }

  /** Undefined before `start` and after `close`. */
  get accounts(): GatewayAccounts | undefined {
    return this.#held?.accounts;
  }

  /** The bodies of calls of debugged keys; undefined before the folder is held, and where another process holds it. */
  get bodies(): BodyKeeper | undefined {
    return this.#bodies;
  }

  /** Undefined before `start` and after `close`. */
  get prices(): Prices | undefined {
    return this.#held?.prices;
  }

  /** A second call waits for the first. Throws WORKSPACE_BUSY. */
  async start(): Promise<void> {
    if (this.#stopping !== undefined) throw new Error('This core is closed; create a new one with createCore().');
    this.#starting ??= this.#open();
    try {
      this.#held = await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  /** Takes what a process needs whose workers serve: the workspace, or the folder of one in a database. Rejects with WORKSPACE_BUSY, or the system's own error. */
  async hold(): Promise<FolderLock> {
    if (this.#options.database !== undefined) {
      const lock = await holdFolder(this.#options.workspace);
      await this.#keepBodies();
      const release = async (): Promise<void> => {
        await this.#bodies?.close();
        await lock.release();
      };
      return { announce: (url) => lock.announce(url), release };
    }
    await this.start();
    return { announce: (url) => this.announce(url), release: () => this.closeAll() };
  }

  /** The servers that share the workspace. */
  async nodes(): Promise<readonly ServerNode[]> {
    if (this.#held === undefined) throw new Error('Call start() first.');
    return this.#held.store.nodes();
  }

  /** Asks a server to give its blocks away, or to take some again. */
  async drain(node: string, isDraining: boolean): Promise<ServerNode> {
    if (this.#held === undefined) throw new Error('Call start() first.');
    return this.#held.store.drain(node, isDraining);
  }

  /** Undefined before `start`, and with a folder. */
  get storeHealth(): StoreHealth | undefined {
    return this.#held?.store.health();
  }

  async announce(url: string): Promise<void> {
    if (this.#held === undefined) throw new Error('Call start() first.');
    this.#address = url;
    await this.#held.store.announce(url);
  }

  /** Loads the price data if there are blocks that need it; otherwise the first block loads it. */
  async prepare(): Promise<void> {
    if (((await this.#held?.running?.blocks.counts())?.blocks ?? 0) > 0) return this.#loadPrices();
    const { bus } = this.#options;
    const load = (): void => {
      bus.off('block.created', load);
      void this.#loadPrices();
    };
    bus.on('block.created', load);
  }

  async #loadPrices(): Promise<void> {
    try {
      await this.#held?.prices.prepare();
    } catch (error) {
      process.emitWarning(error as Error); // the first call that needs them gets the same failure
    }
  }

  /** Ends the blocks (books-last). A second call waits for the first. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Ends the blocks, closes the books and releases the lock. A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Ends everything: the blocks first, whose last calls need the gateway, then the gateway, and the books last, in which each call is settled that the gateway ends. */
  async closeAll(): Promise<void> {
    try {
      await this.stop();
    } finally {
      try {
        await this.#options.gateway.close();
      } finally {
        await this.close();
      }
    }
  }

  /** lock-first. */
  async #open(): Promise<Held> {
    const { workspace, bus, credentials, addresses, options } = this.#options;
    const open = { workspace, bus, addresses, now: options.clock ?? Date.now, onLost: (other: { readonly pid: number }) => this.#lost(other) };
    const store = await openStore(open, this.#options.database, this.#options.isFolderHeld);
    try {
      if (!this.#options.isFolderHeld) await this.#keepBodies();
      const held = await this.#build(store);
      credentials?.tellDamage();
      if (held.running !== undefined) {
        await store.ledger.tellDamage();
        await held.running.blocks.open();
      }
      return held;
    } catch (error) {
      await this.#bodies?.close();
      await store.close();
      throw error;
    }
  }

  /** lost-lock. */
  async #lost({ pid }: { readonly pid: number }): Promise<void> {
    if (this.#closing !== undefined) return;
    try {
      await this.closeAll();
    } finally {
      this.#options.bus.emit('workspace.lost', { pid });
    }
  }

  async #keepBodies(): Promise<void> {
    const { workspace, keys, bus } = this.#options;
    const file = await openDebugFile(workspace, bus);
    const { DebuggedKeys } = await import('./workspace-parts.ts');
    this.#bodies = new DebuggedKeys({ keys, file, bus });
    await this.#bodies.begin();
  }

  async #build(store: Store): Promise<Held> {
    const { bus, gateway, keys, options } = this.#options;
    const now = (): number => store.now();
    keys.goBy(now);
    const monotonic = options.now ?? (() => performance.now());
    const parts = await import('./workspace-parts.ts');
    const prices = new Prices();
    const accounts = new parts.GatewayAccounts({ bus, gateway, prices, keys, ledger: store.gateway, now, monotonic });
    return { running: options.gatewayOnly === true ? undefined : await this.#run(store, prices, parts, accounts), store, prices, accounts };
  }

  async #run(store: Store, prices: Prices, parts: typeof import('./workspace-parts.ts'), accounts: GatewayAccounts): Promise<Running> {
    let membership = await store.join();
    const { workspace, settings, bus, gateway, credentials, options } = this.#options;
    const now = (): number => store.now();
    const monotonic = options.now ?? (() => performance.now());
    const { createWorkspaceBlocks, HaltSwitch, HeartbeatWheel, ModelCalls, Notify, Schedules, StepCounter } = parts;
    const halt = new HaltSwitch(settings, bus, now);
    options.tools?.onServer?.((fact) => {
      if (fact.kind !== 'exited') bus.emit(`server.${fact.kind}`, { server: fact.server });
      else bus.emit('server.exited', { server: fact.server, reason: fact.reason });
    });
    options.tools?.know?.(
      (url) => this.#options.addresses.ownerOf(url) !== undefined,
      (variable) => secretVariables(gateway.upstreams(), credentials).has(variable),
    );
    options.tools?.tidy?.();
    const calls = new ModelCalls({
      gateway,
      ledger: store.ledger,
      prices,
      bus,
      countForKey: (call) => accounts.countForKey(call),
      assertForKey: (call) => accounts.assertForKey(call),
      now,
      halted: () => halt.state(),
      isSure: () => monotonic() < membership.sureUntil,
      concurrency: options.monitorCalls ?? DEFAULT_MONITOR_CALLS,
    });
    const world = {
      workspace,
      bus,
      gateway,
      calls,
      store,
      tools: new parts.ToolsHere(options.tools, realPathOf),
      member: () => membership,
      rejoin: async () => {
        membership = await store.join();
      },
      heartbeats: new HeartbeatWheel(),
      steps: new StepCounter(now()),
      schedules: new Schedules({ bus, now }),
      notify: new Notify({
        bus,
        entries: credentials,
        sender: options.notices,
        files: () => openNotices(workspace, this.#options.isFolderHeld),
        now,
        monotonic,
        address: () => this.#address,
      }),
      hookSecrets: credentials,
      now,
      monotonic,
      random: options.random ?? Math.random,
      halted: () => halt.state(),
      refreshCredentials: () => credentials?.refresh(),
    };
    return { blocks: createWorkspaceBlocks(world, halt), calls };
  }

  /** Undefined if it was never started, or could not be: the caller of `start` gets the failure. */
  async #started(): Promise<Held | undefined> {
    return this.#starting?.catch(() => undefined);
  }

  async #stop(): Promise<void> {
    const held = this.#held ?? (await this.#started()); // at once where it can be: from this moment on, changes are refused
    if (held === undefined) return;
    await held.running?.blocks.close();
    await held.store.blocks.close();
    await held.running?.calls.ended();
    await this.#options.options.tools?.close();
    await this.#options.options.notices?.close();
    await held.store.ledger.close();
  }

  async #close(): Promise<void> {
    const held = this.#held ?? (await this.#started());
    try {
      await this.stop();
    } finally {
      this.#held = undefined;
      await this.#bodies?.close();
      await (held === undefined ? this.#options.database?.close() : held.accounts.close().finally(() => held.store.close())); // lock-first
    }
  }
}

/** Of each key, whether or not this process holds the workspace. `accounts` are those of a session that does. */
export async function todaysSpending(
  workspace: string,
  accounts: Pick<Accounts, 'spentToday'> | undefined,
  now: (() => number) | undefined,
): Promise<Accounts['spentToday']> {
  if (accounts !== undefined) return (key) => accounts.spentToday(key);
  const book = await readGatewayBook(workspace, now);
  return async (key) => (await book.spent('key', key)).day;
}
