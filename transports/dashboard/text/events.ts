// Words of the page of events.
import { count, plural } from '../base/format.ts';

export const eventsText = {
  title: 'Events',
  filter: 'Filter',
  filterHint: 'Name, block or provider',
  pause: 'Pause',
  go: 'Go on',
  none: 'No event yet. They appear here as they happen; the server keeps them from when this page first asks.',
  noneFound: 'No event fits the filter.',
  at: 'When',
  name: 'What',
  about: 'About',
  details: 'Details',
  kept: 'The newest 1,000 are kept.',
} as const;

/** A hole in the list. */
export function missedText(events: number): string {
  return `${plural(events, 'event', 'events')} happened faster than they could be sent.`;
}

/** `12 new` on the button that goes on. */
export function newText(events: number): string {
  return `${count(events)} new`;
}
