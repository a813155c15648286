// The packages of OpenTelemetry, which only those install who export traces or metrics. Loaded when a server starts that has a collector.
import { invalidRequest } from '../../core/index.ts';
import type { EventBatch } from './event-batch.ts';
import type { Outlet } from './export-queue.ts';
import { type AgentFactory, guarded } from './guarded-agent.ts';
import { ByteOutlet, EventOutlet, ObjectOutlet, type PlainHttp, type Post } from './outlets.ts';
import type { OtlpProtocol, OtlpSettings } from './settings.ts';
import type { Origin } from './span-batch.ts';

/** What is exported of the process at one moment: the argument of the exporters of metrics. */
export type ResourceMetrics = Parameters<InstanceType<typeof import('@opentelemetry/exporter-metrics-otlp-proto').OTLPMetricExporter>['export']>[0];

/** What exports metrics. */
export interface MetricExporter {
  export(metrics: ResourceMetrics, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/** `post` sends what needs nothing but HTTP. */
type NewSpanOutlet = (origin: Origin, post?: Post) => Outlet;
type NewEventOutlet = (origin: Origin, post?: Post) => Outlet<EventBatch>;
type NewMetricExporter = () => MetricExporter;
type MetricPackage = Promise<{ readonly OTLPMetricExporter: new (options: { readonly httpAgentOptions: AgentFactory }) => MetricExporter }>;

/** How each package is loaded. */
export interface Loaders {
  api(): Promise<typeof import('@opentelemetry/api')>;
  resources(): Promise<Pick<typeof import('@opentelemetry/resources'), 'defaultResource' | 'detectResources' | 'envDetector' | 'resourceFromAttributes'>>;
  sdk(): Promise<typeof import('@opentelemetry/sdk-trace-base')>;
  readonly traces: Readonly<Record<OtlpProtocol, () => Promise<NewSpanOutlet>>>;
  readonly metrics: Readonly<Record<OtlpProtocol, () => Promise<NewMetricExporter>>>;
  events(protocol: OtlpProtocol): Promise<NewEventOutlet>;
}

async function exporterBase() {
  const [{ createOtlpNetworkExportDelegate }, nodeHttp] = await Promise.all([
    import('@opentelemetry/otlp-exporter-base'),
    import('@opentelemetry/otlp-exporter-base/node-http'),
  ]);
  const plainWith = (post?: Post): PlainHttp | undefined => post && { post, createOtlpNetworkExportDelegate };
  return [nodeHttp, plainWith] as const;
}

/** The packages make their own options of the variables, and take the agent alone from us. */
async function agentFor(signal: 'TRACES' | 'METRICS'): Promise<{ readonly httpAgentOptions: AgentFactory }> {
  const { convertLegacyHttpOptions } = await import('@opentelemetry/otlp-exporter-base/node-http');
  return { httpAgentOptions: guarded(convertLegacyHttpOptions({}, signal, '', {}).agentFactory) };
}

async function metricExporters(loaded: MetricPackage): Promise<NewMetricExporter> {
  const [{ OTLPMetricExporter }, options] = await Promise.all([loaded, agentFor('METRICS')]);
  return () => new OTLPMetricExporter(options);
}

/** From where they are installed; other ones are for tests. */
const LOADERS: Loaders = {
  api: () => import('@opentelemetry/api'),
  resources: () => import('@opentelemetry/resources'),
  sdk: () => import('@opentelemetry/sdk-trace-base'),
  traces: {
    'http/protobuf': async () => {
      const [nodeHttp, plainWith] = await exporterBase();
      return (origin, post) => new ByteOutlet(nodeHttp, origin, plainWith(post));
    },
    'http/json': async () => {
      const [{ OTLPTraceExporter }, options] = await Promise.all([import('@opentelemetry/exporter-trace-otlp-http'), agentFor('TRACES')]);
      return (origin) => new ObjectOutlet(new OTLPTraceExporter(options), origin);
    },
  },
  metrics: {
    'http/protobuf': () => metricExporters(import('@opentelemetry/exporter-metrics-otlp-proto')),
    'http/json': () => metricExporters(import('@opentelemetry/exporter-metrics-otlp-http')),
  },
  events: async (protocol) => {
    const [nodeHttp, plainWith] = await exporterBase();
    return (origin, post) => new EventOutlet(nodeHttp, origin, protocol, plainWith(post));
  },
};

/** The versions are the newest that run on Node 20. */
const INSTALL =
  'npm install @opentelemetry/api@1.9 @opentelemetry/resources@2 @opentelemetry/sdk-trace-base@2 @opentelemetry/otlp-exporter-base@0.223 @opentelemetry/exporter-metrics-otlp-proto@0.223';
const INSTALL_JSON = 'npm install @opentelemetry/exporter-trace-otlp-http@0.223 @opentelemetry/exporter-metrics-otlp-http@0.223';

/** The packages that are needed. */
export interface Packages {
  readonly api: Awaited<ReturnType<Loaders['api']>>;
  readonly resources: Awaited<ReturnType<Loaders['resources']>>;
  readonly sdk: Awaited<ReturnType<Loaders['sdk']>>;
  /** Undefined if traces are not exported. */
  newSpanOutlet: NewSpanOutlet | undefined;
  /** Undefined if events are not exported. */
  newEventOutlet: NewEventOutlet | undefined;
  newMetricExporter: NewMetricExporter | undefined;
}

/** Rejects with INVALID_REQUEST, which names the command, if one is not installed. */
export async function loadPackages({ traces, metrics, events }: OtlpSettings, loaders: Loaders = LOADERS): Promise<Packages> {
  const protocols = [traces?.protocol, metrics?.protocol];
  try {
    const [api, resources, sdk, ofTraces, ofMetrics, ofEvents] = await Promise.all([
      loaders.api(),
      loaders.resources(),
      loaders.sdk(),
      traces && loaders.traces[traces.protocol](),
      metrics && loaders.metrics[metrics.protocol](),
      events && loaders.events(events.protocol),
    ]);
    return {
      api,
      resources,
      sdk,
      newSpanOutlet: ofTraces,
      newEventOutlet: ofEvents,
      newMetricExporter: ofMetrics,
    };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw invalidRequest(
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      `names a collector, which needs packages of OpenTelemetry; install them with \`${commandFor(protocols)}\``,
    );
  }
}

function commandFor(protocols: readonly (OtlpProtocol | undefined)[]): string {
  return protocols.includes('http/json') ? `${INSTALL} && ${INSTALL_JSON}` : INSTALL;
}
