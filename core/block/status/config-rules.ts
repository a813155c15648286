// Decides which changes of a block's configuration are accepted. The merge is shallow: a given field replaces the old one as a whole, and all
// other fields stay. Pure: no I/O.
import { assertTimezone } from '../../base/calendar.ts';
import { hasMoreThan, isDeeperThan, isObject, MAX_JSON_DEPTH } from '../../base/json.ts';
import { BlockhouseError, invalidRequest } from '../../errors.ts';
import { type BlockConfig, BlockConfigPatch } from '../../schemas/block-config.ts';
import { IS_SECRET, secretField } from '../../schemas/secret-fields.ts';
import { compile, faultOf, type Validator } from '../../schemas/validate.ts';
import { completeConfig } from '../documents/document-codecs.ts';

/** Fields and elements; limited because a configuration is read and checked in one turn. */
const MAX_CONFIG_VALUES = 2000;
/** More than twice as much as one request can contain. */
const MAX_CONFIG_CHARACTERS = 2 * 1024 * 1024;
const checkPatch: Validator<object> = compile(BlockConfigPatch);
/** Only the server sets these. */
const FIXED = ['createdAt', 'updatedAt', 'rev'] as const;

/** Turns the name of a provider into its id. Throws INVALID_REQUEST, which names the field, for an unknown one. */
export type CanonicalProvider = (name: string, field: string) => string;
/** Throws INVALID_REQUEST, which names the field, for a base URL that can't be used with the provider. */
export type BaseURLCheck = (provider: string, baseURL: string, field: string) => void;

/** Throws INVALID_REQUEST, which names the field, for schedules that never run, or that are no schedules. */
export type ScheduleCheck = (before: BlockConfig, after: BlockConfig, place: string, now: number) => void;

/** The configuration with the change applied. Throws INVALID_REQUEST, which names the field. */
export function applyPatch(
  config: BlockConfig,
  patch: unknown,
  {
    canonical,
    checkBaseURL,
    at,
    place = '',
    checkSchedules,
  }: {
    readonly canonical: CanonicalProvider;
    readonly checkBaseURL: BaseURLCheck;
    readonly at: string;
    /** Before each field that is named. */
    readonly place?: string;
    /** Needed where the change has schedules. */
    readonly checkSchedules?: ScheduleCheck | undefined;
  },
): BlockConfig {
  const checked = checkedPatch(patch, config.name, place);
  const merged = { ...config, ...withCanonical(checked, canonical) };
  const { adapter } = checked as BlockConfigPatch;
  if (adapter?.baseURL !== undefined) checkBaseURL(adapter.provider, adapter.baseURL, `${place}adapter.baseURL`);
  assertConfigSize(merged);
  const complete = completeConfig(merged, config.name, at);
  checkSchedules?.(config, complete, place, Date.parse(at));
  return { ...complete, createdAt: config.createdAt, updatedAt: at, rev: config.rev + 1 };
}

function checkedPatch(patch: unknown, name: string, place: string): Record<string, unknown> {
  if (!isObject(patch)) throw invalidRequest('', 'The body must be a JSON object with the fields to change.');
  if (isDeeperThan(patch, MAX_JSON_DEPTH)) throw invalidRequest('', `The configuration nests deeper than ${MAX_JSON_DEPTH} levels.`);
  assertConfigSize(patch);
  const secret = secretField(patch);
  if (secret !== undefined) throw invalidRequest(`${place}${secret}`, IS_SECRET);
  checkPatch(patch);
  if (patch['name'] !== undefined && patch['name'] !== name) throw invalidRequest(`${place}name`, "can't be changed here; use `blockhouse rename`");
  const timezone = isObject(patch['budget']) ? patch['budget']['timezone'] : undefined;
  if (typeof timezone === 'string') assertTimezoneAt(place, timezone);
  return Object.fromEntries(Object.entries(patch).filter(([field]) => field !== 'name' && !(FIXED as readonly string[]).includes(field)));
}

/** Limits a merged configuration, because unknown fields are kept and could add up. Throws INVALID_REQUEST. */
export function assertConfigSize(config: object): void {
  if (hasMoreThan(config, MAX_CONFIG_VALUES))
    throw invalidRequest('', `The configuration would have more than ${MAX_CONFIG_VALUES} fields and elements; remove some.`);
  if (JSON.stringify(config).length > MAX_CONFIG_CHARACTERS)
    throw invalidRequest('', `The configuration would be longer than ${MAX_CONFIG_CHARACTERS} characters; shorten it.`);
}

function assertTimezoneAt(place: string, timezone: string): void {
  try {
    assertTimezone(timezone);
  } catch (error) {
    throw error instanceof BlockhouseError ? invalidRequest(`${place}budget.timezone`, faultOf(error).replace(/^\S+ /, '')) : error;
  }
}

function withCanonical(patch: Readonly<Record<string, unknown>>, canonical: CanonicalProvider): Record<string, unknown> {
  const { adapter, fallbacks } = patch as BlockConfigPatch;
  return {
    ...patch,
    ...(adapter !== undefined && adapter !== null && { adapter: { ...adapter, provider: canonical(adapter.provider, 'adapter.provider') } }),
    ...(fallbacks !== undefined && {
      fallbacks: fallbacks.map((one, index) => ({ ...one, provider: canonical(one.provider, `fallbacks[${index}].provider`) })),
    }),
  };
}
