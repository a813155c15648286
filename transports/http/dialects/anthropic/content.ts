// The content blocks of a Messages request as parts. Pure: no I/O.
import { isObject } from '../../../../core/base/json.ts';
import { type ContentPart, invalidRequest, type Warning } from '../../../../core/index.ts';
import { type Fields, objectAt, requiredText, text } from '../shared/fields.ts';
import type { Sources } from '../shared/sources.ts';

/** Where what is ignored is noted, and where each part came from. */
export interface Notes {
  readonly warnings: Warning[];
  readonly sources: Sources;
}

/** The blocks of a content; a text is one block. Throws INVALID_REQUEST naming the field. */
export function blocksOf(content: unknown, path: string): readonly { readonly block: Fields; readonly path: string }[] {
  if (content == null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ block: { type: 'text', text: content }, path }];
  if (!Array.isArray(content)) throw invalidRequest(path, 'must be a string or a list of blocks');
  return content.map((block, index) => ({ block: objectAt(block, `${path}.${index}`), path: `${path}.${index}` }));
}

/** Blocks that say something to any model; one of a type that is not known is left out with a warning. Throws INVALID_REQUEST naming the field. */
export function partsOf(content: unknown, path: string, notes: Notes): ContentPart[] {
  return blocksOf(content, path).flatMap(({ block, path: at }) => partOf(block, at, notes) ?? []);
}

/** Undefined for a block of a type that is not known. */
export function partOf(block: Fields, path: string, notes: Notes): ContentPart | undefined {
  const part = plainPart(block, path, notes);
  if (part === undefined) {
    notes.warnings.push({ field: path, message: 'A block of this type is not known, so it was left out.' });
    return undefined;
  }
  return notes.sources.note({ ...part, ...cacheOf(block) }, path);
}

/** The cache mark of a block or a tool. */
export function cacheOf({ cache_control: mark }: Fields): { cache?: '5m' | '1h' } {
  if (!isObject(mark)) return {};
  return { cache: mark['ttl'] === '1h' ? '1h' : '5m' };
}

function plainPart(block: Fields, path: string, notes: Notes): ContentPart | undefined {
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: text(block, 'text', `${path}.text`) ?? '' };
    case 'image':
      return { type: 'image', ...sourceOf(block, path) };
    case 'document':
      return documentOf(block, path, notes);
    case 'search_result':
      return searchResult(block, path, notes);
    default:
      return undefined;
  }
}

function sourceOf(block: Fields, path: string): { mediaType: string; data: string } | { url: string } {
  const at = `${path}.source`;
  const source = objectAt(block['source'], at);
  switch (source['type']) {
    case 'base64':
      return { mediaType: requiredText(source, 'media_type', `${at}.media_type`), data: requiredText(source, 'data', `${at}.data`) };
    case 'url':
      return { url: requiredText(source, 'url', `${at}.url`) };
    case 'file':
      throw invalidRequest(at, 'names a stored file, and this server stores none; send its content');
    default:
      throw invalidRequest(`${at}.type`, 'must be base64 or url');
  }
}

function documentOf(block: Fields, path: string, notes: Notes): ContentPart {
  const at = `${path}.source`;
  const source = objectAt(block['source'], at);
  const title = text(block, 'title', `${path}.title`);
  const name = title === undefined || title === '' ? {} : { name: title.slice(0, 256) };
  if (source['type'] === 'text') return { type: 'document', mediaType: 'text/plain', text: requiredText(source, 'data', `${at}.data`), ...name };
  if (source['type'] !== 'content') return { type: 'document', ...sourceOf(block, path), ...name };
  const texts = partsOf(source['content'], `${at}.content`, notes).map((part) => part.text ?? '');
  return { type: 'document', mediaType: 'text/plain', text: texts.join('\n'), ...name };
}

function searchResult(block: Fields, path: string, notes: Notes): ContentPart {
  const texts = partsOf(block['content'], `${path}.content`, notes).map((part) => part.text ?? '');
  const head = [text(block, 'title', `${path}.title`), text(block, 'source', `${path}.source`)].filter(Boolean).join('\n');
  return { type: 'text', text: [head, ...texts].filter((one) => one !== '').join('\n\n') };
}
