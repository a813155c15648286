// `npm test`: specs that lie together share a process, for each start of Node, tap and the loader costs a second of processor time.
// `npm test -- spec/core/bus.spec.ts` runs tap with these arguments instead.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const GROUPS = join(ROOT, '.tap/groups');
const GROUP_SIZE = 12;
/** The specs of these folders watch servers and themselves for as long as a whole group takes; each has a process of its own. */
const ALONE = ['faults', 'cases'];

/** Specs by the folder in spec/ that they lie in, at any depth; those of spec/ itself are a folder, too. */
function specsByFolder(): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  const names = readdirSync(join(ROOT, 'spec'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.spec.ts'));
  for (const name of names.sort()) {
    const folder = name.includes('/') ? (name.split('/')[0] as string) : 'spec';
    folders.set(folder, [...(folders.get(folder) ?? []), `spec/${name}`]);
  }
  return folders;
}

/** The specs in their order, in runs of at most `size` that are all about as long. */
function inRuns(specs: readonly string[], size: number): string[][] {
  const count = Math.ceil(specs.length / size);
  const at = (index: number): number => Math.floor((index * specs.length) / count);
  return Array.from({ length: count }, (_, index) => specs.slice(at(index), at(index + 1)));
}

/** Writes a test file for each group, and returns their paths. tap runs them in the order of their names: those that take longest first. */
function writeGroups(): string[] {
  rmSync(GROUPS, { recursive: true, force: true });
  mkdirSync(GROUPS, { recursive: true });
  return [...specsByFolder()].flatMap(([folder, specs]) => {
    const isAlone = ALONE.includes(folder);
    return inRuns(specs, isAlone ? 1 : GROUP_SIZE).map((group, index) => {
      const path = join(GROUPS, `${isAlone ? 'alone' : 'group'}-${folder}-${index + 1}.mjs`);
      writeFileSync(path, `import { runTogether } from '../../spec/support/together.ts';\nawait runTogether(${JSON.stringify(group, null, 2)});\n`);
      return path;
    });
  });
}

const args = process.argv.slice(2);
const { status } = spawnSync(process.execPath, [join(ROOT, 'node_modules/tap/dist/esm/run.mjs'), ...(args.length > 0 ? args : writeGroups())], {
  cwd: ROOT,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
