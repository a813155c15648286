// The items of a Responses request as messages. Pure: no I/O.
//
// one-turn: the items of the assistant between two others are one message: its texts, its calls, and the provider's state, wherever it stands among them.
//   Where it says something after a call, or calls with the same id again, they are several messages, one after the other.
import { type ContentPart, invalidRequest, type Message, type ToolCall } from '../../../../core/index.ts';
import { assertFewMessages, type Fields, list, objectAt, requiredText, text } from '../shared/fields.ts';
import { type AnswerState, unpackState, withStates } from '../shared/packed-state.ts';
import { argumentsOf, callIdOf } from '../shared/tool-calls.ts';
import { contentOf, type Notes } from './content.ts';
import type { Toolbox, ToolList } from './tools.ts';

type Content = string | readonly ContentPart[];
type AssistantMessage = Extract<Message, { readonly role: 'assistant' }>;

/** The items of the assistant that are not a message yet (one-turn). */
interface OpenTurn {
  readonly said: Said[];
  /** The last of them. */
  now: Said;
  /** The last call with each id. */
  readonly byId: Map<string, { readonly call: ToolCall; readonly said: Said }>;
  readonly states: AnswerState[];
}

/** What becomes a message. */
interface Said {
  readonly path: string;
  readonly contents: Content[];
  readonly calls: ToolCall[];
  readonly callPaths: string[];
}

/** The tools that come as items of the input. Throws INVALID_REQUEST naming the field. */
export function additionalTools(input: unknown): ToolList[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item: Fields | null, index) => {
    if (item?.['type'] !== 'additional_tools') return [];
    const path = `input[${index}].tools`;
    return [{ tools: list(item, 'tools', path) ?? [], path }];
  });
}

/** The messages of an input. Throws INVALID_REQUEST naming the field. */
export function readInput(input: unknown, toolbox: Toolbox, notes: Notes): Message[] {
  if (typeof input === 'string') return [notes.sources.note<Message>({ role: 'user', content: input }, 'input')];
  if (!Array.isArray(input)) throw invalidRequest('input', 'must be a string or a list of items');
  assertFewMessages(input, 'input');
  const reader = new ItemReader(toolbox, notes);
  for (const [index, item] of input.entries()) reader.take(objectAt(item, `input[${index}]`), `input[${index}]`);
  return reader.finish();
}

class ItemReader {
  readonly #toolbox: Toolbox;
  readonly #notes: Notes;
  readonly #messages: Message[] = [];
  #turn: OpenTurn | undefined;
  /** By the id of the item: the output of a local shell names the item, not the call. */
  #callIds: Map<string, string> | undefined;

  constructor(toolbox: Toolbox, notes: Notes) {
    this.#toolbox = toolbox;
    this.#notes = notes;
  }

  take(item: Fields, path: string): void {
    switch (item['type'] ?? 'message') {
      case 'message':
        this.#message(item, path);
        break;
      case 'function_call':
        this.#call(item, path, requiredText(item, 'name', `${path}.name`), argumentsOf(item['arguments'], `${path}.arguments`, this.#toolbox.budget));
        break;
      case 'custom_tool_call':
        this.#call(item, path, requiredText(item, 'name', `${path}.name`), { input: text(item, 'input', `${path}.input`) ?? '' });
        break;
      case 'local_shell_call':
        this.#call(item, path, 'local_shell', argumentsOf(item['action'], `${path}.action`, this.#toolbox.budget));
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'local_shell_call_output':
        this.#output(item, path);
        break;
      case 'reasoning':
        this.#reasoning(item, path);
        break;
      case 'additional_tools':
        break;
      case 'item_reference':
        throw invalidRequest(path, 'refers to a stored item, and this server stores none; send the item itself');
      default:
        this.#notes.warnings.push({ field: path, message: 'An item of this type is not known, so it was left out.' });
    }
  }

  finish(): Message[] {
    this.#close();
    return this.#messages;
  }

