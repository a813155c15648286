// The spans of calls to models: the wait for a place, and each attempt, with the times of the fact that tells the end of the call (built-late).
import type { Attributes } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { TraceParent } from '../../core/base/traceparent.ts';
import type { Core, CoreEvents } from '../../core/index.ts';
import { CONVENTION, OWN } from './attributes.ts';
import type { Content, Contents } from './contents.ts';
import type { Noted, SpanFactory } from './spans.ts';
import type { Tracing } from './tracing.ts';
import type { Upstreams } from './upstreams.ts';

type Finished = CoreEvents['call.finished'];

/** A shorter wait is none. */
const LEAST_WAIT_MS = 1;

/** So many calls may wait for the line of their ledger. */
const MAX_UNCOUNTED = 1000;

/** What the conventions call the operation of a call. */
export function operationOf({ kind, path }: Pick<Finished, 'kind' | 'path'>): 'chat' | 'embeddings' | 'text_completion' {
  if (kind === 'embeddings' || path?.endsWith('/embeddings') === true) return 'embeddings';
  return path === '/v1/completions' ? 'text_completion' : 'chat';
}

/** The spans of calls. */
export class CallSpans {
  /** Calls that have ended and whose cost is not known yet. */
  readonly #uncounted = new Map<number, CallRecord>();

  /** `parentOf` says to what a call belongs that began at this time; undefined if that is not recorded. */
  constructor(
    { events }: Pick<Core, 'events'>,
    { factory, clock, note }: Tracing,
    upstreams: Upstreams,
    parentOf: (fact: Finished, from: number) => TraceParent | undefined,
    contents?: Pick<Contents, 'end'>,
  ) {
    events.on('call.finished', (fact) => {
      const to = clock.now();
      const parent = parentOf(fact, to - fact.durationMs);
      const content = contents?.end(fact);
      if (parent === undefined) {
        content?.release();
        return;
      }
      const record = new CallRecord(factory, upstreams, fact, parent, to);
      record.content = content;
      this.#await(record);
      queueMicrotask(() => note(record)); // what most calls have cost is known in the same turn
    });
    events.on('call.counted', (line) => this.#price(line));
    events.on('call.billed', (line) => this.#price(line));
  }

  #await(record: CallRecord): void {
    this.#uncounted.set(record.call, record);
    if (this.#uncounted.size <= MAX_UNCOUNTED) return;
    const [oldest] = this.#uncounted.keys();
    if (oldest !== undefined) this.#uncounted.delete(oldest);
  }

  #price({ call, costUsd }: { readonly call: number; readonly costUsd: number | null }): void {
    const record = this.#uncounted.get(call);
    if (record === undefined) return;
    record.costUsd = costUsd;
    this.#uncounted.delete(call);
  }
}

/** One call. */
class CallRecord implements Noted {
  readonly count: number;
  /** Known once it stands in its ledger, which is before the export for most. */
  costUsd: number | null = null;
  /** What was asked and answered, where that is exported. */
  content: Content | undefined;
  readonly #factory: SpanFactory;
  readonly #upstreams: Upstreams;
  readonly #fact: Finished;
  readonly #parent: TraceParent;
  readonly #to: number;
  readonly #hasWaited: boolean;
  readonly #hasLast: boolean;

