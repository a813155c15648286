// Words of a block's logs and history.
import { plural } from '../base/format.ts';
import { ownOf } from '../base/own.ts';

export const logsText = {
  filter: 'Filter the lines',
  levels: 'Least level',
  file: 'File',
  download: 'Download',
  none: 'Nothing is logged yet.',
  noneFound: 'No line fits the filter.',
  entry: 'Show the message',
} as const;

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** `3 new lines` on the button that shows them. */
export function newLines(lines: number): string {
  return plural(lines, 'new line', 'new lines');
}

export const historyText = {
  now: 'Now',
  next: 'Next',
  cause: 'Cause',
  since: 'Since',
  failed: 'Failed messages',
  command: 'In a terminal',
  transitions: 'The last transitions',
  noTransitions: 'Nothing has happened yet.',
} as const;

const ACTORS: Readonly<Record<string, string>> = { user: 'you', monitor: 'by itself', budget: 'its cap', server: 'the server', provider: 'its provider' };

/** Who caused a transition; an unknown one by its own name. */
export function actorName(actor: string): string {
  return ownOf(ACTORS, actor) ?? actor;
}
