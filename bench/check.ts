// The small version of the bench for `npm run verify`: fails when the gateway costs much more beside the pipe than when `recorded.json` was
// written. The same method as the bench: pipe and gateway in turn, warm, ratios of processor time in one run; fewer rounds.
// `--record` writes the ratios of this run down. A start is compared with a bare Node, and has a fixed limit. A key with every limit is compared with the token;
// it is to cost no more than KEY_TARGET, which it does not reach yet, so what was recorded is its limit.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadStreams, loadWhole } from './harness/load.ts';
import { column, interleave } from './harness/rounds.ts';
import { measureStarts } from './harness/starts.ts';
import { ratioOf } from './harness/stats.ts';
import { type Conversations, gatewayTarget, makeKey, providerTarget, type Target } from './harness/targets.ts';
import { inWorld, warmStreams, warmWhole } from './harness/world.ts';

const MARGIN = 1.25;
const ROUNDS = 5;
const ROUND_MS = 1000;
const EVERY_MS = 5;
const STARTS = 11;
/** Times a bare `node -e 0`. */
const START_LIMIT = 3;
/** Times a request with the token, for one with a key that has every limit. */
const KEY_TARGET = 1.08;
const KEY_ROUNDS = 9;
const KEY_NAME = 'CPU per small request at 32 with a key that has every limit';
const FILE = join(import.meta.dirname, 'recorded.json');

type Ratios = Readonly<Record<string, number>>;

const measures: Readonly<Record<string, (targets: readonly Target[]) => Promise<number>>> = {
  'CPU per small request at 32': async (targets) => cpuRatio(targets, (target) => loadWhole(target, target.whole(80), { concurrency: 32, ms: ROUND_MS })),
  'CPU per 16 KiB request at 32': async (targets) => cpuRatio(targets, (target) => loadWhole(target, target.whole(16_384), { concurrency: 32, ms: ROUND_MS })),
  'CPU per frame at 16 streams': async (targets) =>
    cpuRatio(targets, (target) => loadStreams(target, target.stream(ROUND_MS / EVERY_MS, EVERY_MS), { concurrency: 16, ms: 0 })),
};

/** What a connection with one key may cost, beside the plain gateway in the same run. */
const CONNECTION_LIMIT = 1.03;
/** What a connection with four keys and a thousand conversations may cost, beside the plain gateway in the same run with the same requests. */
const KEYS_LIMIT = 1.08;
/** The names of the connections to the upstream of the bench (harness/processes.ts). */
const CONNECTION = 'upstream';
const FOUR_KEYS = 'fourkeys';
const CONVERSATIONS = 1000;

async function cpuRatio(targets: readonly Target[], measure: (target: Target) => Promise<{ readonly cpuUs: number }>): Promise<number> {
  const rounds = await interleave(targets, ROUNDS, measure);
  return ratioOf(
    column(rounds, 'gateway', ({ cpuUs }) => cpuUs),
    column(rounds, 'pipe', ({ cpuUs }) => cpuUs),
  ).median;
}

/** A ratio that is too high is measured once more before it counts. */
async function measureAll(recorded: Ratios): Promise<Record<string, number>> {
  return inWorld({}, async ({ pipe, gateway }) => {
    const targets = [providerTarget(pipe, 'openai-chat'), gatewayTarget(gateway, 'openai-chat')];
    await warmWhole(targets, 80);
    await warmStreams(targets);
    const found: Record<string, number> = {};
    const key = await makeKey(gateway);
    const clients = [gatewayTarget(gateway, 'openai-chat'), { ...gatewayTarget(gateway, 'openai-chat', { token: key }), name: 'key' }];
    await warmWhole(clients, 80);
    const first = await keyRatio(clients);
    found[KEY_NAME] = isWorse(first, recorded[KEY_NAME]) ? Math.min(first, await keyRatio(clients)) : first;
    for (const [name, measure] of Object.entries(measures)) {
      const first = await measure(targets);
      found[name] = isWorse(first, recorded[name]) ? Math.min(first, await measure(targets)) : first;
    }
    return found;
  });
}

