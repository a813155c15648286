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
if (isBuilding) await Promise.all([buildForTests(), findChromium().catch(() => undefined)]); // which is unpacked beside it
const { folder } = parseArgs({ args, options: { folder: { type: 'string' } }, strict: false }).values;
process.exitCode =
  args.length > 0 && folder === undefined
    ? runTap(args)
    : await runGroups(await writeGroups({ isWanted: (each) => folder === undefined || folder === each, isCompiled: isBuilding }));

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
