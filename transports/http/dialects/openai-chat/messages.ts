// The messages of a Chat Completions request as the gateway's. Pure: no I/O.
import { isObject } from '../../../../core/base/json.ts';
import { type ContentPart, invalidRequest, type Message, type ToolCall } from '../../../../core/index.ts';
import type { ToolNames } from '../shared/conversation.ts';
import { type Fields, list, objectAt, requiredText, text } from '../shared/fields.ts';
import { audioPart, contentOfParts, sourceOf } from '../shared/media.ts';
import type { Sources } from '../shared/sources.ts';
import { argumentsOf, callIdOf } from '../shared/tool-calls.ts';

/** The messages of a request. Throws INVALID_REQUEST naming the field. */
export function readMessages(messages: readonly unknown[], names: ToolNames, sources: Sources): Message[] {
  return messages.map((given, index) => {
    const path = `messages[${index}]`;
    return sources.note(readMessage(objectAt(given, path), path, names, sources), path);
  });
}

function readMessage(message: Fields, path: string, names: ToolNames, sources: Sources): Message {
  const contentAt = (): string | ContentPart[] => contentOf(message['content'], `${path}.content`, sources);
  switch (message['role']) {
    case 'system':
    case 'developer':
      return { role: 'system', content: contentAt() };
    case 'user':
      return { role: 'user', content: contentAt() };
    case 'assistant':
      return readAssistant(message, path, names, sources);
    case 'tool': {
      const toolCallId = callIdOf(requiredText(message, 'tool_call_id', `${path}.tool_call_id`));
      return { role: 'tool', toolResults: [sources.note({ toolCallId, content: contentAt() }, path)] };
    }
    default:
      throw invalidRequest(`${path}.role`, 'must be one of system, developer, user, assistant, tool');
  }
}

function readAssistant(message: Fields, path: string, names: ToolNames, sources: Sources): Message {
  const calls = (list(message, 'tool_calls', `${path}.tool_calls`) ?? []).map((given, index) => {
    const at = `${path}.tool_calls[${index}]`;
    return sources.note(readCall(objectAt(given, at), at, names), at);
  });
  const refusal = text(message, 'refusal', `${path}.refusal`);
  const said = message['content'] == null ? (refusal ?? '') : contentOf(message['content'], `${path}.content`, sources);
  const content = withReasoning(message['reasoning_content'], said);
  return { role: 'assistant', ...(content !== '' && { content }), ...(calls.length > 0 && { toolCalls: calls }) };
}

/** Some servers want their reasoning back with each message, so their clients send it. */
function withReasoning(reasoning: unknown, said: string | ContentPart[]): string | ContentPart[] {
  if (typeof reasoning !== 'string' || reasoning === '') return said;
  const parts: ContentPart[] = typeof said === 'string' ? (said === '' ? [] : [{ type: 'text', text: said }]) : said;
  return [{ type: 'reasoning', text: reasoning }, ...parts];
}

function readCall(call: Fields, path: string, names: ToolNames): ToolCall {
  const plain = plainCall(call, path, names);
  return isObject(call['extra_content']) ? { ...plain, providerMetadata: call['extra_content'] } : plain;
}

function plainCall(call: Fields, path: string, names: ToolNames): ToolCall {
  const id = callIdOf(requiredText(call, 'id', `${path}.id`));
  if (call['type'] === 'custom') {
    const custom = objectAt(call['custom'], `${path}.custom`);
    return { id, name: names.toOurs(text(custom, 'name') ?? ''), arguments: { input: text(custom, 'input') ?? '' } };
  }
  const fn = objectAt(call['function'], `${path}.function`);
  return { id, name: names.toOurs(text(fn, 'name') ?? ''), arguments: argumentsOf(fn['arguments'], `${path}.function.arguments`, names.budget) };
}

function contentOf(content: unknown, path: string, sources: Sources): string | ContentPart[] {
  if (content == null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalidRequest(path, 'must be a string or a list of parts');
  const parts = content.map((given, index) => {
    const at = `${path}[${index}]`;
    return sources.note(readPart(objectAt(given, at), at), at);
  });
  return contentOfParts(parts);
}

function readPart(part: Fields, path: string): ContentPart {
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: text(part, 'text', `${path}.text`) ?? '' };
    case 'refusal':
      return { type: 'text', text: text(part, 'refusal', `${path}.refusal`) ?? '' };
    case 'image_url': {
      const image: Fields = typeof part['image_url'] === 'string' ? { url: part['image_url'] } : objectAt(part['image_url'], `${path}.image_url`);
      const detail = image['detail'];
      return {
        type: 'image',
        ...sourceOf(image['url'], `${path}.image_url.url`),
        ...((detail === 'low' || detail === 'high' || detail === 'auto') && { detail }),
      };
    }
    case 'input_audio':
      return audioPart(part['input_audio'], `${path}.input_audio`);
    case 'file': {
      const file = objectAt(part['file'], `${path}.file`);
      if (file['file_id'] != null) throw invalidRequest(`${path}.file.file_id`, 'names a stored file, which this server does not have; send file_data');
      const name = text(file, 'filename', `${path}.file.filename`)?.slice(-256);
      return { type: 'document', ...sourceOf(file['file_data'], `${path}.file.file_data`), ...(name !== undefined && { name }) };
    }
    default:
      throw invalidRequest(`${path}.type`, 'must be one of text, image_url, input_audio, file, refusal');
  }
}
