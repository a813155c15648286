// `npm run check:breaks -- [--count 200] [--seed 1] [--log <file>] [--only <n,n>] [--cpu 20] [--in <path>]`: what the test run finds. Makes small breaks of the
// product's code, one at a time, in a copy of the tree, and runs specs until one fails. Prints the breaks that no spec has found.
//
// A seed repeats the breaks as long as the code is the same. With --log, what is known is kept, and a second start goes on after it. --only takes breaks by
// their numbers. --cpu is how many seconds of processor time the specs of one break may use, and --in takes only files whose path begins so.
//
// It ends by itself, needs no network, and writes only into its copy.
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Copy } from './breaks/copy.ts';
import { Specs } from './breaks/order.ts';
import { type Break, KINDS, placesIn } from './breaks/places.ts';
import { spentSeconds } from './cpu-time.ts';
import { Random } from './crash/random.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDERS = ['core', 'adapters', 'transports', 'cli'];
/** The page has specs in a browser; the others are generated, are examples of the contract, or only run during the build. */
const LEFT_OUT = [
  'transports/dashboard/',
  'transports/http/openapi/examples',
  'cli/build.ts',
  'cli/build-checks.ts',
  'cli/main/command-index.ts',
  'cli/complete/completion-index.ts',
];
interface Result extends Break {
  readonly number: number;
  /** Undefined when no spec has found it. */
  readonly foundBy?: string;
  readonly hangs?: boolean;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly specs: number;
}

const string = { type: 'string' } as const;
const { values } = parseArgs({ options: { count: string, seed: string, log: string, only: string, cpu: string, in: string } });
const count = wholeNumber('count', values.count ?? '200');
const seed = wholeNumber('seed', values.seed ?? '1');
const cpuLimit = wholeNumber('cpu', values.cpu ?? '20');
const only = values.only?.split(',').map((text) => wholeNumber('only', text));

const copy = await Copy.of(ROOT, join(tmpdir(), `blockhouse-breaks-${process.pid}`));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    copy.end();
    process.exit(1);
  });
}
const specs = new Specs(ROOT);
/** Specs that have passed in this run, and specs that fail without any break: those find nothing. */
const good = new Set<string>();
const useless = new Set<string>();
const results = logged();
for await (const [number, each] of breaks()) {
  if (only !== undefined ? !only.includes(number) : results.some((result) => result.number === number)) continue;
  const result = await ask(number, each);
  results.push(result);
  print(lineOf(result));
  if (values.log !== undefined) appendFileSync(values.log, `${JSON.stringify(result)}\n`);
}
copy.end();
report();

function logged(): Result[] {
  if (values.log === undefined || only !== undefined || !existsSync(values.log)) return [];
  const lines = readFileSync(values.log, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Result).filter(({ number }) => number <= count);
}

/** Breaks that the compiler takes, numbered from 1: each kind in its turn, each place once. The break is made while it is the current one. */
async function* breaks(): AsyncGenerator<[number, Break]> {
  const random = new Random(seed);
  const places = allPlaces();
  const byKind = KINDS.map((kind) => places.filter((place) => place.kind === kind));
  print(`seed ${seed}: ${count} of ${places.length} breaks (${KINDS.map((kind, index) => `${byKind[index]?.length} ${kind}`).join(', ')})`);
  let number = 1;
  const last = Math.min(count, ...(only === undefined ? [] : [Math.max(...only)]));
  for (let turn = 0; number <= last && byKind.some(({ length }) => length > 0); turn += 1) {
    const kind = byKind[turn % KINDS.length] ?? [];
    if (kind.length === 0) continue;
    const [each] = kind.splice(random.below(kind.length), 1);
    if (each !== undefined && (await copy.apply(each))) {
      yield [number, each];
      number += 1;
    }
  }
}

function allPlaces(): Break[] {
  const { program } = copy.project();
  const files = FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)))
    .filter((path) => /(?<!\.d)\.ts$/.test(path) && path.startsWith(values.in ?? '') && !LEFT_OUT.some((place) => path.startsWith(place)))
    .sort();
  return files.flatMap((file) => {
    const source = program.getSourceFile(join(copy.folder, file));
    return source === undefined ? [] : placesIn(file, source);
  });
}

/** Runs specs until one finds the break, or the processor time of one break is used up. */
async function ask(number: number, each: Break): Promise<Result> {
  const [begin, cpuBegin] = [performance.now(), spentSeconds()];
  const waiting = specs.for(each.file).filter((spec) => !useless.has(spec));
  const all = waiting.length;
  const resultOf = (found: Pick<Result, 'foundBy' | 'hangs'>): Result => ({
    number,
    ...each,
    ...found,
    seconds: Math.round((performance.now() - begin) / 100) / 10,
    cpuSeconds: Math.round((spentSeconds() - cpuBegin) * 10) / 10,
    specs: all - waiting.length,
  });
  for (let isFirst = true; waiting.length > 0 && spentSeconds() - cpuBegin < cpuLimit; isFirst = false) {
    const batch = isFirst ? waiting.splice(0, 1) : specs.takeBatch(waiting);
    if (batch.some((spec) => specs.runsProgram(spec)) && !copy.bundle()) return resultOf({ foundBy: 'the build' });
    const { isGood, hangs, last = batch[0] as string } = await copy.run(batch);
    const passed = isGood ? batch : batch.slice(0, batch.indexOf(last));
    for (const spec of passed) good.add(spec);
    if (isGood) continue;
    if (await finds(last, each, batch.length === 1)) return resultOf({ foundBy: last, hangs });
    waiting.unshift(...batch.slice(batch.indexOf(last) + 1));
  }
  return resultOf({});
}

/** Whether a spec that has failed does so alone too, and not without the break. */
async function finds(spec: string, each: Break, ranAlone: boolean): Promise<boolean> {
  if (!ranAlone && (await copy.run([spec])).isGood) return false;
  if (good.has(spec)) return true;
  await copy.restore();
  copy.bundle();
  const isGood = (await copy.run([spec])).isGood;
  (isGood ? good : useless).add(spec);
  await copy.apply(each);
  return isGood;
}

function lineOf({ number, kind, file, line, foundBy, hangs, seconds, cpuSeconds, specs }: Result): string {
  const verdict = foundBy === undefined ? `SURVIVED ${specs} specs` : `found by ${foundBy}${hangs ? ' (hangs)' : ''}`;
  return `${number}. ${kind} ${file}:${line} ${verdict}, ${seconds} s, ${cpuSeconds} s of CPU`;
}

function report(): void {
  const survivors = results.filter(({ foundBy }) => foundBy === undefined);
  for (const each of survivors) print(`\n${each.number}. ${each.kind} ${each.file}:${each.line}\n${changeOf(each)}`);
  for (const spec of useless) print(`\n${spec} fails without any break, and was not used`);
  print(`\n${results.length - survivors.length} of ${results.length} breaks found`);
}

/** The lines that a break is in, before and after it. */
function changeOf({ file, start, end, after }: Break): string {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const [from, to] = [text.lastIndexOf('\n', start - 1) + 1, text.indexOf('\n', end)];
  const marked = (sign: string, lines: string): string => lines.replace(/^/gm, `  ${sign} `);
  return `${marked('-', text.slice(from, to))}\n${marked('+', text.slice(from, start) + after + text.slice(end, to))}`;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1.`);
  return number;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
