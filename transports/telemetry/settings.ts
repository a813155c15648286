// What the variables of OpenTelemetry (OTEL_*) say of traces, metrics and events. The packages themselves read the headers, time limits, compression and certificates. Pure: no I/O.
import { type Environment, invalidRequest } from '../../core/index.ts';

/** How the bodies of requests to a collector are written. */
export type OtlpProtocol = 'http/protobuf' | 'http/json';

/** The queue of spans, or events, that wait for their export. */
export interface QueueSettings {
  /** The most that wait. */
  readonly most: number;
  /** The most in one request. */
  readonly batch: number;
  /** How long one waits for others, in milliseconds. */
  readonly delayMs: number;
  /** How long one export may take. */
  readonly timeoutMs: number;
}

/** What is exported. */
export interface OtlpSettings {
  /** Undefined if traces are not exported. */
  readonly traces: { readonly protocol: OtlpProtocol; readonly queue: QueueSettings; readonly takesParents: boolean; readonly hasContent: boolean } | undefined;
  /** Undefined if metrics are not exported. */
  readonly metrics: { readonly protocol: OtlpProtocol; readonly everyMs: number; readonly timeoutMs: number } | undefined;
  /** Undefined unless content is exported as events. */
  readonly events: { readonly protocol: OtlpProtocol; readonly queue: QueueSettings } | undefined;
}

type Signal = 'TRACES' | 'METRICS' | 'LOGS';

/** Throws INVALID_REQUEST, which names the variable. */
export function readOtlpSettings(env: Environment): OtlpSettings {
  const whole = (name: string, usual: number, least = 1): number => wholeNumber(env, name, usual, least);
  checkSampler(env);
  const content = contentMode(env);
  const traces = isExported(env, 'TRACES') && {
    protocol: protocolOf(env, 'TRACES'),
    takesParents: (text(env, 'OTEL_PROPAGATORS') ?? 'tracecontext').split(',').some((name) => name.trim() === 'tracecontext'),
    hasContent: content.onSpans,
    queue: queueOf(env, 'BSP', 5000),
  };
  const metrics = isExported(env, 'METRICS') && {
    protocol: protocolOf(env, 'METRICS'),
    everyMs: whole('OTEL_METRIC_EXPORT_INTERVAL', 60_000),
    timeoutMs: whole('OTEL_METRIC_EXPORT_TIMEOUT', 30_000),
  };
  const events = content.onEvents && isExported(env, 'LOGS') && { protocol: protocolOf(env, 'LOGS'), queue: queueOf(env, 'BLRP', 1000) };
  if (content.onEvents && !events && text(env, 'OTEL_LOGS_EXPORTER') !== 'none')
    throw invalidRequest(
      CONTENT,
      `is ${text(env, CONTENT)}, and no collector gets events: set OTEL_EXPORTER_OTLP_LOGS_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT`,
    );
  return { traces: traces || undefined, metrics: metrics || undefined, events: events || undefined };
}

function queueOf(env: Environment, of: 'BSP' | 'BLRP', delayMs: number): QueueSettings {
  const most = wholeNumber(env, `OTEL_${of}_MAX_QUEUE_SIZE`, 2048, 1);
  return {
    most,
    batch: Math.min(most, wholeNumber(env, `OTEL_${of}_MAX_EXPORT_BATCH_SIZE`, 512, 1)),
    delayMs: wholeNumber(env, `OTEL_${of}_SCHEDULE_DELAY`, delayMs, 0),
    timeoutMs: wholeNumber(env, `OTEL_${of}_EXPORT_TIMEOUT`, 30_000, 1),
  };
}

function isExported(env: Environment, signal: Signal): boolean {
  const name = `OTEL_${signal}_EXPORTER`;
  const exporter = text(env, name) ?? 'otlp';
  if (exporter === 'none') return false;
  if (exporter !== 'otlp') throw invalidRequest(name, 'must be otlp or none: this server exports over OTLP alone');
  const [variable, address] = ofSignal(env, signal, 'ENDPOINT');
  if (address === undefined) return false;
  if (!isWebAddress(address)) throw invalidRequest(variable, 'must be the address of a collector, such as http://127.0.0.1:4318');
  return true;
}

function protocolOf(env: Environment, signal: Signal): OtlpProtocol {
  const [name, protocol = 'http/protobuf'] = ofSignal(env, signal, 'PROTOCOL');
  if (protocol === 'http/protobuf' || protocol === 'http/json') return protocol;
  const cure = protocol === 'grpc' ? '; a collector that takes grpc takes http/protobuf, too, by default at port 4318' : '';
  throw invalidRequest(name, `must be http/protobuf or http/json${cure}`);
}

/** The value for one signal, or else that for all, with the name of its variable. */
function ofSignal(env: Environment, signal: Signal, part: string): readonly [name: string, value: string | undefined] {
  const [own, all] = [`OTEL_EXPORTER_OTLP_${signal}_${part}`, `OTEL_EXPORTER_OTLP_${part}`];
  const value = text(env, own);
  return value === undefined ? [all, text(env, all)] : [own, value];
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

function checkSampler(env: Environment): void {
  const name = text(env, 'OTEL_TRACES_SAMPLER');
  if (name !== undefined && !SAMPLERS.includes(name)) throw invalidRequest('OTEL_TRACES_SAMPLER', `must be one of ${SAMPLERS.join(', ')}`);
  const share = Number(text(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1');
  if (!(share >= 0 && share <= 1)) throw invalidRequest('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1');
}

const CONTENT = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
/** Where the content goes, by the value of the variable. The last two are those of older conventions. */
const CONTENT_MODES = {
  NO_CONTENT: { onSpans: false, onEvents: false },
  SPAN_ONLY: { onSpans: true, onEvents: false },
  EVENT_ONLY: { onSpans: false, onEvents: true },
  SPAN_AND_EVENT: { onSpans: true, onEvents: true },
  true: { onSpans: true, onEvents: false },
  false: { onSpans: false, onEvents: false },
} as const;

function contentMode(env: Environment): { readonly onSpans: boolean; readonly onEvents: boolean } {
  const given = text(env, CONTENT) ?? 'NO_CONTENT';
  const mode = Object.entries(CONTENT_MODES).find(([name]) => name.toLowerCase() === given.toLowerCase());
  if (mode === undefined) throw invalidRequest(CONTENT, `must be one of ${Object.keys(CONTENT_MODES).join(', ')}`);
  return mode[1];
}

function wholeNumber(env: Environment, name: string, usual: number, least: number): number {
  const given = text(env, name);
  if (given === undefined) return usual;
  if (!/^\d{1,9}$/.test(given) || Number(given) < least) throw invalidRequest(name, `must be a whole number of ${least} or more`);
  return Number(given);
}

function isWebAddress(address: string): boolean {
  try {
    return /^https?:$/.test(new URL(address).protocol);
  } catch {
    return false;
  }
}

/** As the specification says, an empty variable is none. */
function text(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}
