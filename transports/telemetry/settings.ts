// What the variables of OpenTelemetry (OTEL_*) say of traces and metrics. The packages themselves read the headers, time limits, compression and certificates. Pure: no I/O.
import { type Environment, invalidRequest } from '../../core/index.ts';

/** How the bodies of requests to a collector are written. */
export type OtlpProtocol = 'http/protobuf' | 'http/json';

/** The queue of spans that wait for their export. */
export interface QueueSettings {
  /** The most that wait. */
  readonly most: number;
  /** The most in one request. */
  readonly batch: number;
  /** How long a span waits for others, in milliseconds. */
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
}

type Signal = 'TRACES' | 'METRICS';

/** Throws INVALID_REQUEST, which names the variable. */
export function readOtlpSettings(env: Environment): OtlpSettings {
  const whole = (name: string, usual: number, least = 1): number => wholeNumber(env, name, usual, least);
  const most = whole('OTEL_BSP_MAX_QUEUE_SIZE', 2048);
  checkSampler(env);
  const traces = isExported(env, 'TRACES') && {
    protocol: protocolOf(env, 'TRACES'),
    takesParents: (text(env, 'OTEL_PROPAGATORS') ?? 'tracecontext').split(',').some((name) => name.trim() === 'tracecontext'),
    hasContent: hasContent(env),
    queue: {
      most,
      batch: Math.min(most, whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)),
      delayMs: whole('OTEL_BSP_SCHEDULE_DELAY', 5000, 0),
      timeoutMs: whole('OTEL_BSP_EXPORT_TIMEOUT', 30_000),
    },
  };
  const metrics = isExported(env, 'METRICS') && {
    protocol: protocolOf(env, 'METRICS'),
    everyMs: whole('OTEL_METRIC_EXPORT_INTERVAL', 60_000),
    timeoutMs: whole('OTEL_METRIC_EXPORT_TIMEOUT', 30_000),
  };
  return { traces: traces || undefined, metrics: metrics || undefined };
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
/** Whether spans have the content, by the value of the variable. The last two are those of older conventions. */
const CONTENT_MODES = { NO_CONTENT: false, SPAN_ONLY: true, SPAN_AND_EVENT: true, true: true, false: false } as const;

/** There are no events here: where content is wanted there alone, the server says so and does not start. */
function hasContent(env: Environment): boolean {
  const given = text(env, CONTENT) ?? 'NO_CONTENT';
  const mode = Object.entries(CONTENT_MODES).find(([name]) => name.toLowerCase() === given.toLowerCase());
  if (mode !== undefined) return mode[1];
  const names = Object.keys(CONTENT_MODES).join(', ');
  if (given.toLowerCase() === 'event_only')
    throw invalidRequest(CONTENT, `must be one of ${names}: this server exports no events, so EVENT_ONLY would export nothing`);
  throw invalidRequest(CONTENT, `must be one of ${names}`);
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
