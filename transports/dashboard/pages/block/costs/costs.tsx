// Costs of a block.
import type { TabProps } from '../block.tsx';

/** The tab. */
export function Costs({ name }: TabProps) {
  return <div class="page">{name}</div>;
}
