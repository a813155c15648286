// Specs that lie together share a process: a group. A process that loads the source, tap and the packages, and runs nothing, costs 0.9 seconds of processor time.
//
// Groups are started here and not by tap, whose command would load its recorder into each process that a test starts, the servers included.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { compileAll, compiledPath } from './compile.ts';
import { CPU_FILE, type CpuReport, spentSeconds } from './cpu-time.ts';
import { findChromium } from './find-chromium.ts';
import { memoryFolder, TEST_FOLDERS } from './memory-folder.ts';
import { IS_COMPILED } from './node-args.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const GROUPS = join(ROOT, '.tap/groups');
/** How many specs share a process at most. */
const GROUP_SIZE = 110;
/** Fewer in folders whose specs wait for servers and browsers, so that these wait beside each other. The longest groups begin first, and the shortest fill up the end. */
const GROUP_SIZES: Readonly<Record<string, number>> = {
  dashboard: 30,
  core: 225,
  disk: 48, // which mostly waits, beside those that compute
  faults: 7, // two servers that they share: what one spec tries too often, such as wrong tokens, another one may not
  cli: 75,
  adapters: 150,
  cases: 15,
  transports: 135,
  conformance: 110,
  docs: 15,
  judges: 26,
  e2e: 110,
  contract: 110,
};
/**
 * Specs of what the store does with files keep their folders on the disk, where inodes are used again and a flush takes its time. They are groups of their own. A database on the
 * disk costs three times the processor time of one in memory, and no fact about it depends on the place.
 */
const ON_DISK = ['core/store/files/', 'faults/durability.', 'faults/files.', 'cases/kill.'];
const DISK = 'disk';
const PAGE = 'dashboard';
/** Twice the cores that the suite is made for: most specs wait now and then. */
const JOBS = 5;
/** A limit that only a hang reaches, also on a busy machine with a slow disk. */
const LIMIT_SECONDS = 900;
/**
 * Of the memory for what lives shortly, where Node has 16. Specs make and drop a lot, and with less than this what a test still holds is copied again and
 * again: a seventh of the time goes to that.
 */
const YOUNG_MIB = 64;
/** The rest is not looked through for garbage below this: Node would begin with a few, and mark all that is loaded each time that it has grown by some. */
const OLD_MIB = 600;
/** Garbage is collected without the help of other threads: with as many processes as cores they save no time, and to hand work to them takes some. */
const MEMORY = ['--single-threaded-gc', `--max-semi-space-size=${YOUNG_MIB}`, `--initial-old-space-size=${OLD_MIB}`];
const INDENT = '    ';
/** Folders whose specs begin before a build has ended: it leaves one of two cores idle. */
const NEEDS_NO_PROGRAM = ['core'];
/** Of these folders, specs of what the build has made. They run with those of the package. */
const OF_THE_BUILD = ['core/schemas/checks.', 'core/workspace-parts.'];
const PACKAGE = 'package';
/** So many specs are named with their processor time at the end. */
const LONGEST = 10;

interface Outcome {
  readonly name: string;
  readonly text: string;
  readonly isGood: boolean;
  readonly ms: number;
  readonly cpu: CpuReport;
}

export interface Group {
  readonly path: string;
  /** Where its tests have their folders; undefined for the usual places. */
  readonly folders: string | undefined;
  /** That its specs use `dist` or a browser. */
  readonly needsBuild: boolean;
}

interface Wishes {
  /** Of a folder in spec/. */
  readonly isWanted?: (folder: string) => boolean;
  /** The text of the test file of a group. */
  readonly textOf?: (specs: readonly string[], path: string) => string;
  /** That everything was compiled just now. */
  readonly isCompiled?: boolean;
}

