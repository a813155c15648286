import t from 'tap';
import { blockTarget, isBlockTarget, parseAlias, parseModelTable, splitTarget } from '../../../core/routing/model-table.ts';

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

t.test('an alias may have a block as its only target, without weights and on', async (t) => {
  const block = { adapter: 'block', model: 'ada' };
  t.same(parseAlias('gpt', 'block/ada', idOf, IDS), { name: 'gpt', targets: [block] });
  t.same(parseAlias('gpt', ['block/ada'], idOf, IDS), { name: 'gpt', targets: [block] });
  for (const value of [['block/ada', 'one/x'], ['one/x', 'block/ada'], [{ model: 'block/ada', weight: 1 }], { targets: ['block/ada'], on: ['rate' as const] }])
    t.throws(() => parseAlias('gpt', value, idOf, IDS), { code: 'INVALID_REQUEST', message: /must be the only target/ }, JSON.stringify(value));
  for (const name of ['block/A b', 'block/-a', 'block/a/b'])
    t.throws(() => parseAlias('gpt', name, idOf, IDS), { message: /no block can have this name/ }, name);
  t.throws(() => parseModelTable({ defaultProvider: 'block' }, idOf, IDS), { code: 'INVALID_REQUEST' });
});

t.test('a block is known by what stands before its name', async (t) => {
  t.same(blockTarget('block/ada'), { adapter: 'block', model: 'ada' });
  for (const name of ['block/', 'block', 'blocks/ada', 'Block/ada', 'one/block/ada']) t.equal(blockTarget(name), undefined, name);
  t.ok(isBlockTarget({ adapter: 'block', model: 'ada' }));
  t.notOk(isBlockTarget({ adapter: 'one', model: 'block/ada' }));
});
