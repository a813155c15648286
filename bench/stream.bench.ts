// How much later does a streamed answer arrive?
//
// The time to the first frame, and the journey of each later frame from the provider's write to the caller, through a bare pipe and through the
// gateway in turn, with 16 streams open. Frames come one by one, as models write them.
import { type Load, loadStreams, type StreamRound } from './harness/load.ts';
import { type Bar, type Result, spreadText, type Table } from './harness/report.ts';
import { column, interleave } from './harness/rounds.ts';
import { ratioOf, type Spread, spreadOf } from './harness/stats.ts';
import type { Chart } from './harness/svg.ts';
import { gatewayTarget, providerTarget, type Target } from './harness/targets.ts';
import { inWorld, type World, warmStreams } from './harness/world.ts';
import type { FramingName } from './servers/wire.ts';

const STREAMS = 16;
/** Some 3,200 frames and 160 streams a second: below what two cores take, or it would be the queues that are measured. */
const FRAMES = 20;
const EVERY_MS = 5;
/** Of the whole path before the first frame, the framing is a small part: one of them says what the path takes. */
const MEASURED: readonly FramingName[] = ['openai-chat'];

export interface StreamOptions {
  readonly rounds: number;
  readonly ms: number;
  readonly framings?: readonly FramingName[];
}

interface Case {
  readonly framing: FramingName;
  readonly rounds: Map<string, StreamRound[]>;
}

export async function run({ rounds, ms, framings = MEASURED }: StreamOptions = { rounds: 9, ms: 2000 }): Promise<Result> {
  const cases: Case[] = [];
  for (const framing of framings) cases.push(await inWorld({}, (world) => measureFraming(world, framing, { rounds, ms })));
  return {
    name: 'stream',
    question: 'How much later does a streamed answer arrive?',
    tables: [mainTable(cases)],
    bars: cases.map(barOf),
    charts: [chartOf(cases)],
    notes: [
      `${rounds} rounds of ${ms / 1000} s each, pipe and gateway in turn, ${STREAMS} streams at once: median (lowest–highest), in ms. “Frame” is the time from the provider’s write to the client’s read.`,
    ],
    data: cases.map(({ framing, rounds: measured }) => ({ framing, rounds: Object.fromEntries(measured) })),
  };
}

async function measureFraming(world: World, framing: FramingName, { rounds, ms }: StreamOptions): Promise<Case> {
  const targets: Target[] = [providerTarget(world.pipe, framing), gatewayTarget(world.gateway, framing)];
  await warmStreams(targets);
  const load: Load & { spreadMs: number } = { concurrency: STREAMS, ms, spreadMs: FRAMES * EVERY_MS };
  return { framing, rounds: await interleave(targets, rounds, (target) => loadStreams(target, target.stream(FRAMES, EVERY_MS), load)) };
}

type Figure = (round: StreamRound) => number;
const FIGURES: readonly Figure[] = [({ first }) => first.p50, ({ first }) => first.p99, ({ frame }) => frame.p50, ({ frame }) => frame.p99];

function firstRatio({ rounds }: Case): Spread {
  return ratioOf(
    column(rounds, 'gateway', ({ first }) => first.p50),
    column(rounds, 'pipe', ({ first }) => first.p50),
  );
}

function mainTable(cases: readonly Case[]): Table {
  const rows = cases.flatMap((one) =>
    [...one.rounds.keys()].map((name) => [
      one.framing,
      name,
      ...FIGURES.map((figure) => spreadText(spreadOf(column(one.rounds, name, figure)))),
      name === 'pipe' ? '' : spreadText(firstRatio(one)),
    ]),
  );
  return { title: 'Streamed answers', columns: ['framing', 'through', 'first p50', 'first p99', 'frame p50', 'frame p99', 'first p50 × pipe'], rows };
}

function barOf(one: Case): Bar {
  return { what: `time to the first frame, ${one.framing}`, value: firstRatio(one).median, limit: 1.4, side: 'most', unit: ' × pipe' };
}

function chartOf(cases: readonly Case[]): Chart {
  const series = ['pipe', 'gateway'];
  const groups = cases.map(({ framing, rounds }) => ({ label: framing, bars: series.map((name) => spreadOf(column(rounds, name, ({ first }) => first.p50))) }));
  return { file: 'stream', title: 'Time to the first frame, median', unit: 'ms', series, groups };
}
