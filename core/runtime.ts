// Assembles the core: `createCore` serves a server, a CLI or another program.
import { isConnectionName } from './auth/connection-name.ts';
import { CredentialStore } from './auth/credentials.ts';
import { PriceFile } from './auth/price-file.ts';
import { LocalPasses, Sessions } from './auth/sessions.ts';
import type { SettingsSpec } from './auth/settings.ts';
import { SharedPasses } from './auth/shared-passes.ts';
import { isStrangeDaemon } from './auth/strange-daemon.ts';
import { ApiToken } from './auth/token.ts';
import { newRequestId } from './base/request-id.ts';
import type { Blocks } from './block/api.ts';
import { type CoreBus, createBus } from './bus.ts';
import { DEFAULT_QUEUE } from './config.ts';
import { assertOptions, type CoreOptions } from './core-options.ts';
import { EventRing, type RecentEvents } from './event-ring.ts';
import { examineCore } from './examine.ts';
import type { StatusOptions } from './gateway/adapter-status.ts';
import type { ConnectionBook, PriceBook } from './gateway/books.ts';
import type { CallOptions } from './gateway/call-options.ts';
import { contextWindows } from './gateway/context-windows.ts';
import { Gateway } from './gateway/gateway.ts';
import { isPriceKnown } from './gateway/known-price.ts';
import type { BodyKeeper, CallState, GatewayLoad, GatewayView } from './gateway/live.ts';
import { Meter } from './gateway/meter.ts';
import { OwnAddresses } from './gateway/own-addresses.ts';
import { PriceStore } from './gateway/price-store.ts';
import { Prices } from './gateway/pricing.ts';
import { listed, standInOf } from './gateway/registry.ts';
import { RETRY_LIMIT } from './gateway/retry.ts';
import { ChatStream } from './gateway/stream.ts';
import { localView } from './gateway/view.ts';
import { streamOptionsOf } from './gateway/visible-parts.ts';
import type { KeyLimits } from './keys/key-limits.ts';
import { KeyStore } from './keys/key-store.ts';
import { maskerOf } from './keys/masked-body.ts';
import type { Accounts } from './keys/named-key.ts';
import { PricedNames } from './keys/priced-names.ts';
import { sessionAccounts } from './keys/session-accounts.ts';
import { capWarnings } from './keys/uncounted-models.ts';
import type { Adapter, ForwardedRequest, ForwardTarget, StreamSink, TokenCount } from './ports.ts';
import { ModelRouter } from './routing/model-router.ts';
import type { ModelTarget } from './routing/model-table.ts';
import { ModelsFile, modelsCodec } from './routing/models-file.ts';
import { openSettings } from './store/open.ts';
import type { BillQuery } from './store/port.ts';
import type { ConnectedStore, FolderLock, StoreHealth } from './store/store.ts';
import { needTools } from './tools/need-tools.ts';
import type { ToolServers } from './tools/servers.ts';
import type {
  AdapterInfo,
  AdapterStatus,
  BillComparison,
  BlockAdapter,
  ChatDone,
  ChatRequest,
  ChatResponse,
  DeepHealth,
  DoctorReport,
  EmbedRequest,
  EmbedResponse,
  ModelList,
  ServerNode,
  ShownSetting,
  VerifyRequest,
  VerifyResult,
  Warning,
} from './types.ts';
import { VERSION } from './version.ts';
import type { ProcessLine, WorkerHost } from './workers/line.ts';
import type { Worker, WorkerSession } from './workers/worker.ts';
import { WorkspaceSession } from './workspace-session.ts';

export type { CoreOptions } from './core-options.ts';

