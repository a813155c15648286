// The pages, in the order of the menu: one row for each.
import type { ComponentType } from 'preact';
import { type Route, route } from '../data/route.ts';
import { hasBlocks } from '../data/server.ts';
import Fleet from '../pages/fleet/fleet.tsx';
import type { IconName } from '../parts/icon.tsx';
import {
  archiveText,
  costsText,
  eventsText,
  firstRunText,
  fleetText,
  gatewayText,
  inboxText,
  playText,
  searchText,
  settingsText,
  toolsText,
} from '../text/index.ts';

/** A page. */
export interface PageRow {
  /** Its address below /ui/; the fleet is at /ui/ itself. */
  readonly id: string;
  readonly name: string;
  /** How the menu shows it. A page without is shown when something else leads to it. */
  readonly menu?: { readonly icon: IconName; readonly keys: string };
  /** True for a page about blocks, which a server without blocks does not have. */
  readonly isOfBlocks?: true;
  /** True for a page with a tab at the foot of a phone, which has room for seven with the search. */
  readonly isOnPhone?: boolean;
  /** Set for the page that is there from the beginning. */
  readonly view?: ComponentType;
  /** Loads any other page when it is first shown. */
  load?(): Promise<{ readonly default: ComponentType }>;
}

const ROWS: readonly PageRow[] = [
  { id: 'fleet', isOfBlocks: true, name: fleetText.title, menu: { icon: 'fleet', keys: 'g f' }, isOnPhone: true, view: Fleet },
  {
    id: 'inbox',
    isOfBlocks: true,
    name: inboxText.title,
    menu: { icon: 'bell', keys: 'g i' },
    isOnPhone: true,
    load: () => import('../pages/inbox/inbox.tsx'),
  },
  {
    id: 'gateway',
    name: gatewayText.title,
    menu: { icon: 'gateway', keys: 'g g' },
    isOnPhone: true,
    load: () => import('../pages/gateway/gateway.tsx'),
  },
  { id: 'playground', name: playText.title, menu: { icon: 'play', keys: 'g p' }, load: () => import('../pages/playground/playground.tsx') },
  { id: 'costs', name: costsText.title, menu: { icon: 'costs', keys: 'g c' }, isOnPhone: true, load: () => import('../pages/costs/costs.tsx') },
  {
    id: 'tools',
    isOfBlocks: true,
    name: toolsText.title,
    menu: { icon: 'tools', keys: 'g t' },
    isOnPhone: true,
    load: () => import('../pages/tools/tools.tsx'),
  },
  { id: 'events', name: eventsText.title, menu: { icon: 'events', keys: 'g e' }, load: () => import('../pages/events/events.tsx') },
  { id: 'archive', isOfBlocks: true, name: archiveText.title, menu: { icon: 'archive', keys: 'g a' }, load: () => import('../pages/archive/archive.tsx') },
  { id: 'search', isOfBlocks: true, name: searchText.title, menu: { icon: 'find', keys: 'g q' }, load: () => import('../pages/search/search.tsx') },
  {
    id: 'settings',
    name: settingsText.title,
    menu: { icon: 'settings', keys: 'g s' },
    isOnPhone: true,
    load: () => import('../pages/settings/settings.tsx'),
  },
  { id: 'start', isOfBlocks: true, name: firstRunText.title, load: () => import('../pages/first-run/first-run.tsx') },
];

/** The pages that this server has, once it is known. */
export function pages(): readonly PageRow[] {
  return hasBlocks ? ROWS : ROWS.filter(({ isOfBlocks }) => isOfBlocks !== true);
}

/** The row of what the address names; undefined if there is no such page. Without blocks, the page of the gateway comes first. */
export function rowOf({ page, block }: Route = route.value): PageRow | undefined {
  if (!hasBlocks) return pages().find(({ id }) => id === (page === 'fleet' ? 'gateway' : page));
  if (block !== undefined) return { id: `block ${block}`, name: block, load: () => import('../pages/block/block.tsx') };
  return ROWS.find(({ id }) => id === page);
}
