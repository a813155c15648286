// The small version of the bench for `npm run verify`: fails when the gateway costs much more beside the pipe than when `recorded.json` was
// written. The same method as the bench: pipe and gateway in turn, warm, ratios of processor time in one run; fewer rounds.
// `--record` writes the ratios of this run down. A start is compared with a bare Node, and has a fixed limit. Keys and a connection are compared in short turns
// (harness/turns.ts), which is more exact, and alone with `--keys`: COMPARED has what they are to cost. What does not reach that yet must not cost more than what was recorded.
// Each server compiles its code in another way, and two of them differ by some hundredths in what is compared. So that is measured in several, and their median counts.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadStreams, loadWhole } from './harness/load.ts';
import { column, interleave } from './harness/rounds.ts';
import { measureStarts } from './harness/starts.ts';
import type { Server } from './harness/processes.ts';
import { median, ratioOf } from './harness/stats.ts';
import { gatewayTarget, makeKeys, providerTarget, type Target } from './harness/targets.ts';
import { turnRatio } from './harness/turns.ts';
import { inWorld, warmStreams, warmWhole } from './harness/world.ts';

const MARGIN = 1.25;
const ROUNDS = 5;
const ROUND_MS = 1000;
const EVERY_MS = 5;
const STARTS = 11;
/** Times a bare `node -e 0`. */
const START_LIMIT = 3;
/** Of what is compared in turns: two measurements differ by less. */
const TURN_MARGIN = 1.04;
/** Servers in which it is measured, and the fours of turns in each of them. */
const SERVERS = 5;
const FOURS = 20;
const FILE = join(import.meta.dirname, 'recorded.json');

type Ratios = Readonly<Record<string, number>>;

const RECORDED = JSON.parse(readFileSync(FILE, 'utf8')) as Ratios;

const measures: Readonly<Record<string, (targets: readonly Target[]) => Promise<number>>> = {
  'CPU per small request at 32': async (targets) => cpuRatio(targets, (target) => loadWhole(target, target.whole(80), { concurrency: 32, ms: ROUND_MS })),
  'CPU per 16 KiB request at 32': async (targets) => cpuRatio(targets, (target) => loadWhole(target, target.whole(16_384), { concurrency: 32, ms: ROUND_MS })),
  'CPU per frame at 16 streams': async (targets) =>
    cpuRatio(targets, (target) => loadStreams(target, target.stream(ROUND_MS / EVERY_MS, EVERY_MS), { concurrency: 16, ms: 0 })),
};

/** The names of the connections to the upstream of the bench (harness/processes.ts): with one key, and with four. */
const CONNECTION = 'upstream';
const FOUR_KEYS = 'fourkeys';
const CONVERSATIONS = 1000;

interface Compared {
  readonly name: string;
  readonly target: string;
  readonly base: string;
  /** Times the base. */
  readonly bar: number;
}

const COMPARED: readonly Compared[] = [
  { name: 'CPU per small request of a key with a cap beside a key without', target: 'capped', base: 'plain', bar: 1.02 },
  { name: 'CPU per small request of a key with every limit beside the token', target: 'limited', base: 'gateway', bar: 1.08 },
  { name: 'CPU per small request of a connection beside the plain gateway', target: CONNECTION, base: 'gateway', bar: 1.03 },
  {
    name: 'CPU per small request of a connection with four keys beside the plain gateway, 1000 conversations that say what they are',
    target: 'fourkeys session',
    base: 'gateway session',
    bar: 1.08,
  },
  {
    name: 'CPU per small request of a connection with four keys beside the plain gateway, 1000 conversations known by their beginnings',
    target: 'fourkeys beginning',
    base: 'gateway beginning',
    bar: 1.08,
  },
];

