import t from 'tap';
import { parseAlias, parseModelTable, splitTarget } from '../../../core/routing/model-table.ts';

const IDS = ['one', 'two'];
const idOf = (name: string) => (name === 'uno' ? 'one' : IDS.find((id) => id === name));

t.test('a target is split at its first slash, and has the id of the adapter also for an alias of it', async (t) => {
  t.same(splitTarget('uno/a/b', idOf), { adapter: 'one', model: 'a/b' });
  for (const name of ['one', 'one/', '/a', 'three/a']) t.equal(splitTarget(name, idOf), undefined, name);
});

t.test('patterns come after exact names, the longest first', async (t) => {
  const { aliases, patterns, defaultProvider } = parseModelTable({ defaultProvider: 'uno', aliases: { 'a*': 'one/x', 'ab*': 'one/y', a: 'two/z' } }, idOf, IDS);
  t.same([...aliases.keys()], ['a']);
  t.same(
    patterns.map(({ name }) => name),
    ['ab*', 'a*'],
  );
  t.equal(defaultProvider, 'one');
});

t.test('an alias needs a name and at least one model of a provider', async (t) => {
  t.same(parseAlias('a', 'one/x', idOf, IDS), { name: 'a', targets: [{ adapter: 'one', model: 'x' }] });
  for (const [name, value] of [
    ['', 'one/x'],
    ['a'.repeat(257), 'one/x'],
    ['a', 'x'],
    ['*a', 'one/x'],
  ] as const)
    t.throws(() => parseAlias(name, value, idOf, IDS), { code: 'INVALID_REQUEST' }, `${name.slice(0, 5)} ${value}`);
});

t.test('an alias of a provider that there is not is refused with those that there are, and the one that was probably meant', async (t) => {
  for (const [value, message] of [
    ['x', /aliases\["a"\] must be provider\/model; "x" is not\./],
    ['nobody/y', /aliases\["a"\] must begin with a provider; "nobody\/y" does not; the providers are one, two, and the connections of auth.json\./],
    ['tow/y', /"tow\/y" does not \(did you mean two\?\); the providers are one, two, and the connections of auth.json\./],
  ] as const)
    t.throws(() => parseAlias('a', value, idOf, IDS), { code: 'INVALID_REQUEST', message });
});
