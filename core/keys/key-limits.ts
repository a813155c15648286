// The limits that hold for a key: its own, and those of its group. Every one of them must hold. Pure: no I/O.
import { invalidRequest } from '../errors.ts';
import type { ShownKey, ShownKeyGroup } from '../types.ts';

/** Limits of a key or of a group. Null means that there is no limit. */
export type Figures = Omit<ShownKeyGroup, 'name' | 'keys'>;

/** What a key may do. Null means that there is no limit. */
export type KeyLimits = Omit<ShownKey, 'name' | 'createdAt' | 'rev'>;

/** The limits of one key or one group. */
export interface Bound extends Figures {
  readonly kind: 'key' | 'group';
  readonly name: string;
}

/**
 * What three parts of the accounts have found for a key. Each part checks that an entry is its own. It lies with the key because each call needs it: a look-up by the key
 * would cost more than most of what is done with it.
 */
export interface KeptForCalls {
  rates: unknown;
  sums: unknown;
  places: unknown;
}

/** All limits that hold for a key. */
export interface Bounds {
  /** Its own, and those of its group. */
  readonly bounds: readonly Bound[];
  /** True if one of them is a cap in USD. */
  readonly capsUsd: boolean;
  /** True if one of them is a cap in tokens. */
  readonly capsTokens: boolean;
  /** True if one of them counts tokens, in a day, a month or a minute. */
  readonly countsTokens: boolean;
  /** True if one of them refuses calls without a known price. */
  readonly refusesUnpriced: boolean;
  /** True if one of them holds by the minute. */
  readonly hasRates: boolean;
  /** A change of the keys makes new objects, with which nothing is kept yet. */
  readonly kept: KeptForCalls;
}

/** The limits of a key whose group has the limits `ofGroup`. */
export function boundsOf({ name, group, ...own }: { readonly name: string } & KeyLimits, ofGroup: Figures | undefined): Bounds {
  const bounds: Bound[] = [{ kind: 'key', name, ...figuresOf(own) }];
  if (group !== null && ofGroup !== undefined) bounds.push({ kind: 'group', name: group, ...figuresOf(ofGroup) });
  return {
    bounds,
    capsUsd: bounds.some(capsUsd),
    capsTokens: bounds.some(capsTokens),
    countsTokens: bounds.some((bound) => capsTokens(bound) || bound.tokensPerMinute !== null),
    refusesUnpriced: bounds.some(({ unpriced }) => unpriced === 'refuse'),
    hasRates: bounds.some(({ requestsPerMinute, tokensPerMinute }) => requestsPerMinute !== null || tokensPerMinute !== null),
    kept: { rates: undefined, sums: undefined, places: undefined },
  };
}

/** True if one of these limits is a cap in USD. */
export function capsUsd({ usdPerDay, usdPerWeek, usdPerMonth }: Partial<Figures>): boolean {
  return usdPerDay != null || usdPerWeek != null || usdPerMonth != null;
}

/** True if one of these limits is a cap in tokens. */
export function capsTokens({ tokensPerDay, tokensPerMonth }: Partial<Figures>): boolean {
  return tokensPerDay != null || tokensPerMonth != null;
}

/** Throws INVALID_REQUEST naming the field. */
export function checkedFigures(limits: Partial<Figures>): Figures {
  return {
    usdPerDay: amount(limits.usdPerDay, 'usdPerDay'),
    usdPerWeek: amount(limits.usdPerWeek, 'usdPerWeek'),
    usdPerMonth: amount(limits.usdPerMonth, 'usdPerMonth'),
    tokensPerDay: amount(limits.tokensPerDay, 'tokensPerDay'),
    tokensPerMonth: amount(limits.tokensPerMonth, 'tokensPerMonth'),
    inFlight: wholeNumber(limits.inFlight, 'inFlight'),
    requestsPerMinute: wholeNumber(limits.requestsPerMinute, 'requestsPerMinute'),
    tokensPerMinute: wholeNumber(limits.tokensPerMinute, 'tokensPerMinute'),
    unpriced: choice(limits.unpriced),
  };
}

const NO_FIGURES = checkedFigures({});

/** Without other fields. */
function figuresOf(limits: Figures): Figures {
  return Object.fromEntries(Object.keys(NO_FIGURES).map((field) => [field, limits[field as keyof Figures]])) as unknown as Figures;
}

/** True for a field that may stand in a group. */
export function isFigure(field: string): boolean {
  return Object.hasOwn(NO_FIGURES, field);
}

function amount(value: unknown, field: string): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw invalidRequest(field, 'must be a number of 0 or more');
  return value;
}

function wholeNumber(value: unknown, field: string): number | null {
  if (value === undefined || value === null) return null;
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw invalidRequest(field, 'must be a whole number of 1 or more');
  return value as number;
}

/** Keys of earlier versions have no choice, and go on as they were. */
function choice(value: unknown): Figures['unpriced'] {
  if (value === undefined || value === null) return 'allow';
  if (value !== 'allow' && value !== 'refuse') throw invalidRequest('unpriced', 'must be "allow" or "refuse"');
  return value;
}
