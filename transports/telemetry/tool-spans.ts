// The spans of what messages do with tools: each call, from its sending to its outcome, and each wait for the decision of a person. Never arguments, results or notes.
//
// no-text: the name of a tool that is not on offer is the model's own words, and is not exported.
// bounded: so many may be open; of the oldest above that, there is no span. What is open when its message ends is ended with it.
import type { TraceParent } from '../../core/base/traceparent.ts';
import type { Core, CoreEvents } from '../../core/index.ts';
import { KEY } from './attributes.ts';
import { isRecorded } from './spans.ts';
import type { Tracing } from './tracing.ts';

const MAX_OPEN = 10_000;
const EXECUTE = 'execute_tool';
/** Servers of tools run beside the agent and act on its behalf, which the conventions call so. */
const TYPE = 'extension';
/** As the conventions call what a caller has made up. */
const MADE_UP = '_OTHER';
const NOT_OFFERED = 'not-offered';

/** A call that is under way, or a wait. */
interface Open {
  readonly kind: 'call' | 'wait';
  readonly block: string;
  readonly message: string;
  readonly tool: string;
  /** The place of the call in its message, or the id of the approval. */
  readonly at: string;
  readonly parent: TraceParent;
  readonly from: number;
}

/** How one of them has ended. */
interface Outcome {
  readonly outcome: string | undefined;
  /** Why it has failed. */
  readonly code?: string | undefined;
}

/** The spans of tools. */
export class ToolSpans {
  readonly #tracing: Tracing;
  readonly #spanOf: (message: string) => TraceParent | undefined;
  readonly #lost: () => void;
  /** By what they are of; the oldest first. */
  readonly #open = new Map<string, Open>();

  /** `spanOf` says to which span of a message they belong; `lost` is called for each that has no span because of the bound. */
  constructor({ events }: Pick<Core, 'events'>, tracing: Tracing, spanOf: (message: string) => TraceParent | undefined, lost: () => void) {
    this.#tracing = tracing;
    this.#spanOf = spanOf;
    this.#lost = lost;
    events.on('tool.called', ({ block, id, call, tool }) => this.#begin('call', block, id, call, tool));
    events.on('tool.finished', (fact) => this.#called(fact));
    events.on('approval.requested', ({ block, id, approval, tool }) => this.#begin('wait', block, id, approval, tool));
    events.on('approval.decided', ({ id, approval, state }) => this.#end(keyOf('wait', id, approval), { outcome: state }));
    events.on('message.finished', ({ block, id }) => this.#endAll((one) => one.block === block && one.message === id));
    events.on('block.archived', ({ block }) => this.#endAll((one) => one.block === block));
  }

  #begin(kind: Open['kind'], block: string, message: string, at: string, tool: string): void {
    const parent = this.#spanOf(message);
    if (parent === undefined || !isRecorded(parent)) return;
    this.#open.set(keyOf(kind, message, at), { kind, block, message, tool, at, parent, from: this.#tracing.clock.now() });
    if (this.#open.size <= MAX_OPEN) return;
    const [oldest] = this.#open.keys();
    if (oldest !== undefined) this.#open.delete(oldest); // bounded
    this.#lost();
  }

  /** One that was refused has not been sent, so its span is a moment. */
  #called({ block, id, call, tool, outcome, isError }: CoreEvents['tool.finished']): void {
    const key = keyOf('call', id, call);
    if (!this.#open.has(key)) this.#begin('call', block, id, call, outcome === NOT_OFFERED ? MADE_UP : tool); // no-text
    this.#end(key, { outcome, code: isError ? 'tool-error' : outcome === 'done' ? undefined : outcome });
  }

  #endAll(isOf: (one: Open) => boolean): void {
    for (const [key, one] of this.#open) if (isOf(one)) this.#end(key, { outcome: undefined });
  }

  #end(key: string, { outcome, code }: Outcome): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    this.#open.delete(key);
    const { kind, block, message, tool, at, parent, from } = open;
    const { ids, clock, note } = this.#tracing;
    const to = clock.now();
    note({
      count: 1,
      isReady: true,
      write: (batch) => {
        batch.begin({ name: `${kind === 'call' ? EXECUTE : 'wait_for_approval'} ${tool}`, kind: 'INTERNAL', own: ids.within(parent), parent, from, to, code });
        batch.put(KEY.toolName, tool);
        if (kind === 'call') {
          batch.put(KEY.operation, EXECUTE);
          batch.put(KEY.toolCall, at);
          batch.put(KEY.toolType, TYPE);
        } else batch.put(KEY.approval, at);
        batch.put(KEY.block, block);
        batch.put(KEY.message, message);
        if (outcome !== undefined) batch.put(KEY.outcome, outcome);
        batch.end();
      },
    });
  }
}

function keyOf(kind: Open['kind'], message: string, at: string): string {
  return `${kind} ${message} ${at}`;
}
