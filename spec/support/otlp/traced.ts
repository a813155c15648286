// A whole server on loopback whose traces and metrics go to a collector in the same process.
import type { Test } from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import type { Mount } from '../../../transports/http/mounts.ts';
import { createMetrics } from '../../../transports/metrics/index.ts';
import { openContents } from '../../../transports/telemetry/contents.ts';
import { startTelemetry, type Telemetry } from '../../../transports/telemetry/index.ts';
import { startServer, type TestServer, type TestServerOptions } from '../server.ts';
import { type Collector, startCollector } from './collector.ts';

export interface Traced extends TestServer {
  readonly collector: Collector;
  readonly telemetry: Telemetry;
  readonly problems: { readonly fields: object; readonly message: string }[];
  /** Everything that waits is with the collector when it resolves. */
  flush(): Promise<void>;
}

export interface TracedOptions extends TestServerOptions {
  /** Variables of OpenTelemetry besides the address of the collector. */
  readonly otel?: Readonly<Record<string, string>>;
  readonly collector?: Collector;
  /** The number of this process among several. */
  readonly worker?: string;
}

let before: Promise<unknown> = Promise.resolve();

/** Runs this with variables of the process, which the packages of OpenTelemetry read: one after the other, since all have the same. */
export function withVariables<T>(variables: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T> {
  const own = before.then(() => runWith(variables, run));
  before = own.catch(() => undefined);
  return own;
}

async function runWith<T>(variables: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
  Object.assign(process.env, variables);
  try {
    return await run();
  } finally {
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

export async function startTraced(t: Test, options: TracedOptions = {}): Promise<Traced> {
  const { otel = {}, collector = await startCollector(t), http, worker, ...rest } = options;
  let telemetry: Telemetry | undefined;
  const mounts: Mount[] = [];
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1', OTEL_METRIC_EXPORT_INTERVAL: '600000', ...otel };
  const contents = openContents(variables);
  const tapped = contents === undefined ? {} : { contentTap: contents };
  const server = await startServer(t, {
    adapters: createAdapters(),
    env: {},
    ...tapped,
    ...rest,
    http: { ...http, mounts, trace: (req) => telemetry?.trace?.(req) },
  });
  const mount = createMetrics(server.core, { isOpen: false, ...(worker !== undefined && { labels: { worker } }) });
  mounts.push(mount);
  const { metrics } = mount;
  const problems: Traced['problems'] = [];
  const log = { error: (fields: object, message: string) => problems.push({ fields, message }) };
  telemetry = await withVariables(variables, () => startTelemetry(server.core, { env: variables, log, metrics, contents }));
  const started = telemetry;
  t.teardown(() => started.close(100));
  return { ...server, collector, telemetry: started, problems, flush: () => started.close(10_000) };
}
