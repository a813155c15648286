// Custom tools, which take free text, as functions that the gateway takes; and the arguments of calls that clients send back. Pure: no I/O.
import { createHash } from 'node:crypto';
import { isObject, parseJson } from '../../../../core/base/json.ts';
import { invalidRequest, type Tool, type ToolCall } from '../../../../core/index.ts';
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

/**
 * Arguments that come as text are not among the values of the body that are counted before it is parsed, so they are counted here, for all calls of one
 * request: each value has a mark of JSON before it. Marks within texts count, too, so the limit is high.
 */
const MAX_ARGUMENT_MARKS = 1_000_000;
const MARKS: ReadonlySet<number> = new Set([...',:[{'].map((mark) => mark.charCodeAt(0)));

/** How many values the arguments of one request's calls may still have. */
export class ArgumentBudget {
  #left = MAX_ARGUMENT_MARKS;

  /** Throws INVALID_REQUEST naming the field. */
  take(text: string, path: string): void {
    for (let at = 0; at < text.length; at += 1) {
      if (!MARKS.has(text.charCodeAt(at))) continue;
      this.#left -= 1;
      if (this.#left < 0) throw invalidRequest(path, `has too many values: the arguments of all calls may have ${MAX_ARGUMENT_MARKS}`);
    }
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