/** The gateway and, after `start`, the blocks of a workspace. */
export interface Core {
  /** The version of Blockhouse. */
  readonly version: string;
  /** Figures of the gateway: counts and times, no text. */
  readonly meter: Meter;
  /** The calls under way, the newest first. */
  liveCalls(): readonly CallState[];
  /** Ends calls of this id whose callers have left, and which are read on because their key has a cap; false if there are none. They count their largest output. */
  stopReading(requestId: string): boolean;
  /** How busy a provider is now. Throws ADAPTER_NOT_FOUND. */
  load(id: string): GatewayLoad;
  /** The figures and calls of the gateway, of all processes that serve the same port. */
  readonly view: GatewayView;
  /** The bodies of calls of keys that are debugged; undefined before `start`. */
  readonly bodies: BodyKeeper | undefined;
  /** What takes secrets out of bodies: those that this server knows now, and what looks like one. Throws ADAPTER_NOT_CONFIGURED while auth.json can't be read. */
  masker(): (text: string) => string;
  /** The newest events, for those who come late. */
  readonly recent: RecentEvents;
  /** Events of the gateway and the blocks; docs/events.md lists them. */
  readonly events: CoreBus;
  /** The folder of the workspace; undefined without one. */
  readonly workspace: string | undefined;
  /** What keeps the workspace. */
  readonly store: 'files' | 'postgres';
  /** What this server knows of the database without asking it; undefined before `start`, and with a folder. */
  readonly storeHealth: StoreHealth | undefined;
  /** How the disk and the database are, and how the last calls of each provider have ended. Writes a few bytes to the disk, and asks no provider. Needs a workspace. */
  deepHealth(): Promise<DeepHealth>;
  /**
   * Locks the workspace for this process, removes what a crash left behind, and starts the monitors of blocks with `enabled`, one after the
   * other, in the background. Rejects with WORKSPACE_BUSY while another server holds the workspace, and with an Error if there is no workspace.
   */
  start(): Promise<void>;
  /** Writes the server's address into the lock of the workspace, so that the CLI finds it. Only after `start`. */
  announce(url: string): Promise<void>;
  /** The servers that share the workspace, this one among them, the oldest first. Only after `start`. */
  nodes(): Promise<readonly ServerNode[]>;
  /** Asks a server to give its blocks away and take no more, or to take some again (docs/scale.md). Only after `start`. Rejects with NODE_NOT_FOUND; with a folder, WRONG_STATE. */
  drain(node: string, isDraining: boolean): Promise<ServerNode>;
  /** True once `start` has resolved; only then `blocks` can be used. */
  readonly started: boolean;
  /** True if it opens its workspace for the gateway alone. */
  readonly gatewayOnly: boolean;
  /** Blocks and their archive. Throws an Error before `start`, and WRONG_STATE with `gatewayOnly`. */
  readonly blocks: Blocks;
  /** Checks every file of the workspace, and whether caps in USD count every model. Changes nothing. Works before `start` too, and while another process holds the workspace. */
  check(): Promise<DoctorReport>;
  /** The bearer token of the workspace; undefined without a workspace. */
  readonly token: ApiToken | undefined;
  /** Sessions of the page in a browser; undefined without a workspace. */
  readonly sessions: Sessions | undefined;
  /** The stored credentials; undefined without a workspace. */
  readonly credentials: CredentialStore | undefined;
  /** The model of the echo provider; undefined if there is none. */
  readonly standIn: BlockAdapter | undefined;
  /** Named upstreams besides the adapters: entries of auth.json, presets, local servers. */
  readonly connections: ConnectionBook;
  /** What models cost; undefined without a workspace. */
  readonly prices: PriceBook | undefined;
  /** The ids of the adapters, without the echo provider. */
  adapterIds(): string[];
  /** The id of the adapter with this id or alias; undefined if there is none. */
  adapterIdOf(name: string): string | undefined;
  /** What callers need to know about each adapter. */
  adapters(): AdapterInfo[];
  /** Whether each adapter can be used at this moment. Calls no model; asks a local daemon and a credential chain, which takes up to 1.5 s. */
  status(options?: StatusOptions): Promise<AdapterStatus[]>;
  /** Manages the servers of tools. Throws WRONG_STATE where this server has none. */
  toolServers(): ToolServers;
  /** What auth.json and the environment set for the adapters, with the source of each value; secrets are masked. */
  settings(): ShownSetting[];
  /** The adapter with this id or alias. Throws ADAPTER_NOT_FOUND. */
  adapter(id: string): Adapter;
  /** The models of a provider: a curated list, or the live list of a local daemon. */
  models(id: string, options?: CallOptions): Promise<ModelList>;
  /** The most tokens that a prompt and its answer may have together, as a local daemon or, after `start`, the price data says; undefined where that is not known. */
  contextLength(id: string, model: string, options?: CallOptions): Promise<number | undefined>;
  /** How much a model can read, as its entry, the list of its server or the price data says, without asking anybody; undefined where that is not known. */
  windowOf(id: string, model: string): Promise<number | undefined>;
  /** Where servers of this core listen. A provider's address that leads there is refused. */
  readonly ownAddresses: OwnAddresses;
  /** Finds what a model name means without its provider: aliases, lists, prefixes. */
  readonly router: ModelRouter;
  /** models.json; undefined without a workspace. */
  readonly modelsFile: ModelsFile | undefined;
  /** The keys of applications; undefined without a workspace. */
  readonly keys: KeyStore | undefined;
  /** Names models whose calls would not count towards a cap in USD that a key is to have, because their price is not known. Asks a local daemon for its models. */
  capWarnings(limits: Partial<KeyLimits>): Promise<readonly Warning[]>;
  /** What keys may do and have spent; undefined before `start`. */
  readonly accounts: Accounts | undefined;
  /** Compares a provider's bill, a CSV file, with the calls of blocks and of clients (docs/connections.md). Only after `start`. Rejects with INVALID_REQUEST. */
  reconcile(bill: Uint8Array, query: BillQuery): Promise<BillComparison>;
  /** Checks the credential or the address of a provider without calling a model. */
  verify(id: string, body?: VerifyRequest, options?: CallOptions): Promise<VerifyResult>;
  /** Sends messages to a model and resolves with its whole answer. Rejects with a BlockhouseError. The request is checked at run time. */
  chat(request: ChatRequest, options?: CallOptions): Promise<ChatResponse>;
  /**
   * Sends messages to a model and returns its answer as a stream of events, which ends with one `done` or throws. Leaving the loop aborts the request.
   * With `stream: {reasoning: true, toolDeltas: true}` in the request, the events also show the reasoning, and tool calls while they are written.
   */
  stream(request: ChatRequest, options?: CallOptions): ChatStream;
  /** Like `stream`, for a transport that has its own back-pressure. */
  pipe(request: unknown, sink: StreamSink, options?: CallOptions): Promise<ChatDone>;
  /** One vector for each text, in their order. Rejects with a BlockhouseError. The request is checked at run time. */
  embed(request: EmbedRequest, options?: CallOptions): Promise<EmbedResponse>;
  /** The tokens of a chat request before it is sent, without an inference: as the provider counts them, or estimated. */
  countTokens(request: ChatRequest, options?: CallOptions): Promise<TokenCount>;
  /**
   * Set if the provider speaks the protocol of this path (`/v1/messages`) itself, as it is configured now, and understands this request: what the request loses on its
   * way. Undefined for one that has to be translated.
   */
  lane(adapter: string, path: string, model: string, fields: Readonly<Record<string, unknown>>): readonly Warning[] | undefined;
  /** For a transport: sends a request on in the provider's own protocol, and its answer to `target` as it comes. */
  forward(adapter: string, model: string, request: ForwardedRequest, target: ForwardTarget, options?: CallOptions): Promise<void>;
  /** A new random request id. */
  newRequestId(): string;
  /** Loads code in the background that the first requests would otherwise have to wait for. Optional; never rejects. */
  prepare(): Promise<void>;
  /** Stops the monitors; the gateway keeps working, and keeps account of its calls. From then on, `blocks` throws SHUTTING_DOWN. */
  stop(): Promise<void>;
  /** Stops the monitors, ends open calls, settles their accounts and releases the workspace. A second call waits for the first. */
  close(): Promise<void>;
}

