// Custom tools, which take free text, as functions that the gateway takes; and the arguments of calls that clients send back. Pure: no I/O.
import { createHash } from 'node:crypto';
import { countUpTo, isDeeperThan, isObject, jsonSize, MAX_JSON_DEPTH, MAX_OBJECT_FIELDS, parseJson } from '../../../../core/base/json.ts';
import { type ChatRequest, invalidRequest, type Tool, type ToolCall } from '../../../../core/index.ts';
import type { Fields } from './fields.ts';

/** A custom tool as a function with one text. A grammar that the provider can't enforce goes into the description. */
export function customTool(name: string, description: string | undefined, grammar: unknown): Tool {
  const rule = typeof grammar === 'string' && grammar !== '' ? `The input must follow this grammar:\n${grammar}` : undefined;
  const text = [description, rule].filter(Boolean).join('\n\n');
  return {
    name,
    ...(text !== '' && { description: text }),
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  };
}

/** Other gateways pack much into the ids of calls. The gateway takes this length. */
const MAX_CALL_ID = 256;

/** The id of a call as the gateway takes it; the same for the same id. */
export function callIdOf(id: string): string {
  return id.length <= MAX_CALL_ID ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}

/** The text that a custom tool gets. */
export function customInput({ arguments: { input, ...others } }: Pick<ToolCall, 'arguments'>): string {
  return typeof input === 'string' && Object.keys(others).length === 0 ? input : JSON.stringify(input === undefined ? others : { input, ...others });
}

/** For the arguments of all calls of one request that come as text. What models have written has less: it fits into the longest context of any of them. */
const MAX_ARGUMENT_LENGTH = 8 * 1024 * 1024;
/** The most values, counted before they are parsed; those of the body don't have them. */
const MAX_ARGUMENT_VALUES = 100_000;
/** Text of less length has no more values than are allowed, in no object that is too wide. */
const SHORT_LENGTH = 64 * 1024;

/** How much the arguments of one request's calls may still have. */
export class ArgumentBudget {
  #length = 0;
  #values = 0;

  /** Throws INVALID_REQUEST naming the field. */
  take(text: string, path: string): void {
    this.#length += text.length;
    if (this.#length > MAX_ARGUMENT_LENGTH) throw invalidRequest(path, `is too long: the arguments of all calls may have ${MAX_ARGUMENT_LENGTH} characters`);
    if (text.length < SHORT_LENGTH && this.#length < MAX_ARGUMENT_VALUES) return;
    const { values, exceeded } = jsonSize(Buffer.from(text), { values: MAX_ARGUMENT_VALUES - this.#values, depth: MAX_JSON_DEPTH, fields: MAX_OBJECT_FIELDS });
    this.#values += values;
    if (exceeded === 'values') throw invalidRequest(path, `has too many values: the arguments of all calls may have ${MAX_ARGUMENT_VALUES}`);
    if (exceeded === 'fields') throw invalidRequest(path, `has an object with more than ${MAX_OBJECT_FIELDS} fields`);
    if (exceeded === 'depth') throw invalidRequest(path, `nests deeper than ${MAX_JSON_DEPTH} levels`);
  }
}

/** Models write odd arguments, and clients send them back: what is not a JSON object is kept as text. Throws INVALID_REQUEST naming the field. */
export function argumentsOf(given: unknown, path: string, budget: ArgumentBudget): Fields {
  if (isObject(given)) return given;
  if (given == null || given === '') return {};
  if (typeof given !== 'string') throw invalidRequest(path, 'must be JSON text');
  budget.take(given, path);
  try {
    const value = parseJson(given);
    return isObject(value) ? value : { value };
  } catch {
    return { value: given };
  }
}

/** How many values the arguments of all calls have; those that are too deep, and will be refused, are not counted. */
export function argumentValues(messages: ChatRequest['messages']): number {
  let count = 0;
  for (const message of messages) {
    const { toolCalls = [] } = message as { readonly toolCalls?: readonly ToolCall[] };
    for (const call of toolCalls) if (!isDeeperThan(call.arguments, MAX_JSON_DEPTH)) count += countUpTo(call.arguments, Infinity);
  }
  return count;
}
