// What of a conversation has reached a provider, in the order of its bytes. A result is named by the city that its call asked for.
import type { Wire } from '../conformance/wire.ts';
import type { Fields } from './dialect-clients.ts';
import type { RecordedRequest } from './upstream.ts';
import { bodyOf } from './wire-server.ts';

/** `user: text`, `assistant: text`, `system: text`, `call city`, or `city: result`. */
export type OutlineStep = string;

/** A part of a request, whatever the wire. */
type Piece =
  | { readonly role: string; readonly text: string }
  | { readonly call: string; readonly city: string }
  | { readonly result: string; readonly text: string };

type List = readonly Fields[];

const READERS: Readonly<Record<string, (body: Fields) => Piece[]>> = {
  bedrock: ({ messages }) => eachBlock(messages as List, readConverse),
  anthropic: ({ messages }) => eachBlock(messages as List, readMessages),
  google: ({ contents }) => readGoogle(contents as List),
  'openai-responses': ({ input }) => (input as List).map(readItem),
  'openai-chat': ({ messages }) => (messages as List).flatMap(readChat),
  ollama: ({ messages }) => (messages as List).flatMap(readChat),
};

/** Throws for a result whose call is not there. */
export function outlineOf(wire: Wire, request: RecordedRequest): OutlineStep[] {
  const pieces = READERS[wire.name]?.(bodyOf(request) as Fields) ?? [];
  const cities = new Map(pieces.flatMap((piece) => ('call' in piece ? [[piece.call, piece.city] as const] : [])));
  return pieces.map((piece) => {
    if ('role' in piece) return `${piece.role}: ${piece.text}`;
    if ('call' in piece) return `call ${piece.city}`;
    if (!cities.has(piece.result)) throw new Error(`no call ${piece.result}`);
    return `${cities.get(piece.result)}: ${piece.text}`;
  });
}

function eachBlock(messages: List, read: (role: string, block: Fields) => Piece[]): Piece[] {
  return messages.flatMap(({ role, content }) => (content as List).flatMap((block) => read(String(role), block)));
}

function cityOf(args: unknown): string {
  return String((typeof args === 'string' ? (JSON.parse(args) as Fields) : (args as Fields))['city']);
}

function readConverse(role: string, block: Fields): Piece[] {
  const [use, result] = [block['toolUse'], block['toolResult']] as (Fields | undefined)[];
  if (use !== undefined) return [{ call: String(use['toolUseId']), city: cityOf(use['input']) }];
  if (result !== undefined) return [{ result: String(result['toolUseId']), text: String((result['content'] as List)[0]?.['text']) }];
  return 'text' in block ? [{ role, text: String(block['text']) }] : [];
}

function readMessages(role: string, block: Fields): Piece[] {
  if (block['type'] === 'tool_use') return [{ call: String(block['id']), city: cityOf(block['input']) }];
  if (block['type'] === 'tool_result') return [{ result: String(block['tool_use_id']), text: String(block['content']) }];
  return [{ role, text: String(block['text']) }];
}

/** Without ids, the results of a turn belong to the calls of the turn before it, by their place. */
function readGoogle(contents: List): Piece[] {
  let step = 0;
  return contents.flatMap(({ role, parts }) => {
    if (role === 'model') step += 1;
    let [calls, results] = [0, 0];
    return (parts as List).map((part): Piece => {
      const [call, response] = [part['functionCall'], part['functionResponse']] as (Fields | undefined)[];
      if (call !== undefined) {
        calls += 1;
        return { call: `${step}.${calls}`, city: cityOf(call['args']) };
      }
      if (response === undefined) return { role: role === 'model' ? 'assistant' : String(role), text: String(part['text']) };
      results += 1;
      return { result: `${step}.${results}`, text: String((response['response'] as Fields)['output']) };
    });
  });
}

function readItem(item: Fields): Piece {
  if (item['type'] === 'function_call') return { call: String(item['call_id']), city: cityOf(item['arguments']) };
  if (item['type'] === 'function_call_output') return { result: String(item['call_id']), text: String(item['output']) };
  return { role: String(item['role']), text: String(item['content']) };
}

function readChat(message: Fields): Piece[] {
  const { role, content, tool_calls: calls = [], tool_call_id: id } = message;
  if (role === 'tool') return [{ result: String(id), text: String(content) }];
  const said: Piece[] = content == null || content === '' ? [] : [{ role: String(role), text: String(content) }];
  return [...said, ...(calls as List).map((call): Piece => ({ call: String(call['id']), city: cityOf((call['function'] as Fields)['arguments']) }))];
}
