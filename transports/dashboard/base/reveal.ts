// What a link leads to within a page.
import { useEffect } from 'preact/hooks';

/** Scrolls to the element with this id and gives it the focus, once it is there. An element that is not focusable needs a `tabIndex` of -1. */
export function useReveal(id: string | undefined, isThere: boolean): void {
  useEffect(() => {
    const element = id === undefined || !isThere ? null : document.getElementById(id);
    element?.scrollIntoView({ block: 'center' });
    element?.focus({ preventScroll: true });
  }, [id, isThere]);
}
