import { readdirSync } from 'node:fs';
import t from 'tap';
import { allCommands, COMMAND_MODULES, describeCommands } from '../../../cli/main/command-modules.ts';
import { ROOT } from '../run.ts';

t.test('every file in commands/ has its loader', async (t) => {
  const files = readdirSync(`${ROOT}cli/commands`).map((name) => name.replace(/\.ts$/, ''));
  t.same(Object.keys(COMMAND_MODULES).sort(), files.sort());
});

t.test('every command has its own words, and a description where it has a category', async (t) => {
  const entries = await describeCommands();
  t.equal(entries.length, (await allCommands()).length);
  const words = entries.flatMap(({ paths }) => paths.map((path) => path.join(' ')));
  t.equal(new Set(words).size, words.length);
  for (const { paths, category, description } of entries) t.ok(paths.length > 0 && (category === undefined || description), paths.join());
});
