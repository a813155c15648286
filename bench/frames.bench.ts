// How much processor time does one frame of a streamed answer cost?
//
// One by one: frames that come alone, as models write them. Flood: all of them at once, as fast as they go through. Allocated: what the
// gateway's memory manager counts between its collections, for frames that come one by one.
import { connections, FrameTimes, type Load, loadStreams, readStream, type StreamRound } from './harness/load.ts';
import { type Server, sleep, startGateway } from './harness/processes.ts';
import { type Bar, digits, type Result, spreadText, type Table } from './harness/report.ts';
import { column, interleave } from './harness/rounds.ts';
import { ratioOf, spreadOf } from './harness/stats.ts';
import type { Chart } from './harness/svg.ts';
import { gatewayTarget, providerTarget, type Target } from './harness/targets.ts';
import { inWorld, type World, warmStreams } from './harness/world.ts';
import type { FramingName } from './servers/wire.ts';

const STREAMS = 16;
const EVERY_MS = 5;
/** The framing that most servers speak, and the dearest: binary frames with two checksums each. The others lie between them. */
const MEASURED: readonly FramingName[] = ['openai-chat', 'bedrock'];
const FLOOD_FRAMES = 2000;
/** The flood has no bar: fewer and shorter rounds show its size. */
const FLOOD_ROUNDS = 3;
const FLOOD_MS = 700;
/** Frames of a stream whose allocation is counted: enough to make the request itself negligible. */
const COUNTED_FRAMES = 2000;

export interface FramesOptions {
  readonly rounds: number;
  readonly ms: number;
  readonly framings?: readonly FramingName[];
  readonly allocation?: boolean;
}

interface Case {
  readonly framing: FramingName;
  readonly paced: Map<string, StreamRound[]>;
  readonly flood: Map<string, StreamRound[]>;
  readonly bytesPerFrame: number;
}

export async function run({ rounds, ms, framings = MEASURED, allocation = true }: FramesOptions = { rounds: 9, ms: 2000 }): Promise<Result> {
  const cases: Case[] = [];
  for (const framing of framings) {
    const api = framing === 'openai-responses' ? 'responses' : 'chat';
    cases.push(
      await inWorld({ api }, async (world) => ({
        framing,
        ...(await measureFraming(world, framing, { rounds, ms })),
        bytesPerFrame: allocation ? await allocated(world.upstream, framing, api) : Number.NaN,
      })),
    );
  }
  return {
    name: 'frames',
    question: 'How much processor time does one frame of a streamed answer cost?',
    tables: [mainTable(cases)],
    bars: barsOf(cases),
    charts: [chartOf(cases)],
    notes: [
      'Median of the rounds (lowest–highest), 16 streams. In the first columns, each frame is a packet of its own, 3,200 a second in all. In a flood, frames come as fast as possible; the pipe copies whole network reads without looking for frames.',
      'Bytes allocated are those of the JavaScript heap, from the log of the garbage collector; buffers outside the heap are not included.',
    ],
    data: cases.map(({ framing, paced, flood, bytesPerFrame }) => ({
      framing,
      paced: Object.fromEntries(paced),
      flood: Object.fromEntries(flood),
      bytesPerFrame,
    })),
  };
}

async function measureFraming(world: World, framing: FramingName, { rounds, ms }: FramesOptions): Promise<Pick<Case, 'paced' | 'flood'>> {
  const targets: Target[] = [providerTarget(world.pipe, framing), gatewayTarget(world.gateway, framing)];
  await warmStreams(targets);
  const paced: Load = { concurrency: STREAMS, ms: 0 };
  const flood: Load = { concurrency: STREAMS, ms: Math.min(ms, FLOOD_MS) };
  return {
    paced: await interleave(targets, rounds, (target) => loadStreams(target, target.stream(Math.round(ms / EVERY_MS), EVERY_MS), paced)),
    flood: await interleave(targets, Math.min(rounds, FLOOD_ROUNDS), (target) => loadStreams(target, target.stream(FLOOD_FRAMES, 0), flood)),
  };
}

const SETTLE_MS = 100;

/** A gateway of its own for it: the log of collections costs time. */
async function allocated(upstream: Server, framing: FramingName, api: 'chat' | 'responses'): Promise<number> {
  const gateway = await startGateway(upstream, { api, flags: ['--trace-gc'] });
  try {
    const target = gatewayTarget(gateway, framing);
    await warmStreams([target]);
    const before = gateway.output().length;
    const open = await connections(target, STREAMS);
    const times = new FrameTimes();
    await Promise.all(open.map((connection) => readStream(connection, target.name, target.stream(COUNTED_FRAMES, 1), times)));
    for (const connection of open) connection.close();
    await sleep(SETTLE_MS);
    return heapGrowth(gateway.output().slice(before)) / times.frames;
  } finally {
    await gateway.stop();
  }
}

const MIB = 1024 * 1024;

/** Bytes that were allocated between the collections of a log: what each found less what the one before left. */
function heapGrowth(log: string): number {
  let left: number | undefined;
  let sum = 0;
  for (const [, before, after] of log.matchAll(/ms: [\w- ()]+? (\d+\.\d+) \(\d+\.\d+\) -> (\d+\.\d+) \(/g)) {
    if (left !== undefined) sum += Math.max(0, Number(before) - left);
    left = Number(after);
  }
  return sum * MIB;
}

function mainTable(cases: readonly Case[]): Table {
  const cpu = (round: StreamRound): number => round.cpuUs;
  const rate = (round: StreamRound): number => round.framesPerSecond;
  const rows = cases.map(({ framing, paced, flood, bytesPerFrame }) => [
    framing,
    spreadText(spreadOf(column(paced, 'pipe', cpu))),
    spreadText(spreadOf(column(paced, 'gateway', cpu))),
    spreadText(pacedRatio(paced)),
    spreadText(spreadOf(column(flood, 'pipe', rate))),
    spreadText(spreadOf(column(flood, 'gateway', rate))),
    spreadText(spreadOf(column(flood, 'gateway', cpu))),
    digits(bytesPerFrame),
  ]);
  const columns = [
    'framing',
    'pipe, µs CPU/frame',
    'gateway',
    '× pipe',
    'flood, pipe frames/s',
    'gateway frames/s',
    'gateway µs CPU/frame',
    'bytes allocated/frame',
  ];
  return { title: 'One frame', columns, rows };
}

function pacedRatio(paced: ReadonlyMap<string, readonly StreamRound[]>): ReturnType<typeof ratioOf> {
  const cpu = (round: StreamRound): number => round.cpuUs;
  return ratioOf(column(paced, 'gateway', cpu), column(paced, 'pipe', cpu));
}

function barsOf(cases: readonly Case[]): Bar[] {
  return cases.map(({ framing, paced }) => ({
    what: `CPU per frame, ${framing}`,
    value: pacedRatio(paced).median,
    limit: 1.5,
    side: 'most' as const,
    unit: ' × pipe',
  }));
}

function chartOf(cases: readonly Case[]): Chart {
  const series = ['pipe', 'gateway'];
  const cpu = (round: StreamRound): number => round.cpuUs;
  const groups = cases.map(({ framing, paced }) => ({ label: framing, bars: series.map((name) => spreadOf(column(paced, name, cpu))) }));
  return { file: 'frames', title: 'Processor time for one frame', unit: 'µs', series, groups };
}
