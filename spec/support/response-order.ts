// What is wrong with the order of a streamed response; for the specs of the dialect and of whole servers.
import type { Fields } from './dialect-clients.ts';

/** What belongs to an item carries its place. */
const placeOf = (event: Fields): unknown => event['output_index'];

/** Faults of the events of one response, in words; none is good. */
export function orderFaults(events: readonly Fields[]): string[] {
  const faults: string[] = [];
  const items: Fields[] = [];
  let open: unknown;
  for (const [index, event] of events.entries()) {
    const at = `event ${index} (${String(event['type'])})`;
    if (event['sequence_number'] !== index) faults.push(`${at} has the number ${String(event['sequence_number'])}`);
    if (event['type'] === 'response.output_item.added') {
      if (open !== undefined) faults.push(`${at} comes while the item ${String(open)} is open`);
      if (placeOf(event) !== items.length) faults.push(`${at} has the place ${String(placeOf(event))}`);
      open = placeOf(event);
    } else if (placeOf(event) !== undefined && placeOf(event) !== open) faults.push(`${at} belongs to no open item`);
    if (event['type'] === 'response.output_item.done') {
      items.push(event['item'] as Fields);
      open = undefined;
    }
  }
  if (open !== undefined) faults.push(`the item ${String(open)} is not done`);
  const output = (events.at(-1)?.['response'] as Fields | undefined)?.['output'];
  if (JSON.stringify(output) !== JSON.stringify(items)) faults.push('the last event has other items than the stream');
  return faults;
}
