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
import { BlockhouseError } from './errors.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { Prices } from './gateway/pricing.ts';
import type { GatewayAccounts } from './keys/gateway-accounts.ts';
import type { KeyStore } from './keys/key-store.ts';
import { openStore } from './store/open.ts';
import type { SettingStore } from './store/port.ts';
import type { Store } from './store/store.ts';
import type { WorkspaceOptions } from './workspace-options.ts';

/** What a session works with. */
export interface SessionOptions {
  readonly workspace: string;
  readonly settings: SettingStore;
  readonly bus: CoreBus;
  readonly gateway: Gateway;
  readonly credentials: CredentialStore | undefined;
  readonly keys: KeyStore;
  readonly options: WorkspaceOptions;
}

interface Held {
  readonly blocks: WorkspaceBlocks;
  readonly calls: ModelCalls;
  readonly store: Store;
  readonly prices: Prices;
  readonly accounts: GatewayAccounts;
}

/** One workspace from `start` to `close`. */
export class WorkspaceSession {
  readonly #options: SessionOptions;
  #starting: Promise<Held> | undefined;
  #held: Held | undefined;
  #stopping: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** True while it has blocks. */
  get isOpen(): boolean {
    return this.#held !== undefined && this.#stopping === undefined;
  }

  /** Throws an Error before `start`. */
  get blocks(): Blocks {
    if (this.#stopping !== undefined) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
    if (this.#held === undefined) throw new Error('Call start() first: it opens the workspace that has the blocks.');
    return this.#held.blocks;
  }

  /** Undefined before `start` and after `close`. */
  get accounts(): GatewayAccounts | undefined {
    return this.#held?.accounts;
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

  async announce(url: string): Promise<void> {
    if (this.#held === undefined) throw new Error('Call start() first.');
    await this.#held.store.announce(url);
  }

  /** Loads the price data if there are blocks that need it; otherwise the first block loads it. */
  async prepare(): Promise<void> {
    if ((this.#held?.blocks.counts().blocks ?? 0) > 0) return this.#loadPrices();
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
    const { workspace, bus, credentials, options } = this.#options;
    const store = await openStore({ workspace, bus, now: options.clock ?? Date.now, onLost: (other) => this.#lost(other) });
    try {
      const held = await this.#build(store);
      credentials?.tellDamage();
      await store.ledger.tellDamage();
      await held.blocks.open();
      return held;
    } catch (error) {
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

  async #build(store: Store): Promise<Held> {
    const { workspace, settings, bus, gateway, credentials, keys, options } = this.#options;
    const now = options.clock ?? Date.now;
    const monotonic = options.now ?? (() => performance.now());
    const parts = await import('./workspace-parts.ts');
    const { createWorkspaceBlocks, GatewayAccounts, HaltSwitch, HeartbeatWheel, ModelCalls, Prices, StepCounter } = parts;
    const halt = new HaltSwitch(settings, bus, now);
    const prices = new Prices();
    const accounts = new GatewayAccounts({ bus, gateway, prices, keys, ledger: store.gateway, now, monotonic });
    const calls = new ModelCalls({
      gateway,
      ledger: store.ledger,
      prices,
      bus,
      now,
      halted: () => halt.state(),
      concurrency: options.monitorCalls ?? DEFAULT_MONITOR_CALLS,
    });
    const world = {
      workspace,
      bus,
      gateway,
      calls,
      store,
      heartbeats: new HeartbeatWheel(),
      steps: new StepCounter(now()),
      now,
      monotonic,
      random: options.random ?? Math.random,
      halted: () => halt.state(),
      refreshCredentials: () => credentials?.refresh(),
    };
    return { blocks: createWorkspaceBlocks(world, halt), calls, store, prices, accounts };
  }

  /** Undefined if it was never started, or could not be: the caller of `start` gets the failure. */
  async #started(): Promise<Held | undefined> {
    return this.#starting?.catch(() => undefined);
  }

  async #stop(): Promise<void> {
    const held = this.#held ?? (await this.#started()); // at once where it can be: from this moment on, changes are refused
    if (held === undefined) return;
    await held.blocks.close();
    await held.store.blocks.close();
    await held.calls.ended();
    await held.store.ledger.close();
  }

  async #close(): Promise<void> {
    const held = this.#held ?? (await this.#started());
    try {
      await this.stop();
    } finally {
      this.#held = undefined;
      await held?.accounts.close().finally(() => held.store.close()); // lock-first
    }
  }
}
