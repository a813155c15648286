// What `npm run build` makes, byte for byte, for a test run: the builders run in the form that the run compiles anyway, without a loader, and the last ones beside the first specs.
// spec/package/program.spec.ts holds that both have the same steps.
//
// unchanged-stays: what is built is built again when anything that it is made of has changed, or anything in `dist`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tscPath } from './api-report.ts';
import { compileAll, compiledPath } from './compile.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** What the compiler is started with. */
export const TYPES = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--checkers', '1'];
export const BUILDERS = ['cli/build-checks.ts', 'cli/build.ts', 'transports/dashboard/build.ts'];
/** What `dist` is made of, and how. npm keeps the last of them: which packages are there. */
const MADE_OF = ['core', 'adapters', 'transports', 'cli', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'node_modules/.package-lock.json'];
const SELF = 'spec/support/build-for-tests.ts';
const NOTE = join(ROOT, '.tap/built');

/**
 * Compiles every source file, and builds `dist`. Resolves when all sources are compiled and `dist/checks` is there; `built` resolves when the rest is. Both reject
 * when a step fails, which has said why.
 */
export async function buildForTests(): Promise<{ readonly built: Promise<void> }> {
  const sources = sourcesNow();
  if (existsSync(NOTE) && readFileSync(NOTE, 'utf8') === `${sources} ${distNow()}`) {
    await compileAll();
    return { built: Promise.resolve() };
  }
  rmSync(NOTE, { force: true });
  const types = runNode(tscPath(), ...TYPES);
  const [checks, ...others] = BUILDERS.map((builder) => () => runNode(compiledPath(builder)));
  const checked = compileAll().then(checks);
  const built = async (): Promise<void> => {
    await Promise.all([types, checked]);
    await Promise.all(others.map((one) => one())); // the first of them keeps the types that programs need
    chmodSync(join(ROOT, 'dist/cli/main.js'), 0o755);
    writeFileSync(NOTE, `${sources} ${distNow()}`);
  };
  const rest = built();
  await Promise.race([checked, rest]); // which rejects before it when the types can't be written
  return { built: rest };
}

async function runNode(...args: string[]): Promise<void> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', process.stderr, 'inherit'] });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`The build has failed: ${args.join(' ')} ended with ${code ?? signal}.`);
}

/** Changes with the text of any file that the build reads. */
function sourcesNow(): string {
  const hash = createHash('sha1').update(process.version);
  for (const path of [...MADE_OF, SELF].flatMap(filesBelow)) hash.update(`\0${path}\0`).update(readFileSync(join(ROOT, path)));
  return hash.digest('hex');
}

/** Changes with any file in `dist` that comes, goes or is written. */
function distNow(): string {
  const hash = createHash('sha1');
  for (const path of filesBelow('dist')) {
    const { mtimeMs, size, mode } = statSync(join(ROOT, path));
    hash.update(`${path} ${mtimeMs} ${size} ${mode}\n`);
  }
  return hash.digest('hex');
}

/** The path itself for a file, and nothing for what is not there. Paths are relative to the root of the repository. */
function filesBelow(path: string): string[] {
  const found = statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (found.isFile()) return [path];
  const entries = readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort();
}
