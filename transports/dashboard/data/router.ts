// Which page is shown: the address below /ui/ says it, and nothing that it says is ever done.
import { computed, signal } from '@preact/signals';

/** Tabs of a block, in their order. */
export const TABS = ['chat', 'memory', 'config', 'logs', 'costs', 'history'] as const;
export type Tab = (typeof TABS)[number];

/** Pages besides those of blocks, in the order of the menu. */
export const PAGES = ['fleet', 'gateway', 'playground', 'costs', 'events', 'archive', 'settings'] as const;
export type Page = (typeof PAGES)[number];

/** What the address names. */
export type Route =
  | { readonly page: Page | 'start'; readonly query: URLSearchParams }
  | { readonly page: 'block'; readonly block: string; readonly tab: Tab; readonly query: URLSearchParams }
  | { readonly page: 'unknown'; readonly query: URLSearchParams };

const BASE = '/ui/';
const address = signal(location.pathname + location.search);

/** The page that is shown. */
export const route = computed(() => routeOf(address.value));

/** The route of a path with its query, such as `/ui/blocks/support/logs?level=warn`. */
export function routeOf(target: string): Route {
  const url = new URL(target, 'http://page');
  const query = url.searchParams;
  const [first = '', second, third = 'chat', ...more] = url.pathname.startsWith(BASE) ? url.pathname.slice(BASE.length).split('/') : ['?'];
  if (first === '') return { page: 'fleet', query };
  if (first === 'blocks' && second !== undefined && more.length === 0) {
    const tab = TABS.find((name) => name === third);
    const block = decoded(second);
    if (tab !== undefined && block !== undefined) return { page: 'block', block, tab, query };
  }
  if (second === undefined && first === 'start') return { page: 'start', query };
  const page = second === undefined ? PAGES.find((name) => name === first) : undefined;
  return page === undefined ? { page: 'unknown', query } : { page, query };
}

/** The address of a page. */
export function pathOf(page: Page | 'start', query: Readonly<Record<string, string | undefined>> = {}): string {
  return `${BASE}${page === 'fleet' ? '' : page}${queryText(query)}`;
}

/** The address of a block. */
export function blockPath(block: string, tab: Tab = 'chat', query: Readonly<Record<string, string | undefined>> = {}): string {
  return `${BASE}blocks/${encodeURIComponent(block)}${tab === 'chat' ? '' : `/${tab}`}${queryText(query)}`;
}

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
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  navigate(`${location.pathname}${text === '' ? '' : `?${text}`}`, { replace: true });
}

/** Follows the browser's own back and forward, and links within the page. */
export function runRouter(): void {
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

function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const text = new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')).toString();
  return text === '' ? '' : `?${text}`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
