// The one composition root: core, adapters and transports put together.
import type { Logger } from 'pino';
import { createAdapters } from '../adapters/index.ts';
import { type Core, createCore, type Flags, type ProcessConfig, resolveProcessConfig } from '../core/index.ts';
import { createHttpTransport } from '../transports/http/index.ts';
import { createLogger, logFacts } from './logging.ts';

/** The first Node release line that still gets security fixes. */
const OLDEST_MAINTAINED_NODE = 22;

export interface RunningServer {
  readonly url: string;
  readonly config: ProcessConfig;
  readonly core: Core;
  readonly log: Logger;
  close(): Promise<void>;
}

/** Starts a server and resolves once it listens. Throws an Error for people when a setting or the workspace is unusable. */
export async function startServer(flags: Flags): Promise<RunningServer> {
  const config = resolveProcessConfig(flags, process.env);
  const log = createLogger(config.logLevel);
  const core = createConfiguredCore(config);
  logFacts(core, log);
  await core.token?.ensure(config.workspace);
  const transport = createHttpTransport(core, { allowRemote: config.allowRemote, log });
  const url = await transport.listen(config.port, config.host).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE')
      throw new Error(`${config.host}:${config.port} is in use; choose another port with --port or BLOCKHOUSE_PORT (0 picks a free one).`);
    throw error;
  });
  if (Number(process.versions.node.split('.')[0]) < OLDEST_MAINTAINED_NODE) {
    log.warn({ node: process.version }, `Node ${process.version} gets no security fixes any more; ${OLDEST_MAINTAINED_NODE} or newer does`);
  }
  log.info({ url, workspace: config.workspace, version: core.version }, 'blockhouse is listening');
  return {
    url,
    config,
    core,
    log,
    close: async () => {
      await transport.close();
      await core.close();
    },
  };
}

/** A core for the CLI's own calls, with the same settings as the server would have. */
export function createConfiguredCore(config: ProcessConfig): Core {
  return createCore({
    workspace: config.workspace,
    adapters: createAdapters(),
    allowedOrigins: config.allowedOrigins,
    queue: config.queue,
    timeouts: config.timeouts,
  });
}

/** How long open answers may go on after the first signal. */
const DRAIN_MS = 5000;

/** Serves until SIGINT or SIGTERM; open answers get DRAIN_MS, a second signal ends the process at once. */
export async function serveUntilSignal(flags: Flags): Promise<void> {
  const server = await startServer(flags);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  server.log.info({}, 'shutting down');
  const cut = setTimeout(() => process.exit(0), DRAIN_MS);
  await server.close();
  clearTimeout(cut);
}
