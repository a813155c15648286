// `npm test`: every spec, in groups that share a process each. `npm test -- spec/core/bus.spec.ts` runs tap with these arguments instead. With `--folder dashboard`, only the specs
// of that folder in spec/ run. `--build` builds before.
//
// lots-of-memory: the compilers, esbuild and tsc, are Go programs that end soon. To collect garbage takes a tenth to a third of their processor time, so they collect none until they hold a
// gigabyte.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildForTests } from './build-for-tests.ts';
import { findChromium } from './find-chromium.ts';
import { runGroups, writeGroups } from './test-groups.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** tap assembles itself from its plugins within `node_modules`, so this goes when that does. */
const TAP_IS_BUILT = join(ROOT, 'node_modules/.cache/blockhouse/tap-is-built');
/** lots-of-memory. */
const WITHOUT_COLLECTING = { GOGC: 'off', GOMEMLIMIT: '1GiB' };

Object.assign(process.env, WITHOUT_COLLECTING); // before the first compiler is started
const isBuilding = process.argv.includes('--build');
const args = process.argv.slice(2).filter((each) => each !== '--build');
const built = isBuilding ? await buildAll() : undefined;
const { folder } = parseArgs({ args, options: { folder: { type: 'string' } }, strict: false }).values;
if (args.length > 0 && folder === undefined) {
  await built?.done;
  process.exitCode = runTap(args);
} else {
  const groups = await writeGroups({ isWanted: (each) => folder === undefined || folder === each, isCompiled: isBuilding });
  process.exitCode = await runGroups(groups, built?.done);
}

/** Resolves when specs of the core can run. `done` is the rest: the build, and a browser, of which those that need it say what is wrong with it. */
async function buildAll(): Promise<{ readonly done: Promise<void> }> {
  const browser = findChromium().catch(() => undefined);
  const { built } = await buildForTests();
  return { done: Promise.all([built, browser]).then(() => undefined) };
}

function runTap(args: readonly string[]): number {
  const tap = (given: readonly string[]): number =>
    spawnSync(process.execPath, [join(ROOT, 'node_modules/tap/dist/esm/run.mjs'), ...given], { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
  if (!existsSync(TAP_IS_BUILT)) {
    const status = tap(['build']);
    if (status !== 0) return status;
    mkdirSync(dirname(TAP_IS_BUILT), { recursive: true });
    writeFileSync(TAP_IS_BUILT, '');
  }
  return tap(args);
}
