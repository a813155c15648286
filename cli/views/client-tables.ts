// The tables of `key ls`, `key group ls` and `alias ls`, and how a model name resolves. Pure: no I/O.
import type { KeyGroupList, KeyList, ModelNames, ModelResolved } from '../../core/index.ts';
import { count, money, plural, relative, spending } from '../terminal/format.ts';
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

/** Of the keys of a group in one sentence. */
const MAX_NAMED = 5;

type Limits = Omit<KeyGroupList['groups'][number], 'name' | 'keys'>;

/** The table of `key ls`. `groups`: those that the keys are in. */
export function keyTable(keys: KeyList['keys'], { now, ...view }: View, groups: KeyGroupList['groups'] = []): string[] {
  const groupOf = new Map(groups.map((group) => [group.name, group]));
  const hasGroups = keys.some(({ group }) => group !== null);
  const hasBlocks = keys.some((key) => blocksOf(key) !== '-');
  const rows = keys.map((key) => [
    key.name,
    ...(hasGroups ? [key.group ?? '-'] : []),
    spentToday(key, groupOf.get(key.group ?? '')),
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

/** In the units of its caps, those of its group among them. */
function spentToday(limits: Limits, ofGroup?: Limits): string {
  const { usd, tokens, unpricedCalls } = limits.spentToday;
  const has = (unit: 'usd' | 'tokens'): boolean =>
    CAPS.some((cap) => cap.unit === unit && (limits[cap.field] !== null || (ofGroup?.[cap.field] ?? null) !== null));
  const inTokens = has('tokens') ? [`${count(tokens)} tokens`] : [];
  return (inTokens.length === 0 || has('usd') ? [spending(usd, unpricedCalls), ...inTokens] : inTokens).join(', ');
}

function capsOf(limits: Limits): string {
  const { usdPerDay, usdPerWeek, usdPerMonth, tokensPerDay, tokensPerMonth, inFlight, requestsPerMinute, tokensPerMinute, unpriced } = limits;
  const caps = [
    usdPerDay === null ? '' : money(usdPerDay),
    usdPerWeek === null ? '' : `${money(usdPerWeek)} a week`,
    usdPerMonth === null ? '' : `${money(usdPerMonth)} a month`,
    tokensPerDay === null ? '' : plural(tokensPerDay, 'token'),
    tokensPerMonth === null ? '' : `${plural(tokensPerMonth, 'token')} a month`,
    inFlight === null ? '' : `${count(inFlight)} at once`,
    requestsPerMinute === null ? '' : `${plural(requestsPerMinute, 'request')} a minute`,
    tokensPerMinute === null ? '' : `${plural(tokensPerMinute, 'token')} a minute`,
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

/** Of the groups with a cap that is used up, the lines that say so, in the words of `key ls`. `hint` gives a command of this program as it is typed. */
export function reachedGroups(keys: KeyList['keys'], groups: KeyGroupList['groups'], hint: (...words: string[]) => string): string[] {
  return groups.flatMap((group) =>
    reachedCaps(group).map(({ cap, option, value }) => {
      const names = keys.filter((key) => key.group === group.name).map(({ name }) => oneLine(name));
      const shown = names.length <= MAX_NAMED ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${count(names.length - MAX_NAMED)} more`;
      return `The group ${oneLine(group.name)} has reached its cap of ${cap}, which holds for its keys ${shown}. \`${hint('key', 'group', 'set', group.name, option, value)}\` raises it.`;
    }),
  );
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
