// Traces, metrics and events for a collector of OpenTelemetry, over OTLP. Loaded only where a variable names one; the packages are the user's choice.
//
// never-in-the-way: a collector that is slow or away costs spans, which are counted, and one line of the log in a minute.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Attributes } from '@opentelemetry/api';
import type { CollectorSender, Core, CoreEvents, Environment } from '../../core/index.ts';
import type { TransportLog } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { BlockSpans } from './block-spans.ts';
import { CallSpans } from './call-spans.ts';
import { SpanClock } from './clock.ts';
import { ContentEvents } from './content-events.ts';
import type { ContentSink, Contents } from './contents.ts';
import type { EventBatch } from './event-batch.ts';
import { DROP_REASONS, ExportQueue } from './export-queue.ts';
import { GenAiFigures } from './gen-ai-figures.ts';
import { MetricPush } from './metric-push.ts';
import type { Post } from './outlets.ts';
import { type Loaders, loadPackages, type Packages } from './packages.ts';
import { type OtlpSettings, readOtlpSettings } from './settings.ts';
import { recorded, SpanIds } from './spans.ts';
import { ToolSpans } from './tool-spans.ts';
import { RequestSpans, type Tracing } from './tracing.ts';
import { Upstreams } from './upstreams.ts';

export { type Contents, openContents } from './contents.ts';

/** What `startTelemetry` needs. */
export interface TelemetryOptions {
  readonly env: Environment;
  readonly log: Pick<TransportLog, 'error'>;
  /** Those of the server. */
  readonly metrics: Metrics;
  /** The tap of the core, where prompts and answers are exported (`openContents`). */
  readonly contents?: Contents | undefined;
  /** Sends to collectors that take plain HTTP; left out, the packages send all. */
  readonly collector?: CollectorSender | undefined;
  /** For tests. */
  readonly loaders?: Loaders | undefined;
}

/** Traces, metrics and events that are exported. */
export interface Telemetry {
  /** Begins the span of a request; undefined if traces are not exported. */
  readonly trace: ((req: IncomingMessage) => string) | undefined;
  /** Exports what waits, for `ms` at most. Never rejects. */
  close(ms: number): Promise<void>;
}

const LOG_EVERY_MS = 60_000;
/** A collector may send a whole page as its error. */
const MAX_ERROR = 200;
const SERVICE = 'blockhouse';
const INSTANCE = 'service.instance.id';

/** Rejects with INVALID_REQUEST for a variable that says nothing we know, and where packages are missing. */
export async function startTelemetry(core: Core, { env, log, metrics, contents, collector, loaders }: TelemetryOptions): Promise<Telemetry> {
  const settings = readOtlpSettings(env);
  if (settings.traces === undefined && settings.metrics === undefined && settings.events === undefined)
    return { trace: undefined, close: async () => undefined };
  const packages = await loadPackages(settings, loaders);
  logProblems(packages.api, log);
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = packages.resources;
  const own = resourceFromAttributes({ 'service.name': SERVICE, 'service.version': core.version, [INSTANCE]: randomUUID() });
  const given = defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
  const resource = given.merge(resourceFromAttributes(ofWorker(given.attributes, metrics.labels['worker'])));
  const upstreams = new Upstreams(core);
  const shared = {
    env,
    resource,
    upstreams,
    clock: new SpanClock(),
    metrics,
    contents,
    post: collector?.post,
    scope: { name: SERVICE, version: core.version },
  };
  const events = startEvents(core, packages, settings, shared, problemsOf(log, 'events could not be exported'));
  const tracing = startTracing(core, packages, settings, { ...shared, sink: events?.sink }, problemsOf(log, 'spans could not be exported'));
  const push = startMetrics(core, packages, settings, shared, problemsOf(log, 'metrics could not be exported'));
  return {
    trace: tracing?.trace,
    close: async (ms) => {
      await Promise.all([tracing?.queue.shutdown(ms), events?.queue.shutdown(ms), push?.shutdown(ms)]);
      await collector?.close();
    },
  };
}

/** Workers have one environment, and each has figures of its own: a name that is given to the instance is that of all of them. */
function ofWorker(given: Attributes, worker: string | undefined): Attributes {
  return worker === undefined ? {} : { [INSTANCE]: `${String(given[INSTANCE])}-${worker}` };
}

