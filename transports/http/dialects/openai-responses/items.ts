// The items of a response's output, as JSON: most answers are one text, and to put it into a template costs a fraction of an object. Pure: no I/O.
import { toJsonText } from '../../../../core/base/json-text.ts';
import type { ClientTool } from './tools.ts';

/** A string as JSON, quotes included. The end of a stream has the same text four times. */
export type JsonString = string;

/** Whether an item is whole. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** A part with the text of a message. */
export function textPart(text: JsonString): string {
  return `{"type":"output_text","text":${text},"annotations":[],"logprobs":[]}`;
}

/** A part with the text of a reasoning. */
export function summaryPart(text: JsonString): string {
  return `{"type":"summary_text","text":${text}}`;
}

/** A message of the assistant; without a text it has no part yet. */
export function messageItem(id: string, status: ItemStatus, text?: JsonString): string {
  return `{"id":"${id}","type":"message","status":"${status}","role":"assistant","content":[${text === undefined ? '' : textPart(text)}]}`;
}

/** A reasoning, with the provider's state if there is one. */
export function reasoningItem(id: string, text?: JsonString, state?: string): string {
  const further = state === undefined ? '' : `,"encrypted_content":${JSON.stringify(state)}`;
  return `{"id":"${id}","type":"reasoning","summary":[${text === undefined ? '' : summaryPart(text)}]${further}}`;
}

/** A call; `input` is the JSON of its arguments, or the raw text of a custom tool. */
export function callItem(id: string, status: ItemStatus, callId: string, { name, namespace, isCustom }: ClientTool, input: string): string {
  const head = { id, type: isCustom ? 'custom_tool_call' : 'function_call', status, call_id: callId, name, ...(namespace !== undefined && { namespace }) };
  return toJsonText(isCustom ? { ...head, input } : { ...head, arguments: input });
}

const PREFIXES = { message: 'msg', reasoning: 'rs', function: 'fc', custom: 'ctc' } as const;

/** The id of an item, unique by its place in the output. */
export function itemId(kind: keyof typeof PREFIXES, base: string, index: number): string {
  return `${PREFIXES[kind]}_${base}_${index}`;
}
