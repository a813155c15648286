// Logs of a block.
import type { TabProps } from '../block.tsx';

/** The tab. */
export function Logs({ name }: TabProps) {
  return <div class="page">{name}</div>;
}
