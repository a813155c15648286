// The process that holds the workspace for the workers that serve its clients. It alone has the account of keys, the ledger of the gateway, codes and tickets,
// the events and the figures, so that all of these hold over n workers as they do over one.
//
// one-account: a call of a key with limits is sent by a worker only after the account here has admitted it. So a cap is passed by the calls under way at most,
//   whichever workers have them.
// nothing-lost: the calls that a worker had under way when it died count what the journal says of them, at once.
// free-at-once: what a whole server had when it died is free as soon as its process is gone, and not only after its lease.
// told-back: what a call has cost is known here, and its worker hears of it, too: it has the metrics and the traces of its calls.
// one-turn: of changes of one file by workers, one is made after the other; what a worker that died was changing is free again.
// seen-by-all: a change counts as made once all other workers have looked at it, so that its caller may come to any of them with what it was given.
import type { Passes } from '../auth/sessions.ts';
import { newCallNumber } from '../base/request-id.ts';
import type { CoreBus, CoreEvents } from '../bus.ts';
import { BlockhouseError, toBlockhouseError } from '../errors.ts';
import type { RecentEvents } from '../event-ring.ts';
import type { AccountedCall, ClientAccounts, Hold } from '../gateway/account.ts';
import type { BodyKeeper, CallState, GatewayCalls, GatewayLoad } from '../gateway/live.ts';
import type { Meter } from '../gateway/meter.ts';
import type { KeyLevels, SharedAccounts } from '../keys/named-key.ts';
import type { ConnectedStore } from '../store/store.ts';
import type { ServerNode } from '../types.ts';
import type { ProcessLine, WorkerHost } from './line.ts';
import { Link, type Takes } from './link.ts';
import { joinedLoads } from './loads.ts';
import { PlaceLine, type TakenPlaces } from './place-line.ts';
import { callOf, RemoteCall } from './remote-call.ts';
import type { CallFacts, PrimarySays, WorkerFact, WorkerSays } from './says.ts';
import { Turns } from './turns.ts';

/** What a primary works with. */
export interface PrimaryOptions {
  readonly session: {
    /** Undefined before the workspace is open, once it is closed, and with a database. */
    readonly accounts: (SharedAccounts & ClientAccounts) | undefined;
    /** Undefined before the workspace is open. */
    readonly bodies: BodyKeeper | undefined;
    nodes(): Promise<readonly ServerNode[]>;
  };
  readonly passes: Passes;
  readonly bus: CoreBus;
  readonly meter: Meter;
  readonly recent: RecentEvents;
  readonly adapterIds: readonly string[];
  /** Looks at all settings and credentials now. */
  look(): void;
  /** Gets lines of a worker's log. */
  onLog(lines: readonly string[]): void;
  /** Where whole servers share the workspace. */
  readonly database: Pick<ConnectedStore, 'giveUp'> | undefined;
}

type WorkerLink = Link<PrimarySays, WorkerSays>;

/** How long a worker may take to answer what people want to see. */
const GATHER_MS = 250;
/** What calls have cost is told to their worker so often. */
const TELL_EVERY_MS = 50;
/** Without a request, nobody looks at the files of the workspace here. */
const LOOK_EVERY_MS = 1000;

/** The primary's side of all workers. */
export class Primary implements WorkerHost {
  readonly #options: PrimaryOptions;
  readonly #workers = new Map<Worker, WorkerLink>();
  readonly #turns = new Turns();
  readonly #looking: NodeJS.Timeout;
  #isWatched = false;

