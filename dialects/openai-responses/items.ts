// The items of a response's output. Pure: no I/O.
import type { ClientTool } from './tools.ts';

/** Whether an item is whole. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** A part with the text of a message. */
export function textPart(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** A part with the text of a reasoning. */
export function summaryPart(text: string): object {
  return { type: 'summary_text', text };
}

/** A message of the assistant; without a text it has no part yet. */
export function messageItem(id: string, status: ItemStatus, text?: string): object {
  return { id, type: 'message', status, role: 'assistant', content: text === undefined ? [] : [textPart(text)] };
}

/** A reasoning, with the provider's state if there is one. */
export function reasoningItem(id: string, text?: string, state?: string): object {
  return { id, type: 'reasoning', summary: text === undefined ? [] : [summaryPart(text)], ...(state !== undefined && { encrypted_content: state }) };
}

/** A call; `input` is the JSON of its arguments, or the raw text of a custom tool. */
export function callItem(id: string, status: ItemStatus, callId: string, { name, namespace, isCustom }: ClientTool, input: string): object {
  const head = { id, type: isCustom ? 'custom_tool_call' : 'function_call', status, call_id: callId, name, ...(namespace !== undefined && { namespace }) };
  return isCustom ? { ...head, input } : { ...head, arguments: input };
}

const PREFIXES = { message: 'msg', reasoning: 'rs', function: 'fc', custom: 'ctc' } as const;

/** The id of an item, unique by its place in the output. */
export function itemId(kind: keyof typeof PREFIXES, base: string, index: number): string {
  return `${PREFIXES[kind]}_${base}_${index}`;
}
