// The JSON text of the list of blocks.
//
// written-once: an entry is serialised once, and the whole list too, because the core returns the same frozen objects until
// something changes. A dashboard that polls 10,000 blocks costs a lookup, not their serialisation.
// weakly-held: a text is garbage collected together with its entry or its list.
import type { BlockEntry } from '../../../core/index.ts';
import { JSON_TYPE, Written } from './reply.ts';

/** The answer of `GET /api/blocks`. */
export interface BlockListAnswer {
  readonly blocks: readonly BlockEntry[];
}

const texts = new WeakMap<BlockEntry, string>(); // weakly-held
const lists = new WeakMap<readonly BlockEntry[], Written<BlockListAnswer>>();

/** The body `{"blocks":[…]}` of these entries, as UTF-8 bytes. */
export function blockListText(entries: readonly BlockEntry[]): Written<BlockListAnswer> {
  const known = lists.get(entries);
  if (known !== undefined) return known; // written-once
  const written = new Written<BlockListAnswer>(Buffer.from(`{"blocks":[${entries.map(entryText).join(',')}]}`), JSON_TYPE);
  lists.set(entries, written);
  return written;
}

function entryText(entry: BlockEntry): string {
  const known = texts.get(entry);
  if (known !== undefined) return known; // written-once
  const text = JSON.stringify(entry);
  texts.set(entry, text);
  return text;
}
