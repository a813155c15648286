// The parts of messages in Converse's words. Pure: no I/O.
import { type ContentPart, RefusedPart } from '../../core/index.ts';
import { takesCachePoints } from './models.ts';
import type { BedrockBlock, CachePoint, MediaBlock } from './schema.ts';

const IMAGES: Readonly<Record<string, string>> = { 'image/jpeg': 'jpeg', 'image/png': 'png', 'image/gif': 'gif', 'image/webp': 'webp' };
const DOCUMENTS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
};

/** The cache point that follows a part with a mark. */
export function cachePoint(cache: ContentPart['cache']): CachePoint {
  return { cachePoint: { type: 'default', ...(cache === '1h' && { ttl: cache }) } };
}

/** Between a document and a cache point. */
const END: BedrockBlock = { text: '(end of the document)' };

/** Bedrock refuses a cache point right behind a document that is no PDF (`type: Field required`). Source: strands-agents issue 1966. */
export function takesPointBehind(block: object): boolean {
  return !('document' in block) || (block as { readonly document: { readonly format: string } }).document.format === 'pdf';
}

/** Makes the blocks of one request: the names of its documents differ, as Bedrock demands. */
export class BlockMaker {
  readonly #takesCachePoints: boolean;
  readonly #names = new Set<string>();

  constructor(model: string) {
    this.#takesCachePoints = takesCachePoints(model);
  }

  /**
   * The blocks of a turn. Reasoning is left out: a model takes its own back with its signatures only. Throws INVALID_REQUEST for a URL, and for a
   * file type that Bedrock does not read.
   */
  toBlocks(parts: readonly ContentPart[]): BedrockBlock[] {
    return parts.flatMap((part) => {
      const block = this.#toBlock(part);
      return block === undefined ? [] : this.withPoint([block], part.cache);
    });
  }

  /** The blocks, followed by a cache point if the part has a mark. */
  withPoint(blocks: BedrockBlock[], cache: ContentPart['cache']): BedrockBlock[] {
    if (cache === undefined || !this.#takesCachePoints) return blocks;
    return blocks.every(takesPointBehind) ? [...blocks, cachePoint(cache)] : [...blocks, END, cachePoint(cache)];
  }

  /** The blocks inside a tool's result, which has no cache points. */
  toResult(parts: readonly ContentPart[]): ({ text: string } | MediaBlock)[] {
    return parts.flatMap((part) => this.#toBlock(part) ?? []);
  }

  #toBlock(part: ContentPart): { text: string } | MediaBlock | undefined {
    const { type, text = '', data = '' } = part;
    if (type === 'text') return text.trim() === '' ? undefined : { text };
    if (type === 'reasoning') return undefined;
    if (part.url !== undefined) throw new RefusedPart(part, 'has a URL, which Bedrock does not fetch; send its data');
    if (type === 'image') return { image: { format: formatOf(IMAGES, part), source: { bytes: data } } };
    const name = this.#nameOf(part.name);
    if (part.text !== undefined) return { document: { format: 'txt', name, source: { bytes: Buffer.from(part.text).toString('base64') } } };
    return { document: { format: formatOf(DOCUMENTS, part), name, source: { bytes: data } } };
  }

  #nameOf(given: string | undefined): string {
    const clean =
      (given ?? '')
        .replace(/[^a-zA-Z0-9\s\-()[\]]/g, '-')
        .replace(/\s+/g, ' ')
        .slice(0, 190)
        .trim() || 'document';
    let name = clean;
    for (let n = 2; this.#names.has(name); n += 1) name = `${clean} ${n}`;
    this.#names.add(name);
    return name;
  }
}

function formatOf(formats: Readonly<Record<string, string>>, part: ContentPart): string {
  const { type, mediaType = '' } = part;
  const format = Object.hasOwn(formats, mediaType) ? formats[mediaType] : undefined;
  if (format === undefined) throw new RefusedPart(part, `is of type ${mediaType}; Bedrock takes ${type}s of type ${Object.keys(formats).join(', ')}`);
  return format;
}
