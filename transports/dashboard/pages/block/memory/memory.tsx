// Memory of a block.
import type { TabProps } from '../block.tsx';

/** The tab. */
export function Memory({ name }: TabProps) {
  return <div class="page">{name}</div>;
}
