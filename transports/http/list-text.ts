// The JSON text of the list of blocks.
//
// L1 An entry is written out once: the core hands out the same frozen object until its block changes. A page that
//    watches 10,000 blocks costs a walk over texts, not their making.
// L2 A text lives no longer than its entry, or its list.
// L3 Nor is the whole written out again while nothing has changed: the core hands out the same list, too.
import type { BlockEntry } from '../../core/index.ts';
import { JSON_TYPE, Written } from './reply.ts';

export interface BlockListAnswer {
  readonly blocks: readonly BlockEntry[];
}

const texts = new WeakMap<BlockEntry, string>(); // L2
const lists = new WeakMap<readonly BlockEntry[], Written<BlockListAnswer>>();

/** `{"blocks":[…]}` */
export function blockListText(entries: readonly BlockEntry[]): Written<BlockListAnswer> {
  const known = lists.get(entries);
  if (known !== undefined) return known; // L3
  const written = new Written<BlockListAnswer>(Buffer.from(`{"blocks":[${entries.map(entryText).join(',')}]}`), JSON_TYPE);
  lists.set(entries, written);
  return written;
}

function entryText(entry: BlockEntry): string {
  const known = texts.get(entry);
  if (known !== undefined) return known; // L1
  const text = JSON.stringify(entry);
  texts.set(entry, text);
  return text;
}
