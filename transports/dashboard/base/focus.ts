// Where the focus goes when what had it goes away.
//
// never-lost: focus moves to what stands next to it, and at last to the page itself; never to nowhere, from where keys would begin at the top.
const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex]:not([tabindex="-1"])';

/** Looks after the focus for as long as the page lives. */
export function runFocus(): void {
  let last: Element | undefined;
  addEventListener('focusin', ({ target }) => {
    last = target instanceof Element ? target : undefined;
  });
  const watcher = new MutationObserver((records) => {
    if (last === undefined || (last.isConnected && !last.matches(':disabled'))) return;
    const lost = last;
    last = undefined;
    if (document.activeElement !== null && document.activeElement !== document.body && document.activeElement !== lost) return;
    const gone = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(lost)));
    const near = gone === undefined ? [lost.nextSibling, lost.previousSibling, lost.parentNode] : [gone.nextSibling, gone.previousSibling, gone.target];
    (nextTo(near) ?? document.querySelector<HTMLElement>('main'))?.focus({ preventScroll: true });
  });
  watcher.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled'] });
}

/** The first thing that takes the focus in one of these places, then in those around the last of them, within the page's own part. */
function nextTo(places: readonly (Node | null)[]): HTMLElement | undefined {
  for (const place of places) {
    const found = place instanceof Element && place.isConnected ? takes(place) : undefined;
    if (found !== undefined) return found;
  }
  let around = places.at(-1) ?? null;
  while (around instanceof Element && around.isConnected && around.closest('main, nav, [role="dialog"]') !== around) {
    const found = takes(around);
    if (found !== undefined) return found;
    around = around.parentElement;
  }
  return undefined;
}

function takes(place: Element): HTMLElement | undefined {
  const all = [...(place.matches(FOCUSABLE) ? [place as HTMLElement] : []), ...place.querySelectorAll<HTMLElement>(FOCUSABLE)];
  return all.find((each) => each.offsetParent !== null);
}
