// What calls ask and are answered, as events: for who keeps texts elsewhere than traces, or has none.
import { tryParseJson } from '../../core/base/json.ts';
import type { TraceParent } from '../../core/base/traceparent.ts';
import type { CoreEvents } from '../../core/index.ts';
import { CONVENTION, KEY, keyNamed } from './attributes.ts';
import { likenessOf, putFacts } from './call-spans.ts';
import type { Content, ContentSink } from './contents.ts';
import type { EventBatch } from './event-batch.ts';
import type { Noted } from './spans.ts';
import type { Upstreams } from './upstreams.ts';

const EVENT = 'gen_ai.client.inference.operation.details';
/** They come as texts of JSON. */
const STRUCTURED: ReadonlySet<string> = new Set([CONVENTION.inputMessages, CONVENTION.outputMessages, CONVENTION.systemInstructions]);

/** Makes the events. */
export class ContentEvents implements ContentSink {
  readonly #upstreams: Upstreams;
  readonly #note: (noted: Noted<EventBatch>) => void;

  constructor(upstreams: Upstreams, note: (noted: Noted<EventBatch>) => void) {
    this.#upstreams = upstreams;
    this.#note = note;
  }

  note(fact: CoreEvents['call.finished'], content: Content, span: TraceParent | undefined, at: number): void {
    const release = content.hold();
    const upstream = this.#upstreams.of(fact.adapter, fact.address);
    this.#note({
      count: 1,
      isReady: true,
      release,
      write: (batch) => {
        const { credential, attempts, answer, code, requestId } = fact;
        batch.begin({ name: EVENT, at, span });
        for (const [key, value] of likenessOf(fact, credential, attempts, answer, upstream).form.attributes.entries) batch.put(key, value);
        batch.put(KEY.requestId, requestId);
        if (code !== undefined) batch.put(KEY.error, code);
        putFacts(batch, fact);
        for (const [name, value] of Object.entries(content.attributes))
          batch.put(keyNamed(name), STRUCTURED.has(name) && typeof value === 'string' ? tryParseJson(value) : value);
        batch.end();
      },
    });
  }
}