/** The same conversations at the plain gateway and at the connection with four keys. */
function conversing(gateway: Server): Target[] {
  return (['session', 'beginning'] as const).flatMap((by) => {
    const conversations = { count: CONVERSATIONS, by };
    const plain = gatewayTarget(gateway, 'openai-chat', { conversations });
    return [
      { ...plain, name: `gateway ${by}` },
      { ...gatewayTarget(gateway, 'openai-chat', { connection: FOUR_KEYS, conversations }), name: `${FOUR_KEYS} ${by}` },
    ];
  });
}

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
    for (const [name, measure] of Object.entries(measures)) {
      const first = await measure(targets);
      found[name] = isWorse(first, recorded[name]) ? Math.min(first, await measure(targets)) : first;
    }
    return found;
  });
}

/** A ratio that is too high is measured once more before it counts. */
async function compareAll(recorded: Ratios): Promise<Record<string, number>> {
  const first = await compareInAll();
  if (COMPARED.every((compared) => (first[compared.name] ?? 0) <= limitOf(compared, recorded))) return first;
  const second = await compareInAll();
  return Object.fromEntries(COMPARED.map(({ name }) => [name, Math.min(first[name] ?? Number.NaN, second[name] ?? Number.NaN)]));
}

/** The median of all servers. */
async function compareInAll(): Promise<Record<string, number>> {
  const found: Record<string, number>[] = [];
  for (let server = 0; server < SERVERS; server += 1) found.push(await compareInOne());
  return Object.fromEntries(COMPARED.map(({ name }) => [name, median(found.map((ratios) => ratios[name] ?? Number.NaN))]));
}

async function compareInOne(): Promise<Record<string, number>> {
  return inWorld({}, async ({ gateway }) => {
    const keys = await makeKeys(gateway);
    const ofKeys = Object.entries(keys).map(([name, token]) => ({ ...gatewayTarget(gateway, 'openai-chat', { token }), name }));
    const targets = [
      gatewayTarget(gateway, 'openai-chat'),
      gatewayTarget(gateway, 'openai-chat', { connection: CONNECTION }),
      ...ofKeys,
      ...conversing(gateway),
    ];
    const named = (wanted: string): Target => {
      const found = targets.find(({ name }) => name === wanted);
      if (found === undefined) throw new Error(`there is no target ${wanted}`);
      return found;
    };
    const ratios: Record<string, number> = {};
    for (const { name, target, base } of COMPARED) ratios[name] = await turnRatio(named(target), named(base), FOURS);
    return ratios;
  });
}

async function tellCompared(recorded: Ratios): Promise<void> {
  const compared = await compareAll(recorded);
  for (const each of COMPARED) {
    const [ratio, limit] = [compared[each.name] ?? Number.NaN, limitOf(each, recorded)];
    if (!(ratio <= limit)) process.exitCode = 1;
    process.stdout.write(`${ratio <= limit ? 'ok   ' : 'WORSE'}  ${each.name}: ${ratio.toFixed(3)}; target ${each.bar}, limit ${limit.toFixed(3)}\n`);
  }
}

function limitOf({ name, bar }: Compared, recorded: Ratios): number {
  const was = recorded[name] ?? 0;
  return was > bar ? was * TURN_MARGIN : bar;
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
  const found = { ...(await compareAll({})), ...(await measureAll({})) };
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(Object.entries(found).map(([name, ratio]) => [name, Number(ratio.toFixed(2))])), null, 2)}\n`);
} else if (process.argv.includes('--keys')) {
  await tellCompared(RECORDED);
} else {
  const start = await startRatio();
  if (start > START_LIMIT) process.exitCode = 1;
  process.stdout.write(
    `${start > START_LIMIT ? 'WORSE' : 'ok   '}  start to the first healthy answer: ${start.toFixed(2)} × bare node; limit ${START_LIMIT}\n`,
  );
  await tellCompared(RECORDED);
  const found = await measureAll(RECORDED);
  for (const [name, ratio] of Object.entries(found)) {
    const was = RECORDED[name];
    const isBad = isWorse(ratio, was) || was === undefined;
    process.stdout.write(`${isBad ? 'WORSE' : 'ok   '}  ${name}: ${ratio.toFixed(2)} × pipe; recorded ${was}, ${MARGIN} times that is the limit\n`);
    if (isBad) process.exitCode = 1;
  }
}
