// The table of `prices`. Pure: no I/O.
import type { ShownPrice } from '../../core/index.ts';
import { type Column, table } from '../terminal/layout.ts';
import type { View } from './block-text.ts';

const PRICES: readonly Column[] = [
  { title: 'MODEL' },
  { title: 'INPUT', align: 'right' },
  { title: 'OUTPUT', align: 'right' },
  { title: 'CACHE READ', align: 'right', drop: 2 },
  { title: 'CACHE WRITE', align: 'right', drop: 1 },
  { title: 'FROM' },
];

/** USD for a million tokens. */
export function priceTable(prices: readonly ShownPrice[], view: Omit<View, 'now'>): string[] {
  return table(
    PRICES,
    prices.map(({ model, from, price, like }) => [model, ...ratesOf(price, from), like === null ? (from ?? 'not known') : `${from}, like ${like}`]),
    view,
  );
}

/** `varies` for a price that is known, and not the same for all calls. */
function ratesOf(price: ShownPrice['price'], from: ShownPrice['from']): string[] {
  if (price === null) return from === null ? ['', '', '', ''] : from === 'provider' ? ['told', 'told', '', ''] : ['varies', 'varies', '', ''];
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  return [input, output, cacheRead, cacheWrite].map(String);
}
