// The addresses of the pages, from the page's own table.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const TABLE = readFileSync(resolve(import.meta.dirname, '../../transports/dashboard/app/pages.ts'), 'utf8');

/** The ids of the pages in the order of the menu. */
export const PAGE_IDS: readonly string[] = [...TABLE.matchAll(/\bid: '([\w-]+)'/g)].map(([, id = '']) => id);

/** `/ui/`, `/ui/gateway`, … */
export const PAGE_PATHS: readonly string[] = PAGE_IDS.map((id) => (id === 'fleet' ? '/ui/' : `/ui/${id}`));
