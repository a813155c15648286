// The figures of one process for those who watch it from outside: counted from the facts of the bus, and read from the core when somebody asks.
//
// no-text: no figure and no label has a word of a prompt or an answer, nor a key. A client shows as the name of its key, and a model by its name once it has answered.
// in-turns: a scrape lets others run after some samples, however many there are.
// told-missing: what can't be read is left out and named by a metric of its own. Who watches learns most when something is broken.
import type { Core, CoreEvents, ShownConnection } from '../../core/index.ts';
import { CallFigures } from './call-figures.ts';
import { Exposition, type Format, type LabelValues } from './exposition.ts';
import { FAMILIES, type Family, type FamilyKey } from './families.ts';
import { ProcessFigures } from './process-figures.ts';
import { Counts, Histogram, Shelves } from './series.ts';
import { ToolFigures } from './tool-figures.ts';

type Samples = Iterable<readonly [LabelValues, number | Histogram]>;
type Families = readonly (readonly [FamilyKey, Samples])[];

/** Clients may make up others. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
const OTHER = 'other';
/** All blocks are listed for a scrape up to here. */
const MOST_LISTED = 10_000;
/** in-turns. */
const LINES_IN_A_TURN = 1000;
/** Scrapers usually wait for ten seconds. */
const PATIENCE_MS = 2000;
const PERIODS = ['day', 'week', 'month'] as const;

/** The figures of the servers of one core. */
export class Metrics {
  readonly #core: Core;
  /** For who counts further figures. An export over OTLP that imported them would be a further file of each start. */
  readonly tools = { Histogram, Shelves, operationEdges: FAMILIES.callSeconds.edges } as const;
  /** What every sample is labelled with. */
  readonly labels: Readonly<Record<string, string>>;
  readonly #calls = new CallFigures();
  /** By route: by method, by status. */
  readonly #requests = new Shelves(() => ({ methods: new Shelves(() => new Map<number, number>()), seconds: new Histogram(FAMILIES.requestSeconds) }));
  readonly #messages = new Counts();
  readonly #compactions = new Counts();
  readonly #skippedRuns = new Counts();
  readonly #tools: ToolFigures;
  readonly #droppedSpans = new Counts();
  readonly #droppedEvents = new Counts();
  /** By part of the store. */
  readonly #store = new Shelves(() => new Histogram(FAMILIES.storeAnswerSeconds));
  readonly #notifyFailures = new Counts();
  readonly #process = new ProcessFigures();
  /** When the messages came that wait, by their ids, the oldest first. */
  readonly #waiting = new Map<string, { readonly block: string; readonly at: number }>();
  #queued = 0;
  #firedRuns = 0;
  #deliveries = 0;
  #sockets = 0;
  #socketsOpened = 0;
  #faults = 0;

  /** What must be read first, which may fail or take long. */
  readonly #parts: Readonly<Record<string, () => Promise<Families>>> = {
    connections: async () => [...this.#ofConnections()],
    blocks: () => this.#ofBlocks(),
    keys: () => this.#ofKeys(),
  };
  readonly #patienceMs: number;