  constructor(options: PrimaryOptions) {
    this.#options = options;
    this.#looking = setInterval(() => options.look(), LOOK_EVERY_MS).unref();
    if (options.database === undefined) options.bus.on('call.counted', this.#counted); // whole servers have ledgers of their own
  }

  add(line: ProcessLine): () => void {
    const worker: Worker = new Worker(this.#options, {
      onFollow: () => this.#watch(),
      turns: this.#turns,
      gather: { flush: () => this.#flush(), loads: () => this.#loads(), live: () => this.#live(), end: (requestId) => this.#end(requestId) },
      onChanged: () => this.#changed(worker),
      tell: (id, event) => link.tell('happened', { id, event }),
      tellCounted: (lines) => link.tell('counted', lines),
    });
    const link: WorkerLink = new Link<PrimarySays, WorkerSays>(line, worker);
    this.#workers.set(worker, link);
    if (this.#isWatched) link.tell('watched', undefined);
    return () => {
      this.#workers.delete(worker);
      link.close();
      worker.gone();
    };
  }

  close(): void {
    clearInterval(this.#looking);
    this.#options.bus.off('call.counted', this.#counted);
  }

  /** told-back. */
  readonly #counted = (line: CoreEvents['call.counted']): void => {
    for (const worker of this.#workers.keys()) if (worker.counted(line)) return;
  };

  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    for (const link of this.#workers.values()) link.tell('watched', undefined);
  }

  /** seen-by-all. */
  async #changed(by: Worker): Promise<undefined> {
    this.#options.look();
    await gather([...this.#workers].flatMap(([worker, link]) => (worker === by ? [] : [link.ask('changed', undefined)])));
  }

  #flush(): Promise<unknown> {
    return gather([...this.#workers.values()].map((link) => link.ask('flush', undefined)));
  }

  async #loads(): Promise<readonly (readonly { readonly id: string; readonly load: GatewayLoad }[])[]> {
    return gather([...this.#workers.values()].map((link) => link.ask('loads', undefined)));
  }

  async #live(): Promise<readonly CallState[]> {
    return (await gather([...this.#workers.values()].map((link) => link.ask('live', undefined)))).flat();
  }

  async #end(requestId: string): Promise<boolean> {
    return (await gather([...this.#workers.values()].map((link) => link.ask('endRequest', { requestId })))).includes(true);
  }
}

/** The answers that come in time. A worker that is busy or dies is left out. */
async function gather<T>(answers: readonly Promise<T>[]): Promise<readonly T[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), GATHER_MS);
  });
  const all = await Promise.all(answers.map((answer) => Promise.race([answer.then((value) => ({ value })).catch(() => undefined), late])));
  clearTimeout(timer);
  return all.flatMap((one) => (one === undefined ? [] : [one.value]));
}

/** What a worker needs of the others. */
interface Others {
  onFollow(): void;
  readonly turns: Turns;
  readonly gather: {
    flush(): Promise<unknown>;
    loads(): Promise<readonly (readonly { readonly id: string; readonly load: GatewayLoad }[])[]>;
    live(): Promise<readonly CallState[]>;
    end(requestId: string): Promise<boolean>;
  };
  onChanged(): Promise<undefined>;
  tell(id: number, event: PrimarySays['tells']['happened']['event']): void;
  tellCounted(lines: PrimarySays['tells']['counted']): void;
}

/** A call that a worker has, or had, under way. */
interface HeldCall {
  readonly call: RemoteCall;
  readonly hold: Hold | undefined;
  /** Undefined between two attempts. */
  places: TakenPlaces | undefined;
}

/** One worker: what it has under way, and how it is served. */
class Worker implements Takes<WorkerSays> {
  readonly #options: PrimaryOptions;
  readonly #others: Others;
  readonly #held = new Map<number, HeldCall>();
  readonly #line = new PlaceLine();
  readonly #follows = new Map<number, () => void>();
  /** By path: ends a turn that it has, or gives up one that it waits for. */
  readonly #turns = new Map<string, () => void>();
  #node: string | undefined;
  /** Calls that have ended here, whose lines the ledger does not have yet. */
  readonly #uncounted = new Set<number>();
  #counted: (readonly [call: number, costUsd: number | null])[] = [];
  #telling: NodeJS.Timeout | undefined;

  constructor(options: PrimaryOptions, others: Others) {
    this.#options = options;
    this.#others = others;
  }

  readonly tell: Takes<WorkerSays>['tell'] = {
    facts: (facts) => {
      for (const fact of facts) this.#happened(fact);
    },
    used: (calls) => {
      for (const { call, usage } of calls) this.#held.get(call)?.call.use(usage);
    },
    paused: ({ call }) => {
      const held = this.#held.get(call);
      held?.places?.leave();
      if (held !== undefined) held.places = undefined;
    },
    requested: ({ key, adapterId }) => this.#requested(key, adapterId),
    follow: ({ id, since }) => {
      this.#others.onFollow();
      this.#follows.set(
        id,
        this.#options.recent.follow((event) => this.#others.tell(id, event), since),
      );
    },
    unfollow: ({ id }) => {
      this.#follows.get(id)?.();
      this.#follows.delete(id);
    },
    log: (lines) => this.#options.onLog(lines),
    bodies: (bodies) => this.#options.session.bodies?.keep(bodies),
    node: (node) => {
      this.#node = node;
    },
  };

  readonly ask: Takes<WorkerSays>['ask'] = {
    reserve: (facts) => this.#reserve(facts),
    costs: async ({ by, filter }) => {
      await this.#others.gather.flush();
      return this.#accounts.costs(by, filter);
    },
    spent: async ({ kind, name }) => {
      await this.#others.gather.flush();
      return this.#accounts.spent(kind, name);
    },
    turn: ({ path }) => {
      const turn = this.#others.turns.begin(path);
      this.#turns.set(path, turn.end);
      return turn.begun.then(() => undefined);
    },
    endTurn: ({ path }) => {
      this.#endTurn(path);
      return this.#others.onChanged();
    },
    addPass: ({ kind, ms, holder }) => this.#options.passes.add(kind, ms, holder),
    passHolder: async ({ kind, text }) => ({ holder: await this.#options.passes.holderOf(kind, text) }),
    takePass: ({ kind, text }) => this.#options.passes.take(kind, text),
    nodes: () => this.#options.session.nodes(),
    figures: async ({ window }) => {
      const { meter, adapterIds } = this.#options;
      const loads = await this.#others.gather.loads();
      const ids = new Set([...adapterIds, ...loads.flat().map(({ id }) => id)]); // the connections as well
      return [...ids].flatMap((id) => {
        const load = joinedLoads(loads.flatMap((each) => each.filter((one) => one.id === id).map((one) => one.load)));
        return load === undefined ? [] : [{ id, load, series: meter.series(id, window) }];
      });
    },
    calls: async (): Promise<GatewayCalls> => {
      const live = await this.#others.gather.live();
      return { live: [...live].sort((one, other) => one.durationMs - other.durationMs), ended: this.#options.meter.ended() };
    },
    endRequest: ({ requestId }) => this.#others.gather.end(requestId),
    bodies: async ({ requestId }) => (await this.#options.session.bodies?.of(requestId)) ?? [],
    lookAtKeys: async () => {
      this.#options.look();
      await this.#options.session.bodies?.look();
      return undefined;
    },
    sync: async () => undefined,
  };

  /** nothing-lost, free-at-once. */
  gone(): void {
    if (this.#node !== undefined) void this.#options.database?.giveUp(this.#node).catch(() => undefined); // if it is away, the lease of the server ends
    clearTimeout(this.#telling);
    for (const stop of this.#follows.values()) stop();
    for (const path of [...this.#turns.keys()]) this.#endTurn(path);
    for (const { call, hold, places } of this.#held.values()) {
      places?.leave();
      const { requestId, adapterId: adapter, model, key } = call;
      const what = { kind: 'chat', call: newCallNumber(), requestId, adapter, model, key } as const;
      const fact = { ...what, usage: hold?.noted, code: 'SHUTTING_DOWN', attempts: 1, durationMs: call.ageMs() } as const;
      this.#settle(fact, call, hold);
    }
    this.#held.clear();
  }

  get #accounts(): SharedAccounts & ClientAccounts {
    const accounts = this.#options.session.accounts;
    if (accounts === undefined) throw new BlockhouseError('SHUTTING_DOWN', 'The server is shutting down.');
    return accounts;
  }

  /** one-account. */
  async #reserve(facts: CallFacts): Promise<KeyLevels | undefined> {
    const held = this.#held.get(facts.call) ?? this.#hold(facts);
    held.call.use(facts.usage);
    held.places ??= this.#line.take(held.hold?.places ?? []);
    if (await held.places.taken) await held.hold?.reserve();
    return this.#accounts.levels(facts.key);
  }

  #hold(facts: CallFacts): HeldCall {
    const call = new RemoteCall(facts);
    const hold = this.#accept(call);
    const held: HeldCall = { call, hold, places: undefined };
    this.#held.set(facts.call, held);
    return held;
  }

  /** Its worker has let it pass already, so a limit that is reached here refuses only what comes later. */
  #requested(key: string, adapterId: string): void {
    try {
      this.#accounts.check({ key, adapterId, askedAs: undefined, model: undefined }, true);
    } catch (error) {
      if (!(error instanceof BlockhouseError)) throw error;
    }
  }

  /** The key may be so new that only its worker has seen it. */
  #accept(call: RemoteCall): Hold | undefined {
    try {
      return this.#accounts.accept(call);
    } catch (error) {
      if (toBlockhouseError(error).code !== 'KEY_FORBIDDEN') throw error;
      this.#options.look();
      return this.#accounts.accept(call);
    }
  }

  #happened(fact: WorkerFact): void {
    if (fact.name !== 'call.finished') {
      this.#options.bus.emit(fact.name, fact.data as CoreEvents[typeof fact.name]);
      return;
    }
    const { data, call: number, pricedAs, group } = fact;
    const held = number === undefined ? undefined : this.#held.get(number);
    if (number !== undefined) this.#held.delete(number);
    held?.places?.leave();
    if (data.code === 'KEY_RATE_LIMITED')
      this.#options.bus.emit('call.finished', data); // as with one process, one that was refused when it came has no line
    else this.#settle(data, held?.call ?? callOf(data, pricedAs, group), held?.hold);
  }

  #settle(fact: CoreEvents['call.finished'], call: AccountedCall, hold: Hold | undefined): void {
    const { bus, session } = this.#options;
    bus.emit('call.finished', fact);
    if (session.accounts === undefined) return;
    this.#uncounted.add(fact.call);
    session.accounts.settle(fact, call, hold);
  }

  /** told-back: false for a call of another worker. */
  counted(line: CoreEvents['call.counted']): boolean {
    if (!this.#uncounted.delete(line.call)) return false;
    this.#counted.push([line.call, line.costUsd]); // its worker has the rest
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.#others.tellCounted(this.#counted.splice(0));
    }, TELL_EVERY_MS).unref();
    return true;
  }

  #endTurn(path: string): void {
    this.#turns.get(path)?.();
    this.#turns.delete(path);
  }
}
