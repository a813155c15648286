// An answer of the Responses endpoint as events; whole answers and streams share the reading of items. Pure: no I/O.
import { isObject } from '../../core/base/json.ts';
import { type AnswerFacts, AnswerSize, type ChatEvent, type StopReason } from '../../core/index.ts';
import { logprobsIn } from '../shared/logprobs.ts';
import { malformed, StreamError } from '../shared/provider.ts';
import { asArray, asObject, asString, expectList, expectObject, expectText, parseArguments } from '../shared/read.ts';
import { toldName } from '../shared/told-answer.ts';
import { streamError } from './errors.ts';
import { usageOfResponse, withCost } from './usage.ts';

type Json = Record<string, unknown>;

const INCOMPLETE_REASONS = new Map<string, StopReason>([
  ['max_output_tokens', 'max_tokens'],
  ['content_filter', 'content_filter'],
]);

/** What a response says of itself, where it goes through as it is. Calls are not looked for, so an answer that ends with one has no reason. */
export function factsOfResponse({ id, model, status, incomplete_details: details }: Json): AnswerFacts {
  const reason = status === 'incomplete' ? (INCOMPLETE_REASONS.get(asString(asObject(details)['reason']) ?? '') ?? 'unknown') : undefined;
  return { id: toldName(id), model: toldName(model), stopReason: reason };
}

/** Events of a whole answer of `model`. `costField`: where the answer tells what the call costs. Throws a StreamError for an error in a 200, UPSTREAM_MALFORMED for a body without output. */
export function readResponse(json: unknown, model: string, costField?: string): ChatEvent[] {
  const response = asObject(json);
  const output = response['output'];
  if (response['error'] !== undefined && response['error'] !== null) throw new StreamError(streamError(response['error']));
  if (!Array.isArray(output)) throw malformed('it has no output');
  const items = new OutputItems(model);
  const events = output.flatMap((value) => {
    const item = expectObject(value, 'an output item');
    return [...readReasoning(item), ...readMessage(items, item), ...items.take(item)];
  });
  const usage = withCost(usageOfResponse(response), response, costField);
  return [...events, ...(usage === undefined ? [] : [{ type: 'usage' as const, usage }]), ...items.end(response)];
}

/** The parts of a summary, a blank line between them; or the reasoning itself, where a server shows it. */
function readReasoning(item: Json): ChatEvent[] {
  if (item['type'] !== 'reasoning') return [];
  const texts = [...asArray(item['summary']), ...asArray(item['content'])].flatMap((part) => asString(asObject(part)['text']) ?? []);
  return texts.length === 0 ? [] : [{ type: 'reasoning', text: texts.join('\n\n') }];
}

function readMessage(items: OutputItems, item: Json): ChatEvent[] {
  if (item['type'] !== 'message') return [];
  return expectList(item['content'], 'the content of a message').flatMap((part) => readPart(items, expectObject(part, 'a part of a message')));
}

function readPart(items: OutputItems, part: Json): ChatEvent[] {
  if (part['type'] === 'output_text') return [...items.text(part['text']), ...logprobsIn(part['logprobs'])];
  return part['type'] === 'refusal' ? items.refusal(part['refusal']) : [];
}

/** Gathers the output items of one answer and turns them into events. */
export class OutputItems {
  /** The model of the request: its reasoning is of use to no other. */
  readonly #model: string;
  /** Of the reasoning and the names that are kept. */
  readonly #size = new AnswerSize();
  /** Reasoning whose call has not come yet. */
  #pending: Json[] = [];
  readonly #reasoning: { before: string; item: Json }[] = [];
  /** Names of calls without usable arguments. Only the end of the answer says whether the token limit is the cause. */
  readonly #broken: string[] = [];
  #hasText = false;
  #hasCalls = false;
  #refused = false;

  constructor(model: string) {
    this.#model = model;
  }

  text(fragment: unknown): ChatEvent[] {
    const text = expectText(fragment, 'a piece of text');
    if (text === '') return [];
    this.#hasText = true;
    return [{ type: 'text', text }];
  }

