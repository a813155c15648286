// The JSON text of the list of blocks.
//
// L1 An entry is written out once: the core hands out the same frozen object until its block changes. A page that
//    watches 10,000 blocks costs a walk over texts, not their making.
// L2 A text lives no longer than its entry.
import type { BlockEntry } from '../../core/index.ts';
import { Written } from './reply.ts';

const texts = new WeakMap<BlockEntry, string>(); // L2

/** `{"blocks":[…]}` */
export function blockListText(entries: readonly BlockEntry[]): Written {
  return new Written(`{"blocks":[${entries.map(entryText).join(',')}]}`);
}

function entryText(entry: BlockEntry): string {
  const known = texts.get(entry);
  if (known !== undefined) return known; // L1
  const text = JSON.stringify(entry);
  texts.set(entry, text);
  return text;
}