  constructor(factory: SpanFactory, upstreams: Upstreams, fact: Finished, parent: TraceParent, to: number) {
    const { attempts, failed, sentMs, code, queuedMs = fact.durationMs } = fact;
    const known = failed?.length ?? 0;
    this.#hasWaited = queuedMs >= LEAST_WAIT_MS;
    this.#hasLast = sentMs !== undefined && (code === undefined || attempts > known);
    this.count = known + (this.#hasWaited ? 1 : 0) + (this.#hasLast ? 1 : 0);
    this.#factory = factory;
    this.#upstreams = upstreams;
    this.#fact = fact;
    this.#parent = parent;
    this.#to = to;
  }

  get call(): number {
    return this.#fact.call;
  }

  spans(): ReadableSpan[] {
    const { attempts, failed = [], sentMs = 0, firstTextMs, stream, durationMs, credential, code, spanId } = this.#fact;
    const from = this.#to - durationMs;
    const spans: ReadableSpan[] = [];
    this.content?.release(); // the exporter writes them now
    if (this.#hasWaited) spans.push(this.#waited(from));
    for (const [index, failure] of failed.entries()) {
      const attributes = this.#attributes(failure.credential, index + 1);
      if (failure.upstreamStatus !== undefined) attributes[CONVENTION.status] = failure.upstreamStatus;
      if (failure.next !== undefined) attributes[OWN.next] = failure.next;
      if (failure.delayMs !== undefined) attributes[OWN.delay] = failure.delayMs;
      if (index + 1 === attempts) this.#addOutcome(attributes);
      spans.push(this.#attempt({ from: from + failure.sentMs, to: from + failure.endedMs, attributes, code: failure.code, id: failure.spanId }));
    }
    if (!this.#hasLast) return spans;
    const attributes = this.#addOutcome(this.#attributes(credential, attempts));
    if (firstTextMs !== undefined && stream === true) attributes[CONVENTION.firstChunk] = (firstTextMs - sentMs) / 1000;
    spans.push(this.#attempt({ from: from + sentMs, to: this.#to, attributes, code, id: spanId }));
    return spans;
  }

  lost(): void {
    this.content?.release();
  }

  /** What is known of the whole call stands at its last attempt. */
  #addOutcome(attributes: Attributes): Attributes {
    withOutcome(attributes, this.#fact, this.costUsd);
    if (this.content !== undefined) Object.assign(attributes, this.content.attributes);
    return attributes;
  }

  #waited(from: number): ReadableSpan {
    const { requestId, adapter, attempts, code, durationMs, queuedMs = durationMs } = this.#fact;
    const attributes = { [OWN.requestId]: requestId, [OWN.connection]: adapter };
    const [parent, own] = [this.#parent, this.#factory.within(this.#parent)];
    return this.#factory.make({ name: 'queue', kind: 'INTERNAL', own, parent, from, to: from + queuedMs, attributes, code: attempts === 0 ? code : undefined });
  }

  #attempt({ id, ...parts }: Attempt): ReadableSpan {
    const [parent, own] = [this.#parent, this.#factory.within(this.#parent, id)];
    return this.#factory.make({ ...parts, name: `${operationOf(this.#fact)} ${this.#fact.model}`, kind: 'CLIENT', own, parent });
  }

  #attributes(credential: string | undefined, attempt: number): Attributes {
    const fact = this.#fact;
    const { provider, address, port } = this.#upstreams.of(fact.adapter, fact.address);
    const attributes: Attributes = {
      'gen_ai.operation.name': operationOf(fact),
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': fact.model,
      'blockhouse.request_id': fact.requestId,
      'blockhouse.connection': fact.adapter,
      'blockhouse.attempt': attempt,
    }; // written out, as in tracing.ts
    if (address !== undefined) attributes[CONVENTION.address] = address;
    if (port !== undefined) attributes[CONVENTION.port] = port;
    if (fact.stream === true) attributes[CONVENTION.stream] = true;
    if (fact.asked !== undefined && fact.asked !== fact.model) attributes[OWN.asked] = fact.asked;
    if (fact.key !== undefined) attributes[OWN.key] = fact.key;
    if (credential !== undefined) attributes[OWN.credential] = credential;
    if (attempt > 1) attributes[CONVENTION.resend] = attempt - 1;
    return attributes;
  }
}

interface Attempt {
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  readonly code: string | undefined;
  readonly id: string | undefined;
}

function withOutcome(attributes: Attributes, { usage, answer }: Finished, costUsd: number | null): void {
  if (usage !== undefined) {
    attributes[CONVENTION.inputTokens] = usage.inputTokens;
    attributes[CONVENTION.outputTokens] = usage.outputTokens;
    if (usage.cacheReadTokens !== undefined) attributes[CONVENTION.cacheRead] = usage.cacheReadTokens;
    if (usage.cacheWriteTokens !== undefined) attributes[CONVENTION.cacheWrite] = usage.cacheWriteTokens;
  }
  if (answer?.model !== undefined) attributes[CONVENTION.responseModel] = answer.model;
  if (answer?.id !== undefined) attributes[CONVENTION.responseId] = answer.id;
  if (answer?.stopReason !== undefined) attributes[CONVENTION.finishReasons] = [answer.stopReason];
  if (costUsd !== null) attributes[OWN.cost] = costUsd;
}
