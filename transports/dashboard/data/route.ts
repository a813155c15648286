// Which page the address names; nothing that it says is ever done.
import { computed } from '@preact/signals';
import { address, BASE, type Query, queryText } from '../base/address.ts';

/** Tabs of a block, in their order. */
export const TABS = ['chat', 'memory', 'config', 'logs', 'costs', 'history', 'schedule'] as const;
export type Tab = (typeof TABS)[number];

/** What the address names. */
export interface Route {
  /** The id of a page, as the table of pages has it; `block` for a block, and an id that no page has for any other address. */
  readonly page: string;
  /** Set if a block is named. */
  readonly block?: string;
  readonly tab: Tab;
  readonly query: URLSearchParams;
}

/** The page that is shown. */
export const route = computed(() => routeOf(address.value));

/** The route of a path with its query, such as `/ui/blocks/support/logs?level=warn`. */
export function routeOf(target: string): Route {
  const url = new URL(target, 'http://page');
  const to = { tab: 'chat', query: url.searchParams } as const;
  const [first = '', second, third = 'chat', ...more] = url.pathname.startsWith(BASE) ? url.pathname.slice(BASE.length).split('/') : ['?'];
  if (second === undefined) return { ...to, page: first === '' ? 'fleet' : first };
  const tab = TABS.find((name) => name === third);
  const block = decoded(second);
  if (first !== 'blocks' || tab === undefined || block === undefined || more.length > 0) return { ...to, page: '?' };
  return { ...to, page: 'block', block, tab };
}

/** The address of a page, by its id in the table of pages. */
export function pathOf(page: string, query: Query = {}): string {
  return `${BASE}${page === 'fleet' ? '' : page}${queryText(query)}`;
}

/** The address of a block. */
export function blockPath(block: string, tab: Tab = 'chat', query: Query = {}): string {
  return `${BASE}blocks/${encodeURIComponent(block)}${tab === 'chat' ? '' : `/${tab}`}${queryText(query)}`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