  /** `labels` are those of every sample. */
  constructor(core: Core, labels: Readonly<Record<string, string>> = {}, patienceMs = PATIENCE_MS) {
    this.#core = core;
    this.labels = labels;
    this.#patienceMs = patienceMs;
    const { events } = core;
    events.on('call.finished', (fact) => this.#calls.finished(fact));
    events.on('call.retried', (fact) => this.#calls.retried(fact));
    events.on('call.counted', ({ provider, model, usage, costUsd, error }) => {
      if (usage !== null) this.#calls.paid('client', { connection: provider, model, costUsd, hasSucceeded: error === null });
    });
    events.on('call.billed', ({ provider, model, costUsd }) => this.#calls.paid('block', { connection: provider, model, costUsd, hasSucceeded: true }));
    events.on('request.served', (fact) => this.#served(fact));
    events.on('socket.opened', () => {
      this.#sockets += 1;
      this.#socketsOpened += 1;
    });
    events.on('socket.closed', () => {
      this.#sockets -= 1;
    });
    events.on('message.queued', ({ block, id }) => {
      this.#queued += 1;
      this.#waiting.set(id, { block, at: performance.now() });
    });
    events.on('message.started', ({ id }) => this.#waiting.delete(id));
    events.on('message.finished', ({ id, status }) => {
      this.#waiting.delete(id);
      this.#messages.add(status);
    });
    events.on('block.archived', ({ block }) => this.#forget(block));
    events.on('memory.compacted', ({ outcome, trigger }) => this.#compactions.add(`${outcome}\n${trigger}`));
    this.#tools = new ToolFigures(events);
    events.on('schedule.fired', () => {
      this.#firedRuns += 1;
    });
    events.on('schedule.skipped', ({ reason, runs }) => this.#skippedRuns.add(reason, runs));
    events.on('hook.taken', () => {
      this.#deliveries += 1;
    });
    events.on('notify.failed', ({ isFinal }) => this.#notifyFailures.add(String(isFinal)));
    events.on('store.answered', ({ part, durationMs }) => this.#store.of(part).observe(durationMs / 1000));
    events.on('workspace.fault', () => {
      this.#faults += 1;
    });
  }

  /** The text of one scrape. */
  async text(format: Format): Promise<string> {
    const text = new Exposition(format, this.labels);
    let told = 0;
    for await (const [key, samples] of this.#families()) {
      text.family(FAMILIES[key], samples);
      if (text.length - told < LINES_IN_A_TURN) continue;
      told = text.length;
      await new Promise(setImmediate); // in-turns
    }
    return text.text();
  }

  /** All figures, for another form than text. The samples of a family must be read before the next one is asked for. */
  async *families(): AsyncGenerator<readonly [Family, Samples]> {
    for await (const [key, samples] of this.#families()) yield [FAMILIES[key], samples];
  }

  /** So many spans have not reached the collector; none says that some might. */
  dropSpans(reason: string, count: number): void {
    this.#droppedSpans.add(reason, count);
  }

  /** The same of events. */
  dropEvents(reason: string, count: number): void {
    this.#droppedEvents.add(reason, count);
  }

  async *#families(): AsyncGenerator<readonly [FamilyKey, Samples]> {
    yield* this.#ofServer();
    yield* this.#ofCalls();
    yield* this.#ofMessages();
    const unread: [LabelValues, number][] = [];
    const isAway = this.#core.storeHealth?.isAway === true;
    for (const [part, read] of Object.entries(this.#parts)) {
      const families = await readWithin(this.#patienceMs, isAway && part !== 'connections' ? undefined : read);
      unread.push([[part], families === undefined ? 1 : 0]);
      if (families !== undefined) yield* families;
    }
    yield ['unread', unread]; // told-missing
    yield* this.#ofStore();
    yield* this.#process.families();
  }

  *#ofServer(): Generator<readonly [FamilyKey, Samples]> {
    const { version, store, storeHealth } = this.#core;
    const requests = this.#requests;
    yield ['info', [[[version, store, storeHealth?.node ?? ''], 1]]];
    yield ['requests', counted()];
    yield ['requestSeconds', timed()];
    yield ['spansDropped', pairsOf(this.#droppedSpans)];
    yield ['eventsDropped', pairsOf(this.#droppedEvents)];
    yield ['sockets', one(this.#sockets)];
    yield ['socketsOpened', one(this.#socketsOpened)];

    function* counted(): Generator<[LabelValues, number]> {
      for (const [route, { methods }] of requests.entries())
        for (const [method, statuses] of methods.entries()) for (const [status, count] of statuses) yield [[method, route, String(status)], count];
    }
    function* timed(): Generator<[LabelValues, Histogram]> {
      for (const [route, { seconds }] of requests.entries()) yield [[route], seconds];
    }
  }

  *#ofCalls(): Generator<readonly [FamilyKey, Samples]> {
    const calls = this.#calls;
    yield ['calls', calls.calls()];
    yield ['callSeconds', calls.seconds()];
    yield ['firstTokenSeconds', calls.firstToken()];
    yield ['outputTokenSeconds', calls.outputToken()];
    yield ['callErrors', calls.errors()];
    yield ['answers', calls.answers()];
    yield ['attempts', calls.attempts()];
    yield ['retries', calls.retries()];
    yield ['waitSeconds', calls.wait()];
    yield ['tokens', calls.tokens()];
    yield ['cost', calls.cost()];
    yield ['unpriced', calls.unpriced()];
  }

  *#ofConnections(): Generator<readonly [FamilyKey, Samples]> {
    const connections = this.#core.connections.list();
    const each = (value: (connection: ShownConnection) => number): Samples => connections.map((connection) => [[connection.name], value(connection)]);
    yield ['running', each(({ atWork }) => atWork)];
    yield ['waiting', each(({ waiting }) => waiting)];
    yield ['places', each(({ limits }) => limits.inFlight)];
    yield ['paused', each(({ breaker }) => (breaker === 'open' ? 1 : 0))];
    yield ['pausedCallers', each(({ name }) => this.#core.load(name).paused.length)];
    yield ['keys', keyStates(connections)];
    yield ['streaming', one(this.#core.liveCalls().filter(({ phase }) => phase === 'streaming').length)];
  }

  *#ofMessages(): Generator<readonly [FamilyKey, Samples]> {
    yield ['messages', pairsOf(this.#messages)];
    yield ['queued', one(this.#queued)];
    yield ['compactions', pairsOf(this.#compactions)];
    yield ['oldestWait', one(this.#oldestWait())];
    const tools = this.#tools;
    yield ['toolCalls', pairsOf(tools.calls)];
    yield ['toolSeconds', tools.seconds()];
    yield ['toolCallsSent', tools.counts('sent')];
    yield ['toolCost', tools.costs()];
    yield ['toolServersStarted', tools.counts('started')];
    yield ['toolServersExited', tools.counts('exited')];
    yield ['approvalsRequested', one(tools.requested)];
    yield ['approvals', pairsOf(tools.approvals)];
    yield ['schedulesFired', one(this.#firedRuns)];
    yield ['schedulesSkipped', pairsOf(this.#skippedRuns)];
    yield ['hooksTaken', one(this.#deliveries)];
    yield ['notifyFailures', pairsOf(this.#notifyFailures)];
  }

  async #ofBlocks(): Promise<Families> {
    const core = this.#core;
    if (!core.started || core.gatewayOnly) return [];
    const { blocks, monitorsRunning } = await core.blocks.counts();
    const running = ['blocksRunning', one(monitorsRunning)] as const;
    if (blocks > MOST_LISTED) return [running];
    const states = new Counts();
    let attention = 0;
    let waiting = 0;
    for (const entry of await core.blocks.list()) {
      states.add(entry.state);
      if (entry.attention) attention += 1;
      waiting += entry.queue;
    }
    return [['blocks', pairsOf(states)], running, ['attention', one(attention)], ['waitingMessages', one(waiting)]];
  }

  /** Only keys with caps. */
  async #ofKeys(): Promise<Families> {
    const { keys, accounts } = this.#core;
    if (keys === undefined || accounts === undefined) return [];
    const spent: [LabelValues, number][] = [];
    const caps: [LabelValues, number][] = [];
    const ofKey = async (name: string, all: ReturnType<typeof capsOf>): Promise<void> => {
      const sums = await accounts.spent('key', name);
      for (const { unit, period, cap } of all) {
        spent.push([[name, unit, period], unit === 'usd' ? sums[period].usd : sums[period].tokens]);
        caps.push([[name, unit, period], cap]);
      }
    };
    const capped = keys.list().map((key) => [key.name, capsOf(key)] as const);
    await Promise.all(capped.filter(([, all]) => all.length > 0).map(([name, all]) => ofKey(name, all))); // a database answers all of them at once
    return [
      ['keySpent', spent],
      ['keyCap', caps],
    ];
  }

  *#ofStore(): Generator<readonly [FamilyKey, Samples]> {
    const { storeHealth } = this.#core;
    const store = this.#store;
    yield ['storeAnswerSeconds', timed()];
    if (storeHealth !== undefined) {
      yield ['storeSeconds', one(storeHealth.latencyMs / 1000)];
      yield ['storeAway', one(storeHealth.isAway ? 1 : 0)];
    }
    yield ['faults', one(this.#faults)];

    function* timed(): Generator<[LabelValues, Histogram]> {
      for (const [part, seconds] of store.entries()) yield [[part], seconds];
    }
  }

  #served({ method, route, status, durationMs }: CoreEvents['request.served']): void {
    const { methods, seconds } = this.#requests.of(route);
    const statuses = methods.of(METHODS.has(method) ? method : OTHER);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    seconds.observe(durationMs / 1000);
  }

  #oldestWait(): number {
    for (const { at } of this.#waiting.values()) return (performance.now() - at) / 1000;
    return 0;
  }

  #forget(block: string): void {
    for (const [id, waiting] of this.#waiting) if (waiting.block === block) this.#waiting.delete(id);
  }
}

/** Undefined if it fails or is not there in time; told-missing. */
async function readWithin(ms: number, read: (() => Promise<Families>) | undefined): Promise<Families | undefined> {
  if (read === undefined) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  const families = await Promise.race([read().catch(() => undefined), late]);
  clearTimeout(timer);
  return families;
}

function one(value: number): Samples {
  return [[[], value]];
}

function* pairsOf(counts: Counts): Generator<[LabelValues, number]> {
  for (const [label, count] of counts.entries()) yield [label.split('\n'), count];
}

interface Caps {
  readonly usdPerDay: number | null;
  readonly usdPerWeek: number | null;
  readonly usdPerMonth: number | null;
  readonly tokensPerDay: number | null;
  readonly tokensPerMonth: number | null;
}

function capsOf({
  usdPerDay,
  usdPerWeek,
  usdPerMonth,
  tokensPerDay,
  tokensPerMonth,
}: Caps): { unit: 'usd' | 'tokens'; period: (typeof PERIODS)[number]; cap: number }[] {
  const all = [
    { unit: 'usd', period: 'day', cap: usdPerDay },
    { unit: 'usd', period: 'week', cap: usdPerWeek },
    { unit: 'usd', period: 'month', cap: usdPerMonth },
    { unit: 'tokens', period: 'day', cap: tokensPerDay },
    { unit: 'tokens', period: 'month', cap: tokensPerMonth },
  ] as const;
  return all.flatMap(({ unit, period, cap }) => (cap === null ? [] : [{ unit, period, cap }]));
}

const KEY_STATES = ['ready', 'cooling', 'refused', 'empty', 'unset', 'elsewhere'] as const;

function* keyStates(connections: readonly ShownConnection[]): Generator<[LabelValues, number]> {
  for (const { name, keys } of connections) {
    if (keys.length < 2) continue;
    for (const state of KEY_STATES) yield [[name, state], keys.filter((key) => key.state === state).length];
  }
}
