// The ids of spans, which of them are recorded, and what is noted of them until they are written.
import { randomBytes } from 'node:crypto';
import type { Sampler } from '@opentelemetry/sdk-trace-base';
import { parseTraceparent, type TraceParent, traceparentOf } from '../../core/base/traceparent.ts';
import type { Environment } from '../../core/index.ts';
import { newRoot, newWithin, RawIds } from './raw-ids.ts';
import { contextOf, type SpanBatch } from './span-batch.ts';

type Api = Pick<typeof import('@opentelemetry/api'), 'ROOT_CONTEXT' | 'SpanKind' | 'trace'>;
type Samplers = Pick<
  typeof import('@opentelemetry/sdk-trace-base'),
  'AlwaysOffSampler' | 'AlwaysOnSampler' | 'ParentBasedSampler' | 'SamplingDecision' | 'TraceIdRatioBasedSampler'
>;

const RECORDED = 1;
/** Where the header has the last digit of its flags. */
const LAST_FLAG = 54;

/** Something whose spans have ended, or other things that go to the collector. */
export interface Noted<Batch = SpanBatch> {
  /** So many of them. */
  readonly count: number;
  /** False if more may become known of it until it is exported: then it is written as late as possible. */
  readonly isReady: boolean;
  write(batch: Batch): void;
  /** It is on its way to the collector, or lost. */
  readonly release?: (() => void) | undefined;
}

/** The header for the span that a request begins. */
export function headerOf(own: TraceParent): string {
  return own instanceof RawIds && own.header !== '' ? own.header : traceparentOf(own);
}

/** Gives spans their ids. */
export class SpanIds {
  readonly #api: Api;
  readonly #samplers: Samplers;
  readonly #sampler: Sampler;
  /** The sampler need not be asked. */
  readonly #takesAllRoots: boolean;

  /** `env` says which traces are recorded. */
  constructor(api: Api, samplers: Samplers, env: Environment) {
    this.#api = api;
    this.#samplers = samplers;
    this.#sampler = samplerOf(samplers, env);
    this.#takesAllRoots = ['always_on', 'parentbased_always_on'].includes(samplerName(env));
  }

  /** The ids of a span that begins, in the trace of its client if there is one. */
  begin(parent?: TraceParent): TraceParent {
    if (parent === undefined && this.#takesAllRoots) return newRoot();
    const traceId = parent?.traceId ?? newId(32);
    const context = parent === undefined ? this.#api.ROOT_CONTEXT : this.#api.trace.setSpanContext(this.#api.ROOT_CONTEXT, contextOf(parent, true));
    const { decision } = this.#sampler.shouldSample(context, traceId, '', this.#api.SpanKind.SERVER, {}, []);
    return { traceId, spanId: newId(16), flags: decision === this.#samplers.SamplingDecision.RECORD_AND_SAMPLED ? RECORDED : 0 };
  }

  /** Those of a span within another one of this server, which is recorded if that is; of one without, as `begin` says. */
  within(parent: TraceParent | undefined, spanId?: string): TraceParent {
    if (spanId === undefined && parent instanceof RawIds) return newWithin(parent);
    if (parent !== undefined) return { traceId: parent.traceId, spanId: spanId ?? newId(16), flags: parent.flags };
    return this.begin();
  }
}

/** The span that this header names, unless it is not recorded. */
export function recorded(traceparent: string | undefined): TraceParent | undefined {
  if (traceparent === undefined || (Number.parseInt(traceparent[LAST_FLAG] ?? '', 16) & RECORDED) === 0) return undefined; // most that get here
  const parent = parseTraceparent(traceparent);
  return parent !== undefined && isRecorded(parent) ? parent : undefined;
}

export function isRecorded({ flags }: TraceParent): boolean {
  return (flags & RECORDED) !== 0;
}

/** Enough for hundreds of requests: each time is a call of the system. */
const POOL_BYTES = 32_768;
let pool = '';
let used = 0;

/** So many random hexadecimal digits. */
function newId(digits: 16 | 32): string {
  if (used + digits > pool.length) {
    pool = randomBytes(POOL_BYTES).toString('hex');
    used = 0;
  }
  used += digits;
  return pool.slice(used - digits, used);
}

function samplerName(env: Environment): string {
  return env['OTEL_TRACES_SAMPLER']?.trim() || 'parentbased_always_on';
}

/** As the packages read these variables; theirs is not exported. What they don't know is said by `readOtlpSettings`. */
function samplerOf(samplers: Samplers, env: Environment): Sampler {
  const { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, TraceIdRatioBasedSampler } = samplers;
  const name = samplerName(env);
  const argument = env['OTEL_TRACES_SAMPLER_ARG']?.trim() || '1';
  const own = name.replace(/^parentbased_/, '');
  const root = own === 'always_on' ? new AlwaysOnSampler() : own === 'always_off' ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(Number(argument));
  return own === name ? root : new ParentBasedSampler({ root });
}
