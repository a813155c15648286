// How do other gateways compare?
//
// A rotation of its own, for it slows the pipe down: while the others have their turns, its code and data leave the caches. Small requests and
// streams of OpenAI's Chat Completions, 32 and 16 at once. Needs `bench/peers/install.ts`; without it there is nothing to compare.
import { loadStreams, loadWhole, type StreamRound, type WholeRound } from './harness/load.ts';
import { startPeers } from './harness/peers.ts';
import { type Bar, type Result, spreadText, type Table } from './harness/report.ts';
import { column, interleave } from './harness/rounds.ts';
import { ratioOf, type Spread, spreadOf } from './harness/stats.ts';
import { gatewayTarget, providerTarget, type Target } from './harness/targets.ts';
import { inWorld, type World, warmStreams, warmWhole } from './harness/world.ts';

const SMALL = 80;
const REQUESTS_AT_ONCE = 32;
const STREAMS = 16;
const FRAMES = 20;
const EVERY_MS = 5;

export interface PeersOptions {
  readonly rounds: number;
  readonly ms: number;
}

interface Found {
  readonly whole: Map<string, WholeRound[]>;
  readonly stream: Map<string, StreamRound[]>;
}

export async function run({ rounds, ms }: PeersOptions = { rounds: 5, ms: 2000 }): Promise<Result> {
  const found = await inWorld({}, (world) => measureAll(world, { rounds, ms }));
  const isAlone = found.whole.size < 3;
  return {
    name: 'peers',
    question: 'How do other gateways compare?',
    tables: isAlone ? [] : [mainTable(found)],
    bars: isAlone ? [] : barsOf(found),
    charts: [],
    notes: [
      isAlone
        ? 'No other gateway is installed: `npx tsx bench/peers/install.ts`.'
        : `${rounds} rounds of ${ms / 1000} s each, one after the other, so each is slower than when it runs alone: median (lowest–highest). ${REQUESTS_AT_ONCE} requests or ${STREAMS} streams at once.`,
    ],
    data: { whole: Object.fromEntries(found.whole), stream: Object.fromEntries(found.stream) },
  };
}

async function measureAll(world: World, { rounds, ms }: PeersOptions): Promise<Found> {
  const peers = await startPeers(world.upstream);
  try {
    const targets: Target[] = [providerTarget(world.pipe, 'openai-chat'), gatewayTarget(world.gateway, 'openai-chat'), ...peers.targets];
    await warmWhole(targets, SMALL);
    const whole = await interleave(targets, rounds, (target) => loadWhole(target, target.whole(SMALL), { concurrency: REQUESTS_AT_ONCE, ms }));
    await warmStreams(targets);
    const load = { concurrency: STREAMS, ms, spreadMs: FRAMES * EVERY_MS };
    return { whole, stream: await interleave(targets, rounds, (target) => loadStreams(target, target.stream(FRAMES, EVERY_MS), load)) };
  } finally {
    await peers.stop();
  }
}

function mainTable({ whole, stream }: Found): Table {
  const rows = [...whole.keys()].map((name) => [
    name,
    spreadText(spreadOf(column(whole, name, ({ perSecond }) => perSecond))),
    spreadText(spreadOf(column(whole, name, ({ cpuUs }) => cpuUs))),
    spreadText(spreadOf(column(stream, name, ({ first }) => first.p50))),
    spreadText(spreadOf(column(stream, name, ({ frame }) => frame.p50))),
    spreadText(spreadOf(column(stream, name, ({ cpuUs }) => cpuUs))),
  ]);
  return { title: 'Others', columns: ['through', 'requests/s', 'µs CPU/request', 'first frame p50, ms', 'frame p50, ms', 'µs CPU/frame'], rows };
}

function barsOf({ whole, stream }: Found): Bar[] {
  if (!whole.has('portkey')) return [];
  const beside = <T>(rounds: ReadonlyMap<string, readonly T[]>, figure: (round: T) => number): Spread =>
    ratioOf(column(rounds, 'gateway', figure), column(rounds, 'portkey', figure));
  return [
    { what: 'small requests/s', value: beside(whole, ({ perSecond }) => perSecond).median, limit: 8, side: 'least', unit: ' × Portkey' },
    { what: 'time to the first frame', value: beside(stream, ({ first }) => first.p50).median, limit: 0.1, side: 'most', unit: ' × Portkey' },
  ];
}
