// The spans of messages to blocks, from their arrival to their outcome, and of compactions.
//
// bounded: so many messages may wait for their outcome; of the oldest above that, there is no span.
import { parseTraceparent, type TraceParent } from '../../core/base/traceparent.ts';
import type { Core, CoreEvents } from '../../core/index.ts';
import { CONVENTION, keyNamed, OWN } from './attributes.ts';
import type { Value } from './protobuf.ts';
import type { SpanHead } from './span-batch.ts';
import { isRecorded } from './spans.ts';
import type { Tracing } from './tracing.ts';

const MAX_MESSAGES = 10_000;

type Attributes = Record<string, Value>;

/** A span that has begun. */
type Begun = Pick<SpanHead, 'own' | 'parent' | 'from' | 'link'> & { readonly attributes: Attributes };

interface OpenMessage {
  readonly block: string;
  readonly span: Begun;
  /** When it came; undefined once its answer has begun. */
  waitsSince: number | undefined;
}

/** The spans of blocks. */
export class BlockSpans {
  readonly #tracing: Tracing;
  readonly #lost: () => void;
  /** By their ids, the oldest first. */
  readonly #messages = new Map<string, OpenMessage>();
  /** The message that each block answers. */
  readonly #answered = new Map<string, string>();
  /** By block: each makes one at a time. */
  readonly #compactions = new Map<string, Begun>();

  /** `lost` is called for each message that has no span. */
  constructor({ events }: Pick<Core, 'events'>, tracing: Tracing, lost: () => void) {
    this.#tracing = tracing;
    this.#lost = lost;
    events.on('message.queued', (fact) => this.#queued(fact));
    events.on('message.started', (fact) => this.#started(fact));
    events.on('message.finished', (fact) => this.#finished(fact));
    events.on('memory.compacted', (fact) => this.#compacted(fact));
    events.on('block.archived', ({ block }) => this.#forget(block));
  }

  /** What a call of a block belongs to: its message, or the compaction of the memory that it makes. */
  parentOf({ caller = '', messageId }: Pick<CoreEvents['call.finished'], 'caller' | 'messageId'>, from: number): TraceParent | undefined {
    const span = messageId === undefined ? (this.#compactions.get(caller) ?? this.#compacting(caller, from)) : this.#messages.get(messageId)?.span;
    return span !== undefined && isRecorded(span.own) ? span.own : undefined;
  }

  /** The span of a message that has no outcome yet. */
  spanOf(message: string): TraceParent | undefined {
    return this.#messages.get(message)?.span.own;
  }

  #queued({ block, id, channel, traceparent }: CoreEvents['message.queued']): void {
    const from = this.#tracing.clock.now();
    this.#add(block, id, { from, link: parseTraceparent(traceparent), attributes: { [OWN.channel]: channel }, waitsSince: from });
  }

  #started({ block, id }: CoreEvents['message.started']): void {
    const now = this.#tracing.clock.now();
    const message = this.#messages.get(id) ?? this.#add(block, id, { from: now, link: undefined, attributes: {}, waitsSince: undefined });
    this.#answered.set(block, id);
    this.#compactions.delete(block); // one that was ended without an outcome
    const { span, waitsSince } = message;
    if (waitsSince === undefined) return;
    message.waitsSince = undefined;
    this.#end('queue', { own: this.#tracing.ids.within(span.own), parent: span.own, from: waitsSince, attributes: { [OWN.block]: block } }, now);
  }

  #finished({ block, id, status, code, usage, costUsd }: CoreEvents['message.finished']): void {
    if (this.#answered.get(block) === id) this.#answered.delete(block);
    const message = this.#messages.get(id);
    if (message === undefined) return;
    this.#messages.delete(id);
    const attributes: Attributes = { [OWN.outcome]: status };
    if (usage !== undefined) Object.assign(attributes, { [CONVENTION.inputTokens]: usage.inputTokens, [CONVENTION.outputTokens]: usage.outputTokens });
    if (typeof costUsd === 'number') attributes[OWN.cost] = costUsd;
    Object.assign(message.span.attributes, attributes);
    this.#end(`invoke_agent ${block}`, message.span, this.#tracing.clock.now(), status === 'failed' ? (code ?? '_OTHER') : undefined);
  }

  #add(
    block: string,
    id: string,
    { from, link, attributes, waitsSince }: { from: number; link: TraceParent | undefined; attributes: Attributes; waitsSince: number | undefined },
  ): OpenMessage {
    const own = { [CONVENTION.operation]: 'invoke_agent', [CONVENTION.agent]: block, [OWN.block]: block, [OWN.message]: id };
    const span = { own: this.#tracing.ids.begin(), parent: undefined, from, attributes: { ...own, ...attributes }, link };
    const message: OpenMessage = { block, span, waitsSince };
    this.#messages.set(id, message);
    const [oldest] = this.#messages.keys();
    if (this.#messages.size > MAX_MESSAGES && oldest !== undefined) {
      this.#messages.delete(oldest); // bounded
      this.#lost();
    }
    return message;
  }

  /** Its first call tells that it has begun. */
  #compacting(block: string, from: number): Begun {
    const parent = this.#messages.get(this.#answered.get(block) ?? '')?.span.own;
    const span = { own: this.#tracing.ids.within(parent), parent, from, attributes: { [OWN.block]: block } };
    this.#compactions.set(block, span);
    return span;
  }

  #compacted({ block, outcome, trigger }: CoreEvents['memory.compacted']): void {
    const now = this.#tracing.clock.now();
    const span = this.#compactions.get(block) ?? this.#compacting(block, now);
    this.#compactions.delete(block);
    Object.assign(span.attributes, { [OWN.outcome]: outcome, [OWN.trigger]: trigger });
    this.#end('compact memory', span, now, outcome === 'failed' ? 'failed' : undefined);
  }

  #end(name: string, { own, parent, from, link, attributes }: Begun, to: number, code?: string): void {
    if (!isRecorded(own)) return;
    this.#tracing.note({
      count: 1,
      isReady: true,
      write: (batch) => {
        batch.begin({ name, kind: 'INTERNAL', own, parent, from, to, code, link });
        for (const [key, value] of Object.entries(attributes)) batch.put(keyNamed(key), value);
        batch.end();
      },
    });
  }

  #forget(block: string): void {
    for (const [id, message] of this.#messages) if (message.block === block) this.#messages.delete(id);
    this.#answered.delete(block);
    this.#compactions.delete(block);
  }
}
