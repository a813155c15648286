// Messages in Ollama's words as canonical ones. Pure: no I/O.
//
// ids-by-place: calls may come without ids, so each gets one by its place in the conversation, the same in every request. A result belongs to the call
//   whose id it names, else to the first open call of its tool, else, if it names neither, to the first open call. Open are the calls of the last assistant
//   messages in a row.
import { isObject, tryParseJson } from '../../../../core/base/json.ts';
import { type ContentPart, invalidRequest, type Message } from '../../../../core/index.ts';
import type { ToolNames } from '../shared/conversation.ts';
import { type Fields, list, objectAt, text } from '../shared/fields.ts';
import type { Sources } from '../shared/sources.ts';
import type { ArgumentBudget } from '../shared/tool-calls.ts';

interface OpenCall {
  readonly id: string;
  /** The client's name of the tool. */
  readonly name: string;
  /** True if the client wrote the id. */
  readonly isNamed: boolean;
  isAnswered: boolean;
}

/** As many as the gateway takes. Each result is looked for among them. */
const MAX_CALLS = 256;

/** The conversation. Throws INVALID_REQUEST whose path is the client's own field. */
export function readMessages(messages: readonly unknown[], names: ToolNames, sources: Sources): Message[] {
  const open = new OpenCalls();
  return messages.map((given, index): Message => {
    const path = `messages[${index}]`;
    const message = objectAt(given, path);
    const role = message['role'];
    switch (role) {
      case 'system':
      case 'user':
        return sources.note({ role, content: contentOf(message, path) }, path);
      case 'assistant': {
        const { calls, message: made } = readAssistant(message, path, index, names);
        open.add(calls);
        return sources.note(made, path);
      }
      case 'tool': {
        const toolCallId = open.answered(message) ?? `unknown_${index}`;
        return { role, toolResults: [sources.note({ toolCallId, content: contentOf(message, path) }, path)] };
      }
      default:
        throw invalidRequest(`${path}.role`, 'must be one of system, user, assistant, tool');
    }
  });
}

/** The calls that a result may answer (ids-by-place). */
class OpenCalls {
  /** All ids of the conversation. Which call is meant where an id comes again, is for `mended`. */
  readonly #ids = new Set<string>();
  /** Of the last messages in a row, in order, and the same by name and by id. */
  #calls: OpenCall[] = [];
  #byName = new Map<string, OpenCall[]>();
  #byId = new Map<string, OpenCall[]>();
  #isAnswered = false;

  add(calls: readonly OpenCall[]): void {
    if (this.#isAnswered) {
      this.#calls = [];
      this.#byName = new Map();
      this.#byId = new Map();
      this.#isAnswered = false;
    }
    for (const call of calls) {
      this.#ids.add(call.id);
      this.#calls.push(call);
      push(this.#byName, call.name, call);
      push(this.#byId, call.id, call);
    }
  }

  /** The id of the call that a message answers. */
  answered(message: Fields): string | undefined {
    this.#isAnswered = true;
    const [id, name] = [message['tool_call_id'], message['tool_name'] ?? message['name']];
    const isKnown = typeof id === 'string' && this.#ids.has(id);
    const call = isKnown ? next(this.#byId.get(id)) : next(typeof name === 'string' ? this.#byName.get(name) : this.#calls);
    // A call with an id of the client's own is not what another id means.
    if (call !== undefined && !isKnown && id != null && id !== '' && name == null && call.isNamed) return undefined;
    if (call !== undefined) call.isAnswered = true;
    return isKnown ? id : call?.id;
  }
}

function push(lists: Map<string, OpenCall[]>, key: string, call: OpenCall): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [call]);
  else list.push(call);
}

/** The first call that is not answered; those before it are taken out. */
function next(calls: OpenCall[] = []): OpenCall | undefined {
  while (calls[0]?.isAnswered === true) calls.shift();
  return calls[0];
}

function readAssistant(message: Fields, path: string, place: number, names: ToolNames): { readonly calls: OpenCall[]; readonly message: Message } {
  const calls: OpenCall[] = [];
  const given = list(message, 'tool_calls', `${path}.tool_calls`) ?? [];
  if (given.length > MAX_CALLS) throw invalidRequest(`${path}.tool_calls`, `must have at most ${MAX_CALLS} calls`);
  const toolCalls = given.map((one, index) => {
    const at = `${path}.tool_calls[${index}]`;
    const call = objectAt(one, at);
    const fn = objectAt(call['function'], `${at}.function`);
    const name = text(fn, 'name', `${at}.function.name`) ?? '';
    const given = text(call, 'id', `${at}.id`) ?? '';
    const id = given || `call_${place}_${index}`; // ids-by-place
    calls.push({ id, name, isNamed: given !== '', isAnswered: false });
    return { id, name: names.toOurs(name), arguments: argumentsOf(fn['arguments'], `${at}.function.arguments`, names.budget) };
  });
  const content = contentOf(message, path);
  return { calls, message: { role: 'assistant', ...(content !== '' && { content }), ...(toolCalls.length > 0 && { toolCalls }) } };
}

/** Some clients keep arguments as the text that other protocols have. */
function argumentsOf(given: unknown, path: string, budget: ArgumentBudget): Fields {
  if (typeof given === 'string') budget.take(given, path);
  const value = typeof given === 'string' ? tryParseJson(given) : given;
  if (isObject(value)) return value;
  return given == null || given === '' ? {} : { value: value ?? given };
}

function contentOf(message: Fields, path: string): string | ContentPart[] {
  const content = text(message, 'content', `${path}.content`) ?? '';
  const images = imagesOf(message, 'images', `${path}.images`);
  if (images.length === 0) return content;
  return [...(content === '' ? [] : [{ type: 'text' as const, text: content }]), ...images];
}

/** How base64 of each kind of image begins. */
const KINDS = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

/** Images are base64 without their type. Throws INVALID_REQUEST for one whose type its first bytes don't tell. */
export function imagesOf(body: Fields, name: string, path = name): ContentPart[] {
  return (list(body, name, path) ?? []).map((given, index) => {
    const data = typeof given === 'string' ? given.replace(/^data:[^,]{0,100},/, '') : '';
    const mediaType = KINDS.find(([start]) => data.startsWith(start))?.[1];
    if (mediaType === undefined) throw invalidRequest(`${path}[${index}]`, 'must be a PNG, JPEG, GIF or WebP image in base64');
    return { type: 'image', mediaType, data };
  });
}
