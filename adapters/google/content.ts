// The parts of messages in Gemini's words. Pure: no I/O.
import { type ContentPart, RefusedPart } from '../../core/index.ts';
import type { GoogleInlineData, GooglePart } from './schema.ts';

/** Gemini fetches files only from its own store, Google's cloud storage and YouTube. */
const OWN_FILES = /^https:\/\/(?:generativelanguage\.googleapis\.com|storage\.googleapis\.com|(?:www\.)?youtube\.com|youtu\.be)\//;

/**
 * Throws INVALID_REQUEST for a URL that Gemini can't fetch. The name of a file stands before it, because Gemini has no field for it. Reasoning is left out:
 * Gemini takes its own back by signatures.
 */
export function toGoogleParts(parts: readonly ContentPart[]): GooglePart[] {
  return parts.flatMap((part): GooglePart[] => (part.name === undefined ? toParts(part) : [{ text: `${part.name}:` }, ...toParts(part)]));
}

function toParts(part: ContentPart): GooglePart[] {
  const { type, text = '', url, data, mediaType } = part;
  if (type === 'reasoning') return [];
  if (url !== undefined) {
    if (!OWN_FILES.test(url)) throw new RefusedPart(part, "has a URL that Gemini can't fetch; send its data");
    return [{ fileData: { ...(mediaType !== undefined && { mimeType: mediaType }), fileUri: url } }];
  }
  if (data !== undefined) return [inlineData(part)];
  return text === '' ? [] : [{ text }];
}

/** A part with data. */
export function inlineData({ mediaType = '', data = '' }: ContentPart): GoogleInlineData {
  return { inlineData: { mimeType: mediaType, data } };
}
