// Words of the search in what was said.
import { count, plural } from '../base/format.ts';

export const searchText = {
  title: 'Search',
  field: 'Search in what was said',
  hint: 'Words, or "a phrase"',
  begin: 'Finds messages, answers and memories of all blocks, the archived ones too.',
  none: 'Nothing that was said has all these words.',
  searching: 'Searching…',
  archived: 'archived',
  incomplete: 'There are more blocks than a search looks at. These are the ones with the newest messages.',
} as const;

/** Whose words a text is. */
export const SAID_BY = { message: 'You', answer: 'Answer', summary: 'Summary', fact: 'Fact' } as const;

/** `20 of 1,234 texts`. */
export function hitsText(shown: number, total: number): string {
  return shown === total ? plural(total, 'text', 'texts') : `The newest ${count(shown)} of ${plural(total, 'text', 'texts')}`;
}

/** What the palette offers for a text. */
export function searchForText(text: string): string {
  return `Search in what was said: ${text}`;
}

export function unreadableText(names: readonly string[]): string {
  return `The files of ${names.join(', ')} can't be read, so their newest texts may be missing.`;
}
