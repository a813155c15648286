// The programs that ask models through this server: their keys with limits and spending, and the names that they may use for models. What is typed is checked here.
import type { ChangeKey, CreateKey, KeyGroupList, KeyList, ModelNames, ModelResolved, SetAlias } from '../../../core/types.ts';
import { call, get, post } from './http.ts';

export type ProgramKey = KeyList['keys'][number];
export type Alias = ModelNames['aliases'][number];
export type Failure = NonNullable<SetAlias['on']>[number];

/** The keys, and the names of the groups in which a key may be. Rejects with an ApiError. */
export async function readKeys(): Promise<{ readonly keys: readonly ProgramKey[]; readonly groups: readonly string[] }> {
  const [{ keys }, { groups }] = await Promise.all([get<KeyList>('/api/keys'), get<KeyGroupList>('/api/key-groups')]);
  return { keys, groups: groups.map(({ name }) => name) };
}

/** What names of models mean. Rejects with an ApiError. */
export async function readNames(): Promise<ModelNames> {
  return get<ModelNames>('/api/models');
}

/** The answer is the only one that ever has the key: whoever shows it keeps it nowhere. Rejects with an ApiError. */
export async function createKey(body: CreateKey): Promise<{ readonly key: string; readonly warnings?: readonly { readonly message: string }[] }> {
  return post('/api/keys', body);
}

/** Changes the named limits only, so that a change of others that somebody makes meanwhile stays. Rejects with an ApiError. */
export async function changeLimits(name: string, limits: ChangeKey): Promise<void> {
  await call('PATCH', `/api/keys/${encodeURIComponent(name)}`, { body: limits });
}

/** Deletes what was kept of its calls. Rejects with an ApiError. */
export async function endDebug(name: string): Promise<void> {
  await call('DELETE', `/api/keys/${encodeURIComponent(name)}/debug`);
}

/** Rejects with an ApiError. */
export async function revokeKey(name: string): Promise<void> {
  await call('DELETE', `/api/keys/${encodeURIComponent(name)}`);
}

/** Rejects with an ApiError. */
export async function setAlias(name: string, alias: SetAlias): Promise<void> {
  await call('PUT', modelURL(name), { body: alias });
}

/** Rejects with an ApiError. */
export async function removeAlias(name: string): Promise<void> {
  await call('DELETE', modelURL(name));
}

/** Null for none. Rejects with an ApiError. */
export async function setDefaultProvider(defaultProvider: string | null): Promise<void> {
  await call('PUT', '/api/models', { body: { defaultProvider } });
}

/** What a name means now. Rejects with an ApiError. */
export async function resolveName(name: string): Promise<ModelResolved> {
  return get<ModelResolved>(modelURL(name));
}

function modelURL(name: string): string {
  return `/api/models/${encodeURIComponent(name)}`;
}

/** A cap of a key, and what is spent of it. */
export interface CapOfKey {
  readonly field: (typeof CAPS)[number][0];
  readonly cap: number;
  readonly spent: number;
}

const CAPS = [
  ['usdPerDay', 'spentToday', 'usd'],
  ['usdPerWeek', 'spentThisWeek', 'usd'],
  ['usdPerMonth', 'spentThisMonth', 'usd'],
  ['tokensPerDay', 'spentToday', 'tokens'],
  ['tokensPerMonth', 'spentThisMonth', 'tokens'],
] as const;

/** The caps that a key has. */
export function capsOfKey(key: ProgramKey): readonly CapOfKey[] {
  return CAPS.flatMap(([field, period, unit]) => {
    const cap = key[field];
    return cap === null ? [] : [{ field, cap, spent: key[period][unit] }];
  });
}

export const USD_FIELDS = ['usdPerDay', 'usdPerWeek', 'usdPerMonth'] as const;
export const COUNT_FIELDS = ['tokensPerDay', 'tokensPerMonth', 'inFlight', 'requestsPerMinute', 'tokensPerMinute'] as const;
export type NumberField = (typeof USD_FIELDS)[number] | (typeof COUNT_FIELDS)[number];

/** Limits as a person types them; an empty text is no limit. */
export interface TypedLimits extends Readonly<Record<NumberField, string>> {
  /** A pattern in each line. */
  readonly models: string;
  /** The same of blocks; a star alone is all of them. */
  readonly blocks: string;
  /** What it may do with them. */
  readonly rights: ProgramKey['rights'];
  readonly group: string;
  /** The last day, as fields of dates have it. */
  readonly lastDay: string;
  /** Undefined until a person has chosen. */
  readonly refuses: boolean | undefined;
}

/** The limits of a key, or none, as they would be typed. */
export function typedLimits(key?: ProgramKey): TypedLimits {
  const numbers = Object.fromEntries([...USD_FIELDS, ...COUNT_FIELDS].map((field) => [field, String(key?.[field] ?? '')])) as Record<NumberField, string>;
  return {
    ...numbers,
    models: key?.models?.join('\n') ?? '',
    blocks: key?.blocks?.join('\n') ?? (key !== undefined && key.rights.length > 0 ? ALL_BLOCKS : ''),
    rights: key?.rights ?? [],
    group: key?.group ?? '',
    lastDay: key?.expiresAt == null ? '' : dayOf(new Date(key.expiresAt)),
    refuses: key && key.unpriced === 'refuse',
  };
}

