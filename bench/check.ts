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
import { gatewayTarget, makeKey, providerTarget, type Target } from './harness/targets.ts';
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
/** The name of the connection to the upstream of the bench (harness/processes.ts). */
const CONNECTION = 'upstream';

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

/** The lower one of two measurements, if the first is too high. */
async function connectionRatio(): Promise<number> {
  return inWorld({}, async ({ gateway }) => {
    const targets = [gatewayTarget(gateway, 'openai-chat'), gatewayTarget(gateway, 'openai-chat', { connection: CONNECTION })];
    await warmWhole(targets, 80);
    const measure = async (): Promise<number> => {
      const rounds = await interleave(targets, ROUNDS * 2, (target) => loadWhole(target, target.whole(80), { concurrency: 32, ms: ROUND_MS }));
      return ratioOf(
        column(rounds, CONNECTION, ({ cpuUs }) => cpuUs),
        column(rounds, 'gateway', ({ cpuUs }) => cpuUs),
      ).median;
    };
    const first = await measure();
    return first > CONNECTION_LIMIT ? Math.min(first, await measure()) : first;
  });
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

if (process.argv.includes('--record')) {
  const found = await measureAll({});
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(Object.entries(found).map(([name, ratio]) => [name, Number(ratio.toFixed(2))])), null, 2)}\n`);
} else {
  const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as Ratios;
  const start = await startRatio();
  if (start > START_LIMIT) process.exitCode = 1;
  process.stdout.write(
    `${start > START_LIMIT ? 'WORSE' : 'ok   '}  start to the first healthy answer: ${start.toFixed(2)} × bare node; limit ${START_LIMIT}\n`,
  );
  const connection = await connectionRatio();
  if (connection > CONNECTION_LIMIT) process.exitCode = 1;
  process.stdout.write(
    `${connection > CONNECTION_LIMIT ? 'WORSE' : 'ok   '}  CPU per small request of a connection: ${connection.toFixed(3)} × the plain gateway; limit ${CONNECTION_LIMIT}\n`,
  );
  const found = await measureAll(recorded);
  for (const [name, ratio] of Object.entries(found)) {
    const was = recorded[name];
    const isBad = isWorse(ratio, was) || was === undefined;
    const beside = name === KEY_NAME ? `the token (target ${KEY_TARGET})` : 'pipe';
    process.stdout.write(`${isBad ? 'WORSE' : 'ok   '}  ${name}: ${ratio.toFixed(2)} × ${beside}; recorded ${was}, ${MARGIN} times that is the limit\n`);
    if (isBad) process.exitCode = 1;
  }
}
