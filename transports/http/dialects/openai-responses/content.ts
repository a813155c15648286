// The contents of messages and of tool results in a Responses request. Pure: no I/O.
import { type ContentPart, invalidRequest, type Warning } from '../../../../core/index.ts';
import { type Fields, objectAt, text } from '../shared/fields.ts';
import { audioPart, contentOfParts, sourceOf } from '../shared/media.ts';
import type { Sources } from '../shared/sources.ts';

/** Where what is ignored is noted, and where each part came from. */
export interface Notes {
  readonly warnings: Warning[];
  readonly sources: Sources;
}

/** A content of a message or of a result. Parts of a type that is not known are left out with a warning. Throws INVALID_REQUEST naming the field. */
export function contentOf(content: unknown, path: string, notes: Notes): string | ContentPart[] {
  if (content == null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalidRequest(path, 'must be a string or a list of parts');
  const parts = content.flatMap((given, index) => {
    const at = `${path}[${index}]`;
    const part = partOf(objectAt(given, at), at);
    if (part !== undefined) return [notes.sources.note(part, at)];
    notes.warnings.push({ field: at, message: 'A part of this type is not known, so it was left out.' });
    return [];
  });
  return contentOfParts(parts);
}

function partOf(part: Fields, path: string): ContentPart | undefined {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
      return { type: 'text', text: text(part, 'text', `${path}.text`) ?? '' };
    case 'refusal':
      return { type: 'text', text: text(part, 'refusal', `${path}.refusal`) ?? '' };
    case 'input_image':
      return imageOf(part, path);
    case 'input_file':
      return fileOf(part, path);
    case 'input_audio':
      return audioPart(part['input_audio'], `${path}.input_audio`);
    default:
      return undefined;
  }
}

function imageOf(part: Fields, path: string): ContentPart {
  refuseStored(part, path);
  const detail = part['detail'];
  return {
    type: 'image',
    ...sourceOf(part['image_url'], `${path}.image_url`),
    ...((detail === 'low' || detail === 'high' || detail === 'auto') && { detail }),
  };
}

function fileOf(part: Fields, path: string): ContentPart {
  refuseStored(part, path);
  const name = text(part, 'filename', `${path}.filename`)?.slice(-256);
  const source = part['file_data'] == null ? sourceOf(part['file_url'], `${path}.file_url`) : sourceOf(part['file_data'], `${path}.file_data`);
  return { type: 'document', ...source, ...(name !== undefined && name !== '' && { name }) };
}

function refuseStored(part: Fields, path: string): void {
  if (part['file_id'] != null) throw invalidRequest(`${path}.file_id`, 'names a stored file, which this server does not have; send its content');
}
