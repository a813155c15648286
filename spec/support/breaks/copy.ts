// A copy of the tree in a folder of its own, in which files can be broken and specs run without anybody seeing it.
//
// one-break: At most one file of the copy is broken at a time.
// own-processes: What a spec starts ends with it: its process group, and what has left the group (a terminal multiplexer does) but has our folder in its
//   environment.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { API, type Project } from 'typescript/unstable/sync';
import { compiledPath } from '../compile.ts';
import { IS_COMPILED } from '../node-args.ts';
import { type Break, broken } from './places.ts';

/** A process that has used no processor time for so long hangs; so does one that runs for longer than the limit. */
const IDLE_MS = 12_000;
const LIMIT_MS = 120_000;
const LOOK_MS = 1000;
/** A break may fill the memory. */
const HEAP_MB = 1024;

export interface SpecRun {
  readonly isGood: boolean;
  readonly hangs: boolean;
  /** The spec that was loaded last; it is the one that failed, if one did. */
  readonly last: string | undefined;
}

interface Compiler {
  compileAll(): Promise<void>;
  compileOne(source: string): Promise<void>;
}

export class Copy {
  readonly folder: string;
  readonly #api: API;
  readonly #compiler: Compiler;
  #broken: { readonly file: string; readonly text: string } | undefined;
  #isBundled = true;
  /** The process that runs specs, which leads a group (own-processes). */
  #runner: number | undefined;

  private constructor(folder: string, compiler: Compiler) {
    this.folder = folder;
    this.#compiler = compiler;
    this.#api = new API({ cwd: folder });
    this.#api.updateSnapshot({ openProjects: [this.#config] });
  }

  /** Copies what git knows or would add, builds it and compiles it. */
  static async of(root: string, folder: string): Promise<Copy> {
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
    rmSync(folder, { recursive: true, force: true });
    for (const file of files.split('\0')) if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(folder, file));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const name of ['home', 'tmp']) mkdirSync(join(folder, '.breaks', name), { recursive: true });
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const compiler = (await import(pathToFileURL(join(folder, 'spec/support/compile.ts')).href)) as Compiler;
    await compiler.compileAll();
    return new Copy(folder, compiler);
  }

  get #config(): string {
    return join(this.folder, 'tsconfig.build.json');
  }

  /** The program as the compiler sees it after the change of a file. */
  project(...changed: string[]): Project {
    const project = this.#api.updateSnapshot({ fileChanges: { changed } }).getProject(this.#config);
    if (project === undefined) throw new Error(`${this.#config} is no project.`);
    return project;
  }

  /** Breaks a file. False when the compiler refuses the break; then nothing is broken. */
  async apply(each: Break): Promise<boolean> {
    await this.restore();
    const path = join(this.folder, each.file);
    const text = readFileSync(path, 'utf8');
    this.#broken = { file: each.file, text }; // one-break
    writeFileSync(path, broken(text, each));
    const { program } = this.project(path);
    if (program.getSyntacticDiagnostics(path).length + program.getSemanticDiagnostics(path).length > 0) {
      await this.restore();
      return false;
    }
    await this.#compiler.compileOne(each.file);
    this.#isBundled = false;
    return true;
  }

  async restore(): Promise<void> {
    if (this.#broken === undefined) return;
    const { file, text } = this.#broken;
    writeFileSync(join(this.folder, file), text);
    this.project(join(this.folder, file));
    await this.#compiler.compileOne(file);
    this.#broken = undefined;
    this.#isBundled = false;
  }

  /** Makes the program of `dist/cli` from what the copy holds now. False when that fails. */
  bundle(): boolean {
    if (this.#isBundled) return true;
    try {
      for (const step of ['cli/build-checks.ts', 'cli/build.ts'])
        execFileSync(process.execPath, [join(this.folder, compiledPath(step))], { cwd: this.folder, stdio: 'ignore', timeout: LIMIT_MS });
    } catch {
      return false; // the bundler says so of the broken file, and not of ours
    }
    this.#isBundled = true;
    return true;
  }

  /** Runs specs one after the other in one process, up to the first that fails. */
  async run(specs: readonly string[]): Promise<SpecRun> {
    const path = join(this.folder, '.breaks/run.mjs');
    writeFileSync(path, `import { runTogether } from '../${compiledPath('spec/support/together.ts')}';\nawait runTogether(${JSON.stringify(specs)});\n`);
    const child = spawn(process.execPath, ['--enable-source-maps', `--max-old-space-size=${HEAP_MB}`, path], {
      cwd: this.folder,
      detached: true, // own-processes
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        ...process.env,
        HOME: join(this.folder, '.breaks/home'),
        TMPDIR: join(this.folder, '.breaks/tmp'),
        TAP: '1',
        TAP_BAIL: '1',
        TAP_TIMEOUT: String(LIMIT_MS / 1000),
        [IS_COMPILED]: '1',
      },
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    this.#runner = child.pid as number;
    const watch = watchForHang(this.#runner);
    const [code] = (await once(child, 'exit')) as [number | null];
    clearInterval(watch.timer);
    this.#endRunner();
    const last = [...text.matchAll(/^# Subtest: (\S+) can be loaded$/gm)].at(-1)?.[1];
    return { isGood: code === 0 && /^# \{ total: /m.test(text), hangs: watch.hangs, last };
  }

  /** Ends what runs in the copy, and removes it. */
  end(): void {
    this.#endRunner();
    this.#api.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** own-processes. */
  #endRunner(): void {
    if (this.#runner === undefined) return;
    endGroup(this.#runner);
    this.#runner = undefined;
    for (const pid of processesWith(join(this.folder, '.breaks/'))) end(pid);
  }
}

interface Watch {
  readonly timer: NodeJS.Timeout;
  hangs: boolean;
}

function watchForHang(pid: number): Watch {
  const begin = performance.now();
  let used = 0;
  let usedAt = begin;
  const look = (): void => {
    const now = performance.now();
    const ticks = ticksOf(pid);
    if (ticks > used + 1) [used, usedAt] = [ticks, now];
    if (now - usedAt < IDLE_MS && now - begin < LIMIT_MS) return;
    watch.hangs = true;
    endGroup(pid);
  };
  const watch: Watch = { timer: setInterval(look, LOOK_MS), hangs: false };
  return watch;
}

/** Processor time of a process and of the children that it has waited for. 0 once it has ended. */
function ticksOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  } catch {
    return 0; // it has just ended, or this is no Linux; then only the limit counts
  }
}

/** The processes of this user whose environment names a folder. None where the system doesn't tell. */
function processesWith(folder: string): number[] {
  if (!existsSync('/proc/self/environ')) return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => environmentOf(pid).includes(folder)).map(Number);
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return ''; // it has just ended, or is another user's
  }
}

/** Ends what is left of the process group of a process that we have started. */
function endGroup(pid: number): void {
  end(-pid);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // nothing is left of it
  }
}
