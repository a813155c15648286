// The parts of messages in the words of OpenAI's two endpoints. Pure: no I/O.
import { type ContentPart, type PromptToolResult, RefusedPart } from '../../core/index.ts';
import { outputText } from '../shared/tools.ts';
import type { ChatPart, InputPart } from './schema.ts';

const AUDIO_FORMATS = new Map<string, 'wav' | 'mp3'>([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
]);

/** For `/responses`. Throws INVALID_REQUEST for an audio. */
export function toInputParts(parts: readonly ContentPart[]): InputPart[] {
  return parts.filter(saysSomething).map(toInputPart);
}

function saysSomething({ type, text }: ContentPart): boolean {
  return type !== 'text' || text !== '';
}

function toInputPart(part: ContentPart): InputPart {
  const { type, text = '', detail = 'auto', name } = part;
  switch (type) {
    case 'image':
      return { type: 'input_image', image_url: urlOf(part), detail };
    case 'document':
      if (part.data !== undefined) return { type: 'input_file', filename: name ?? 'document.pdf', file_data: urlOf(part) };
      return part.url === undefined ? { type: 'input_text', text } : { type: 'input_file', file_url: part.url };
    case 'audio':
      throw new RefusedPart(part, 'is an audio, which OpenAI takes only on its Chat Completions endpoint');
    default:
      return { type: 'input_text', text };
  }
}

/** The output of a tool for `/responses`: text, or parts if it is more than text. The format has no field for a failed tool, so the text says it. */
export function toOutput(result: PromptToolResult): string | InputPart[] {
  const text = outputText(result);
  if (result.parts === undefined || result.parts.every(({ type }) => type === 'text')) return text;
  const parts = toInputParts(result.parts);
  return text === result.content ? parts : [{ type: 'input_text', text: 'Error:' }, ...parts];
}

/** For `/chat/completions`. Throws INVALID_REQUEST for a part that the endpoint does not take. */
export function toChatParts(parts: readonly ContentPart[]): ChatPart[] {
  return parts.filter(saysSomething).map(toChatPart);
}

function toChatPart(part: ContentPart): ChatPart {
  const { type, text = '', detail, data = '', mediaType = '', name } = part;
  switch (type) {
    case 'image':
      return { type: 'image_url', image_url: { url: urlOf(part), ...(detail !== undefined && { detail }) } };
    case 'document':
      if (part.url !== undefined) throw new RefusedPart(part, 'is a document with a URL, which the Chat Completions endpoint does not take; send its data');
      return part.data === undefined ? { type: 'text', text } : { type: 'file', file: { file_data: urlOf(part), filename: name ?? 'document.pdf' } };
    case 'audio': {
      const format = AUDIO_FORMATS.get(mediaType);
      if (format === undefined) throw new RefusedPart(part, `is of type ${mediaType}; the Chat Completions endpoint takes audio of type wav and mp3`);
      return { type: 'input_audio', input_audio: { data, format } };
    }
    default:
      return { type: 'text', text };
  }
}

function urlOf({ url, mediaType = '', data = '' }: ContentPart): string {
  return url ?? `data:${mediaType};base64,${data}`;
}
