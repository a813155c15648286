// The contents of a block's files: initial contents, defaults, and the checks after reading. Pure: no I/O.
import { assertTimezone } from '../../base/calendar.ts';
import { isObject } from '../../base/json.ts';
import { BlockAdapter, type BlockConfig, BlockConfigFile } from '../../schemas/block-config.ts';
import { type BlockCosts, CostsFile } from '../../schemas/block-costs.ts';
import { type BlockMemory, MemoryFile } from '../../schemas/block-memory.ts';
import { type BlockPulse, PulseFile } from '../../schemas/block-pulse.ts';
import { defaultsOf } from '../../schemas/fields.ts';
import { ScheduleFile, type ScheduleState } from '../../schemas/block-api.ts';
import { IS_SECRET, secretField } from '../../schemas/secret-fields.ts';
import { compile, faultOf } from '../../schemas/validate.ts';

const checkConfig = compile(BlockConfigFile);
const checkMemory = compile(MemoryFile);
const checkCosts = compile(CostsFile);
const checkPulse = compile(PulseFile);
const checkSchedules = compile(ScheduleFile);

/** Content that must not be copied anywhere, because it may hold a key. */
export class UncopiedDamage extends Error {}

/** The configuration of a new block. */
export const CONFIG_DEFAULTS = defaultsOf(BlockConfigFile.properties) as unknown as Omit<BlockConfig, 'name' | 'createdAt' | 'updatedAt' | 'rev'>;

const ADAPTER_DEFAULTS = defaultsOf(BlockAdapter.properties);

/** Fills in missing fields, also inside objects; unknown fields stay. `at` replaces missing times. */
export function completeConfig(fields: Readonly<Record<string, unknown>>, name: string, at: string): BlockConfig {
  const merged: Record<string, unknown> = { name };
  for (const [field, fallback] of Object.entries(CONFIG_DEFAULTS)) {
    const given = fields[field];
    merged[field] = isObject(fallback) && isObject(given) ? { ...fallback, ...given } : (given ?? fallback);
  }
  const adapter = fields['adapter'];
  if (isObject(adapter)) merged['adapter'] = { ...ADAPTER_DEFAULTS, ...adapter };
  const own = { createdAt: fields['createdAt'] ?? at, updatedAt: fields['updatedAt'] ?? at, rev: fields['rev'] ?? 1 };
  return { ...merged, ...unknownFields(fields, merged), ...own } as unknown as BlockConfig;
}

function unknownFields(fields: Readonly<Record<string, unknown>>, known: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !Object.hasOwn(known, field)));
}

/**
 * Checks and completes config.json. Throws an Error that says what is wrong: an invalid field, another name than `name`, or a field that
 * looks like a key. `at` replaces missing times.
 */
export function parseConfig(value: unknown, name: string, at: string): BlockConfig {
  const secret = secretField(value); // first, because a damaged file is copied and the copy must not contain a key
  if (secret !== undefined) throw new UncopiedDamage(`${secret} ${IS_SECRET}`);
  const fields = checked(checkConfig, value);
  if (fields['name'] !== name) throw new Error(`name must be ${JSON.stringify(name)}, the name of its folder`);
  const config = completeConfig(fields, name, at);
  // A schema can't list the time zones, and without this check a wrong one would be noticed only after the first paid call.
  checked(() => assertTimezone(config.budget.timezone), config);
  return config;
}

/** The memory of a new block. */
export function freshMemory(maxTokens: number = CONFIG_DEFAULTS.memory.maxContextTokens): BlockMemory {
  return {
    summary: '',
    summaryUpdatedAt: null,
    facts: [],
    window: { firstKeptId: null, messages: 0, tokens: 0, maxTokens, percent: 0 },
    compactions: [],
    compactionCount: 0,
  };
}

/** Checks and completes memory.json. Throws an Error that names the invalid field. */
export function parseMemory(value: unknown): BlockMemory {
  return { ...freshMemory(), ...(checked(checkMemory, value) as unknown as BlockMemory) };
}

/** Checks and completes costs.json from `fresh`. Throws an Error that names the invalid field. */
export function parseCosts(value: unknown, fresh: BlockCosts): BlockCosts {
  return { ...fresh, ...(checked(checkCosts, value) as unknown as BlockCosts) };
}

/** The pulse of a block that has never run. */
export function freshPulse(): BlockPulse {
  return {
    status: 'SLEEPING',
    state: 'stopped',
    reason: null,
    desired: 'stopped',
    attention: false,
    lastPulse: null,
    lastRun: null,
    nextWakeUp: null,
    error: null,
    currentTask: null,
    startedAt: null,
    stoppedAt: null,
    uptimeSeconds: 0,
    restarts: 0,
    consecutiveFailures: 0,
    queue: { queued: 0, processing: 0, failed: 0, oldestQueuedAt: null },
    transitions: [],
  };
}

/** Checks and completes pulse.json. Throws an Error that names the invalid field. */
export function parsePulse(value: unknown): BlockPulse {
  return { ...freshPulse(), ...(checked(checkPulse, value) as unknown as BlockPulse) };
}

/** Checks schedule.json. Throws an Error that names the invalid field. */
export function parseSchedules(value: unknown): Readonly<Record<string, ScheduleState>> {
  const states = checked(checkSchedules, value) as unknown as Readonly<Record<string, ScheduleState>>;
  for (const [id, { last }] of Object.entries(states)) {
    if (Number.isNaN(Date.parse(last))) throw new Error(`${id}.last must be a time, such as 2026-11-20T08:00:00.000Z`);
  }
  return states;
}

/** The text of a file, indented because people edit these files by hand. */
export function formatFile(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Checks a file. Throws an Error without the word "body", which is for requests. */
function checked(check: (value: unknown) => void, value: unknown): Record<string, unknown> {
  try {
    check(value);
  } catch (error) {
    throw new Error(faultOf(error), { cause: error });
  }
  return value as Record<string, unknown>;
}
