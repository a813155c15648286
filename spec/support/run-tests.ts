// `npm test`: specs that lie together share a process, for each start of Node, tap and the loader costs a second of processor time.
// `npm test -- spec/core/bus.spec.ts` runs tap with these arguments instead.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const GROUPS = join(ROOT, '.tap/groups');
const GROUP_SIZE = 12;
/** The specs of these folders watch servers and themselves for as long as a whole group takes; each has a process of its own. They start first. */
const ALONE = ['faults', 'cases'];

function specsBelow(folder: string): string[] {
  return readdirSync(join(ROOT, 'spec', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.spec.ts'))
    .map((name) => join('spec', folder, name))
    .sort();
}

/** The specs of a folder in runs of at most GROUP_SIZE, all about as long. */
function groupsOf(folder: string): string[][] {
  const specs = specsBelow(folder);
  const count = Math.ceil(specs.length / GROUP_SIZE);
  return Array.from({ length: count }, (_, index) => specs.slice(Math.floor((index * specs.length) / count), Math.floor(((index + 1) * specs.length) / count)));
}

/** Writes a test file for each group, and returns their paths. */
function writeGroups(): string[] {
  rmSync(GROUPS, { recursive: true, force: true });
  mkdirSync(GROUPS, { recursive: true });
  const folders = readdirSync(join(ROOT, 'spec'), { withFileTypes: true }).filter((entry) => entry.isDirectory() && !ALONE.includes(entry.name));
  return folders.flatMap(({ name }) =>
    groupsOf(name).map((specs, index) => {
      const file = join(GROUPS, `${name}-${index + 1}.mjs`);
      writeFileSync(file, `import { runTogether } from '../../spec/support/together.ts';\nawait runTogether(${JSON.stringify(specs, null, 2)});\n`);
      return file;
    }),
  );
}

function wholeSuite(): string[] {
  const top = readdirSync(join(ROOT, 'spec')).filter((name) => name.endsWith('.spec.ts'));
  return [...ALONE.flatMap(specsBelow), ...top.map((name) => join('spec', name)), ...writeGroups()];
}

const args = process.argv.slice(2);
const { status } = spawnSync(process.execPath, [join(ROOT, 'node_modules/tap/dist/esm/run.mjs'), ...(args.length > 0 ? args : wholeSuite())], {
  cwd: ROOT,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
