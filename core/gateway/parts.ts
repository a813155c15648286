// The parts of a message: which fields belong to which type, and the text in them. Pure: no I/O.
import { invalidRequest } from '../errors.ts';
import type { ContentPart } from '../types.ts';

/** The content of a message as callers write it. */
export type Content = string | readonly ContentPart[];

type Field = keyof Omit<ContentPart, 'type'>;

/** The fields of each type, besides those that any part may have. */
const FIELDS: Readonly<Record<ContentPart['type'], readonly Field[]>> = {
  text: ['text'],
  image: ['mediaType', 'data', 'url', 'detail'],
  document: ['mediaType', 'data', 'url', 'text', 'name'],
  audio: ['mediaType', 'data'],
  reasoning: ['text'],
};
const EVERYWHERE: readonly Field[] = ['cache', 'providerMetadata'];
/** Exactly one of these is required. */
const SOURCES: Readonly<Record<ContentPart['type'], readonly Field[]>> = {
  text: ['text'],
  image: ['data', 'url'],
  document: ['data', 'url', 'text'],
  audio: ['data'],
  reasoning: ['text'],
};

/** The text of a content: its text parts, a line for each. */
export function textOf(content: Content | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.flatMap(({ type, text }) => (type === 'text' && text !== undefined && text !== '' ? [text] : [])).join('\n');
}

/** The parts of a content; undefined if its text says everything. Throws INVALID_REQUEST naming the field of a part that is wrong. */
export function partsOf(content: Content | undefined, role: string, path: string): readonly ContentPart[] | undefined {
  if (content === undefined || typeof content === 'string') return undefined;
  for (const [index, part] of content.entries()) assertPart(part, role, `${path}[${index}]`);
  return content.some(({ type, cache, providerMetadata }) => type !== 'text' || cache !== undefined || providerMetadata !== undefined) ? content : undefined;
}

function assertPart(part: ContentPart, role: string, path: string): void {
  const { type } = part;
  if (type === 'reasoning' && role !== 'assistant') throw invalidRequest(path, 'is a reasoning, which belongs to role assistant only');
  if ((type === 'image' || type === 'document' || type === 'audio') && (role === 'system' || role === 'assistant')) {
    throw invalidRequest(path, `is ${type === 'image' || type === 'audio' ? 'an' : 'a'} ${type}, which belongs to the roles user and tool`);
  }
  const allowed = [...FIELDS[type], ...EVERYWHERE];
  const strange = (Object.keys(part) as (keyof ContentPart)[]).find((name) => name !== 'type' && part[name] !== undefined && !allowed.includes(name as Field));
  if (strange !== undefined) throw invalidRequest(`${path}.${strange}`, `does not belong to a part of type ${type}`);
  const sources = SOURCES[type];
  if (sources.filter((name) => part[name] !== undefined).length !== 1) {
    throw invalidRequest(path, sources.length === 1 ? `needs ${sources[0]}` : `needs exactly one of ${sources.join(', ')}`);
  }
  if (part.data !== undefined && part.mediaType === undefined) throw invalidRequest(`${path}.mediaType`, 'is required beside data');
}
