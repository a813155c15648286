// Finds what a key's cap in USD does not count, because its price is not known: models that may be called, and calls of today. Reads only.
import { toBlockhouseError } from '../errors.ts';
import type { ModelRouter } from '../routing/model-router.ts';
import { isBlockTarget, type ModelTarget } from '../routing/model-table.ts';
import type { Warning } from '../schemas/chat.ts';
import type { Finding } from '../schemas/workspace-api.ts';
import type { KeySpend, SettingStore } from '../store/port.ts';
import { type Bounds, capsTokens, capsUsd, type KeyLimits } from './key-limits.ts';
import { KEYS, KEYS_FILE } from './key-store.ts';
import { mayUse, type NamedKey } from './named-key.ts';

/** What the search needs. */
export interface UncountedOptions {
  readonly router: Pick<ModelRouter, 'offered' | 'resolve'>;
  isPriceKnown(target: ModelTarget): Promise<boolean>;
}

/** What the doctor needs. */
export interface ExaminedKeys extends UncountedOptions {
  spentToday(key: string): Promise<KeySpend>;
}

/** A warning for a key that is to have these limits. */
export async function capWarnings(limits: Partial<KeyLimits>, options: UncountedOptions): Promise<Warning[]> {
  if (limits.unpriced !== 'refuse' && (!capsUsd(limits) || capsTokens(limits))) return [];
  const models = await unpricedModels(limits, options);
  if (models.length === 0) return [];
  if (limits.unpriced === 'refuse') {
    const message = `This key refuses calls of ${listed(models)}, because their price is not known; \`--unpriced allow\` lets it call them.`;
    return [{ field: 'unpriced', message }];
  }
  const message = `This cap does not count calls of ${listed(models)}, because their price is not known; set tokensPerDay (\`--tokens-per-day\`) as well, or refuse such calls (\`--unpriced refuse\`).`;
  return [{ field: CAPS_IN_USD.find((field) => limits[field] != null) ?? 'usdPerDay', message }];
}

/** The doctor's findings in keys.json. */
export async function keyFindings(settings: SettingStore, options: ExaminedKeys): Promise<Finding[]> {
  const { good, fault } = await settings.check('keys', KEYS);
  if (fault !== undefined) return [{ severity: 'error', place: KEYS_FILE, problem: fault, fix: 'Repair it or remove it; until then its keys are refused.' }];
  const keys = [...(good?.byHash.values() ?? [])];
  const findings: Finding[] = [];
  for (const key of keys.filter(hasOnlyCapInUsd)) findings.push(...(await uncountedIn(key, options)));
  return findings;
}

async function uncountedIn(key: NamedKey, options: ExaminedKeys): Promise<Finding[]> {
  const problems: string[] = [];
  const models = key.refusesUnpriced ? [] : await unpricedModels(key, options);
  if (models.length > 0) problems.push(`the cap in USD of ${key.name} does not count calls of ${listed(models)}, because their price is not known`);
  const { calls, unpricedCalls } = await options.spentToday(key.name);
  if (unpricedCalls > 0)
    problems.push(`the cap in USD of ${key.name} did not count ${unpricedCalls} of its ${calls} calls today, because their price is not known`);
  const fix = `Give the key a cap in tokens or let it refuse such calls: \`blockhouse key set ${key.name} --tokens-per-day <count>\`, or \`--unpriced refuse\`.`;
  return problems.map((problem) => ({ severity: 'warning', place: KEYS_FILE, problem, fix }));
}

const CAPS_IN_USD = ['usdPerDay', 'usdPerWeek', 'usdPerMonth'] as const;

function hasOnlyCapInUsd(key: Bounds): boolean {
  return key.capsUsd && !key.capsTokens;
}

/** As provider/model: the models without a price, among those that are offered now and those that the key names. */
async function unpricedModels({ models = null }: Partial<KeyLimits>, options: UncountedOptions): Promise<string[]> {
  const { router, isPriceKnown } = options;
  const named = (models ?? []).filter((pattern) => !pattern.includes('*'));
  const offered = (await router.offered().catch(unlessUnknown))?.map(({ id }) => id) ?? [];
  const own = offered.filter((id) => [id, id.slice(id.indexOf('/') + 1)].some((name) => mayUse({ models }, name)));
  const found = new Set<string>();
  for (const name of [...named, ...own]) {
    const resolved = await router.resolve(name).catch(unlessUnknown);
    for (const target of resolved?.targets ?? []) if (!isBlockTarget(target) && !(await isPriceKnown(target))) found.add(`${target.adapter}/${target.model}`);
  }
  return [...found];
}

/** An alias without a target can't be called. While models.json is damaged, which the doctor reports, no alias can be called. */
function unlessUnknown(error: unknown): undefined {
  const { code } = toBlockhouseError(error);
  if (code !== 'MODEL_NOT_FOUND' && code !== 'WORKSPACE_DAMAGED') throw error;
}

function listed([first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return first;
  return `${first} and ${others.length === 1 ? 'another model' : `${others.length} other models`}`;
}
