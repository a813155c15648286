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

/** What blocks say to any model; one of a type that is not known is left out with a warning. Throws INVALID_REQUEST naming the field. */
export function partsOf(content: unknown, path: string, notes: Notes): ContentPart[] {
  return blocksOf(content, path).flatMap(({ block, path: at }) => partsIn(block, at, notes));
}

/** The parts of one block; none for a block of a type that is not known. */
export function partsIn(block: Fields, path: string, notes: Notes): ContentPart[] {
  const parts = plainParts(block, path, notes);
  if (parts === undefined) {
    notes.warnings.push({ field: path, message: 'A block of this type is not known, so it was left out.' });
    return [];
  }
  const last = parts.length - 1; // a mark is behind its block
  return parts.map((part, index) => notes.sources.note(index === last ? { ...part, ...cacheOf(block) } : part, path));
}

/** The cache mark of a block or a tool. */
export function cacheOf({ cache_control: mark }: Fields): { cache?: '5m' | '1h' } {
  if (!isObject(mark)) return {};
  return { cache: mark['ttl'] === '1h' ? '1h' : '5m' };
}

function plainParts(block: Fields, path: string, notes: Notes): ContentPart[] | undefined {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: text(block, 'text', `${path}.text`) ?? '' }];
    case 'image':
      return [{ type: 'image', ...sourceOf(block, path) }];
    case 'document':
      return documentOf(block, path, notes);
    case 'search_result':
      return [searchResult(block, path, notes)];
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

function documentOf(block: Fields, path: string, notes: Notes): ContentPart[] {
  noteCitations(block, path, notes);
  const context = text(block, 'context', `${path}.context`) ?? '';
  const title = text(block, 'title', `${path}.title`);
  const name = title === undefined || title === '' ? {} : { name: title.slice(0, 256) };
  return [...(context === '' ? [] : [{ type: 'text' as const, text: context }]), ...contentsOf(block, path, notes).map((part) => named(part, name))];
}

function named(part: ContentPart, name: Pick<ContentPart, 'name'>): ContentPart {
  return part.type === 'document' ? { ...part, ...name } : part;
}

/** A document is one part, and one with images several. */
function contentsOf(block: Fields, path: string, notes: Notes): ContentPart[] {
  const at = `${path}.source`;
  const source = objectAt(block['source'], at);
  if (source['type'] === 'text') return [{ type: 'document', mediaType: 'text/plain', text: requiredText(source, 'data', `${at}.data`) }];
  if (source['type'] !== 'content') return [{ type: 'document', ...sourceOf(block, path) }];
  const parts: ContentPart[] = [];
  for (const part of partsOf(source['content'], `${at}.content`, notes)) {
    const last = parts.at(-1);
    if (part.type !== 'text') parts.push(part);
    else if (last?.type === 'document') parts[parts.length - 1] = { ...last, text: `${last.text}\n${part.text}` };
    else parts.push({ type: 'document', mediaType: 'text/plain', text: part.text ?? '' });
  }
  return parts;
}

/** No other provider's answer names its sources in a form that could be passed on. */
function noteCitations({ citations }: Fields, path: string, { warnings }: Notes): void {
  if (isObject(citations) && citations['enabled'] === true) warnings.push({ field: `${path}.citations`, message: 'The answer will have no citations.' });
}

function searchResult(block: Fields, path: string, notes: Notes): ContentPart {
  noteCitations(block, path, notes);
  const texts = partsOf(block['content'], `${path}.content`, notes).map((part) => part.text ?? '');
  const head = [text(block, 'title', `${path}.title`), text(block, 'source', `${path}.source`)].filter(Boolean).join('\n');
  return { type: 'text', text: [head, ...texts].filter((one) => one !== '').join('\n\n') };
}
