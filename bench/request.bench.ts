// What does the gateway cost a request that is answered as a whole?
//
// The same provider's answer fetched directly, through a bare pipe and through the gateway, in turn. Small: a prompt and an answer of some
// 80 characters; large: 16 KiB each. OpenAI's Chat Completions.
import { type Load, loadWhole, type WholeRound } from './harness/load.ts';
import { startPeers } from './harness/peers.ts';
import { type Bar, type Result, spreadText, type Table } from './harness/report.ts';
import { column, interleave } from './harness/rounds.ts';
import { ratioOf, spreadOf } from './harness/stats.ts';
import type { Chart } from './harness/svg.ts';
import { gatewayTarget, providerTarget, type Target } from './harness/targets.ts';
import { inWorld, type World, warmWhole } from './harness/world.ts';

const SIZES = [
  { label: 'small', size: 80 },
  { label: '16 KiB', size: 16_384 },
];
const CONCURRENCIES = [1, 16, 64, 256];
/** More rounds for a lone request: its p50 is a few hundredths of a millisecond, which a shared machine doubles for seconds at a time. */
const LONE_ROUNDS = 3;

export interface RequestOptions {
  readonly rounds: number;
  readonly ms: number;
  readonly concurrencies?: readonly number[];
}

interface Case {
  readonly label: string;
  readonly concurrency: number;
  readonly rounds: Map<string, WholeRound[]>;
}

export async function run({ rounds, ms, concurrencies = CONCURRENCIES }: RequestOptions = { rounds: 3, ms: 700 }): Promise<Result> {
  const cases = await inWorld({}, async (world) => {
    const peers = await startPeers(world.upstream);
    try {
      return await measureAll([...targetsOf(world), ...peers.targets], { rounds, ms, concurrencies });
    } finally {
      await peers.stop();
    }
  });
  return {
    name: 'request',
    question: 'What does the gateway cost a request that is answered as a whole?',
    tables: cases.length === 0 ? [] : [mainTable(cases)],
    bars: barsOf(cases),
    charts: [chartOf(cases)],
    notes: [
      'Median of the rounds (lowest–highest). Latencies in ms; CPU in µs of the process in front of the provider; × is against the pipe, round by round.',
      'Of a 16 KiB request and its answer, reading and writing the JSON takes V8 alone as long as the whole pipe takes: text is checked and escaped character by character, in and out. Where the peers take no turns, the pipe needs half as much for 16 KiB and the ratio is 4.0.',
    ],
    data: cases.map(({ label, concurrency, rounds: measured }) => ({ label, concurrency, rounds: Object.fromEntries(measured) })),
  };
}

function targetsOf({ upstream, pipe, gateway }: World): Target[] {
  return [{ ...providerTarget(upstream, 'openai-chat'), pid: 0 }, providerTarget(pipe, 'openai-chat'), gatewayTarget(gateway, 'openai-chat')];
}

async function measureAll(targets: readonly Target[], options: Required<RequestOptions>): Promise<Case[]> {
  const cases: Case[] = [];
  for (const { label, size } of SIZES) {
    await warmWhole(targets, size);
    for (const concurrency of options.concurrencies) {
      const load: Load = { concurrency, ms: options.ms };
      const rounds = concurrency === 1 ? LONE_ROUNDS * options.rounds : options.rounds;
      cases.push({ label, concurrency, rounds: await interleave(targets, rounds, (target) => loadWhole(target, target.whole(size), load)) });
    }
  }
  return cases;
}

function mainTable(cases: readonly Case[]): Table {
  const rows = cases.flatMap(({ label, concurrency, rounds }) =>
    [...rounds.keys()].map((name) => [
      `${label}, ${concurrency} at once`,
      name,
      spreadText(spreadOf(column(rounds, name, (round) => round.perSecond))),
      spreadText(spreadOf(column(rounds, name, (round) => round.p50))),
      spreadText(spreadOf(column(rounds, name, (round) => round.p99))),
      name === 'direct' ? '' : spreadText(spreadOf(column(rounds, name, (round) => round.cpuUs))),
      name === 'direct' || name === 'pipe' ? '' : spreadText(cpuRatio(rounds, name)),
    ]),
  );
  return { title: 'Whole answers', columns: ['', 'through', 'requests/s', 'p50', 'p99', 'CPU/request', '× pipe'], rows };
}

function cpuRatio(rounds: ReadonlyMap<string, readonly WholeRound[]>, name: string): ReturnType<typeof ratioOf> {
  const cpu = (round: WholeRound): number => round.cpuUs;
  return ratioOf(column(rounds, name, cpu), column(rounds, 'pipe', cpu));
}

function barsOf(cases: readonly Case[]): Bar[] {
  const small = (concurrency: number): Case | undefined => cases.find((one) => one.label === 'small' && one.concurrency === concurrency);
  const busy = small(64);
  const alone = small(1);
  const large = cases.find((one) => one.label === '16 KiB' && one.concurrency === 64);
  const bars: Bar[] = [];
  const ratio = ({ rounds }: Case, base: string, figure: (round: WholeRound) => number): number =>
    ratioOf(column(rounds, 'gateway', figure), column(rounds, base, figure)).median;
  if (busy !== undefined) {
    bars.push({ what: 'CPU per small request at 64', value: ratio(busy, 'pipe', (round) => round.cpuUs), limit: 2, side: 'most', unit: ' × pipe' });
    bars.push({ what: 'small requests/s at 64', value: ratio(busy, 'pipe', (round) => round.perSecond), limit: 0.5, side: 'least', unit: ' × pipe' });
    if (busy.rounds.has('portkey'))
      bars.push({ what: 'small requests/s at 64', value: ratio(busy, 'portkey', (round) => round.perSecond), limit: 8, side: 'least', unit: ' × Portkey' });
  }
  if (large !== undefined)
    bars.push({ what: 'CPU per 16 KiB request at 64', value: ratio(large, 'pipe', (round) => round.cpuUs), limit: 2, side: 'most', unit: ' × pipe' });
  if (alone !== undefined)
    bars.push({ what: 'p50 of a lone small request', value: ratio(alone, 'pipe', (round) => round.p50), limit: 1.6, side: 'most', unit: ' × pipe' });
  return bars;
}

function chartOf(cases: readonly Case[]): Chart {
  const series = [...(cases[0]?.rounds.keys() ?? [])].filter((name) => name !== 'direct');
  const groups = cases.map(({ label, concurrency, rounds }) => ({
    label: `${label}, ${concurrency} at once`,
    bars: series.map((name) => spreadOf(column(rounds, name, (round) => round.cpuUs))),
  }));
  return { file: 'request', title: 'Processor time for a whole answer', unit: 'µs', series, groups };
}