/** Creates a core. It does no I/O until it is used; `close` ends it. Throws a TypeError without adapters, or for an unknown option. */
export function createCore(options: CoreOptions): Core {
  assertOptions(options);
  return assemble(options).core;
}

/** A core of one of several processes that serve a port, with blocks only of a database. `start` is that of the core; `log` sends lines to the primary, which holds the folder. */
export async function createWorkerCore(
  options: CoreOptions,
  line: ProcessLine,
): Promise<{ readonly core: Core; start(): Promise<void>; log(lines: readonly string[]): void }> {
  const { Worker } = await import('./workspace-parts.ts');
  const worker = new Worker(line);
  const own = options.store === undefined ? { ...options, gatewayOnly: true } : options;
  const { core } = assemble(own, worker);
  return { core, start: () => worker.start(core), log: (lines) => worker.log(lines) };
}

/** A core that holds the workspace for such processes once `hold` is called; of one in a database, only its folder. `onLog` gets lines of their logs. */
export async function createPrimaryCore(
  options: CoreOptions,
  onLog: (lines: readonly string[]) => void,
): Promise<{ readonly core: Core; readonly primary: WorkerHost; hold(): Promise<FolderLock> }> {
  const { Primary } = await import('./workspace-parts.ts');
  const { core, passes, look, session, database } = assemble({ ...options, gatewayOnly: true });
  const { events: bus, meter, recent } = core;
  if (passes === undefined || !(session instanceof WorkspaceSession)) throw new Error('Workers need a workspace.');
  const primary = new Primary({ session, passes, bus, meter, recent, adapterIds: core.adapterIds(), look, onLog, database });
  return { core, primary, hold: () => session.hold() };
}

