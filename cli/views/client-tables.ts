// The tables of `key ls`, `key group ls` and `alias ls`, and how a model name resolves. Pure: no I/O.
import type { KeyGroupList, KeyList, ModelNames, ModelResolved } from '../../core/index.ts';
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
const GROUP: Column = { title: 'GROUP', drop: 3 };
/** Shown where a key may ask one. */
const BLOCKS: Column = { title: 'BLOCKS', drop: 4 };

type Limits = Omit<KeyGroupList['groups'][number], 'name' | 'keys'>;

/** The table of `key ls`. */
export function keyTable(keys: KeyList['keys'], { now, ...view }: View): string[] {
  const hasGroups = keys.some(({ group }) => group !== null);
  const hasBlocks = keys.some((key) => blocksOf(key) !== '-');
  const rows = keys.map((key) => [
    key.name,
    ...(hasGroups ? [key.group ?? '-'] : []),
    spentToday(key),
    capsOf(key),
    key.models === null ? 'all' : key.models.join(' '),
    ...(hasBlocks ? [blocksOf(key)] : []),
    key.expiresAt === null ? 'never' : relative(key.expiresAt, now),
  ]);
  const [name, ...others] = KEYS as readonly [Column, ...Column[]];
  const withBlocks = hasBlocks ? [...others.slice(0, -1), BLOCKS, ...others.slice(-1)] : others;
  return table([name, ...(hasGroups ? [GROUP] : []), ...withBlocks], rows, view);
}

/** The blocks that a key may ask as models, or reach over MCP. */
function blocksOf({ trusted, ...key }: KeyList['keys'][number]): string {
  return trusted === true ? `${reachOf(key)}, trusted` : reachOf(key);
}

function reachOf({ rights, blocks }: Pick<KeyList['keys'][number], 'rights' | 'blocks'>): string {
  if (blocks === null && rights.length === 0) return '-';
  const names = blocks?.join(' ') ?? 'all';
  if (!rights.includes('mcp')) return names;
  return rights.includes('blocks') ? `${names} (also MCP)` : `${names} (MCP)`;
}

const GROUPS: readonly Column[] = [
  { title: 'GROUP' },
  { title: 'TODAY', align: 'right' },
  { title: 'CAP', align: 'right' },
  { title: 'KEYS', min: 10, drop: 1 },
];

/** The table of `key group ls`. */
export function groupTable(groups: KeyGroupList['groups'], view: Omit<View, 'now'>): string[] {
  const rows = groups.map((group) => [group.name, spentToday(group), capsOf(group), group.keys.join(' ') || '-']);
  return table(GROUPS, rows, view);
}

/** In the unit of its caps. */
function spentToday({ spentToday: { usd, tokens, unpricedCalls }, ...limits }: Limits): string {
  const { usdPerDay, usdPerWeek, usdPerMonth, tokensPerDay, tokensPerMonth } = limits;
  const hasOnlyTokens = (tokensPerDay !== null || tokensPerMonth !== null) && [usdPerDay, usdPerWeek, usdPerMonth].every((cap) => cap === null);
  return hasOnlyTokens ? `${count(tokens)} tokens` : spending(usd, unpricedCalls);
}

function capsOf(limits: Limits): string {
  const { usdPerDay, usdPerWeek, usdPerMonth, tokensPerDay, tokensPerMonth, inFlight, requestsPerMinute, tokensPerMinute, unpriced } = limits;
  const caps = [
    usdPerDay === null ? '' : money(usdPerDay),
    usdPerWeek === null ? '' : `${money(usdPerWeek)} a week`,
    usdPerMonth === null ? '' : `${money(usdPerMonth)} a month`,
    tokensPerDay === null ? '' : `${count(tokensPerDay)} tokens`,
    tokensPerMonth === null ? '' : `${count(tokensPerMonth)} tokens a month`,
    inFlight === null ? '' : `${count(inFlight)} at once`,
    requestsPerMinute === null ? '' : `${count(requestsPerMinute)} requests a minute`,
    tokensPerMinute === null ? '' : `${count(tokensPerMinute)} tokens a minute`,
    unpriced === 'refuse' ? 'known prices only' : '',
  ];
  return caps.filter(Boolean).join(', ') || '-';
}

const CAPS = [
  { field: 'usdPerDay', spent: 'spentToday', unit: 'usd', period: 'day' },
  { field: 'usdPerWeek', spent: 'spentThisWeek', unit: 'usd', period: 'week' },
  { field: 'usdPerMonth', spent: 'spentThisMonth', unit: 'usd', period: 'month' },
  { field: 'tokensPerDay', spent: 'spentToday', unit: 'tokens', period: 'day' },
  { field: 'tokensPerMonth', spent: 'spentThisMonth', unit: 'tokens', period: 'month' },
] as const;

/** The caps that are used up: each in words, with the option that raises it and the word for its value. */
export function reachedCaps(limits: Limits): { readonly cap: string; readonly option: string; readonly value: string }[] {
  return CAPS.flatMap(({ field, spent, unit, period }) => {
    const cap = limits[field];
    if (cap === null || limits[spent][unit] < cap) return [];
    return [
      {
        cap: `${unit === 'usd' ? money(cap) : `${count(cap)} tokens`} a ${period}`,
        option: `--${unit}-per-${period}`,
        value: unit === 'usd' ? '<amount>' : '<count>',
      },
    ];
  });
}

const ALIASES: readonly Column[] = [{ title: 'NAME' }, { title: 'STANDS FOR', min: 20 }];

/** The table of `alias ls`. */
export function aliasTable(aliases: ModelNames['aliases'], view: Omit<View, 'now'>): string[] {
  return table(
    ALIASES,
    aliases.map(({ name, targets, weights = [], on }) => [
      name,
      `${targets.map((target, index) => (weights[index] == null ? target : `${target}@${weights[index]}`)).join(', then ')}${on === undefined ? '' : ` (on ${on.join(', ') || 'nothing'})`}`,
    ]),
    view,
  );
}

const BY: Readonly<Record<ModelResolved['by'], string>> = {
  alias: 'an alias',
  block: 'the block of this name',
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
