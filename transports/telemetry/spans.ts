// Spans as the exporters take them, their ids, and which of them are recorded.
//
// built-late: what happens on the way of a request is noted, and the spans are made when a batch of them is exported. So a request pays for little more than its ids.
import { randomBytes } from 'node:crypto';
import type { Attributes, HrTime, Link, SpanContext } from '@opentelemetry/api';
import type { ReadableSpan, Sampler } from '@opentelemetry/sdk-trace-base';
import { parseTraceparent, type TraceParent } from '../../core/base/traceparent.ts';
import type { Environment } from '../../core/index.ts';
import { CONVENTION } from './attributes.ts';
import { hrTime } from './clock.ts';

type Api = Pick<typeof import('@opentelemetry/api'), 'ROOT_CONTEXT' | 'SpanKind' | 'trace'>;
type Samplers = Pick<
  typeof import('@opentelemetry/sdk-trace-base'),
  'AlwaysOffSampler' | 'AlwaysOnSampler' | 'ParentBasedSampler' | 'SamplingDecision' | 'TraceIdRatioBasedSampler'
>;

/** `SpanKind` and `SpanStatusCode` of the API. */
const KINDS = { INTERNAL: 0, SERVER: 1, CLIENT: 2 } as const;
const STATUS = { unset: { code: 0 }, error: { code: 2 } } as const;
const NONE: never[] = [];
const NO_TIME: HrTime = [0, 0];
const RECORDED = 1;

/** A span that has ended. Times in milliseconds of the epoch. */
export interface SpanParts {
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  readonly own: TraceParent;
  /** Undefined for the root of a trace. */
  readonly parent: TraceParent | undefined;
  /** True if the parent is in another process. */
  readonly isRemote?: boolean;
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  /** Why it has failed; undefined if it has not. */
  readonly code?: string | undefined;
  readonly links?: Link[];
}

/** What waits for its export: `spans` makes so many of it. */
export interface Noted {
  readonly count: number;
  spans(): ReadableSpan[];
  /** There was no place for it. */
  lost?(): void;
}

/** Makes spans of a server. */
export class SpanFactory {
  readonly #resource: ReadableSpan['resource'];
  readonly #scope: ReadableSpan['instrumentationScope'];
  readonly #api: Api;
  readonly #samplers: Samplers;
  readonly #sampler: Sampler;
  /** The sampler need not be asked. */
  readonly #takesAllRoots: boolean;

  /** `env` says which traces are recorded. */
  constructor(api: Api, samplers: Samplers, env: Environment, resource: ReadableSpan['resource'], scope: ReadableSpan['instrumentationScope']) {
    this.#api = api;
    this.#samplers = samplers;
    this.#sampler = samplerOf(samplers, env);
    this.#takesAllRoots = ['always_on', 'parentbased_always_on'].includes(samplerName(env));
    this.#resource = resource;
    this.#scope = scope;
  }

  /** The ids of a span that begins, in the trace of its client if there is one. */
  begin(parent?: TraceParent): TraceParent {
    const traceId = parent?.traceId ?? newId(32);
    if (parent === undefined && this.#takesAllRoots) return { traceId, spanId: newId(16), flags: RECORDED };
    const context = parent === undefined ? this.#api.ROOT_CONTEXT : this.#api.trace.setSpanContext(this.#api.ROOT_CONTEXT, contextOf(parent, true));
    const { decision } = this.#sampler.shouldSample(context, traceId, '', this.#api.SpanKind.SERVER, {}, []);
    return { traceId, spanId: newId(16), flags: decision === this.#samplers.SamplingDecision.RECORD_AND_SAMPLED ? RECORDED : 0 };
  }

  /** Those of a span within another one of this server, which is recorded if that is; of one without, as `begin` says. */
  within(parent: TraceParent | undefined, spanId?: string): TraceParent {
    if (parent !== undefined) return { traceId: parent.traceId, spanId: spanId ?? newId(16), flags: parent.flags };
    return this.begin();
  }

  make({ name, kind, own, parent, isRemote = false, from, to, attributes, code, links = NONE }: SpanParts): ReadableSpan {
    if (code !== undefined) attributes[CONVENTION.error] = code;
    const span = new EndedSpan(name, KINDS[kind], own, attributes, links);
    span.startTime = hrTime(from);
    span.endTime = hrTime(to);
    span.duration = hrTime(to - from);
    span.resource = this.#resource;
    span.instrumentationScope = this.#scope;
    if (code !== undefined) span.status = STATUS.error;
    if (parent !== undefined) span.parentSpanContext = contextOf(parent, isRemote);
    return span;
  }
}

/** one-shape: made with all its fields at once, since each request makes several. */
class EndedSpan implements ReadableSpan {
  readonly name: string;
  readonly kind: ReadableSpan['kind'];
  parentSpanContext?: SpanContext;
  startTime: HrTime = NO_TIME;
  endTime: HrTime = NO_TIME;
  duration: HrTime = NO_TIME;
  status: ReadableSpan['status'] = STATUS.unset;
  readonly attributes: Attributes;
  readonly links: Link[];
  readonly events: never[] = NONE;
  readonly ended = true;
  resource!: ReadableSpan['resource'];
  instrumentationScope!: ReadableSpan['instrumentationScope'];
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #context: SpanContext;

  constructor(name: string, kind: ReadableSpan['kind'], own: TraceParent, attributes: Attributes, links: Link[]) {
    this.name = name;
    this.kind = kind;
    this.attributes = attributes;
    this.links = links;
    this.#context = contextOf(own);
  }

  spanContext(): SpanContext {
    return this.#context;
  }
}

export function contextOf({ traceId, spanId, flags }: TraceParent, isRemote = false): SpanContext {
  return { traceId, spanId, traceFlags: flags, isRemote };
}

/** The span that this header names, unless it is not recorded. */
export function recorded(traceparent: string | undefined): TraceParent | undefined {
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
