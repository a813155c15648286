// How much processor time does a whole answer cost?
//
// The same provider's answer through a bare pipe and through the gateway, in turn and with nobody else in the rotation: both stay warm. Small: a
// prompt and an answer of some 80 characters; large: 16 KiB each. OpenAI's Chat Completions. Where `wrk` is installed, it asks the same once
// more, as a load generator that shares no code with this one.
import { type Load, loadWhole, type WholeRound } from './harness/load.ts';
import { type Bar, type Result, spreadText, type Table } from './harness/report.ts';
import { column, interleave } from './harness/rounds.ts';
import { ratioOf, type Spread, spreadOf } from './harness/stats.ts';
import type { Chart } from './harness/svg.ts';
import { gatewayTarget, providerTarget, type Target } from './harness/targets.ts';
import { inWorld, warmWhole } from './harness/world.ts';
import { hasWrk, loadWithWrk } from './harness/wrk.ts';

const SIZES = { small: 80, '16 KiB': 16_384 } as const;
type Label = keyof typeof SIZES;

interface Question {
  readonly label: Label;
  readonly concurrency: number;
  readonly client: 'own' | 'wrk';
}

const QUESTIONS: readonly Question[] = [
  { label: 'small', concurrency: 32, client: 'own' },
  { label: '16 KiB', concurrency: 32, client: 'own' },
  { label: 'small', concurrency: 32, client: 'wrk' },
];

export interface RequestOptions {
  readonly rounds: number;
  readonly ms: number;
}

interface Case extends Question {
  readonly rounds: Map<string, WholeRound[]>;
}

export async function run(options: RequestOptions = { rounds: 9, ms: 2000 }): Promise<Result> {
  const cases = await inWorld({}, async ({ pipe, gateway }) =>
    measureAll([providerTarget(pipe, 'openai-chat'), gatewayTarget(gateway, 'openai-chat')], options),
  );
  return {
    name: 'request',
    question: 'How much processor time does a whole answer cost?',
    tables: [mainTable(cases)],
    bars: barsOf(cases),
    charts: [chartOf(cases)],
    notes: [
      `${options.rounds} rounds of ${options.ms / 1000} s each, pipe and gateway in turn: median (lowest–highest). Latencies are in ms. CPU is the processor time of the pipe or the gateway, in µs. × pipe is the ratio within a round.`,
    ],
    data: cases.map(({ label, concurrency, client, rounds }) => ({ label, concurrency, client, rounds: Object.fromEntries(rounds) })),
  };
}

async function measureAll(targets: readonly Target[], { rounds, ms }: RequestOptions): Promise<Case[]> {
  const cases: Case[] = [];
  let warmed: Label | undefined;
  for (const question of QUESTIONS) {
    if (question.client === 'wrk' && !hasWrk()) continue;
    const { label, concurrency, client } = question;
    if (warmed !== label) await warmWhole(targets, SIZES[label]);
    warmed = label;
    const load: Load = { concurrency, ms };
    const measure = client === 'own' ? loadWhole : loadWithWrk;
    cases.push({ ...question, rounds: await interleave(targets, rounds, (target) => measure(target, target.whole(SIZES[label]), load)) });
  }
  return cases;
}

const nameOf = ({ label, concurrency, client }: Question): string => `${label}, ${concurrency} at once${client === 'wrk' ? ', wrk' : ''}`;

function mainTable(cases: readonly Case[]): Table {
  const rows = cases.flatMap((one) =>
    [...one.rounds.keys()].map((name) => [
      nameOf(one),
      name,
      ...FIGURES.map((figure) => spreadText(spreadOf(column(one.rounds, name, figure)))),
      name === 'pipe' ? '' : spreadText(ratio(one, (round) => round.cpuUs)),
    ]),
  );
  return { title: 'Whole answers', columns: ['', 'through', 'requests/s', 'p50', 'p99', 'CPU/request', 'CPU × pipe'], rows };
}

type Figure = (round: WholeRound) => number;
const FIGURES: readonly Figure[] = [({ perSecond }) => perSecond, ({ p50 }) => p50, ({ p99 }) => p99, ({ cpuUs }) => cpuUs];

function ratio({ rounds }: Case, figure: Figure): Spread {
  return ratioOf(column(rounds, 'gateway', figure), column(rounds, 'pipe', figure));
}

function barsOf(cases: readonly Case[]): Bar[] {
  return cases.flatMap((one): Bar[] => {
    const name = nameOf(one);
    const cpu: Bar = {
      what: `CPU per request, ${name}`,
      value: ratio(one, ({ cpuUs }) => cpuUs).median,
      limit: one.label === 'small' ? 1.6 : 2.5,
      side: 'most',
      unit: ' × pipe',
    };
    if (one.label !== 'small') return [cpu];
    return [cpu, { what: `requests/s, ${name}`, value: ratio(one, ({ perSecond }) => perSecond).median, limit: 0.65, side: 'least', unit: ' × pipe' }];
  });
}

function chartOf(cases: readonly Case[]): Chart {
  const series = ['pipe', 'gateway'];
  const groups = cases.map((one) => ({ label: nameOf(one), bars: series.map((name) => spreadOf(column(one.rounds, name, ({ cpuUs }) => cpuUs))) }));
  return { file: 'request', title: 'Processor time for a whole answer', unit: 'µs', series, groups };
}
