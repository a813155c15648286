// The parts of messages in Ollama's words: text, and images beside it. Pure: no I/O.
import { type ContentPart, invalidRequest } from '../../core/index.ts';

/** A message's text and images. */
export interface OllamaContent {
  readonly content: string;
  readonly images?: string[];
}

/** Documents must be text, and images data: Ollama fetches nothing. Throws INVALID_REQUEST for others. */
export function toContent(parts: readonly ContentPart[]): OllamaContent {
  const texts: string[] = [];
  const images: string[] = [];
  for (const { type, text, data, url } of parts) {
    if (type === 'reasoning') continue;
    if (url !== undefined)
      throw invalidRequest('messages', `must not have ${type === 'document' ? 'a' : 'an'} ${type} with a URL, which Ollama does not fetch; send its data`);
    if (type === 'image') images.push(data ?? '');
    else if (data !== undefined) throw invalidRequest('messages', `must not have a ${type} that is not text, which Ollama does not support`);
    else if (text !== undefined && text !== '') texts.push(text);
  }
  return { content: texts.join('\n'), ...(images.length > 0 && { images }) };
}
