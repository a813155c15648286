// What calls ask and are answered, for their spans and events. There is one only where the variable asks for it: nothing else of the telemetry has a text.
//
// bounded: what waits for its export has MAX_WAITING_BYTES together at most. A span or an event beyond that has `blockhouse.content_dropped` in its place.
import type { TraceParent } from '../../core/base/traceparent.ts';
import type { ChatEvent, ContentTap, CoreEvents, Environment, Prompt, TappedCall, TappedForward } from '../../core/index.ts';
import { CONVENTION, OWN } from './attributes.ts';
import { AnswerReader, readRequest } from './forwarded.ts';
import { callPart, inputMessages, MAX_CONTENT_BYTES, outputMessages, type Part, systemInstructions, textPart } from './messages.ts';
import { readOtlpSettings } from './settings.ts';

/** Collectors take 20 MiB in one request. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

type Finished = Pick<CoreEvents['call.finished'], 'call' | 'code' | 'answer'>;

type IsRecorded = (call: Pick<TappedCall, 'traceparent' | 'caller'>) => boolean;

/** The least that a tool call takes. */
const CALL_LENGTH = 40;

/** Why an answer has ended, as the conventions say it. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_call',
  content_filter: 'content_filter',
  refusal: 'content_filter',
};

/** The content of a call that has ended. */
export interface Content {
  readonly attributes: Readonly<Record<string, string | boolean>>;
  /** False where events alone have it. */
  readonly isOnSpan: boolean;
  /** It has been exported, or never will be. */
  release(): void;
  /** For a second one who exports it: the same for that. */
  hold(): () => void;
}

/** Takes the content of calls as events. */
export interface ContentSink {
  /** `span` is that of the last attempt, which has ended at this time; undefined where there are no traces. */
  note(fact: CoreEvents['call.finished'], content: Content, span: TraceParent | undefined, at: number): void;
}

/** The tap that a server needs; undefined where no content is exported. Throws INVALID_REQUEST, which names the variable. */
export function openContents(env: Environment): Contents | undefined {
  const { traces, events } = readOtlpSettings(env);
  const isOnSpans = traces?.hasContent === true;
  return isOnSpans || events !== undefined ? new Contents(MAX_WAITING_BYTES, isOnSpans) : undefined;
}

/** The contents of calls under way, and of those that wait for their export. */
export class Contents implements ContentTap {
  readonly #open = new Map<number, Exchange>();
  readonly #most: number;
  readonly #isOnSpans: boolean;
  #waiting = 0;
  /** Undefined until somebody exports it. */
  #isRecorded: IsRecorded | undefined;

  constructor(most = MAX_WAITING_BYTES, isOnSpans = true) {
    this.#most = most;
    this.#isOnSpans = isOnSpans;
  }

  /** From now on, those calls are read that are recorded. */
  start(isRecorded: IsRecorded): void {
    this.#isRecorded = isRecorded;
  }

  begin(call: TappedCall): ((events: readonly ChatEvent[]) => void) | undefined {
    if (this.#isRecorded?.(call) !== true) return undefined;
    const exchange = this.#open.get(call.call) ?? new Exchange(call.prompt);
    this.#open.set(call.call, exchange);
    return exchange.answer();
  }

  beginForward(call: TappedForward): ((bytes: Buffer) => void) | undefined {
    if (this.#isRecorded?.(call) !== true || call.path.endsWith('/embeddings')) return undefined;
    const exchange = this.#open.get(call.call) ?? new Exchange(readRequest(call.body, call.fields));
    this.#open.set(call.call, exchange);
    return exchange.answerBytes();
  }

  /** Takes what is known of a call that has ended; undefined if it was not read. */
  end(fact: Finished): Content | undefined {
    const exchange = this.#open.get(fact.call);
    if (exchange === undefined) return undefined;
    this.#open.delete(fact.call);
    const attributes = exchange.attributes(fact);
    const bytes = Object.values(attributes).reduce((sum: number, value) => sum + (typeof value === 'string' ? Buffer.byteLength(value) : 0), 0);
    if (this.#waiting + bytes > this.#most) return this.#content({ [OWN.contentDropped]: true }, 0); // bounded
    this.#waiting += bytes;
    return this.#content(attributes, bytes);
  }

  #content(attributes: Content['attributes'], bytes: number): Content {
    let holders = 0;
    const hold = (): (() => void) => {
      let isHeld = true;
      holders += 1;
      return () => {
        if (isHeld) holders -= 1;
        if (isHeld && holders === 0) this.#waiting -= bytes;
        isHeld = false;
      };
    };
    return { attributes, isOnSpan: this.#isOnSpans, release: hold(), hold };
  }
}

/** What one call asks, and the answer of its last attempt. */
class Exchange {
  readonly #input: string | undefined;
  readonly #system: string | undefined;
  #answer: AnswerParts | undefined;
  #reader: AnswerReader | undefined;

  /** `prompt` is undefined if it could not be read. */
  constructor(prompt: Pick<Prompt, 'turns' | 'system' | 'systemParts'> | undefined) {
    if (prompt === undefined) return;
    this.#input = inputMessages(prompt.turns);
    this.#system = systemInstructions(prompt);
  }

  /** A further attempt begins. */
  answer(): (events: readonly ChatEvent[]) => void {
    const answer = new AnswerParts();
    this.#answer = answer;
    return (events) => answer.add(events);
  }

  answerBytes(): (bytes: Buffer) => void {
    const reader = new AnswerReader(this.answer());
    this.#reader = reader;
    return (bytes) => reader.add(bytes);
  }

  attributes({ code, answer: facts }: Finished): Record<string, string | boolean> {
    this.#reader?.end();
    const attributes: Record<string, string | boolean> = {};
    if (this.#input !== undefined) attributes[CONVENTION.inputMessages] = this.#input;
    if (this.#system !== undefined) attributes[CONVENTION.systemInstructions] = this.#system;
    const { parts = [] } = this.#answer ?? {};
    const isCut = this.#reader?.isCut === true;
    if (isCut || this.#input === undefined) attributes[OWN.contentDropped] = true;
    const reason = code === undefined ? (FINISH_REASONS[facts?.stopReason ?? ''] ?? 'unknown') : 'error';
    if ((code === undefined && !isCut) || parts.length > 0) attributes[CONVENTION.outputMessages] = outputMessages(parts, reason);
    return attributes;
  }
}

/** The parts of an answer as far as they fit into an attribute. */
class AnswerParts {
  readonly parts: Part[] = [];
  #length = 0;

  add(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (this.#length > MAX_CONTENT_BYTES) return; // what is there already is too long, so that it is cut
      if (event.type === 'text' || event.type === 'reasoning') this.#addText(event.type, event.text);
      else if (event.type === 'toolCall') {
        this.parts.push(callPart(event.toolCall));
        this.#length += CALL_LENGTH;
      }
    }
  }

  #addText(type: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    this.#length += text.length;
    const last = this.parts.at(-1);
    if (last?.fields['type'] === type) this.parts[this.parts.length - 1] = textPart(type, `${String(last.value)}${text}`);
    else this.parts.push(textPart(type, text));
  }
}
