// What a search has found, as text.
import type { SearchResult } from '../../core/index.ts';
import { relative } from '../terminal/format.ts';
import { fit } from '../terminal/layout.ts';
import { folded, manyLines, oneLine } from '../terminal/output.ts';
import type { View } from './block-text.ts';

type Hit = SearchResult['hits'][number];

/** For each text a heading and its excerpt, the newest last. */
export function searchLines({ hits }: Pick<SearchResult, 'hits'>, view: View): string[] {
  return hits.toReversed().flatMap((hit, index) => [...(index === 0 ? [] : ['']), heading(hit, view), ...folded(excerptLine(hit, view), view.width)]);
}

function heading({ block, archive, by, id, at }: Hit, { now, style, width }: View): string {
  const who = oneLine(archive === null ? block : `${block} (archived)`);
  const facts = [by === 'message' ? 'you' : by, ...(at === null ? [] : [relative(at, now)]), ...(id === null ? [] : [id])];
  return `${style.bold(who)}  ${style.dim(fit(oneLine(facts.join('  ')), Math.max(width - who.length - 2, 8)))}`;
}

/** The words that were found are bold. */
function excerptLine({ excerpt, marks }: Hit, { style }: View): string {
  let text = '';
  let at = 0;
  for (const [from = 0, to = 0] of marks) {
    text += inLine(excerpt.slice(at, from)) + style.bold(inLine(excerpt.slice(from, to)));
    at = to;
  }
  return (text + inLine(excerpt.slice(at))).trim();
}

function inLine(text: string): string {
  return manyLines(text).replaceAll('\n', ' ');
}
