// A process that serves the gateway on a port that it shares with others: what it has of the primary in place of its own parts.
import type { CodeHolder, Passes, PassKind, Timed } from '../auth/sessions.ts';
import type { Blocks } from '../block/api.ts';
import type { CoreBus } from '../bus.ts';
import { noBlocks } from '../errors.ts';
import type { Follower, RecentEvents } from '../event-ring.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { EndRequest, GatewayView } from '../gateway/live.ts';
import { Prices } from '../gateway/pricing.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { PricedNames } from '../keys/priced-names.ts';
import type { Turn } from '../store/open.ts';
import type { ServerNode } from '../types.ts';
import { WorkerAccounts } from './accounts.ts';
import type { ProcessLine } from './line.ts';
import { Link } from './link.ts';
import type { PrimarySays, WorkerSays } from './says.ts';

/** What a worker makes its core of. */
export interface WorkerParts {
  readonly gateway: Gateway;
  readonly bus: CoreBus;
  readonly keys: KeyStore;
  readonly names: PricedNames;
  /** Looks at all settings and credentials now. */
  look(): void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonic: () => number;
}

/** The worker's side of the primary. */
export class Worker {
  readonly #link: Link<WorkerSays, PrimarySays>;
  readonly #ends: EndRequest[] = [];
  readonly #follows = new Map<number, Follower>();
  #parts: WorkerParts | undefined;
  #accounts: WorkerAccounts | undefined;
  #isWatched = false;
  #followed = 0;

  constructor(line: ProcessLine) {
    this.#link = new Link<WorkerSays, PrimarySays>(line, {
      tell: {
        changed: () => this.#parts?.look(),
        watched: () => {
          this.#isWatched = true;
          this.#accounts?.tellAll();
        },
        happened: ({ id, event }) => this.#follows.get(id)?.(event),
      },
      ask: {
        flush: async () => void this.#told(),
        loads: async () => {
          const gateway = this.#told();
          return gateway.upstreams().map(({ id }) => ({ id, load: gateway.load(id) }));
        },
        live: async () => this.#told().live(),
        endRequest: async ({ requestId }) => this.#end(requestId),
      },
    });
  }

  /** The changes of all workers come one after the other. */
  readonly turn: Turn = async (path, work) => {
    await this.#link.ask('turn', { path });
    try {
      return await work();
    } finally {
      this.#link.tell('endTurn', { path });
    }
  };

  readonly passes: Passes = {
    add: (kind: PassKind, ms: number, holder: CodeHolder): Promise<Timed> => this.#link.ask('addPass', { kind, ms, holder }),
    holderOf: async (kind: PassKind, text: string) => (await this.#link.ask('passHolder', { kind, text })).holder,
    take: (kind: PassKind, text: string): Promise<boolean> => this.#link.ask('takePass', { kind, text }),
  };

  readonly recent: RecentEvents = {
    follow: (follower, since) => {
      this.#followed += 1;
      const id = this.#followed;
      this.#follows.set(id, follower);
      this.#link.tell('follow', { id, since });
      return () => {
        if (this.#follows.delete(id)) this.#link.tell('unfollow', { id });
      };
    },
  };

  readonly view: GatewayView = {
    figures: (window) => this.#link.ask('figures', { window }),
    calls: () => this.#link.ask('calls', undefined),
    endElsewhere: (requestId) => this.#link.ask('endRequest', { requestId }),
    addEnd: (end) => void this.#ends.push(end),
  };

  /** The session of a core with these parts. */
  session(parts: WorkerParts): WorkerSession {
    this.#parts = parts;
    const { gateway, bus, keys, names, now, monotonic } = parts;
    const accounts = new WorkerAccounts({ link: this.#link, bus, keys, names, now, monotonic });
    this.#accounts = accounts;
    if (this.#isWatched) accounts.tellAll();
    return new WorkerSession(gateway, accounts, () => this.#link.ask('nodes', undefined));
  }

  /** Lines of the log of this process, for the files that the primary writes. */
  log(lines: readonly string[]): void {
    this.#link.tell('log', lines);
  }

  /** The gateway, all of whose facts are on their way. */
  #told(): Gateway {
    if (this.#parts === undefined) throw new Error('The worker has no core yet.');
    this.#accounts?.flush();
    return this.#parts.gateway;
  }

  #end(requestId: string): boolean {
    const gateway = this.#told();
    if (!gateway.live().some((call) => call.requestId === requestId)) return false;
    const wasOpen = this.#ends.map((end) => end(requestId)).includes(true);
    return gateway.stopReading(requestId) || wasOpen;
  }
}

/** The workspace as a worker has it: without its lock and its blocks. */
export class WorkerSession {
  readonly prices = new Prices();
  readonly #gateway: Gateway;
  readonly #accounts: WorkerAccounts;
  #isStarted = false;
  #isStopping = false;
  #closing: Promise<void> | undefined;
  #isClosed = false;

  constructor(gateway: Gateway, accounts: WorkerAccounts, nodes: () => Promise<readonly ServerNode[]>) {
    this.nodes = nodes;
    this.#gateway = gateway;
    this.#accounts = accounts;
  }

  get isOpen(): boolean {
    return this.#isStarted && !this.#isStopping;
  }

  get blocks(): Blocks {
    throw noBlocks();
  }

  get accounts(): WorkerAccounts | undefined {
    return this.#isStarted && !this.#isClosed ? this.#accounts : undefined;
  }

  async start(): Promise<void> {
    this.#isStarted = true;
  }

  /** The process that holds the workspace is the server. */
  readonly nodes: () => Promise<readonly ServerNode[]>;
  /** Their workspace is a folder, so there is nobody to take anything. */
  async drain(): Promise<never> {
    throw noBlocks();
  }

  /** Workers have a folder. */
  readonly storeHealth = undefined;

  /** The primary does. */
  async announce(): Promise<void> {}

  async prepare(): Promise<void> {}

  async stop(): Promise<void> {
    this.#isStopping = true;
  }

  /** Ends the calls, and hands what they have used to the primary. A second call waits for the first. */
  closeAll(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.stop();
    try {
      await this.#gateway.close();
    } finally {
      await this.#accounts.close();
      this.#isClosed = true;
    }
  }
}
