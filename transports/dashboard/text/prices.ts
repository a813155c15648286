// Words of prices.
import type { BillComparison } from '../../../core/types.ts';
import { count, NONE, plural } from '../base/format.ts';
import { ownOf } from '../base/own.ts';
import type { PricedRow, TypedPrice } from '../data/prices.ts';

export const pricesText = {
  title: 'Prices',
  lead: 'In USD for a million tokens. A price that you set counts from the next call on; calls that have ended keep what they cost then.',
  none: 'No model has a price of its own. Models without one cost what the price data say.',
  model: 'Model',
  input: 'In',
  output: 'Out',
  cacheRead: 'From cache',
  from: 'From',
  uncounted: 'Not priced',
  set: 'Set price…',
  change: 'Change…',
  add: 'Set a price…',
  remove: 'Remove',
  save: 'Set the price',
  modelHelp: 'connection/model, with a * at the end for all that begin so.',
  kind: 'Price',
  kinds: { rates: 'By tokens', free: 'Free', like: 'As another model' },
  cacheReadLong: 'In, from the cache',
  cacheWriteLong: 'In, into the cache',
  cacheHelp: 'As dear as input if empty.',
  like: 'Costs as much as',
  likeHelp: 'A model of the price data, such as openai/gpt-4o-mini.',
  wrongModel: 'Use connection/model, such as gpu/prod.',
  wrongAmount: 'An amount in USD, such as 0.59.',
  toPrices: 'See prices',
  commands: 'Commands for this price',
} as const;

/** The fault of a field of the form. */
export function wrongPriceText(field: keyof TypedPrice, wrong: ReadonlySet<string>): string | undefined {
  if (!wrong.has(field)) return undefined;
  return field === 'model' || field === 'like' ? pricesText.wrongModel : pricesText.wrongAmount;
}

/** USD for a million tokens, with as many decimals as it has. */
export function rateText(rate: number | undefined): string {
  return rate === undefined ? NONE : `$${rate}`;
}

/** Where a price comes from; a source that this page does not know keeps its own name. */
export function priceFromText({ price }: PricedRow): string {
  if (price === undefined || price.from === null) return 'not known';
  const texts: Readonly<Record<string, string>> = { own: 'auth.json', file: 'prices.json', data: 'price data', provider: 'told by the provider' };
  const from = ownOf(texts, price.from) ?? price.from;
  return price.like === null ? from : `${from}, as ${price.like}`;
}

/** `27 calls`; nothing where all are counted. */
export function uncountedCallsText(uncounted: number): string {
  return uncounted === 0 ? '' : count(uncounted);
}

export function priceSetText(model: string): string {
  return `The price of ${model} is set.`;
}

export function priceRemovedText(model: string): string {
  return `The price of ${model} is removed from auth.json.`;
}

export const billText = {
  title: 'Compare with a bill',
  lead: 'Takes an export of a provider’s bill, a CSV file, and shows the days (UTC) and models on which it and the calls of blocks and clients differ by more than half a percent. Nothing of it is stored.',
  connection: 'Whose bill',
  connectionHelp: 'The provider or connection. It can be empty if only one was called.',
  columns: 'Columns',
  columnsHelp: 'Only for an export that is not known, such as date=Day,model=SKU,usd=Cost.',
  choose: 'Choose a file…',
  day: 'Day',
  model: 'Model',
  amount: 'Amount',
  amounts: { usd: 'USD', input: 'In', output: 'Out' },
  ours: 'Ours',
  theirs: 'Theirs',
  uncounted: 'Not priced',
} as const;

/** `41 lines of openai agree, 1 differs.` */
export function comparedText({ connection, matched, differs }: BillComparison): string {
  return `${plural(matched, 'line', 'lines')} of ${connection} ${matched === 1 ? 'agrees' : 'agree'}, ${plural(differs.length, 'differs', 'differ')}.`;
}

/** An amount of a bill, with as many decimals of a dollar as bills have. */
export function amountText(amount: keyof typeof billText.amounts, value: number | undefined): string {
  if (value === undefined) return NONE;
  return amount === 'usd' ? `$${value.toFixed(6)}` : count(value);
}

export function moreRowsText(rows: number): string {
  return `${plural(rows, 'more row is', 'more rows are')} not shown; \`blockhouse costs --reconcile <file>\` prints all.`;
}
