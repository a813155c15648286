// Messages in Ollama's words as canonical ones. Pure: no I/O.
//
// ids-by-place: calls may come without ids, so each gets one by its place in the conversation, the same in every request. A result belongs to the call
//   whose id it names, else to the first open call of its tool, else to the first open call.
import { type ContentPart, invalidRequest, isObject, type Message, tryParseJson } from '../../core/index.ts';
import type { ToolNames } from '../conversation.ts';
import { type Fields, list, objectAt, text } from '../fields.ts';
import type { Sources } from '../sources.ts';

interface OpenCall {
  readonly id: string;
  /** The client's name of the tool. */
  readonly name: string;
}

/** As many as the gateway takes. Each result is looked for among them. */
const MOST_CALLS = 256;

/** The conversation. Throws INVALID_REQUEST whose path is the client's own field. */
export function readMessages(messages: readonly unknown[], names: ToolNames, sources: Sources): Message[] {
  let open: OpenCall[] = [];
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
        open = calls;
        return sources.note(made, path);
      }
      case 'tool': {
        const call = answeredCall(message, open);
        open = open.filter((one) => one !== call);
        return { role, toolResults: [sources.note({ toolCallId: call?.id ?? `unknown_${index}`, content: contentOf(message, path) }, path)] };
      }
      default:
        throw invalidRequest(`${path}.role`, 'must be one of system, user, assistant, tool');
    }
  });
}

/** ids-by-place. */
function answeredCall(message: Fields, open: readonly OpenCall[]): OpenCall | undefined {
  const [id, name] = [message['tool_call_id'], message['tool_name'] ?? message['name']];
  return open.find((call) => call.id === id) ?? open.find((call) => call.name === name) ?? (name === undefined ? open[0] : undefined);
}

function readAssistant(message: Fields, path: string, place: number, names: ToolNames): { readonly calls: OpenCall[]; readonly message: Message } {
  const calls: OpenCall[] = [];
  const given = list(message, 'tool_calls', `${path}.tool_calls`) ?? [];
  if (given.length > MOST_CALLS) throw invalidRequest(`${path}.tool_calls`, `must have at most ${MOST_CALLS} calls`);
  const toolCalls = given.map((one, index) => {
    const at = `${path}.tool_calls[${index}]`;
    const call = objectAt(one, at);
    const fn = objectAt(call['function'], `${at}.function`);
    const name = text(fn, 'name', `${at}.function.name`) ?? '';
    const id = text(call, 'id', `${at}.id`) || `call_${place}_${index}`; // ids-by-place
    calls.push({ id, name });
    return { id, name: names.toOurs(name), arguments: argumentsOf(fn['arguments']) };
  });
  const content = contentOf(message, path);
  return { calls, message: { role: 'assistant', ...(content !== '' && { content }), ...(toolCalls.length > 0 && { toolCalls }) } };
}

/** Some clients keep arguments as the text that other protocols have. */
function argumentsOf(given: unknown): Fields {
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