interface Shared {
  readonly env: Environment;
  readonly resource: ReturnType<Packages['resources']['defaultResource']>;
  readonly upstreams: Upstreams;
  readonly clock: SpanClock;
  readonly metrics: Metrics;
  readonly contents: Contents | undefined;
  readonly post: Post | undefined;
  readonly scope: { readonly name: string; readonly version: string };
}

type Failed = (error: Error) => void;

/** Without traces, all calls have their event. */
function startEvents(core: Core, { newEventOutlet }: Packages, { traces, events }: OtlpSettings, shared: Shared, failed: Failed) {
  if (events === undefined || newEventOutlet === undefined) return undefined;
  const { resource, upstreams, clock, metrics, contents, scope, post } = shared;
  for (const reason of DROP_REASONS) metrics.dropEvents(reason, 0);
  const reports = { dropped: (reason: string, count: number) => metrics.dropEvents(reason, count), failed };
  const queue = new ExportQueue<EventBatch>(newEventOutlet({ resource, scope }, post), events.queue, reports);
  const sink = new ContentEvents(upstreams, (noted) => queue.add(noted));
  if (traces === undefined && contents !== undefined) {
    contents.start(() => true);
    core.events.on('call.finished', (fact) => {
      const content = contents.end(fact);
      if (content !== undefined) sink.note(fact, content, undefined, clock.now());
      content?.release();
    });
  }
  return { queue, sink };
}

type WithSink = Shared & { readonly sink: ContentSink | undefined };

function startTracing(core: Core, { api, sdk, newSpanOutlet }: Packages, { traces }: OtlpSettings, shared: WithSink, failed: Failed) {
  if (traces === undefined || newSpanOutlet === undefined) return undefined;
  const { resource, upstreams, clock, metrics, contents, scope, sink, post } = shared;
  for (const reason of DROP_REASONS) metrics.dropSpans(reason, 0);
  const queue = new ExportQueue(newSpanOutlet({ resource, scope }, post), traces.queue, {
    dropped: (reason, count) => metrics.dropSpans(reason, count),
    failed,
  });
  const ids = new SpanIds(api, sdk, shared.env);
  const tracing: Tracing = { clock, ids, note: (noted) => queue.add(noted) };
  const requests = new RequestSpans(core, tracing, traces.takesParents);
  const lost = (): void => metrics.dropSpans('queue_full', 1);
  const blocks = new BlockSpans(core, tracing, lost);
  new ToolSpans(core, tracing, (message) => blocks.spanOf(message), lost);
  const requestOf = (traceparent: string) => requests.find(traceparent) ?? recorded(traceparent);
  const parentOf = (fact: CoreEvents['call.finished'], from: number) => {
    if (fact.traceparent !== undefined) return requestOf(fact.traceparent);
    return fact.caller === undefined ? undefined : blocks.parentOf(fact, from);
  };
  new CallSpans(core, tracing, upstreams, parentOf, contents, sink);
  contents?.start(({ traceparent, caller }) => (traceparent === undefined ? caller !== undefined : requestOf(traceparent) !== undefined));
  return { trace: requests.begin, queue };
}

function startMetrics(core: Core, { newMetricExporter }: Packages, { metrics: settings }: OtlpSettings, shared: Shared, failed: Failed) {
  if (settings === undefined || newMetricExporter === undefined) return undefined;
  const { resource, upstreams, metrics, scope } = shared;
  return new MetricPush({
    ...settings,
    metrics,
    genAi: new GenAiFigures(core, upstreams, metrics.tools),
    exporter: newMetricExporter(),
    resource,
    scope,
    failed,
  });
}

/** What the packages find wrong with variables and answers. */
function logProblems({ diag, DiagLogLevel }: Packages['api'], log: TelemetryOptions['log']): void {
  const say = (message: string): void => log.error({ problem: message.slice(0, MAX_ERROR) }, 'OpenTelemetry');
  const silent = (): void => undefined;
  diag.setLogger({ error: say, warn: say, info: silent, debug: silent, verbose: silent }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** never-in-the-way. */
function problemsOf(log: TelemetryOptions['log'], message: string): (error: Error) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now - toldAt < LOG_EVERY_MS) return;
    toldAt = now;
    log.error({ error: error.message.slice(0, MAX_ERROR) }, message);
  };
}
