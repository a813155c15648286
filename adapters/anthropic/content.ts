// The parts of messages in Anthropic's words. Pure: no I/O.
import { type ContentPart, RefusedPart } from '../../core/index.ts';
import type { AnthropicBlock, DocumentSource, ImageSource } from './schema.ts';

/** How long a prefix may be cached. */
export type Cache = NonNullable<ContentPart['cache']>;
/** The parts of a request that the caller marked for caching, in their order. */
export type CacheMarks = { readonly target: { cache_control?: unknown }; readonly cache: Cache }[];

const IMAGES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/**
 * The blocks of a user's turn, or of a tool's result. Reasoning is left out: Claude takes its own back with its signatures only. Throws
 * INVALID_REQUEST for a file type that Claude does not read.
 */
export function toBlocks(parts: readonly ContentPart[], marks: CacheMarks): AnthropicBlock[] {
  return parts.flatMap((part): AnthropicBlock[] => {
    const block = toBlock(part);
    if (block === undefined) return [];
    if (part.cache !== undefined) marks.push({ target: block, cache: part.cache });
    return [block];
  });
}

function toBlock(part: ContentPart): AnthropicBlock | undefined {
  switch (part.type) {
    case 'image':
      return { type: 'image', source: imageSource(part) };
    case 'document':
      return { type: 'document', source: documentSource(part), ...(part.name !== undefined && { title: part.name }) };
    case 'text':
      return part.text === undefined || part.text.trim() === '' ? undefined : { type: 'text', text: part.text };
    default:
      return undefined;
  }
}

function imageSource(part: ContentPart): ImageSource {
  const { url, data = '', mediaType = '' } = part;
  if (url !== undefined) return { type: 'url', url };
  if (!IMAGES.includes(mediaType)) throw new RefusedPart(part, `is of type ${mediaType}; Anthropic takes images of type ${IMAGES.join(', ')}`);
  return { type: 'base64', media_type: mediaType, data };
}

function documentSource(part: ContentPart): DocumentSource {
  const { url, text, data = '', mediaType = '' } = part;
  if (url !== undefined) return { type: 'url', url };
  if (text !== undefined) return { type: 'text', media_type: 'text/plain', data: text };
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data };
  // Anthropic takes base64 for PDF only, and text as text.
  if (mediaType.startsWith('text/')) return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') };
  throw new RefusedPart(part, `is of type ${mediaType}; Anthropic takes documents of type application/pdf, and text`);
}
