// An answer of Chat Completions as events; whole answers and streams share the reading of the choice. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import type { ChatEvent, StopReason } from '../../core/index.ts';
import { logprobsIn } from '../shared/logprobs.ts';
import { malformed, StreamError } from '../shared/provider.ts';
import { asObject, asString, expectList, expectObject, expectText } from '../shared/read.ts';
import { streamError } from './errors.ts';
import { cutCallWarning, readArguments } from './response.ts';
import { CallSlots } from './tool-calls-chat.ts';
import { usageOfChat, withCost } from './usage.ts';

type Json = Record<string, unknown>;

const STOP_REASONS = new Map<string, StopReason>([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['content_filter', 'content_filter'],
]);
/** Why the choice of an answer that goes through as it is has ended; undefined if it does not say. */
export function stopReasonOf(finish: unknown): StopReason | undefined {
  if (typeof finish !== 'string') return undefined;
  return finish === 'tool_calls' || finish === 'function_call' ? 'tool_use' : (STOP_REASONS.get(finish) ?? 'unknown');
}

/** The reasons after which a call may be unfinished. */
const CUT_REASONS = new Set(['length', 'content_filter']);

/** Events of a whole answer. Throws a StreamError for an error in a 200, UPSTREAM_MALFORMED for a body without choices. */
export function readChatAnswer(json: unknown, costField?: string): ChatEvent[] {
  const answer = asObject(json);
  const choice = new Choice(costField);
  choice.assertNoError(answer);
  const first = expectList(answer['choices'], '`choices`')[0];
  if (!isObject(first) || !isObject(first['message'])) throw malformed('it has no choices');
  const events: ChatEvent[] = [];
  choice.takeWhole(first, events);
  pushUsage(answer, events, costField);
  for (const event of choice.end()) events.push(event);
  return events;
}

/** The answer's only choice: requests ask for one. */
export class Choice {
  readonly #costField: string | undefined;
  readonly #calls = new CallSlots();
  #finish: string | undefined;
  #failure: StreamError | undefined;
  #refused = false;
  /** True once a choice has come, finished or not. */
  #hasBegun = false;

  /** `costField`: where the answer tells what the call costs. */
  constructor(costField?: string) {
    this.#costField = costField;
  }

  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  /** Throws a StreamError for a body or chunk with an error; null means none. */
  assertNoError(body: Json): void {
    const error = body['error'];
    if (error !== undefined && error !== null) throw new StreamError(streamError(error));
  }

  /**
   * Appends the events of a chunk, and its usage even if the rest can't be read. The usage may come with the finish reason, after it in a chunk without
   * choices, or never.
   */
  takeChunk(chunk: Json, events: ChatEvent[]): void {
    try {
      this.assertNoError(chunk);
      this.#takePiece(chunk, events);
    } finally {
      pushUsage(chunk, events, this.#costField);
    }
  }

  #takePiece(chunk: Json, events: ChatEvent[]): void {
    const [first] = expectList(chunk['choices'], '`choices`');
    if (first === undefined) return;
    this.#hasBegun = true;
    const choice = expectObject(first, 'a choice');
    const delta = expectObject(choice['delta'], 'the delta of a choice');
    const calls = this.#calls.addDeltas(expectList(delta['tool_calls'], '`tool_calls`'));
    this.#takeFinish(choice);
    this.#takeTexts(delta, choice, events);
    for (const call of calls) events.push(call);
  }

  /** Appends the events of a whole choice but for its calls, which `end` has. */
  takeWhole(choice: Json, events: ChatEvent[]): void {
    this.#hasBegun = true;
    const message = asObject(choice['message']);
    this.#calls.addWhole(expectList(message['tool_calls'], '`tool_calls`'));
    this.#takeFinish(choice);
    this.#takeTexts(message, choice, events);
  }

  /** The last events. Throws a StreamError for an answer that failed, UPSTREAM_MALFORMED if no choice has come or a call is incomplete. */
  end(): ChatEvent[] {
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#hasBegun) throw malformed('it has no choices');
    const calls = this.#calls.list().map(({ id, name, text, object, started }): ChatEvent => {
      const wasCut = CUT_REASONS.has(this.#finish ?? '');
      // In an answer that was cut off, missing arguments are not an empty object.
      const args = object ?? (wasCut && text === '' ? undefined : readArguments(text));
      this.#calls.size.addValue(args);
      if (args !== undefined && name !== '')
        return { type: 'toolCall', toolCall: { id, name, arguments: args }, ...(started !== undefined && { index: started }) };
      if (wasCut) return cutCallWarning(name, this.#finish ?? '');
      throw malformed('a tool call has no name, or its arguments are not a JSON object');
    });
    const hasCalls = calls.some((event) => event.type === 'toolCall');
    return [...calls, { type: 'stop', stopReason: this.#stopReason(hasCalls) }];
  }

  /** A failure is thrown at the end, because the usage comes after the finish reason. */
  #takeFinish(choice: Json): void {
    this.#finish = asString(choice['finish_reason']) ?? this.#finish;
    if (this.#finish === 'error') this.#failure ??= new StreamError(streamError(choice['error'] ?? 'it broke off with the finish reason "error"'));
  }

  /** Reasoning comes under one of three names, which compatible servers have chosen. Most choices have no probabilities. */
  #takeTexts(from: Json, { logprobs }: Json, events: ChatEvent[]): void {
    const reasoning = asString(from['reasoning_content']) ?? asString(from['reasoning']) ?? asString(from['reasoning_text']) ?? '';
    const refusal = expectText(from['refusal'], 'the refusal');
    const text = textOf(from['content']);
    if (reasoning !== '') events.push({ type: 'reasoning', text: reasoning });
    if (text !== '') events.push({ type: 'text', text });
    if (refusal !== '') {
      this.#refused = true;
      events.push({ type: 'text', text: refusal });
    }
    if (isObject(logprobs)) events.push(...logprobsIn(logprobs['content']));
  }

  /** Some servers finish with `stop` although there are calls, so calls decide. */
  #stopReason(hasCalls: boolean): StopReason {
    const known = STOP_REASONS.get(this.#finish ?? '');
    if (known === 'max_tokens' || known === 'content_filter') return known;
    if (hasCalls) return 'tool_use';
    return this.#refused ? 'refusal' : (known ?? 'unknown');
  }
}

/** The usage of a whole answer or of a chunk. */
function pushUsage(metered: Json, events: ChatEvent[], costField: string | undefined): void {
  const usage = withCost(usageOfChat(metered), metered, costField);
  if (usage !== undefined) events.push({ type: 'usage', usage });
}

/** Text, or a list of parts as some servers write it. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return expectList(content, 'the content')
    .map((part) => expectObject(part, 'a part of the content'))
    .map((part) => (part['type'] === 'text' ? expectText(part['text'], 'the text of a part') : ''))
    .join('');
}
