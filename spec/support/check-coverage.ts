// Runs every spec but those of the page, and fails when a test fails, or when a source file's own specs leave too much of it unvisited. Part of `npm run verify`, which has run the specs
// of the page before. With `--folder core`, only the specs of that folder in spec/ run; `--all` prints the figure of every file.
//
// only-up: files that are below their floor are listed with their percentage, below which they must not fall. `--note` writes the list, from which a file goes once it has reached its
// floor, and to which none is added by hand.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compiledPath } from './compile.ts';
import { linesOf, type Visits } from './coverage/lines.ts';
import { sourcesOf } from './coverage/map.ts';
import type { Recorded } from './coverage/recorder.ts';
import { plainText, runGroups, writeGroups } from './test-groups.ts';

/** Percent of lines. The core's logic is pure and has no excuse; elsewhere some lines need a broken machine. */
const FLOOR = 90;
const CORE_FLOOR = 95;
const PAGE = 'dashboard';
const RECORDED = '.visits.json';

/** By file, what its own specs visited when the list was written; see only-up. */
const BELOW = 'spec/support/coverage/below.json';
/** Some lines run only if two things happen in one order, or on a slow machine. */
const TOLERANCE = 2;

interface Figure {
  readonly source: string;
  readonly percent: number;
  readonly floor: number;
  readonly text: string;
}

const { folder, all, note } = parseArgs({
  options: { folder: { type: 'string', multiple: true }, all: { type: 'boolean' }, note: { type: 'boolean' } },
}).values;
/** What the groups write of which specs mirror a source file. */
const recorded: string[] = [];
const groups = await writeGroups({ isWanted: (each) => (folder === undefined ? each !== PAGE : folder.includes(each)), textOf });
const status = await runGroups(groups);
const figures = figuresOf(visitsIn(recorded));
const isGood = report(figures);
if (note === true && folder === undefined)
  writeFileSync(BELOW, `${JSON.stringify(Object.fromEntries(lowOf(figures).map(({ source, percent }) => [source, Math.floor(percent)])), null, 2)}\n`);
process.exitCode = status === 0 && isGood ? 0 : 1;

function textOf(specs: readonly string[], path: string): string {
  if (specs.every((spec) => sourcesOf(spec).length === 0)) return plainText(specs);
  recorded.push(path + RECORDED);
  return `import { runTogether } from '../../${compiledPath('spec/support/together.ts')}';
import { Recorder } from '../../${compiledPath('spec/support/coverage/recorder.ts')}';
const recorder = new Recorder(${JSON.stringify(path + RECORDED)});
await runTogether(${JSON.stringify(specs, null, 2)}, (spec) => recorder.begin(spec));
`;
}

function figuresOf(visits: ReadonlyMap<string, readonly Visits[]>): Figure[] {
  return [...visits]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([source, reports]) => {
      const { all: lines, missed } = linesOf(readFileSync(source, 'utf8'), readFileSync(compiledPath(source), 'utf8'), reports);
      const percent = lines === 0 ? 100 : (100 * (lines - missed.length)) / lines;
      const floor = source.startsWith('core/') ? CORE_FLOOR : FLOOR;
      return {
        source,
        percent,
        floor,
        text: `${source}: ${percent.toFixed(1)} % of its ${lines} lines with code, ${floor} wanted; missed: ${missed.join(' ')}`,
      };
    });
}

function lowOf(figures: readonly Figure[]): Figure[] {
  return figures.filter(({ percent, floor }) => percent < floor);
}

/** Prints the files that have too few visited lines, and all if they are wanted. True if there are none but those of the list. */
function report(figures: readonly Figure[]): boolean {
  const noted = JSON.parse(readFileSync(BELOW, 'utf8')) as Readonly<Record<string, number>>;
  const low = lowOf(figures);
  const fallen = low.filter(({ source, percent }) => percent < (noted[source] ?? 100) - TOLERANCE); // only-up
  const risen = figures.filter(({ source, percent, floor }) => noted[source] !== undefined && percent >= floor);
  for (const { text } of all === true ? figures : fallen) print(text);
  for (const { source } of risen) print(`${source} has reached its floor: take it out of ${BELOW}`);
  print(
    `coverage: ${figures.length} files, ${figures.length - low.length} at their floor or above, ${low.length - fallen.length} on the list of those below, ${fallen.length} too low`,
  );
  return figures.length > 0 && fallen.length === 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function visitsIn(files: readonly string[]): Map<string, Visits[]> {
  const visits = new Map<string, Visits[]>();
  for (const file of files) {
    if (!existsSync(file)) throw new Error(`${file} is missing: its group has not ended by itself.`);
    const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recorded;
    for (const [source, reports] of Object.entries(recorded.visits)) visits.set(source, [...(visits.get(source) ?? []), ...reports]);
    for (const [folder, sources] of Object.entries(recorded.children)) {
      for (const name of readdirSync(folder)) {
        const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string; functions: Visits }[] };
        for (const source of sources) {
          const reports = result.filter(({ url }) => url.endsWith(`/${compiledPath(source)}`)).map(({ functions }) => functions);
          visits.set(source, [...(visits.get(source) ?? []), ...reports]);
        }
      }
    }
  }
  return visits;
}
