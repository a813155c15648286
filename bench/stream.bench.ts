// How much later than from the provider itself does a streamed answer arrive?
//
// The time to the first frame, and the journey of each later frame from the provider's write to the caller, for the framing of each
// provider, with 1, 16 and 256 streams open. Frames come one by one, as models write them.
import { type Load, loadStreams, type StreamRound } from './harness/load.ts';
import { startPeers } from './harness/peers.ts';
import { type Bar, type Result, spreadText, type Table } from './harness/report.ts';
import { column, interleave } from './harness/rounds.ts';
import { type Spread, spreadOf } from './harness/stats.ts';
import type { Chart } from './harness/svg.ts';
import { gatewayTarget, providerTarget, type Target } from './harness/targets.ts';
import { inWorld, type World, warmStreams } from './harness/world.ts';
import { FRAMINGS, type FramingName } from './servers/wire.ts';

interface Pace {
  readonly streams: number;
  readonly frames: number;
  readonly everyMs: number;
}

/** Some 500, 3,200 and 5,100 frames a second: below what two cores take, or it would be the queues that are measured. */
const PACES: readonly Pace[] = [
  { streams: 1, frames: 12, everyMs: 2 },
  { streams: 16, frames: 20, everyMs: 5 },
  { streams: 256, frames: 12, everyMs: 50 },
];
/** The one setting that is not the default: with 64 places, 192 of 256 streams would wait for one, and that wait would be measured. */
const PLACES = { BLOCKHOUSE_QUEUE_CONCURRENCY: '256' };

export interface StreamOptions {
  readonly rounds: number;
  readonly ms: number;
  readonly framings?: readonly FramingName[];
}

interface Case {
  readonly framing: FramingName;
  readonly streams: number;
  readonly rounds: Map<string, StreamRound[]>;
}

export async function run({ rounds, ms, framings = FRAMINGS }: StreamOptions = { rounds: 3, ms: 600 }): Promise<Result> {
  const cases: Case[] = [];
  for (const framing of framings) {
    const api = framing === 'openai-responses' ? 'responses' : 'chat';
    cases.push(...(await inWorld({ api, env: PLACES }, (world) => measureFraming(world, framing, { rounds, ms }))));
  }
  return {
    name: 'stream',
    question: 'How much later than from the provider itself does a streamed answer arrive?',
    tables: [mainTable(cases)],
    bars: barsOf(cases),
    charts: [chartOf(cases)],
    notes: [
      'Median of the rounds (lowest–highest), in ms. A frame’s journey is the time from the provider’s write to the caller’s read; “added” is the journey through the gateway less that of the direct call in the same round.',
      'The gateway’s queue has 256 places here instead of 64.',
    ],
    data: cases.map(({ framing, streams, rounds: measured }) => ({ framing, streams, rounds: Object.fromEntries(measured) })),
  };
}

async function measureFraming(world: World, framing: FramingName, { rounds, ms }: StreamOptions): Promise<Case[]> {
  const peers = framing === 'openai-chat' ? await startPeers(world.upstream) : undefined;
  const targets: Target[] = [
    { ...providerTarget(world.upstream, framing), pid: 0 },
    providerTarget(world.pipe, framing),
    gatewayTarget(world.gateway, framing),
    ...(peers?.targets ?? []),
  ];
  try {
    await warmStreams(targets);
    const cases: Case[] = [];
    for (const { streams, frames, everyMs } of PACES) {
      const load: Load & { spreadMs: number } = { concurrency: streams, ms, spreadMs: frames * everyMs };
      const measured = await interleave(targets, rounds, (target) => loadStreams(target, target.stream(frames, everyMs), load));
      cases.push({ framing, streams, rounds: measured });
    }
    return cases;
  } finally {
    await peers?.stop();
  }
}

function added(rounds: ReadonlyMap<string, readonly StreamRound[]>, name: string, figure: (round: StreamRound) => number): Spread {
  const direct = column(rounds, 'direct', figure);
  return spreadOf(column(rounds, name, figure).map((value, round) => value - (direct[round] ?? Number.NaN)));
}

function mainTable(cases: readonly Case[]): Table {
  const rows = cases.flatMap(({ framing, streams, rounds }) =>
    [...rounds.keys()].map((name) => [
      `${framing}, ${streams}`,
      name,
      spreadText(spreadOf(column(rounds, name, ({ first }) => first.p50))),
      spreadText(spreadOf(column(rounds, name, ({ first }) => first.p99))),
      spreadText(spreadOf(column(rounds, name, ({ frame }) => frame.p50))),
      spreadText(spreadOf(column(rounds, name, ({ frame }) => frame.p99))),
      name === 'direct' ? '' : spreadText(added(rounds, name, ({ frame }) => frame.p50)),
    ]),
  );
  return { title: 'Streamed answers', columns: ['framing, streams', 'through', 'first p50', 'first p99', 'frame p50', 'frame p99', 'added p50'], rows };
}

function barsOf(cases: readonly Case[]): Bar[] {
  const bars: Bar[] = [];
  for (const { framing, streams, rounds } of cases) {
    if (streams !== 16) continue;
    bars.push({
      what: `added for each frame at 16 streams, ${framing}`,
      value: added(rounds, 'gateway', ({ frame }) => frame.p50).median,
      limit: 0.3,
      side: 'most',
      unit: ' ms',
    });
    if (!rounds.has('portkey')) continue;
    const first = (name: string): number => spreadOf(column(rounds, name, (round) => round.first.p50)).median;
    bars.push({ what: 'time to the first frame at 16 streams', value: first('gateway') / first('portkey'), limit: 0.1, side: 'most', unit: ' × Portkey' });
  }
  return bars;
}

function chartOf(cases: readonly Case[]): Chart {
  const series = ['pipe', 'gateway'];
  const groups = cases.map(({ framing, streams, rounds }) => ({
    label: `${framing}, ${streams}`,
    bars: series.map((name) => added(rounds, name, ({ frame }) => frame.p50)),
  }));
  return { file: 'stream', title: 'Added to the journey of each frame, median', unit: 'ms', series, groups };
}