/** Puts a core together: with its own parts, or as a worker with those of its primary. */
function assemble(options: CoreOptions, worker?: Worker) {
  const events = createBus();
  const { workspace } = options;
  const settingsOf = (id: string): SettingsSpec => options.adapters.find((adapter) => adapter.id === id)?.settings ?? {};
  const credentials =
    workspace === undefined
      ? undefined
      : new CredentialStore(workspace, events, options.now, settingsOf, (...change) => gateway.connections.assertChange(...change), worker?.turn);
  const files = workspace === undefined ? undefined : openSettings(workspace, options.now, worker?.turn);
  const database = options.store as ConnectedStore | undefined; // `connectStore` makes no others
  const settings = files && (database?.settings ?? files);
  const token = settings && (settings === files ? new ApiToken(settings, events) : new ApiToken(settings, events, new ApiToken(files, createBus())));
  const priceFile = workspace === undefined ? undefined : new PriceFile(workspace, events, options.now);
  const ownAddresses = new OwnAddresses();
  const gateway: Gateway = new Gateway({
    adapters: options.adapters,
    credentials,
    env: options.env ?? process.env,
    workspace,
    connections: options.connections ?? [],
    bus: events,
    timeouts: options.timeouts ?? {},
    queue: { ...DEFAULT_QUEUE, ...options.queue },
    allowedOrigins: options.allowedOrigins ?? new Set(),
    filedPrices: priceFile,
    accounts: sessionAccounts(() => session?.accounts),
    ownAddresses,
    retries: options.retries ?? RETRY_LIMIT,
    tracesProviders: options.tracesProviders ?? false,
    contentTap: options.contentTap,
    now: options.now ?? (() => performance.now()),
    random: options.random ?? Math.random,
    newRequestId,
  });
  const adapterIdOf = (name: string): string | undefined => gateway.adapterIdOf(name);
  const modelsFile = settings && new ModelsFile(settings, modelsCodec(adapterIdOf, gateway.adapterIds(), isConnectionName), events);
  const keys = settings && new KeyStore({ settings, bus: events, clock: options.clock });
  const router = new ModelRouter({
    adapters: listed(options.adapters),
    adapterIdOf,
    file: modelsFile,
    fetchModels: async (adapter, signal) => {
      const configured = gateway.settings().filter((setting) => setting.adapter === adapter);
      if (await isStrangeDaemon(gateway.adapter(adapter).settings, configured)) return [];
      const [status] = gateway.mustSearch(adapter) ? await gateway.status({ only: adapter, signal }) : [];
      return status?.ready === false ? [] : (await gateway.models(adapter, { signal })).models;
    },
    isConfigured: (adapter) => gateway.readiness(adapter, undefined, 'model').missing === undefined,
    connections: () => gateway.connections.names(),
    offeredBy: (connection) => gateway.offered(connection),
    mustSearch: (adapter) => gateway.mustSearch(adapter),
    now: options.now ?? (() => performance.now()),
  });
  const now = options.clock ?? Date.now;
  const monotonic = options.now ?? (() => performance.now());
  const look = (): void => {
    files?.look();
    credentials?.refresh(true);
  };
  const isFolderHeld = worker !== undefined;
  const session: Session =
    workspace === undefined || settings === undefined || keys === undefined
      ? undefined
      : worker !== undefined && database === undefined
        ? worker.session({ gateway, bus: events, keys, names: new PricedNames(gateway, monotonic), look, now, monotonic })
        : new WorkspaceSession({ workspace, settings, database, isFolderHeld, bus: events, gateway, credentials, keys, addresses: ownAddresses, options });
  if (database !== undefined) worker?.follow({ gateway, bus: events, look });
  const meter = new Meter(events, options.clock);
  const shared = token && database && new SharedPasses(database.passes, token, options.now);
  const passes = token && (shared ?? worker?.passes ?? new LocalPasses(token, options.clock));
  const uncounted = {
    router,
    isPriceKnown: ({ adapter, model }: ModelTarget) => isPriceKnown({ gateway, prices: session?.prices ?? new Prices() }, { provider: adapter, model }),
  };
  const core: Core = {
    version: VERSION,
    meter,
    view: worker?.view ?? localView({ gateway, meter }),
    get bodies() {
      return worker?.bodies ?? (session instanceof WorkspaceSession ? session.bodies : undefined);
    },
    masker: () => maskerOf(gateway.upstreams(), credentials, options.env ?? process.env),
    liveCalls: () => gateway.live(),
    stopReading: (requestId) => gateway.stopReading(requestId),
    load: (id) => gateway.load(id),
    recent: (database === undefined ? worker?.recent : undefined) ?? new EventRing(events, options.clock),
    events,
    workspace,
    store: database?.kind ?? 'files',
    get storeHealth() {
      return session?.storeHealth;
    },
    deepHealth: async () =>
      (await import('./deep-health.ts')).deepHealth(core, session instanceof WorkspaceSession && options.gatewayOnly !== true ? session : undefined),
    start: () => needWorkspace(session).start(),
    announce: (url) => needWorkspace(session).announce(url),
    nodes: async () => needWorkspace(session).nodes(),
    drain: async (node, isDraining) => needWorkspace(session).drain(node, isDraining),
    get started() {
      return session?.isOpen ?? false;
    },
    gatewayOnly: options.gatewayOnly === true,
    get blocks() {
      return needWorkspace(session).blocks;
    },
    toolServers: () => needTools(options),
    check: () => examineCore(options, { settings, gateway, uncounted, env: options.env ?? process.env, session: () => session }),
    token,
    sessions: token && new Sessions(token, options.clock, passes, shared),
    credentials,
    connections: gateway.connectionStore,
    prices: priceFile && credentials && new PriceStore({ gateway, credentials, file: priceFile, data: new Prices(), now }),
    standIn: standInOf(options.adapters),
    adapterIds: () => gateway.adapterIds(),
    adapterIdOf,
    adapters: () => gateway.adapters(),
    status: async (options) => gateway.status(options),
    settings: () => gateway.settings(),
    adapter: (id) => gateway.adapter(id),
    models: (id, call) => gateway.models(id, call),
    ...contextWindows(gateway, () => session?.prices),
    verify: (id, body = {}, call) => gateway.verify(id, body, call),
    ownAddresses,
    router,
    modelsFile,
    keys,
    capWarnings: (limits) => capWarnings(limits, uncounted),
    reconcile: async (bill, query) =>
      (await import('./block/costs/bill.ts')).compareBill(bill, query, async () => {
        const blocks = options.gatewayOnly === true ? [] : [await core.blocks.costs({ by: 'day-model' })];
        return session?.accounts === undefined ? blocks : [...blocks, await session.accounts.costs('day-model')];
      }),
    get accounts() {
      return session?.accounts;
    },
    chat: (request, call) => gateway.chat(request, call),
    stream: (request, call) => new ChatStream((sink, signal) => gateway.pipe(request, sink, { ...call, signal }), call?.signal, streamOptionsOf(request)),
    pipe: (request, sink, call) => gateway.pipe(request, sink, call),
    embed: (request, call) => gateway.embed(request, call),
    countTokens: (request, call) => gateway.countTokens(request, call),
    lane: (adapter, path, model, fields) => gateway.lane(adapter, path, model, fields),
    forward: (adapter, model, request, target, call) => gateway.forward(adapter, model, request, target, call),
    newRequestId,
    prepare: async () => {
      try {
        await gateway.prepare();
        await session?.prepare();
      } catch (error) {
        // The first caller that needs it gets the same failure, with its own context.
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    },
    stop: async () => session?.stop(),
    close: () => session?.closeAll() ?? gateway.close(),
  };
  return { core, passes, look, session, database };
}

type Session = WorkspaceSession | WorkerSession | undefined;

function needWorkspace(session: Session): NonNullable<Session> {
  if (session === undefined) throw new Error('Blocks need a workspace: createCore({ workspace, … }).');
  return session;
}