  /** A refusal comes in a part of its own instead of text; the caller gets it as text. */
  refusal(fragment: unknown): ChatEvent[] {
    this.#refused = true;
    return this.text(fragment);
  }

  /** Events of a complete item, without its text, which has already been emitted. `started` is the place of a call whose pieces came before. */
  take(item: Json, started?: number): ChatEvent[] {
    if (item['type'] === 'reasoning') {
      if (typeof item['encrypted_content'] !== 'string') return [];
      this.#size.addBlock();
      this.#size.addValue(item);
      this.#pending.push(item);
      return [];
    }
    return item['type'] === 'function_call' ? this.#takeCall(item, started) : [];
  }

  /** Records a call that never ended, or that can't be used. */
  abandon(name: string): void {
    this.#size.addBlock();
    this.#size.add(name.length);
    this.#broken.push(name);
  }

  /** The last events. Throws a StreamError for a failed answer. */
  end(response: Json, status: string = asString(response['status']) ?? 'completed'): ChatEvent[] {
    if (status === 'failed' || status === 'cancelled') throw new StreamError(streamError(response['error'] ?? { message: `the answer was ${status}` }));
    if (status !== 'completed' && status !== 'incomplete') throw malformed('its status is neither completed nor incomplete');
    const reason = status === 'incomplete' ? (asString(asObject(response['incomplete_details'])['reason']) ?? 'unknown') : undefined;
    return [
      ...this.#warnings(reason),
      ...(this.#reasoning.length > 0
        ? [{ type: 'providerMetadata' as const, providerMetadata: { openai: { model: this.#model, reasoning: this.#reasoning } } }]
        : []),
      { type: 'stop', stopReason: this.#stopReason(reason) },
    ];
  }

  #takeCall(item: Json, started: number | undefined): ChatEvent[] {
    const id = asString(item['call_id']) ?? '';
    const name = asString(item['name']) ?? '';
    const args = item['status'] === 'incomplete' ? undefined : readArguments(item['arguments']);
    const pending = this.#pending;
    this.#pending = [];
    if (args === undefined || name === '') {
      this.abandon(name);
      return [];
    }
    if (id !== '') this.#reasoning.push(...pending.map((reasoning) => ({ before: id, item: reasoning })));
    this.#hasCalls = true;
    return [{ type: 'toolCall', toolCall: { id, name, arguments: args }, ...(started !== undefined && { index: started }) }];
  }

  #warnings(reason: string | undefined): ChatEvent[] {
    if (reason === undefined && this.#broken.length > 0) throw malformed('a tool call has no name, or its arguments are not a JSON object');
    const warnings = this.#broken.map((name) => cutCallWarning(name, reason ?? ''));
    if (reason !== 'max_output_tokens' || this.#hasText || this.#hasCalls || warnings.length > 0) return warnings;
    return [
      { type: 'warning', warning: { field: 'config.maxTokens', message: 'Reasoning used up the token limit before any text was written. Raise maxTokens.' } },
    ];
  }

  #stopReason(reason: string | undefined): StopReason {
    if (reason !== undefined) return INCOMPLETE_REASONS.get(reason) ?? 'unknown';
    if (this.#hasCalls) return 'tool_use';
    return this.#refused ? 'refusal' : 'end_turn';
  }
}

/** Arguments are JSON as text; some compatible servers send the object itself. Undefined for text that is not a JSON object. */
export function readArguments(given: unknown): Json | undefined {
  if (isObject(given)) return given;
  return given === undefined || given === null || typeof given === 'string' ? parseArguments(given ?? '') : undefined;
}

/** The warning about a call that was left out because the answer was cut off; `name` may be ''. */
export function cutCallWarning(name: string, reason: string): ChatEvent {
  const what = name === '' ? 'A tool call' : `A call to ${name}`;
  return { type: 'warning', warning: { field: 'message.toolCalls', message: `${what} was cut off (${reason}) and is not included.` } };
}
