// The parts of a message: which fields belong to which type, and the text in them. Pure: no I/O.
//
// as-written: The text parts of an assistant are joined without anything between them, because together they are what the model wrote. Those of other
//   roles are separate texts, so each has a line of its own.
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
const WEB_ADDRESS = /^https?:\/\/[^\s/?#]/i;
/** Exactly one of these is required. */
const SOURCES: Readonly<Record<ContentPart['type'], readonly Field[]>> = {
  text: ['text'],
  image: ['data', 'url'],
  document: ['data', 'url', 'text'],
  audio: ['data'],
  reasoning: ['text'],
};

/** The text of a content, for providers that take no parts (as-written). */
export function textOf(content: Content | undefined, role: string): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return textsIn(content).join(role === 'assistant' ? '' : '\n');
}

/** A text as parts. */
export function textParts(text: string): readonly ContentPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** True for a content that says nothing: without text or other parts. Reasoning alone is no answer, and providers refuse a turn of it. */
export function isBlank(content: Content | undefined): boolean {
  if (content === undefined || typeof content === 'string') return content === undefined || content.trim() === '';
  return content.every(({ type, text }) => type === 'reasoning' || (type === 'text' && (text ?? '').trim() === ''));
}

/**
 * The parts of a content; undefined if one text says everything. Several texts of a tool are one text, because most providers take no parts there. Throws
 * INVALID_REQUEST naming the field of a part that is wrong.
 */
export function partsOf(content: Content | undefined, role: string, path: string): readonly ContentPart[] | undefined {
  if (content === undefined || typeof content === 'string') return undefined;
  for (let index = 0; index < content.length; index += 1) assertPart(content[index] as ContentPart, role, `${path}[${index}]`);
  const isMore = content.some(({ type, cache, providerMetadata }) => type !== 'text' || cache !== undefined || providerMetadata !== undefined);
  return isMore || (role !== 'tool' && textsIn(content).length > 1) ? content : undefined;
}

/** Without empty ones. */
function textsIn(content: readonly ContentPart[]): string[] {
  const texts: string[] = [];
  for (const { type, text } of content) if (type === 'text' && text !== undefined && text !== '') texts.push(text);
  return texts;
}

/** A loop, because a conversation may have a hundred thousand parts. */
function strangeField(part: ContentPart): string | undefined {
  const allowed = FIELDS[part.type];
  for (const name in part) {
    if (name === 'type' || part[name as Field] === undefined) continue;
    if (!allowed.includes(name as Field) && !EVERYWHERE.includes(name as Field)) return name;
  }
  return undefined;
}

function assertPart(part: ContentPart, role: string, path: string): void {
  const { type } = part;
  if (type === 'reasoning' && role !== 'assistant') throw invalidRequest(path, 'is a reasoning, which belongs to role assistant only');
  if ((type === 'image' || type === 'document' || type === 'audio') && (role === 'system' || role === 'assistant')) {
    throw invalidRequest(path, `is ${type === 'image' || type === 'audio' ? 'an' : 'a'} ${type}, which belongs to the roles user and tool`);
  }
  const strange = strangeField(part);
  if (strange !== undefined) throw invalidRequest(`${path}.${strange}`, `does not belong to a part of type ${type}`);
  const sources = SOURCES[type];
  let given = 0;
  for (const name of sources) if (part[name] !== undefined) given += 1;
  if (given !== 1) {
    throw invalidRequest(path, sources.length === 1 ? `needs ${sources[0]}` : `needs exactly one of ${sources.join(', ')}`);
  }
  if (part.url !== undefined && !WEB_ADDRESS.test(part.url)) throw invalidRequest(`${path}.url`, 'must be an http or https URL');
  if (part.data !== undefined && part.mediaType === undefined) throw invalidRequest(`${path}.mediaType`, 'is required beside data');
}
