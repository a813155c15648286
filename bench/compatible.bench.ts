// How much processor time does a client's own protocol cost?
//
// A provider that speaks Chat Completions, asked through a bare pipe and through the gateway in turn: as it is (the native lane), and translated from each
// of the three protocols. Each pair of pipe and gateway has a rotation of its own, so that both stay warm. Small requests, and frames that come one by one.
import { type Load, loadStreams, loadWhole, type StreamRound, type WholeRound } from './harness/load.ts';
import { type Bar, type Result, spreadText, type Table } from './harness/report.ts';
import { column, interleave } from './harness/rounds.ts';
import { ratioOf, type Spread, spreadOf } from './harness/stats.ts';
import { type ClientProtocol, clientTarget, providerTarget, type Target } from './harness/targets.ts';
import { inWorld, type World, warmStreams, warmWhole } from './harness/world.ts';

const SMALL = 80;
const REQUESTS_AT_ONCE = 32;
const STREAMS = 16;
const EVERY_MS = 5;

interface Lane {
  readonly name: string;
  readonly protocol: ClientProtocol;
  readonly isNative: boolean;
  /** Of the processor time of the pipe. */
  readonly most: { readonly whole: number; readonly frame: number };
}

const LANES: readonly Lane[] = [
  { name: 'native lane', protocol: 'chat', isNative: true, most: { whole: 1.3, frame: 1.2 } },
  { name: 'Chat Completions, translated', protocol: 'chat', isNative: false, most: { whole: 1.8, frame: 1.8 } },
  { name: 'Responses, translated', protocol: 'responses', isNative: false, most: { whole: 1.8, frame: 1.8 } },
  { name: 'Messages, translated', protocol: 'messages', isNative: false, most: { whole: 1.8, frame: 1.8 } },
];

export interface CompatibleOptions {
  readonly rounds: number;
  readonly ms: number;
}

interface Case extends Lane {
  readonly whole: Map<string, WholeRound[]>;
  readonly stream: Map<string, StreamRound[]>;
}

export async function run(options: CompatibleOptions = { rounds: 7, ms: 1500 }): Promise<Result> {
  const cases: Case[] = [];
  for (const lane of LANES) {
    const models = { native: { openai: lane.isNative } };
    cases.push(await inWorld({ models }, async (world) => ({ ...lane, ...(await measureLane(world, lane, options)) })));
  }
  return {
    name: 'compatible',
    question: "How much processor time does a client's own protocol cost?",
    tables: [mainTable(cases)],
    bars: cases.flatMap(barsOf),
    charts: [],
    notes: [
      `${options.rounds} rounds of ${options.ms / 1000} s each, pipe and gateway in turn: median (lowest–highest). CPU is processor time in µs. Small requests at ${REQUESTS_AT_ONCE} at once; ${STREAMS} streams, each frame a packet of its own.`,
    ],
    data: cases.map(({ name, whole, stream }) => ({ name, whole: Object.fromEntries(whole), stream: Object.fromEntries(stream) })),
  };
}

async function measureLane(world: World, { protocol }: Lane, { rounds, ms }: CompatibleOptions): Promise<Pick<Case, 'whole' | 'stream'>> {
  const targets: Target[] = [providerTarget(world.pipe, 'openai-chat'), clientTarget(world.gateway, protocol)];
  const load: Load = { concurrency: REQUESTS_AT_ONCE, ms };
  await warmWhole(targets, SMALL);
  const whole = await interleave(targets, rounds, (target) => loadWhole(target, target.whole(SMALL), load));
  await warmStreams(targets);
  const frames = Math.round(ms / EVERY_MS);
  return {
    whole,
    stream: await interleave(targets, rounds, (target) => loadStreams(target, target.stream(frames, EVERY_MS), { concurrency: STREAMS, ms: 0 })),
  };
}

const cpu = ({ cpuUs }: { readonly cpuUs: number }): number => cpuUs;

function ratio(rounds: ReadonlyMap<string, readonly { readonly cpuUs: number }[]>): Spread {
  return ratioOf(column(rounds, 'gateway', cpu), column(rounds, 'pipe', cpu));
}

function mainTable(cases: readonly Case[]): Table {
  const rows = cases.map(({ name, whole, stream }) => [
    name,
    ...['pipe', 'gateway'].map((through) => spreadText(spreadOf(column(whole, through, cpu)))),
    spreadText(ratio(whole)),
    ...['pipe', 'gateway'].map((through) => spreadText(spreadOf(column(stream, through, cpu)))),
    spreadText(ratio(stream)),
  ]);
  return { title: 'Compatible endpoints', columns: ['', 'pipe, CPU/request', 'gateway', '× pipe', 'pipe, CPU/frame', 'gateway', '× pipe'], rows };
}

function barsOf({ name, whole, stream, most }: Case): Bar[] {
  return [
    { what: `CPU per small request, ${name}`, value: ratio(whole).median, limit: most.whole, side: 'most', unit: ' × pipe' },
    { what: `CPU per frame, ${name}`, value: ratio(stream).median, limit: most.frame, side: 'most', unit: ' × pipe' },
  ];
}