/** Specs by the folder in spec/ that they lie in, at any depth, or under `DISK`. */
function specsByFolder(): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  const names = readdirSync(join(ROOT, 'spec'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.spec.ts'));
  for (const name of names.sort()) {
    const folder = folderOf(name);
    folders.set(folder, [...(folders.get(folder) ?? []), `spec/${name}`]);
  }
  return folders;
}

function folderOf(name: string): string {
  const isOneOf = (list: readonly string[]): boolean => list.some((each) => name.startsWith(each));
  if (isOneOf(OF_THE_BUILD)) return PACKAGE;
  if (isOneOf(ON_DISK)) return DISK;
  return name.includes('/') ? (name.split('/')[0] as string) : 'spec';
}

/** The specs in their order, in runs of at most `size` that are all about as long. */
function inRuns(specs: readonly string[], size: number): string[][] {
  const count = Math.ceil(specs.length / size);
  const at = (index: number): number => Math.floor((index * specs.length) / count);
  return Array.from({ length: count }, (_, index) => specs.slice(at(index), at(index + 1)));
}

/** Compiles everything, writes a test file for each group, and returns them: those that take longest first. */
export async function writeGroups({ isWanted = () => true, textOf = plainText, isCompiled = false }: Wishes = {}): Promise<Group[]> {
  // Else each group of the page would unpack a browser. What is wrong with it is said by the specs that need it.
  if (!isCompiled) await Promise.all([compileAll(), isWanted(PAGE) ? findChromium().catch(() => undefined) : undefined]);
  rmSync(GROUPS, { recursive: true, force: true });
  mkdirSync(GROUPS, { recursive: true });
  const memory = memoryFolder();
  const folders = [...specsByFolder()].filter(([folder]) => isWanted(folder));
  const groups = folders.flatMap(([folder, specs]) => {
    const size = GROUP_SIZES[folder];
    return inRuns(specs, size ?? GROUP_SIZE).map((group, index) => {
      const name = `${folder}-${index + 1}`;
      const path = join(GROUPS, `${name}.mjs`);
      writeFileSync(path, textOf(group, path));
      return {
        path,
        folders: memory === undefined || folder === DISK ? undefined : join(memory, name),
        folder,
        needsBuild: !NEEDS_NO_PROGRAM.includes(folder),
      };
    });
  });
  const order = Object.keys(GROUP_SIZES);
  const placeOf = (folder: string): number => (order.includes(folder) ? order.indexOf(folder) : order.length);
  return groups.toSorted((one, other) => placeOf(one.folder) - placeOf(other.folder));
}

/** The test file of a group that only runs. */
export function plainText(specs: readonly string[]): string {
  return `import { runTogether } from '../../${compiledPath('spec/support/together.ts')}';\nawait runTogether(${JSON.stringify(specs, null, 2)});\n`;
}

/** Prints each group as a subtest when it has ended, and at last the sum of all. Those that need a build begin when it is `built`. Returns the exit code. */
export async function runGroups(groups: readonly Group[], built: Promise<void> = Promise.resolve()): Promise<number> {
  const waiting = [...groups];
  const ready = groups.filter(({ needsBuild }) => !needsBuild);
  let isBuilt = false;
  const noticed = built.then(() => {
    isBuilt = true;
  });
  const next = async (): Promise<Group | undefined> => {
    const first = isBuilt ? undefined : ready.find((group) => waiting.includes(group));
    if (first !== undefined) return waiting.splice(waiting.indexOf(first), 1)[0];
    await noticed;
    return waiting.shift();
  };
  await Promise.race([noticed, turn()]); // a build that was not needed has ended
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    for (let group = await next(); group !== undefined; group = await next()) {
      const outcome = await runGroup(group);
      outcomes.push(outcome);
      const title = `${outcomes.length} - ${outcome.name} # time=${outcome.ms.toFixed(0)}ms cpu=${sumOf(Object.values(outcome.cpu)).toFixed(1)}s`;
      print(`# Subtest: ${outcome.name}\n${outcome.text.replace(/^(?=.)/gm, INDENT)}${outcome.isGood ? 'ok' : 'not ok'} ${title}\n\n`);
    }
  };
  const inMemory = groups.filter(({ folders }) => folders !== undefined).length;
  print(`TAP version 14\n# ${inMemory} of ${groups.length} processes have the folders of their tests in memory\n`);
  await Promise.all(Array.from({ length: JOBS }, work));
  // The time is that of the whole process, the build included.
  print(`1..${outcomes.length}\n${cpuOf(outcomes)}\n${summaryOf(outcomes)}\n# time=${performance.now().toFixed(0)}ms\n`);
  return outcomes.every(({ isGood }) => isGood) ? 0 : 1;
}

