// Parts of messages as clients send them; images, documents and audio in a data: URL, or at an http address. Pure: no I/O.
import { type ContentPart, invalidRequest } from '../../../../core/index.ts';
import { objectAt } from './fields.ts';

/** Longer than any media type with its parameters. */
const MAX_HEAD = 300;
const DATA_URL = /^data:([a-zA-Z]+\/[a-zA-Z0-9.+-]+)(?:;[a-zA-Z-]+=[^;,]*)*;base64,/;

/** Parts as a content: a text without a mark alone is a text. */
export function contentOfParts(parts: readonly ContentPart[]): string | ContentPart[] {
  const [first, second] = parts;
  if (first === undefined) return '';
  return second === undefined && first.type === 'text' && first.cache === undefined ? (first.text ?? '') : [...parts];
}

/** Where the content of a part is. Throws INVALID_REQUEST naming the field. */
export function sourceOf(url: unknown, path: string): Pick<ContentPart, 'mediaType' | 'data'> | Pick<ContentPart, 'url'> {
  if (typeof url !== 'string' || url === '') throw invalidRequest(path, 'is required');
  const match = DATA_URL.exec(url.slice(0, MAX_HEAD)); // many parameters overflow the stack of a pattern
  if (match !== null) return { mediaType: knownType(match[1] ?? ''), data: url.slice(match[0].length) };
  if (!/^https?:\/\//i.test(url)) throw invalidRequest(path, 'must be an http or https URL, or a data: URL with base64');
  return { url };
}

/** Many programs write `image/jpg`, and OpenAI takes it; other providers know the registered name only, in lower case. */
function knownType(given: string): string {
  const mediaType = given.toLowerCase();
  return mediaType === 'image/jpg' ? 'image/jpeg' : mediaType;
}

/** An audio of OpenAI's form `{data, format}`. Throws INVALID_REQUEST naming the field. */
export function audioPart(audio: unknown, path: string): ContentPart {
  const { data, format } = objectAt(audio, path);
  if (typeof data !== 'string' || typeof format !== 'string') throw invalidRequest(path, 'needs data and format');
  return { type: 'audio', mediaType: format === 'mp3' ? 'audio/mpeg' : `audio/${format}`, data };
}
