// Custom tools, which take free text, as functions that the gateway takes; and the arguments of calls that clients send back. Pure: no I/O.
import { createHash } from 'node:crypto';
import { isObject, parseJson } from '../../../../core/base/json.ts';
import { invalidRequest, type Tool, type ToolCall } from '../../../../core/index.ts';
import type { Fields } from './fields.ts';

/** A custom tool as a function with one text. A grammar that the provider can't hold the model to is at least told to it. */
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

/** Models write odd arguments, and clients send them back: what is not a JSON object is kept as text. Throws INVALID_REQUEST naming the field. */
export function argumentsOf(given: unknown, path: string): Fields {
  if (isObject(given)) return given;
  if (given == null || given === '') return {};
  if (typeof given !== 'string') throw invalidRequest(path, 'must be JSON text');
  try {
    const value = parseJson(given);
    return isObject(value) ? value : { value };
  } catch {
    return { value: given };
  }
}
