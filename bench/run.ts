// `npm run bench`: all questions in order; `npm run bench -- stream` one of them. `--quick` shows that all of it works and nothing else,
// `--runs 3` asks so often, `--json <file>` keeps the figures. `--record` publishes what was asked, out of three runs: it writes it into
// docs/performance/results.json, and docs/performance.md with its pictures out of that.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machineText, type Published, thisMachine, toPage } from './harness/page.ts';
import { type Result, toText, worstOf } from './harness/report.ts';
import { toSvg } from './harness/svg.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, record: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false }, runs: { type: 'string' } },
});

/** One run can be lucky, so the worst of this many runs is published. */
const PUBLISHED_RUNS = 3;
const QUICK = { rounds: 1, ms: 300 };
const QUESTIONS: Readonly<Record<string, () => Promise<Result>>> = {
  start: startQuestion,
  request: async () => (await import('./request.bench.ts')).run(values.quick ? QUICK : undefined),
  stream: async () => (await import('./stream.bench.ts')).run(values.quick ? { ...QUICK, framings: ['openai-chat'] } : undefined),
  frames: async () => (await import('./frames.bench.ts')).run(values.quick ? { ...QUICK, framings: ['openai-chat'] } : undefined),
  compatible: async () => (await import('./compatible.bench.ts')).run(values.quick ? QUICK : undefined),
  translate: async () => (await import('./translate.bench.ts')).run(values.quick ? { rounds: 1, times: 20 } : undefined),
  peers: async () => (await import('./peers.bench.ts')).run(values.quick ? QUICK : undefined),
  dashboard: async () => (await import('./dashboard.bench.ts')).run(values.quick ? { blocks: 200, idleMs: 1000, pieces: 100 } : undefined),
  memory: async () => (await import('./memory.bench.ts')).run(values.quick ? { many: 2000 } : undefined),
};
/** Those whose figures are ratios to the pipe, and so are asked in each run; the others are asked once. */
const REPEATED: ReadonlySet<string> = new Set(['request', 'stream', 'frames', 'compatible']);
const DOCS = join(import.meta.dirname, '..', 'docs');

const unknown = positionals.filter((name) => !(name in QUESTIONS));
const runs = Number(values.runs ?? (values.record ? PUBLISHED_RUNS : 1));
if (unknown.length > 0) {
  process.stderr.write(`There is no question ${unknown.join(', ')}. The questions are ${Object.keys(QUESTIONS).join(', ')}.\n`);
  process.exitCode = 2;
} else if (!Number.isInteger(runs) || runs < 1) {
  process.stderr.write('--runs takes a whole number from 1.\n');
  process.exitCode = 2;
} else if (values.record && (values.quick || runs < PUBLISHED_RUNS)) {
  process.stderr.write(`--record publishes figures: it takes at least ${PUBLISHED_RUNS} runs, and no --quick.\n`);
  process.exitCode = 2;
} else await ask(positionals.length > 0 ? positionals : Object.keys(QUESTIONS));

async function ask(names: readonly string[]): Promise<void> {
  const machine = thisMachine();
  const startedAt = performance.now();
  process.stdout.write(`${machineText(machine)}\n\n`);
  const found = new Map<string, Result[]>(names.map((name) => [name, []]));
  for (let run = 1; run <= runs; run += 1) {
    for (const name of names) {
      if (run > 1 && !REPEATED.has(name)) continue;
      const result = await QUESTIONS[name]?.();
      if (result === undefined) continue;
      found.get(name)?.push(result);
      process.stdout.write(`${runs > 1 ? `Run ${run} of ${runs}\n` : ''}${toText(result)}\n\n`);
    }
  }
  process.stdout.write(`${Math.round((performance.now() - startedAt) / 1000)} s in all\n`);
  if (values.json !== undefined) {
    const kept = [...found].map(([name, each]) => ({ name, runs: each.map(({ bars, data }) => ({ bars, data })) }));
    writeFileSync(values.json, `${JSON.stringify({ machine, results: kept }, null, 1)}\n`);
  }
  if (values.record) record([...found.values()].map(worstOf).map((result) => ({ ...result, data: undefined, measured: machineText(machine) })));
}

/** What was not asked this time stays on the page as it was published. */
function record(asked: readonly Published[]): void {
  const folder = join(DOCS, 'performance');
  const file = join(folder, 'results.json');
  mkdirSync(folder, { recursive: true });
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Published[]) : [];
  const published = Object.keys(QUESTIONS).flatMap((name) => [...asked, ...before].find((result) => result.name === name) ?? []);
  writeFileSync(file, `${JSON.stringify(published, null, 1)}\n`);
  for (const chart of published.flatMap(({ charts }) => charts)) writeFileSync(join(folder, `${chart.file}.svg`), toSvg(chart));
  const page = join(DOCS, 'performance.md');
  writeFileSync(page, toPage(published, readFileSync(page, 'utf8')));
}

interface StartFigures {
  readonly healthMs: { readonly median: number; readonly worst: number };
  readonly bareNodeMs: { readonly median: number };
  readonly ratio: number;
  readonly idleRssMiB: number;
}

/** A script of its own: it starts nothing but the server, fifteen times. */
async function startQuestion(): Promise<Result> {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'start.bench.ts')], { encoding: 'utf8' });
  const last = stdout.trim().split('\n').at(-1) ?? '';
  if (status !== 0) throw new Error(`start.bench.ts failed: ${stderr}`);
  const found = JSON.parse(last) as StartFigures;
  return {
    name: 'start',
    question: 'How soon after its start does the server answer?',
    tables: [
      {
        title: 'Start',
        columns: ['', 'ms'],
        rows: [
          ['to the first healthy answer, median of 15', found.healthMs.median.toFixed(0)],
          ['the slowest of them', found.healthMs.worst.toFixed(0)],
          ['a bare `node -e 0`, start and exit', found.bareNodeMs.median.toFixed(0)],
        ],
      },
    ],
    bars: [{ what: 'start to the first healthy answer', value: found.ratio, limit: 3, side: 'most', unit: ' × bare node' }],
    charts: [],
    notes: [],
    data: found,
  };
}
