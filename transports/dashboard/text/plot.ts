// Words of the plots.
import { clock } from '../base/format.ts';

export const plotText = {
  asTables: 'Plots as tables',
  in: 'Show a shorter time in the plots',
  out: 'Show a longer time in the plots',
  back: 'Earlier in the plots',
  on: 'Later in the plots',
  whole: 'Show the whole time',
  values: 'Values',
  time: 'Time',
} as const;

/** `14:10 to 14:25`. */
export function spanText(from: number, to: number): string {
  return `${clock(from)} to ${clock(to)}`;
}
