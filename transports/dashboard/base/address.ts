// The address of the page, and the way to another one.
import { signal } from '@preact/signals';

/** Every page lies below this path. */
export const BASE = '/ui/';

/** Path and query of the page that is shown. */
export const address = signal(BASE);

/** Fields of a query; undefined and empty ones are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

type Guard = () => boolean;
const guards = new Set<Guard>();

/** Asks before the page is left: `guard` returns true to stay. Call the returned function when nothing holds it any more. */
export function guardLeaving(guard: Guard): () => void {
  guards.add(guard);
  return () => guards.delete(guard);
}

/** Shows a page. `replace` leaves no step to go back to. */
export function navigate(to: string, { replace = false } = {}): void {
  if (to === address.peek()) return;
  if (new URL(to, location.href).pathname !== location.pathname && [...guards].some((guard) => guard())) return;
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  address.value = to;
}

/** Changes fields of the query; undefined or empty removes one. */
export function setQuery(changes: Query): void {
  const query = { ...Object.fromEntries(new URLSearchParams(location.search)), ...changes };
  navigate(`${location.pathname}${queryText(query)}`, { replace: true });
}

/** Follows the browser's own back and forward, and links within the page. */
export function runAddress(): void {
  address.value = location.pathname + location.search;
  addEventListener('popstate', () => {
    if (location.pathname !== address.peek().split('?')[0] && [...guards].some((guard) => guard())) {
      history.pushState(null, '', address.peek());
      return;
    }
    address.value = location.pathname + location.search;
  });
  addEventListener('beforeunload', (event) => {
    if (guards.size > 0) event.preventDefault();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest?.('a[href]');
    const to = link?.getAttribute('href') ?? '';
    if (!to.startsWith(BASE) || link?.hasAttribute('download') === true) return;
    event.preventDefault();
    navigate(to);
  });
}

/** The query as text, with its question mark; empty without fields. */
export function queryText(query: Query): string {
  const text = new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')).toString();
  return text === '' ? '' : `?${text}`;
}