async function keyRatio(clients: readonly Target[]): Promise<number> {
  const rounds = await interleave(clients, KEY_ROUNDS, (target) => loadWhole(target, target.whole(80), { concurrency: 32, ms: ROUND_MS }));
  return ratioOf(
    column(rounds, 'key', ({ cpuUs }) => cpuUs),
    column(rounds, 'gateway', ({ cpuUs }) => cpuUs),
  ).median;
}

/** What a connection costs beside the plain gateway: the lower one of two measurements, if the first is too high. */
async function connectionRatio(connection: string, limit: number, conversations?: Conversations): Promise<number> {
  return inWorld({}, async ({ gateway }) => {
    const also = conversations === undefined ? {} : { conversations };
    const targets = [gatewayTarget(gateway, 'openai-chat', also), gatewayTarget(gateway, 'openai-chat', { connection, ...also })];
    await warmWhole(targets, 80);
    const measure = async (): Promise<number> => {
      const rounds = await interleave(targets, ROUNDS * 2, (target) => loadWhole(target, target.whole(80), { concurrency: 32, ms: ROUND_MS }));
      return ratioOf(
        column(rounds, connection, ({ cpuUs }) => cpuUs),
        column(rounds, 'gateway', ({ cpuUs }) => cpuUs),
      ).median;
    };
    const first = await measure();
    return first > limit ? Math.min(first, await measure()) : first;
  });
}

function tellLimited(what: string, ratio: number, limit: number): void {
  if (ratio > limit) process.exitCode = 1;
  process.stdout.write(`${ratio > limit ? 'WORSE' : 'ok   '}  CPU per small request of ${what}: ${ratio.toFixed(3)} × the plain gateway; limit ${limit}\n`);
}

/** A connection with one key, and one with four, whose conversations say what they are, and are known by their beginnings. */
async function checkConnections(): Promise<void> {
  tellLimited('a connection', await connectionRatio(CONNECTION, CONNECTION_LIMIT), CONNECTION_LIMIT);
  for (const by of ['session', 'beginning'] as const) {
    const ratio = await connectionRatio(FOUR_KEYS, KEYS_LIMIT, { count: CONVERSATIONS, by });
    tellLimited(`a connection with four keys and ${CONVERSATIONS} conversations, known by their ${by}`, ratio, KEYS_LIMIT);
  }
}

/** The lower one of two measurements, if the first is too high. */
async function startRatio(): Promise<number> {
  const measure = async (): Promise<number> => {
    const { healthMs, bareNodeMs } = await measureStarts(STARTS, false);
    return ratioOf(healthMs, bareNodeMs).median;
  };
  const first = await measure();
  return first > START_LIMIT ? Math.min(first, await measure()) : first;
}

function isWorse(ratio: number, recorded: number | undefined): boolean {
  return recorded !== undefined && ratio > recorded * MARGIN;
}

if (process.argv.includes('--connections')) await checkConnections();
else if (process.argv.includes('--record')) {
  const found = await measureAll({});
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(Object.entries(found).map(([name, ratio]) => [name, Number(ratio.toFixed(2))])), null, 2)}\n`);
} else {
  const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as Ratios;
  const start = await startRatio();
  if (start > START_LIMIT) process.exitCode = 1;
  process.stdout.write(
    `${start > START_LIMIT ? 'WORSE' : 'ok   '}  start to the first healthy answer: ${start.toFixed(2)} × bare node; limit ${START_LIMIT}\n`,
  );
  await checkConnections();
  const found = await measureAll(recorded);
  for (const [name, ratio] of Object.entries(found)) {
    const was = recorded[name];
    const isBad = isWorse(ratio, was) || was === undefined;
    const beside = name === KEY_NAME ? `the token (target ${KEY_TARGET})` : 'pipe';
    process.stdout.write(`${isBad ? 'WORSE' : 'ok   '}  ${name}: ${ratio.toFixed(2)} × ${beside}; recorded ${was}, ${MARGIN} times that is the limit\n`);
    if (isBad) process.exitCode = 1;
  }
}