/** A group is good when tap says so by its exit code, and has counted its tests. */
async function runGroup({ path, folders }: Group): Promise<Outcome> {
  const begin = performance.now();
  const cpuFile = `${path}.cpu.json`;
  // Node would read these certificates at each start, which takes longer than all the rest of it. No test leaves this machine.
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;
  if (folders !== undefined) mkdirSync(join(folders, 'tmp'), { recursive: true });
  const child = spawn(process.execPath, ['--enable-source-maps', ...MEMORY, path], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...environment,
      TAP: '1',
      TAP_TIMEOUT: String(LIMIT_SECONDS),
      [CPU_FILE]: cpuFile,
      [IS_COMPILED]: '1',
      ...(folders !== undefined && { [TEST_FOLDERS]: join(folders, 'fixtures'), TMPDIR: join(folders, 'tmp') }),
    },
    timeout: (LIMIT_SECONDS + 60) * 1000,
    killSignal: 'SIGKILL',
  });
  const end = (): boolean => child.kill('SIGKILL');
  process.prependOnceListener('exit', end); // before the folders are removed
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const [code, signal] = await once(child, 'close');
  process.off('exit', end);
  if (folders !== undefined) rmSync(folders, { recursive: true, force: true });
  const isWhole = countsOf(text) !== undefined;
  if (!isWhole) text += `\nnot ok - the process ended with ${code ?? signal} before tap had counted its tests\n`;
  // A process that was killed has written nothing.
  const cpu = existsSync(cpuFile) ? (JSON.parse(readFileSync(cpuFile, 'utf8')) as CpuReport) : {};
  return { name: basename(path, '.mjs'), text, isGood: code === 0 && isWhole, ms: performance.now() - begin, cpu };
}

/** What tap's last line says: `# { total: 12, pass: 11, skip: 1 }`. */
function countsOf(text: string): Record<string, number> | undefined {
  const counts = /^# \{ (total: .*) \}$/m.exec(text)?.[1];
  if (counts === undefined) return undefined;
  return Object.fromEntries([...counts.matchAll(/(\w+): (\d+)/g)].map(([, name = '', count]) => [name, Number(count)]));
}

function summaryOf(outcomes: readonly Outcome[]): string {
  const sums: Record<string, number> = { total: 0, pass: 0 };
  for (const { text, isGood } of outcomes) {
    // A process that dies after its last test has no failed test, and has failed.
    const counts = { ...countsOf(text), ...(!isGood && { fail: countsOf(text)?.['fail'] ?? 1 }) };
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  const parts = Object.entries(sums).map(([name, sum]) => `${name}: ${sum}`);
  return `# { ${parts.join(', ')} }`;
}

/** Where the processor time went: all of it, the specs that took most, and what came before the first spec of each process. */
function cpuOf(outcomes: readonly Outcome[]): string {
  const specs = outcomes.flatMap(({ cpu }) => Object.entries(cpu)).sort(([, a], [, b]) => b - a);
  const starts = sumOf(specs.filter(([name]) => name === '').map(([, seconds]) => seconds));
  const longest = specs.filter(([name]) => name !== '').slice(0, LONGEST);
  return [
    `# cpu=${spentSeconds().toFixed(1)}s, of which ${starts.toFixed(1)}s before the first spec of ${outcomes.length} processes`,
    ...longest.map(([name, seconds]) => `# cpu=${seconds.toFixed(1)}s ${name}`),
  ].join('\n');
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function print(text: string): void {
  process.stdout.write(text);
}
