// The one composition root: puts core, adapters and transports together. It loads adapters and transports only when they
// are used, so that a command that needs neither starts fast.
import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import {
  type ContentTap,
  type Core,
  type CoreOptions,
  connectStore,
  createCore,
  createPrimaryCore,
  createWorkerCore,
  type Environment,
  type Flags,
  type ProcessConfig,
  type StoreConnection,
} from '../core/index.ts';
import type { Contents, Telemetry } from '../transports/telemetry/index.ts';
import { lazyTools } from './lazy-tools.ts';
import { type Listen, listenAsWorker, listenOn, openDoors } from './serve/listen.ts';
import { nodeNotice } from './serve/node-notice.ts';
import type { OwnWorker } from './serve/own-worker.ts';
import { inWorkspace, readConfig } from './serve/place.ts';
import { givenToken, withSecretFiles } from './serve/secret-files.ts';
import { parseFlags } from './serve/serve-flags.ts';
import type { WorkerPool } from './serve/workers.ts';
import { CliError, EXIT_CODES, type ExitKind, exitKindOf } from './terminal/exit-codes.ts';
import { oneLine } from './terminal/output.ts';

/** What the build of the page writes: beside the folder of this module, or one above it where the bundle has put this module among its parts. */
const DASHBOARDS = ['../dashboard/', '../../dashboard/'];

/** A server that listens. */
export interface RunningServer {
  readonly url: string;
  /** The address of the second server, if there is one. */
  readonly ollamaUrl?: string;
  /** True if it serves the dashboard, which a build may leave out. */
  readonly hasPage: boolean;
  readonly config: ProcessConfig;
  readonly core: Core;
  readonly log: Logger;
  /** The processes that serve its clients, if those are others. */
  readonly workers?: WorkerPool;
  close(): Promise<void>;
}

/** Starts a server and resolves once it listens. Rejects with a CliError when a setting, the workspace or the port can't be used. */
export async function startServer(flags: Flags, env: Environment = process.env): Promise<RunningServer> {
  const config = readConfig(flags, env);
  const contents = await contentsOf(config, env);
  const store = await storeOf(config);
  const [parts, core] = await Promise.all([import('./server-parts.ts'), createConfiguredCore(config, env, store, contents)]);
  const { createLogger, logFacts, ServerLog } = parts;
  const file = new ServerLog(config.workspace, ({ message }) => log.warn({ error: message }, "log files of the server can't be written"));
  const log = createLogger(config.logLevel, process.stderr, file);
  logFacts(core, log);
  try {
    const observed = await observe(core, config, log, parts, { env, contents });
    // The lock comes first: a second server must not touch the workspace of the first one.
    await inWorkspace(config, () => core.start());
    file.open();
    await inWorkspace(config, async () => core.token?.ensure(givenToken(env)));
    const served = await serveCore(core, config, log, parts, { ...observed, listen: listenOn(config) });
    await core.announce(served.url);
    const close = async (): Promise<void> => {
      await served.close();
      await file.close();
    };
    return { ...served, config, core, log, close };
  } catch (error) {
    await core.close();
    await file.close();
    throw error;
  }
}

/** Listens for the clients of a core that is open. Rejects with a CliError, and nothing listens then. */
async function serveCore(
  core: Core,
  config: ProcessConfig,
  log: Logger,
  { createBareTransport, createHttpTransport, createWsTransport }: typeof import('./server-parts.ts'),
  { metrics, telemetry, unwatch, listen }: Observed & { readonly listen: Listen },
): Promise<Pick<RunningServer, 'url' | 'ollamaUrl' | 'hasPage' | 'close'>> {
  const { allowRemote, webOrigins, publicOrigin, maxConnections, bodyMemoryBytes } = config;
  const { requestLogLevel = process.stderr.isTTY ? 'info' : 'debug' } = config;
  const bodies = { bytes: bodyMemoryBytes };
  const dashboard = DASHBOARDS.map((folder) => new URL(folder, import.meta.url)).find((folder) => existsSync(new URL('manifest.json', folder)));
  const transport = createHttpTransport(core, {
    allowRemote,
    webOrigins,
    publicOrigin,
    dashboard,
    mounts: [metrics],
    trace: telemetry?.trace,
    log,
    requestLogLevel,
    maxConnections,
    bodies,
  });
  const bare = createBareTransport(core, { trace: telemetry?.trace, log, requestLogLevel, maxConnections, bodies });
  const sockets = createWsTransport(core, transport.server, { allowRemote, publicOrigin, log });
  const place = await listen(transport, bare);
  const close = async (): Promise<void> => {
    await Promise.all([unwatch(), transport.close(), bare.close(), sockets.close(), core.stop()]);
    await core.close();
    await telemetry?.close(FAREWELL_MS);
  };
  return { ...place, hasPage: dashboard !== undefined, close };
}

