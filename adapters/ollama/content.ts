// The parts of messages in Ollama's words: text, and images beside it. Pure: no I/O.
import { type ContentPart, RefusedPart } from '../../core/index.ts';

/** A message's text and images. */
export interface OllamaContent {
  readonly content: string;
  readonly images?: string[];
}

/** Documents must be text, and images data: Ollama fetches nothing. Throws INVALID_REQUEST for others. */
export function toContent(parts: readonly ContentPart[]): OllamaContent {
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of parts) {
    const { type, text, data, url } = part;
    if (type === 'reasoning') continue;
    if (url !== undefined) throw new RefusedPart(part, 'has a URL, which Ollama does not fetch; send its data');
    if (type === 'image') images.push(data ?? '');
    else if (data !== undefined) throw new RefusedPart(part, 'is not text, and Ollama takes only documents that are');
    else if (text !== undefined && text !== '') texts.push(text);
  }
  return { content: texts.join('\n'), ...(images.length > 0 && { images }) };
}
