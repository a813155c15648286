// What a store remembers of a copy that it holds. Pure: no I/O.
import { isObject, tryParseJson } from '../../base/json.ts';
import { BlockhouseError } from '../../errors.ts';
import type { CopyNote } from './copied.ts';

/** A note that can't be read stands for a copy of an unknown source that is not whole. */
export function parseNote(text: string): CopyNote {
  const value = tryParseJson(text);
  const { source, from, isWhole } = isObject(value) ? value : {};
  return { source: String(source), from: String(from), isWhole: isWhole === true };
}

/** What a server gets that would use a copy that is not whole. */
export function halfCopy(place: string, { from }: CopyNote): BlockhouseError {
  return new BlockhouseError('WORKSPACE_DAMAGED', `${place} holds a copy of ${from} that is not whole. Run \`blockhouse copy\` again, which goes on with it.`);
}
