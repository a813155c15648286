// The key of one run of a program that `launch` starts.
//
// few-names: the name of a key is taken again by the next run, `launch-claude` or, while a run has that one, `launch-claude-2`, and so on. So neither keys nor the rows of
//   `costs --gateway` pile up, and what earlier runs have spent today counts for the caps of the next.
// ends-alone: the key expires a day after the last sign of its run. One that was killed leaves a key that refuses itself, and whose name is free then.
// own-run: a key is revoked only if it was made at the time at which this run has made its own, since its name may have been taken by another one.
import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../terminal/exit-codes.ts';
import type { Api } from './api.ts';

/** How long a key lives after the last sign of its run. */
const LIFE_MS = 86_400_000;
/** How often a run gives a sign. */
export const RENEW_EVERY_MS = 3_600_000;
/** More runs of one program at the same time than anybody starts. */
const MAX_RUNS = 100;
/** How long the calls of a program that has ended may take to be counted. */
const SETTLE_MS = 2000;
const POLL_MS = 50;

/** What a run has cost. */
export interface RunCosts {
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  /** Null if no call has a known price. */
  readonly costUsd: number | null;
  readonly unpricedCalls: number;
}

/** A key, from the start of a run to its end. */
export interface LaunchKey {
  readonly name: string;
  readonly key: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** What its name has cost before. */
  readonly before: RunCosts;
}

const NOTHING: RunCosts = { calls: 0, input: 0, output: 0, costUsd: null, unpricedCalls: 0 };

/** Makes the key of a run of `program` (few-names). Rejects with a CliError. */
export async function takeKey(api: Api, program: string, limits: object): Promise<LaunchKey> {
  const first = `launch-${wordOf(program)}`;
  for (let run = 1; run <= MAX_RUNS; run += 1) {
    const name = run === 1 ? first : `${first}-${run}`;
    const key = await created(api, { name, ...limits, expiresAt: inALife() });
    if (key === undefined) continue;
    const [{ keys }, before] = [await api.keys(), await costsOf(api, name)];
    return { name, key, before, createdAt: keys.find((one) => one.name === name)?.createdAt ?? '' };
  }
  throw new CliError('usage', `There are ${MAX_RUNS} keys of the name ${first} already; \`blockhouse key rm\` revokes some.`);
}

/** The sign of a run that goes on (ends-alone). Rejects with a CliError. */
export async function renewKey(api: Api, { name }: LaunchKey): Promise<void> {
  await api.changeKey(name, { expiresAt: inALife() });
}

/** Revokes the key (own-run), and resolves with what its run has cost. Rejects with a CliError. */
export async function endKey(api: Api, { name, createdAt, before }: LaunchKey): Promise<RunCosts> {
  await hasSettled(api, name);
  const { keys } = await api.keys();
  if (keys.some((one) => one.name === name && one.createdAt === createdAt)) await api.revokeKey(name);
  const after = await costsOf(api, name);
  return {
    calls: after.calls - before.calls,
    input: after.input - before.input,
    output: after.output - before.output,
    costUsd: after.costUsd === null ? null : after.costUsd - (before.costUsd ?? 0),
    unpricedCalls: after.unpricedCalls - before.unpricedCalls,
  };
}

/** The key; undefined if the name is taken. */
async function created(api: Api, key: object): Promise<string | undefined> {
  try {
    return (await api.createKey(key)).key;
  } catch (error) {
    if (error instanceof CliError && error.body?.code === 'NAME_TAKEN') return undefined;
    throw error;
  }
}

/** Waits until no call of the key is under way: those of a program that has ended end with its connections. */
async function hasSettled(api: Api, name: string): Promise<void> {
  for (let waited = 0; waited < SETTLE_MS; waited += POLL_MS) {
    const { live } = await api.gatewayRequests();
    if (!live.some(({ key }) => key === name)) return;
    await delay(POLL_MS);
  }
}

async function costsOf(api: Api, name: string): Promise<RunCosts> {
  const { rows } = await api.gatewayCosts('key');
  return rows.find(({ key }) => key === name) ?? NOTHING;
}

function inALife(): string {
  return new Date(Date.now() + LIFE_MS).toISOString();
}

/** A word for the name of a key. */
function wordOf(program: string): string {
  const word = program
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  return word === '' ? 'program' : word.replace(/-$/, '');
}
