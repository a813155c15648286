// The steps of a conversation: what the assistant says and calls in a row, and the results of its calls. Pure: no I/O.
//
// one-step: Assistant messages in a row are one turn from the first that calls a tool: clients send the parallel calls of one answer in one message or in
//   several, and no provider takes a call without its result right after it.
import { invalidRequest } from '../errors.ts';
import type { ContentPart, Message, ToolCall, ToolResult } from '../types.ts';
import { type Content, isBlank, partsOf, textOf, textParts } from './parts.ts';
import type { AssistantTurn, PromptToolResult, Turn, TurnPiece } from './turns.ts';

type UserTurn = Extract<Turn, { readonly role: 'user' }>;

/** A message as far as its schema has checked it: `assertFields` compares its fields with its role. */
export interface CheckedMessage {
  readonly role: Message['role'];
  readonly content?: Content;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolResults?: readonly ToolResult[];
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
}

/** A message of the user as a turn. */
export function userTurn({ content, role }: CheckedMessage, path: string): UserTurn {
  const parts = partsOf(content, role, `${path}.content`);
  const text = textOf(content, role);
  return parts === undefined ? { role: 'user', text } : { role: 'user', text, parts };
}

/** One turn that says what several say. */
function joined(turns: readonly UserTurn[]): UserTurn {
  const text = turns.flatMap((turn) => (turn.text === '' ? [] : [turn.text])).join('\n\n');
  if (turns.every(({ parts }) => parts === undefined)) return { role: 'user', text };
  return { role: 'user', text, parts: turns.flatMap((turn) => turn.parts ?? [{ type: 'text', text: turn.text } as const]) };
}

/** The assistant's messages of one step (one-step), and the results that have come for their calls. */
export class PendingCalls {
  /** Each message as a turn. */
  readonly #messages: AssistantTurn[] = [];
  /** The calls with their places in the request. */
  readonly #calls: { readonly call: ToolCall; readonly path: string }[] = [];
  /** The calls that wait for a result, by the id that the caller wrote. The same id in two messages of a step is answered in order. */
  readonly #waiting = new Map<string, { readonly calls: ToolCall[]; answered: number }>();
  readonly #used = new Set<string>();
  /** The last number tried for an id, so that a thousand turns with the same id don't each count from the start. */
  readonly #lastNumber = new Map<string, number>();
  readonly #results = new Map<string, PromptToolResult>();
  /** Contents beside the results. */
  readonly #extra: UserTurn[] = [];

  /** Adds a message of the assistant to the step, or begins the next step. Throws INVALID_REQUEST naming the field, as all methods do. */
  open(message: CheckedMessage, path: string, turns: Turn[]): void {
    if (this.#results.size > 0) this.flush(turns);
    const parts = partsOf(message.content, message.role, `${path}.content`);
    const turn: AssistantTurn = {
      role: 'assistant',
      text: isBlank(message.content) ? '' : textOf(message.content, message.role),
      ...(parts !== undefined && { parts }),
      toolCalls: this.#opened(message.toolCalls ?? [], path),
      providerMetadata: message.providerMetadata,
    };
    if (this.#calls.length === 0) turns.push(turn);
    else this.#messages.push(turn);
  }

  #opened(given: readonly ToolCall[], path: string): ToolCall[] {
    const own = new Set<string>();
    return given.map((one, index) => {
      const at = `${path}.toolCalls[${index}]`;
      if (own.has(one.id)) throw invalidRequest(`${at}.id`, 'is used twice in this message');
      own.add(one.id);
      const id = this.#unused(one.id);
      const call = id === one.id ? one : { ...one, id };
      this.#calls.push({ call, path: at });
      const waiting = this.#waiting.get(one.id);
      if (waiting === undefined) this.#waiting.set(one.id, { calls: [call], answered: 0 });
      else waiting.calls.push(call);
      return call;
    });
  }

  /** Takes the results of a message. */
  answer(message: CheckedMessage, path: string): void {
    message.toolResults?.forEach((result, index) => {
      const at = `${path}.toolResults[${index}].toolCallId`;
      const waiting = this.#waiting.get(result.toolCallId);
      if (waiting === undefined)
        throw invalidRequest(at, 'does not match a tool call of the assistant message before it; send that message with its toolCalls');
      const call = waiting.calls[waiting.answered];
      waiting.answered += 1;
      if (call === undefined) throw invalidRequest(at, 'appears twice; each tool call can have only one result');
      const parts = partsOf(result.content, 'tool', `${path}.toolResults[${index}].content`);
      this.#results.set(call.id, {
        toolCallId: call.id,
        toolName: call.name,
        content: textOf(result.content, 'tool'),
        isError: result.isError ?? false,
        ...(parts !== undefined && { parts }),
      });
    });
    if (!isBlank(message.content)) this.#extra.push(userTurn(message, path));
  }

  #unused(id: string): string {
    let candidate = id;
    let n = this.#lastNumber.get(id) ?? 1;
    while (this.#used.has(candidate)) {
      n += 1;
      candidate = `${id}_${n}`;
    }
    this.#lastNumber.set(id, n);
    this.#used.add(candidate);
    return candidate;
  }

  /** Ends the step: its turn and its results go to `turns`. */
  flush(turns: Turn[]): void {
    if (this.#calls.length === 0) return;
    const results = this.#calls.map(({ call, path }) => {
      const result = this.#results.get(call.id);
      if (result === undefined) throw invalidRequest(path, 'has no result; add a message with role tool after it, with the result in toolResults');
      return result;
    });
    turns.push(oneTurn(this.#messages), { role: 'tool', results });
    // What stands beside results becomes the user's: no provider takes it inside a tool turn.
    if (this.#extra.length > 0) turns.push(joined(this.#extra));
    this.#messages.length = 0;
    this.#calls.length = 0;
    this.#waiting.clear();
    this.#results.clear();
    this.#extra.length = 0;
  }
}

/** one-step. */
function oneTurn(messages: readonly AssistantTurn[]): AssistantTurn {
  const [only, second] = messages;
  if (only !== undefined && second === undefined) return only;
  const hasParts = messages.some(({ parts }) => parts !== undefined);
  const isMixed = messages.some(({ text, parts }, index) => index > 0 && (text !== '' || parts !== undefined));
  return {
    role: 'assistant',
    text: messages.flatMap(({ text }) => (text === '' ? [] : [text])).join('\n\n'),
    ...(hasParts && { parts: messages.flatMap(saidParts) }),
    toolCalls: messages.flatMap(({ toolCalls }) => toolCalls),
    ...(isMixed && {
      order: messages.flatMap((turn): TurnPiece[] => [...saidParts(turn).map((part) => ({ part })), ...turn.toolCalls.map((call) => ({ call }))]),
    }),
    providerMetadata: mergedMetadata(messages),
  };
}

function saidParts({ text, parts }: AssistantTurn): readonly ContentPart[] {
  return parts ?? textParts(text);
}

/** A client that brings one answer back in several messages has its state in one of them. */
function mergedMetadata(messages: readonly AssistantTurn[]): Record<string, unknown> | undefined {
  const states = messages.flatMap(({ providerMetadata }) => (providerMetadata === undefined ? [] : [providerMetadata]));
  return states.length === 0 ? undefined : Object.assign({}, ...states);
}
