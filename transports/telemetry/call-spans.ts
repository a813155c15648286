// The spans of calls to models: the wait for a place, and each attempt, with the times of the fact that tells the end of the call.
import type { TraceParent } from '../../core/base/traceparent.ts';
import type { Core, CoreEvents } from '../../core/index.ts';
import { KEY, keyNamed } from './attributes.ts';
import type { Content, ContentSink, Contents } from './contents.ts';
import { Recent } from './recent.ts';
import type { SpanBatch } from './span-batch.ts';
import { type FormValue, SharedAttributes, SpanForm } from './span-form.ts';
import type { Noted, SpanIds } from './spans.ts';
import type { Tracing } from './tracing.ts';
import type { Upstream, Upstreams } from './upstreams.ts';

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

/** `queueMicrotask` of Node makes three objects for each task. */
const SOON = Promise.resolve();

/** The spans of calls. */
export class CallSpans {
  readonly #note: Tracing['note'];
  /** Calls that have ended and whose cost is not known yet. */
  readonly #uncounted = new Map<number, CallRecord>();
  /** The one that has ended in this turn: what most calls have cost is known before its end. */
  #last: CallRecord | undefined;

  /** `parentOf` says to what a call belongs that began at this time; undefined if that is not recorded. */
  constructor(
    { events }: Pick<Core, 'events'>,
    { ids, clock, note }: Tracing,
    upstreams: Upstreams,
    parentOf: (fact: Finished, from: number) => TraceParent | undefined,
    contents?: Pick<Contents, 'end'>,
    sink?: ContentSink,
  ) {
    this.#note = note;
    events.on('call.finished', (fact) => {
      const to = clock.now();
      const parent = parentOf(fact, to - fact.durationMs);
      const content = contents?.end(fact);
      if (parent === undefined) {
        content?.release();
        return;
      }
      const record = new CallRecord(ids, upstreams, fact, parent, to);
      if (content !== undefined) {
        sink?.note(fact, content, record.fixLast(), to);
        if (content.isOnSpan) record.content = content;
        else content.release();
      }
      this.#noteUncounted();
      this.#last = record;
      void SOON.then(this.#noteUncounted);
    });
    events.on('call.counted', (line) => this.#price(line));
    events.on('call.billed', (line) => this.#price(line));
  }

  readonly #noteUncounted = (): void => {
    const record = this.#last;
    if (record === undefined) return;
    this.#last = undefined;
    this.#uncounted.set(record.call, record);
    if (this.#uncounted.size > MAX_UNCOUNTED) {
      const [oldest] = this.#uncounted.keys();
      if (oldest !== undefined) this.#uncounted.delete(oldest);
    }
    this.#note(record);
  };

  #price({ call, costUsd }: { readonly call: number; readonly costUsd: number | null }): void {
    const last = this.#last?.call === call ? this.#last : undefined;
    const record = last ?? this.#uncounted.get(call);
    if (record === undefined) return;
    record.costUsd = costUsd;
    record.isCounted = true;
    if (last === undefined) this.#uncounted.delete(call);
    else {
      this.#last = undefined;
      this.#note(last);
    }
  }
}

/** What attempts that are alike have in common. */
interface Likeness extends Pick<Finished, 'adapter' | 'model' | 'kind' | 'path' | 'stream' | 'asked' | 'key' | 'credential'> {
  readonly upstream: Upstream;
  readonly attempt: number;
  readonly answeredBy: string | undefined;
  readonly stopReason: string | undefined;
  readonly form: SpanForm;
}

const likenesses = new Recent<Likeness>();

/** Of an attempt that an answer came to, if one is given. */
export function likenessOf(fact: Finished, credential: string | undefined, attempt: number, answer: Finished['answer'], upstream: Upstream): Likeness {
  const { adapter, model, kind, path, stream, asked, key } = fact;
  const [answeredBy, stopReason] = [answer?.model, answer?.stopReason];
  for (const one of likenesses.all)
    if (
      one.model === model &&
      one.answeredBy === answeredBy &&
      one.path === path &&
      one.key === key &&
      one.credential === credential &&
      one.asked === asked &&
      one.stream === stream &&
      one.adapter === adapter &&
      one.kind === kind &&
      one.attempt === attempt &&
      one.stopReason === stopReason &&
      one.upstream === upstream
    )
      return one;
  const operation = operationOf(fact);
  const attributes = new SharedAttributes([
    [KEY.operation, operation],
    [KEY.provider, upstream.provider],
    [KEY.requestModel, model],
    [KEY.connection, adapter],
    [KEY.address, upstream.address],
    [KEY.port, upstream.port],
    [KEY.attempt, attempt],
    [KEY.resend, attempt > 1 ? attempt - 1 : undefined],
    [KEY.stream, stream === true ? true : undefined],
    [KEY.asked, asked === model ? undefined : asked],
    [KEY.key, key],
    [KEY.credential, credential],
    [KEY.responseModel, answeredBy],
    [KEY.finishReasons, stopReason === undefined ? undefined : [stopReason]],
  ]);
  const form = new SpanForm({ name: `${operation} ${model}`, kind: 'CLIENT', attributes, keys: KEYS });
  return likenesses.keep({ adapter, model, kind, path, stream, asked, key, credential, upstream, attempt, answeredBy, stopReason, form });
}

/** Those of what is known of a whole call. */
const FACT_KEYS = [KEY.firstChunk, KEY.inputTokens, KEY.outputTokens, KEY.cacheRead, KEY.cacheWrite, KEY.responseId] as const;
/** Those of the values of an attempt. */
const KEYS = [...FACT_KEYS, KEY.requestId, KEY.cost];
/** Those of the span, or event, that is written. */
const values: FormValue[] = KEYS.map(() => undefined);

/** Sets the values of FACT_KEYS. */
function setFacts({ usage, answer, firstTextMs, sentMs = 0, stream }: Finished): void {
  values[0] = firstTextMs !== undefined && stream === true ? (firstTextMs - sentMs) / 1000 : undefined;
  values[1] = usage?.inputTokens;
  values[2] = usage?.outputTokens;
  values[3] = usage?.cacheReadTokens;
  values[4] = usage?.cacheWriteTokens;
  values[5] = answer?.id;
}

/** What is known of a whole call, with names that spans and events have alike. */
export function putFacts(to: Pick<SpanBatch, 'put'>, fact: Finished): void {
  setFacts(fact);
  for (const [index, key] of FACT_KEYS.entries()) {
    const value = values[index];
    if (value !== undefined) to.put(key, value);
  }
}

/** One call. */
class CallRecord implements Noted {
  readonly count: number;
  /** Known once it stands in its ledger, which is before the export for most. */
  costUsd: number | null = null;
  /** Nothing more becomes known of its cost. */
  isCounted = false;
  /** What was asked and answered, where that is exported. */
  content: Content | undefined;
  readonly #ids: SpanIds;
  readonly #upstreams: Upstreams;
  readonly #fact: Finished;
  readonly #parent: TraceParent;
  readonly #to: number;
  readonly #hasWaited: boolean;
  readonly #hasLast: boolean;
  /** The span of the last attempt, where an event names it before it is written. */
  #last: TraceParent | undefined;

