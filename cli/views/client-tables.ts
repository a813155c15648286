// The tables of `key ls` and `alias ls`, and how a model name resolves. Pure: no I/O.
import type { KeyList, ModelNames, ModelResolved } from '../../core/index.ts';
import { count, money, relative, spending } from '../terminal/format.ts';
import { type Column, table } from '../terminal/layout.ts';
import { oneLine } from '../terminal/output.ts';
import type { View } from './block-text.ts';

const KEYS: readonly Column[] = [
  { title: 'KEY' },
  { title: 'TODAY', align: 'right' },
  { title: 'CAP', align: 'right' },
  { title: 'MODELS', min: 10, drop: 2 },
  { title: 'EXPIRES', drop: 1 },
];

/** The table of `key ls`. */
export function keyTable(keys: KeyList['keys'], { now, ...view }: View): string[] {
  const rows = keys.map(({ name, spentToday, usdPerDay, tokensPerDay, unpriced, models, expiresAt }) => [
    name,
    tokensPerDay === null || usdPerDay !== null ? spending(spentToday.usd, spentToday.unpricedCalls) : `${count(spentToday.tokens)} tokens`,
    [usdPerDay === null ? '' : money(usdPerDay), tokensPerDay === null ? '' : `${count(tokensPerDay)} tokens`, unpriced === 'refuse' ? 'known prices only' : '']
      .filter(Boolean)
      .join(', ') || '-',
    models === null ? 'all' : models.join(' '),
    expiresAt === null ? 'never' : relative(expiresAt, now),
  ]);
  return table(KEYS, rows, view);
}

const ALIASES: readonly Column[] = [{ title: 'NAME' }, { title: 'STANDS FOR', min: 20 }];

/** The table of `alias ls`. */
export function aliasTable(aliases: ModelNames['aliases'], view: Omit<View, 'now'>): string[] {
  return table(
    ALIASES,
    aliases.map(({ name, targets }) => [name, targets.join(', then ')]),
    view,
  );
}

const BY: Readonly<Record<ModelResolved['by'], string>> = {
  alias: 'an alias',
  provider: 'its provider in front',
  list: 'the list of the provider',
  prefix: 'the way in which the provider names models',
  default: 'the default provider',
};

/** Lines that say which models a name means, and why. */
export function resolvedLines({ name, by, rule, targets }: ModelResolved): string[] {
  const [first, ...others] = targets.map(({ adapter, model }) => `${adapter}/${model}`);
  const reason = by === 'alias' && rule !== name ? `the alias ${rule}` : BY[by];
  return [`${name} → ${first} (by ${reason})`, ...others.map((other) => `then ${other}`)].map(oneLine);
}