/** Starts a server whose clients are served by workers, and resolves once all of them listen. Rejects as `startServer` does. */
async function startWithWorkers(config: ProcessConfig, count: number): Promise<RunningServer> {
  const [{ createLogger, logFacts, ServerLog }, { WorkerPool }] = await Promise.all([import('./server-parts.ts'), import('./serve/workers.ts')]);
  const store = await storeOf(config);
  const file = new ServerLog(config.workspace, ({ message }) => log.warn({ error: message }, "log files of the server can't be written"));
  const log = createLogger(config.logLevel, process.stderr, file);
  const { core, primary, hold } = await createPrimaryCore(await coreOptions(config, process.env, store), (lines) => {
    for (const line of lines) file.write(line);
  });
  if (store === undefined) logFacts(core, log); // whole servers do so themselves
  const pool = new WorkerPool({
    count,
    onWorker: (line) => primary.add(line),
    onDeath: (fact) => log.error(fact, 'a worker has ended, and another one is started'),
    onDrop: (most) => log.error({ most }, 'so many connections wait for a worker that further ones are closed'),
  });
  let folder: Awaited<ReturnType<typeof hold>> | undefined;
  const close = async (): Promise<void> => {
    await pool.stop(config.drainMs + FAREWELL_MS + LAST_LINES_MS);
    primary.close();
    await core.close();
    await file.close();
    await folder?.release();
  };
  try {
    folder = await inWorkspace(config, hold);
    file.open();
    await inWorkspace(config, async () => core.token?.ensure(givenToken(process.env)));
    const { url, ollamaUrl, hasPage } = await pool.start(await openDoors(config, pool));
    await folder.announce(url);
    return { url, hasPage, ...(ollamaUrl !== undefined && { ollamaUrl }), config, core, log, workers: pool, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Serves as one of the workers, until the primary or a signal ends it. What keeps it from that is said to the primary. */
async function serveAsWorker(flags: Flags, own: OwnWorker): Promise<void> {
  process.on('SIGINT', () => undefined); // a terminal sends it to all processes, and the primary decides
  const ended = new Promise<void>((resolve) => {
    own.onEnd(resolve);
    process.once('SIGTERM', () => {
      own.drain();
      resolve();
    });
  });
  try {
    const config = readConfig(flags);
    if (config.store !== undefined) own.outlivePrimary();
    const store = await storeOf(config);
    const contents = await contentsOf(config, process.env);
    const [parts, { core, start, log: sendLines }] = await Promise.all([
      import('./server-parts.ts'),
      coreOptions(config, process.env, store, contents).then((options) => createWorkerCore(options, own.line)),
    ]);
    const file = new parts.SentLog(sendLines);
    const log = parts.createLogger(config.logLevel, process.stderr, file);
    if (store !== undefined) parts.logFacts(core, log);
    const observed = await observe(core, config, log, parts, { env: process.env, worker: own.id, contents });
    await start();
    const served = await serveCore(core, config, log, parts, { ...observed, listen: listenAsWorker(own) });
    await core.announce(served.url);
    own.ready(served);
    prepareSoon(core);
    await ended;
    const close = async (): Promise<void> => {
      await served.close();
      file.close();
    };
    await endServer({ config, core, log, close }, 'ok');
  } catch (error) {
    const kind = exitKindOf(error);
    await own.failed(kind, error instanceof Error ? error.message : String(error));
    setTimeout(() => process.exit(EXIT_CODES[kind].code), LAST_LINES_MS).unref(); // connections to a database would keep it alive
  } finally {
    own.leave();
  }
}

interface Observed {
  readonly metrics: ReturnType<typeof import('./server-parts.ts')['createMetrics']>;
  readonly telemetry: Telemetry | undefined;
  unwatch(): void;
}

/** Counts from now on, and loads what exports that, if a collector is named. Rejects with INVALID_REQUEST for settings that can't be used, and where packages are missing. */
async function observe(
  core: Core,
  { metricsOpen, hasCollector }: ProcessConfig,
  log: Logger,
  { createMetrics, watchLoop, logContent }: Pick<typeof import('./server-parts.ts'), 'createMetrics' | 'watchLoop' | 'logContent'>,
  { env, worker, contents }: { readonly env: Environment; readonly worker?: string; readonly contents: Contents | undefined },
): Promise<Observed> {
  const metrics = createMetrics(core, { isOpen: metricsOpen, ...(worker !== undefined && { labels: { worker } }) });
  const unwatch = watchLoop(core.events);
  logContent(log, env, hasCollector && contents !== undefined);
  if (!hasCollector) return { metrics, telemetry: undefined, unwatch };
  const [{ startTelemetry }, { createCollectorSender }] = await Promise.all([
    import('../transports/telemetry/index.ts'),
    import('../adapters/outbound/collector-sender.ts'),
  ]);
  return { metrics, telemetry: await startTelemetry(core, { env, log, metrics: metrics.metrics, contents, collector: createCollectorSender() }), unwatch };
}

/** What reads prompts and answers for a collector; undefined where that is not switched on. Rejects with INVALID_REQUEST for variables that can't be used. */
async function contentsOf({ hasCollector }: ProcessConfig, env: Environment): Promise<Contents | undefined> {
  return hasCollector ? (await import('../transports/telemetry/index.ts')).openContents(env) : undefined;
}

/** A core with every adapter, the echo provider for those who have none of them yet, and the settings of the server. */
export async function createConfiguredCore(
  config: ProcessConfig,
  env: Environment = process.env,
  store?: StoreConnection,
  contentTap?: ContentTap,
): Promise<Core> {
  return createCore(await coreOptions(config, env, store, contentTap));
}

/** The same with the database of the workspace, if it has one; with `isTrial`, nothing may be written into it. Rejects with STORE_UNREACHABLE and the like. */
export async function createStoredCore(config: ProcessConfig, env: Environment = process.env, isTrial = false): Promise<Core> {
  return createConfiguredCore(config, env, await storeOf(config, isTrial));
}

/** The database of the workspace, if it has one. Rejects with STORE_UNREACHABLE and the like. */
async function storeOf({ store }: ProcessConfig, isTrial = false): Promise<StoreConnection | undefined> {
  return store && connectStore(store.url, { ...store, isTrial });
}

async function coreOptions(config: ProcessConfig, env: Environment = process.env, store?: StoreConnection, contentTap?: ContentTap): Promise<CoreOptions> {
  const { createAdapters, createNoticeSender, createStandIn } = await import('../adapters/index.ts');
  const adapters = createAdapters();
  // A copy, because each read of `process.env` is a system call.
  const own = { ...withSecretFiles(env) };
  const providerVariables = new Set(adapters.flatMap(({ settings }) => Object.values(settings).flatMap((setting) => setting.env ?? [])));
  return {
    workspace: config.workspace,
    ...(store !== undefined && { store }),
    adapters: [...adapters, createStandIn()],
    notices: createNoticeSender(),
    env: own,
    ...(config.gatewayOnly !== true && { tools: lazyTools({ config, env: own, providerVariables }) }),
    allowedOrigins: config.allowedOrigins,
    connections: config.connections,
    queue: config.queue,
    timeouts: config.timeouts,
    monitorCalls: config.monitorCalls,
    gatewayOnly: config.gatewayOnly === true,
    tracesProviders: config.tracesProviders,
    ...(contentTap !== undefined && { contentTap }),
  };
}

/** The core prepares (loads prices) only after the first clients have their answers. */
const PREPARE_AFTER_MS = 100;

function prepareSoon(core: Pick<Core, 'prepare'>): void {
  setTimeout(() => void core.prepare(), PREPARE_AFTER_MS).unref();
}

/** How long the final errors of cut-off answers may take to leave. */
const FAREWELL_MS = 1000;
/** How long the last log lines may then take to reach their reader. */
const LAST_LINES_MS = 500;

/**
 * Serves until SIGINT or SIGTERM; rejects with a CliError when another server has taken the workspace. Open answers get `drainMs` to finish and
 * then an error. A second signal ends the process at once. Soon after this promise settles the process ends, even when nobody reads its output.
 * `announce` reports that the server listens, before the first log line.
 */
export async function serveUntilSignal(flags: Flags, announce?: (server: RunningServer) => Promise<void>): Promise<void> {
  const own = flags.workers === undefined ? undefined : (await import('./serve/own-worker.ts')).ownWorker();
  if (own !== undefined) return serveAsWorker(flags, own);
  const config = readConfig(flags);
  const server = config.workers === undefined ? await startServer(flags) : await startWithWorkers(config, config.workers);
  const signalled = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const lost = new Promise<number>((resolve) => server.core.events.on('workspace.lost', ({ pid }) => resolve(pid)));
  await announce?.(server);
  logStart(server);
  if (server.workers === undefined) prepareSoon(server.core);
  const holder = await Promise.race([signalled, lost, ...(server.workers === undefined ? [] : [server.workers.failed])]).catch(async (error: unknown) => {
    await endServer(server, exitKindOf(error));
    throw error;
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  server.log.info({}, 'shutting down');
  await endServer(server, holder === undefined ? 'ok' : 'place');
  if (holder !== undefined)
    throw new CliError(
      'place',
      `Process ${holder} now holds the workspace ${server.config.workspace}, because its .lock was deleted; this server has stopped.`,
    );
}

/** Closes the server and makes sure that the process ends soon after, with the exit code of `kind`. */
async function endServer(server: Pick<RunningServer, 'config' | 'core' | 'log' | 'workers' | 'close'>, kind: ExitKind): Promise<void> {
  // Workers have the time to drain, and a moment to say what their last calls have used.
  const drainMs = server.config.drainMs + (server.workers === undefined ? 0 : 2 * FAREWELL_MS + LAST_LINES_MS);
  let exitKind = kind;
  const exit = (): never => process.exit(EXIT_CODES[exitKind].code);
  const cut = setTimeout(() => void cutOff(server), drainMs);
  const end = setTimeout(exit, drainMs + FAREWELL_MS); // clients that do not read would keep the server open
  try {
    await server.close();
  } catch (error) {
    exitKind = exitKindOf(error);
    throw error;
  } finally {
    clearTimeout(cut);
    end.unref();
    setTimeout(exit, LAST_LINES_MS).unref(); // unread lines on stderr would keep the process alive
  }
}

/** Ends open answers. Never rejects; `server.close` rejects with the same fault. */
export function cutOff({ core, log }: { readonly core: Pick<Core, 'close'>; readonly log: Pick<Logger, 'error'> }): Promise<void> {
  return core.close().catch((err: unknown) => log.error({ err }, 'core could not be closed'));
}

/** `serveUntilSignal` as a whole process, with the flags of `blockhouse serve`. A failure is one line on stderr and an exit code. */
export async function serveAsProcess(args: string[]): Promise<void> {
  try {
    await serveUntilSignal(parseFlags(args));
  } catch (error) {
    process.stderr.write(`blockhouse: ${oneLine(error instanceof Error ? error.message : String(error))}\n`);
    process.exitCode = EXIT_CODES[exitKindOf(error)].code;
  }
}

function logStart({ url, ollamaUrl, config, core, log }: RunningServer): void {
  const notice = config.nodeNotice ? nodeNotice(process.versions.node, Date.now()) : undefined;
  if (notice !== undefined) log.warn({ node: process.version }, notice);
  log.info({ url, ollamaUrl, workspace: config.workspace, version: core.version, workers: config.workers }, 'blockhouse is listening');
}