  constructor(ids: SpanIds, upstreams: Upstreams, fact: Finished, parent: TraceParent, to: number) {
    const { attempts, failed, sentMs, code, queuedMs = fact.durationMs } = fact;
    const known = failed?.length ?? 0;
    this.#hasWaited = queuedMs >= LEAST_WAIT_MS;
    this.#hasLast = sentMs !== undefined && (code === undefined || attempts > known);
    this.count = known + (this.#hasWaited ? 1 : 0) + (this.#hasLast ? 1 : 0);
    this.#ids = ids;
    this.#upstreams = upstreams;
    this.#fact = fact;
    this.#parent = parent;
    this.#to = to;
  }

  get call(): number {
    return this.#fact.call;
  }

  /** Content is large, and counts as long as it waits: it is written as late as may be. */
  get isReady(): boolean {
    return this.isCounted && this.content === undefined;
  }

  fixLast(): TraceParent {
    const { spanId, failed } = this.#fact;
    this.#last = this.#ids.within(this.#parent, this.#hasLast ? spanId : failed?.at(-1)?.spanId);
    return this.#last;
  }

  write(batch: SpanBatch): void {
    const { attempts, failed, sentMs = 0, durationMs, credential, code, spanId } = this.#fact;
    const from = this.#to - durationMs;
    if (this.#hasWaited) this.#writeWait(batch, from);
    if (failed !== undefined) this.#writeFailed(batch, failed, from);
    if (!this.#hasLast) return;
    const last = { from: from + sentMs, to: this.#to, code, id: spanId, credential, number: attempts };
    if (code === undefined && this.content === undefined) {
      this.#fill(batch, last);
      return;
    }
    this.#begin(batch, last);
    this.#putOutcome(batch);
    batch.end();
  }

  /** Of an attempt that an answer came to. */
  #fill(batch: SpanBatch, last: Attempt): void {
    const { form, place } = this.#formOf(last);
    setFacts(this.#fact);
    values[6] = this.#fact.requestId;
    values[7] = this.costUsd ?? undefined;
    batch.fill(form, place, values);
  }

  /** Undefined where there is nothing to release: what has one is kept until its batch has gone. */
  get release(): (() => void) | undefined {
    const { content } = this;
    return content === undefined ? undefined : () => content.release();
  }

  #writeFailed(batch: SpanBatch, failed: NonNullable<Finished['failed']>, from: number): void {
    for (const [index, failure] of failed.entries()) {
      const { sentMs, endedMs, code, spanId, credential, upstreamStatus, next, delayMs } = failure;
      this.#begin(batch, { from: from + sentMs, to: from + endedMs, code, id: spanId, credential, number: index + 1 });
      if (upstreamStatus !== undefined) batch.put(KEY.status, upstreamStatus);
      if (next !== undefined) batch.put(KEY.next, next);
      if (delayMs !== undefined) batch.put(KEY.delay, delayMs);
      if (index + 1 === this.#fact.attempts) this.#putOutcome(batch);
      batch.end();
    }
  }

  #writeWait(batch: SpanBatch, from: number): void {
    const { requestId, adapter, attempts, code, durationMs, queuedMs = durationMs } = this.#fact;
    const [parent, own] = [this.#parent, this.#ids.within(this.#parent)];
    batch.begin({ name: 'queue', kind: 'INTERNAL', own, parent, from, to: from + queuedMs, code: attempts === 0 ? code : undefined });
    batch.put(KEY.requestId, requestId);
    batch.put(KEY.connection, adapter);
    batch.end();
  }

  #formOf({ from, to, id, credential, number }: Attempt) {
    const fact = this.#fact;
    const answer = number === fact.attempts ? fact.answer : undefined;
    const { form } = likenessOf(fact, credential, number, answer, this.#upstreams.of(fact.adapter, fact.address));
    const parent = this.#parent;
    const own = (number === fact.attempts ? this.#last : undefined) ?? this.#ids.within(parent, id);
    return { form, place: { own, parent, from, to } };
  }

  #begin(batch: SpanBatch, attempt: Attempt): void {
    const { form, place } = this.#formOf(attempt);
    batch.begin({ name: form.name, kind: form.kind, ...place, code: attempt.code });
    batch.putAll(form.attributes);
    batch.put(KEY.requestId, this.#fact.requestId);
  }

  /** What is known of the whole call stands at its last attempt. */
  #putOutcome(batch: SpanBatch): void {
    putFacts(batch, this.#fact);
    if (this.costUsd !== null) batch.put(KEY.cost, this.costUsd);
    if (this.content !== undefined) for (const [name, value] of Object.entries(this.content.attributes)) batch.put(keyNamed(name), value);
  }
}

interface Attempt {
  readonly from: number;
  readonly to: number;
  readonly code: string | undefined;
  readonly id: string | undefined;
  readonly credential: string | undefined;
  /** From 1. */
  readonly number: number;
}