/** A key with caps in USD alone refuses what those caps would not count, unless a person chooses otherwise. */
export function refusesUnpriced(typed: TypedLimits): boolean {
  const hasTokens = typed.tokensPerDay !== '' || typed.tokensPerMonth !== '';
  return typed.refuses ?? (!hasTokens && USD_FIELDS.some((field) => typed[field] !== ''));
}

const ALL_BLOCKS = '*';

function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

/** The limits that differ from `before`, or the fields that are no numbers. */
export function limitsOf(typed: TypedLimits, before: TypedLimits | undefined): ChangeKey | ReadonlySet<string> {
  const isUsd = (field: string): boolean => USD_FIELDS.some((each) => each === field);
  const numbers = [...USD_FIELDS, ...COUNT_FIELDS].map((field) => [field, numberOf(typed[field], isUsd(field))] as const);
  const wrong = new Set<string>(numbers.filter(([, value]) => value === undefined).map(([field]) => field));
  if (wrong.size > 0) return wrong;
  const [models, blocks] = [linesOf(typed.models), linesOf(typed.blocks)];
  const all: ChangeKey = {
    ...(Object.fromEntries(numbers) as ChangeKey),
    models: models.length === 0 ? null : models,
    rights: blocks.length === 0 ? [] : rightsOf(typed),
    blocks: blocks.length === 0 || blocks.includes(ALL_BLOCKS) ? null : blocks,
    group: typed.group === '' ? null : typed.group,
    expiresAt: typed.lastDay === '' ? null : new Date(`${typed.lastDay}T23:59:59`).toISOString(),
    unpriced: refusesUnpriced(typed) ? 'refuse' : 'allow',
  };
  if (before === undefined) return all;
  const isSame: Readonly<Record<string, boolean>> = {
    expiresAt: typed.lastDay === before.lastDay,
    rights: typed.blocks === before.blocks && typed.rights.join() === before.rights.join(),
    unpriced: refusesUnpriced(typed) === refusesUnpriced(before),
  };
  return Object.fromEntries(
    Object.entries(all).filter(([field]) => !(isSame[field] ?? typed[field as keyof TypedLimits] === before[field as keyof TypedLimits])),
  );
}

/** The rights with or without that of other agents. What it may ask as models stays. */
export function withAgents(rights: ProgramKey['rights'], may: boolean): ProgramKey['rights'] {
  return may ? [...new Set([...rights, 'blocks', 'mcp'] as const)] : rights.filter((right) => right !== 'mcp');
}

/** A key that other agents have keeps its rights, and gets no others with another list. */
function rightsOf({ rights }: TypedLimits): ProgramKey['rights'] {
  return rights.includes('mcp') ? rights : ['blocks'];
}

/** Null for an empty text, undefined for one that is no number. Thousands may be set apart where only whole numbers may stand. */
function numberOf(text: string, isUsd: boolean): number | null | undefined {
  if (text.trim() === '') return null;
  const plain = isUsd ? text.trim().replace(',', '.') : text.replace(/[\s.,_']/g, '');
  if (!(isUsd ? /^\d+(\.\d+)?$/ : /^\d+$/).test(plain)) return undefined;
  return !isUsd && Number(plain) === 0 ? undefined : Number(plain);
}

function dayOf(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Failures after which the next model is asked where an alias says nothing of them. */
export const USUAL: readonly Failure[] = ['rate', 'down', 'key', 'context'];
export const FAILURES: readonly Failure[] = [...USUAL, 'content'];

/** A model of an alias as it is typed; the weight is empty where there is none. */
export interface TypedTarget {
  readonly model: string;
  readonly weight: string;
}

/** The models of an alias as they are sent, or undefined where one of them is none. Empty rows are left out. */
export function targetsOf(typed: readonly TypedTarget[]): SetAlias['targets'] | undefined {
  const rows = typed.filter(({ model }) => model.trim() !== '');
  const isWrong = rows.some(({ model, weight }) => !/^[^/\s]+\/\S+$/.test(model.trim()) || !/^([1-9]\d{0,2}|1000)?$/.test(weight.trim()));
  if (isWrong || rows.length === 0) return undefined;
  return rows.map(({ model, weight }) => (weight.trim() === '' ? model.trim() : { model: model.trim(), weight: Number(weight) }));
}

/** A line for a shell that asks a model with a key. */
export function curlLine(origin: string, key: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }).replaceAll("'", "'\\''");
  return `curl ${origin}/v1/chat/completions -H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${body}'`;
}

/** A model for a first question: an alias before a model, and one that the key may use. */
export function firstModel({ aliases, models }: ModelNames, patterns: readonly string[] | null | undefined): string | undefined {
  const names = [...aliases.map(({ name }) => name).filter((name) => !name.includes('*')), ...models.map(({ id }) => id)];
  if (patterns == null) return names[0];
  const fits = patterns.map(
    (pattern) =>
      new RegExp(
        `^${pattern
          .split('*')
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('.*')}$`,
      ),
  );
  return names.find((name) => fits.some((pattern) => pattern.test(name))) ?? patterns.find((pattern) => !pattern.includes('*'));
}
