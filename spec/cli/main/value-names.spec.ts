import t from 'tap';
import { allCommands } from '../../../cli/main/command-modules.ts';
import { manualOf } from '../../../cli/main/manual.ts';
import { valueNameOf } from '../../../cli/main/value-names.ts';

const options = (await allCommands()).flatMap((command) => manualOf(command).options);

t.test('the value of every option has a name', async (t) => {
  for (const { names, value } of options) t.not(value, 'value', `${names.join()}: add it to cli/main/value-names.ts`);
  t.equal(valueNameOf(['-x', '--unheard-of']), 'value');
});

t.test('a word that is not the same in every command is that of its own', async (t) => {
  t.equal(valueNameOf(['--input'], 'blockhouse approve [options] <approval>'), 'json');
  t.equal(valueNameOf(['--input'], 'blockhouse prices set [options] <model>'), 'usd');
});

t.test('a letter means the same in every command', async (t) => {
  const meanings = new Map<string, Set<string>>();
  for (const { names } of options) {
    for (const letter of names.filter((name) => /^-\w$/.test(name))) meanings.set(letter, (meanings.get(letter) ?? new Set()).add(names.at(-1) ?? ''));
  }
  t.same(Object.fromEntries([...meanings].map(([letter, words]) => [letter, [...words].sort()])), {
    '-a': ['--provider'],
    '-f': ['--follow'],
    '-m': ['--model'],
    '-n': ['--limit'],
    '-o': ['--output'],
    '-q': ['--quiet'],
    '-s': ['--system'],
    '-v': ['--verbose'],
    '-w': ['--watch'],
    '-y': ['--yes'],
  });
});

t.test('an option that has a letter has it in every command', async (t) => {
  const lettered = new Set(options.filter(({ names }) => names.length > 1).map(({ names }) => names.at(-1)));
  for (const { names } of options.filter((option) => lettered.has(option.names.at(-1)))) t.ok(names.length > 1, names.join());
});
