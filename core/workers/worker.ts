// A process that serves on a port that it shares with others: what it has of the primary in place of its own parts.
//
// two-kinds: of a workspace in a folder, the primary has the accounts, and a worker serves the gateway alone. Of one in a database, each worker is a whole server,
//   and has of the primary only what is of their machine: the figures of all, and turns at files of the folder.
import type { CodeHolder, Passes, PassKind, Timed } from '../auth/sessions.ts';
import type { Blocks } from '../block/api.ts';
import type { CoreBus } from '../bus.ts';
import { noBlocks } from '../errors.ts';
import type { Follower, RecentEvents } from '../event-ring.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { BodyKeeper, EndRequest, GatewayView } from '../gateway/live.ts';
import { Prices } from '../gateway/pricing.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { PricedNames } from '../keys/priced-names.ts';
import type { Turn } from '../store/open.ts';
import type { StoreHealth } from '../store/store.ts';
import type { ServerNode } from '../types.ts';
import { WorkerAccounts } from './accounts.ts';
import { WorkerFacts } from './facts.ts';
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
  #parts: Pick<WorkerParts, 'gateway' | 'bus' | 'look'> | undefined;
  #facts: WorkerFacts | undefined;
  #accounts: WorkerAccounts | undefined;
  #isWatched = false;
  #followed = 0;

  constructor(line: ProcessLine) {
    this.#link = new Link<WorkerSays, PrimarySays>(line, {
      tell: {
        watched: () => {
          this.#isWatched = true;
          this.#facts?.tellAll();
        },
        happened: ({ id, event }) => this.#follows.get(id)?.(event),
        counted: (costs) => this.#accounts?.counted(costs),
      },
      ask: {
        changed: async () => void this.#parts?.look(),
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

  /** The changes of all workers come one after the other, and each is made once all of them use it. */
  readonly turn: Turn = async (path, work) => {
    await this.#link.ask('turn', { path });
    try {
      return await work();
    } finally {
      await this.#link.ask('endTurn', { path }).catch(() => undefined); // a primary that is gone has no turns
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

  readonly bodies: BodyKeeper = {
    keep: (bodies) => this.#link.tell('bodies', bodies),
    of: (requestId) => this.#link.ask('bodies', { requestId }),
    look: () => this.#link.ask('lookAtKeys', undefined),
  };

  /** The session of a core with these parts. */
  session(parts: WorkerParts): WorkerSession {
    const { gateway, bus, keys, names, now, monotonic } = parts;
    const facts = this.#tells(parts, false);
    const accounts = new WorkerAccounts({ link: this.#link, facts, keys, names, now, monotonic, bus });
    this.#accounts = accounts;
    return new WorkerSession(gateway, accounts, () => this.#link.ask('nodes', undefined));
  }

  /** Tells the primary what happens in a whole server. two-kinds. */
  follow(parts: Pick<WorkerParts, 'gateway' | 'bus' | 'look'>): void {
    this.#tells(parts, true);
    parts.bus.on('node.joined', ({ node, self }) => self && this.#link.tell('node', node, true));
  }

  /** Starts the core of this process. Rejects as it does. */
  async start(core: { start(): Promise<void>; readonly storeHealth: StoreHealth | undefined }): Promise<void> {
    await core.start();
    const { node } = core.storeHealth ?? {};
    if (node !== undefined) this.#link.tell('node', node, true);
  }

  /** Lines of the log of this process, for the files that the primary writes. */
  log(lines: readonly string[]): void {
    this.#link.tell('log', lines);
  }

  /** The gateway, all of whose facts are on their way. */
  #told(): Gateway {
    if (this.#parts === undefined) throw new Error('The worker has no core yet.');
    this.#facts?.flush();
    return this.#parts.gateway;
  }

  #tells(parts: Pick<WorkerParts, 'gateway' | 'bus' | 'look'>, tellsEnds: boolean): WorkerFacts {
    this.#parts = parts;
    const facts = new WorkerFacts(this.#link, parts.bus, { tellsEnds });
    if (this.#isWatched) facts.tellAll();
    this.#facts = facts;
    return facts;
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
