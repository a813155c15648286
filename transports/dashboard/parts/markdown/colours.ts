// Colours code without touching it: what is found in it becomes ranges of the browser's highlights, so that no node is made and a selection stays. Loaded with
// the first code that has colours.
import { findsIn } from './languages.ts';

/** Colours the text of an element, until the returned function is called. A browser without highlights shows it plain. */
export function colour(element: Element, language: string): () => void {
  if (typeof Highlight === 'undefined') return () => undefined;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let node = walker.nextNode() as Text | null;
  let before = 0;
  const placeOf = (at: number): readonly [Text, number] | undefined => {
    while (node !== null && at > before + node.length) {
      before += node.length;
      node = walker.nextNode() as Text | null;
    }
    return node === null ? undefined : [node, at - before];
  };
  const made: (readonly [Highlight, StaticRange])[] = [];
  for (const [kind, start, end] of findsIn(element.textContent, language)) {
    const [from, to] = [placeOf(start), placeOf(end)];
    if (from === undefined || to === undefined) break;
    // Not a live range: each of those costs something with every change of the document.
    const range = new StaticRange({ startContainer: from[0], startOffset: from[1], endContainer: to[0], endOffset: to[1] });
    const highlight = CSS.highlights.get(kind) ?? new Highlight();
    CSS.highlights.set(kind, highlight.add(range));
    made.push([highlight, range]);
  }
  return () => {
    for (const [highlight, range] of made) highlight.delete(range);
  };
}