  #message(item: Fields, path: string): void {
    const content = contentOf(item['content'], `${path}.content`, this.#notes);
    switch (item['role']) {
      case 'assistant':
        if (content.length > 0) this.#say(content, path);
        break;
      case 'system':
      case 'developer':
        this.#push({ role: 'system', content }, path);
        break;
      case 'user':
        this.#push({ role: 'user', content }, path);
        break;
      default:
        throw invalidRequest(`${path}.role`, 'must be one of user, assistant, system, developer');
    }
  }

  #say(content: Content, path: string): void {
    const turn = this.#open(path);
    if (turn.now.calls.length > 0) next(turn, path);
    turn.now.contents.push(content);
  }

  #call(item: Fields, path: string, name: string, args: Fields): void {
    const id = givenId(item, path);
    const itemId = text(item, 'id', `${path}.id`);
    if (itemId !== undefined) {
      this.#callIds ??= new Map();
      this.#callIds.set(callIdOf(itemId), id);
    }
    const call: ToolCall = { id, name: this.#toolbox.oursOf(name, text(item, 'namespace', `${path}.namespace`)), arguments: args };
    const turn = this.#open(path);
    const same = turn.byId.get(id);
    if (JSON.stringify(same?.call) === JSON.stringify(call)) {
      this.#notes.warnings.push({ field: path, message: 'It repeats the call before it, so it was left out.' });
      return;
    }
    if (turn.now === same?.said) next(turn, path);
    turn.byId.set(id, { call, said: turn.now });
    const { calls, callPaths } = turn.now;
    calls.push(call);
    callPaths.push(path);
  }

  #output(item: Fields, path: string): void {
    const id = givenId(item, path);
    const result = { toolCallId: this.#callIds?.get(id) ?? id, content: contentOf(item['output'], `${path}.output`, this.#notes) };
    this.#push({ role: 'tool', toolResults: [this.#notes.sources.note(result, path)] }, path);
  }

  /** Only what this server has packed is understood; a summary is for people. */
  #reasoning(item: Fields, path: string): void {
    const packed = item['encrypted_content'];
    if (packed == null || packed === '') return;
    const state = unpackState(packed);
    if (state !== undefined) this.#open(path).states.push(state);
    else this.#notes.warnings.push({ field: `${path}.encrypted_content`, message: 'It was left out, since another server has made it.' });
  }

  #push(message: Message, path: string): void {
    this.#close();
    this.#messages.push(this.#notes.sources.note(message, path));
  }

  #open(path: string): OpenTurn {
    if (this.#turn === undefined) {
      const now = nothingAt(path);
      this.#turn = { said: [now], now, byId: new Map(), states: [] };
    }
    return this.#turn;
  }

  /** one-turn. */
  #close(): void {
    if (this.#turn === undefined) return;
    const { said, states } = this.#turn;
    this.#turn = undefined;
    const plain = said.map((one) => messageOf(one, states.length > 0 ? '' : '\n\n'));
    for (const [place, message] of withStates(plain, states).entries()) {
      const { path, callPaths } = said[place] as Said;
      for (const [index, call] of (message.toolCalls ?? []).entries()) this.#notes.sources.note(call, callPaths[index] ?? path);
      this.#messages.push(this.#notes.sources.note(message, path));
    }
  }
}

/** What follows is another message. */
function next(turn: OpenTurn, path: string): void {
  turn.now = nothingAt(path);
  turn.said.push(turn.now);
}

function nothingAt(path: string): Said {
  return { path, contents: [], calls: [], callPaths: [] };
}

function messageOf({ contents, calls }: Said, separator: string): AssistantMessage {
  const content = joined(contents, separator);
  return { role: 'assistant', ...(content !== '' && { content }), ...(calls.length > 0 && { toolCalls: calls }) };
}

function givenId(item: Fields, path: string): string {
  return callIdOf(text(item, 'call_id', `${path}.call_id`) || text(item, 'id', `${path}.id`) || requiredText(item, 'call_id', `${path}.call_id`));
}

/** A state is bound to the text as the model wrote it; without one, messages in a row are paragraphs. */
function joined(contents: readonly Content[], separator: string): Content {
  if (contents.every((content) => typeof content === 'string')) return contents.join(separator);
  return contents.flatMap((content) => (typeof content === 'string' ? [{ type: 'text', text: content } as const] : content));
}
