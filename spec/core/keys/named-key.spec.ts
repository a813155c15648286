import t from 'tap';
import { assertKeyName, assertMayUse, checkedLimits, hashOfKey, hasLimits, mayUse, newKey, parseKey } from '../../../core/keys/named-key.ts';

t.test('a key is long, random and known by its hash alone', async (t) => {
  const [one, other] = [newKey(), newKey()];
  t.match(one, /^bhk_[A-Za-z0-9_-]{43}$/);
  t.not(one, other);
  t.equal(hashOfKey(one), hashOfKey(one));
  t.not(hashOfKey(one), hashOfKey(other));
  t.equal(hashOfKey(one)?.includes(one.slice(4, 20)), false);
  for (const text of ['', 'bhk_', `${one}x`, one.replace('bhk_', 'bh_'), ` ${one}`]) t.equal(hashOfKey(text), undefined, JSON.stringify(text));
});

t.test('a * of a model pattern stands for any characters, at any place', async (t) => {
  const may = (models: string[], model: string) => mayUse({ models }, model);
  t.ok(mayUse({ models: null }, 'anything'));
  for (const [pattern, model] of [
    ['gpt-5', 'gpt-5'],
    ['gpt-*', 'gpt-5'],
    ['*', ''],
    ['*mini', 'gpt-5-mini'],
    ['openai/*-mini', 'openai/gpt-5-mini'],
    ['a*b*c', 'aXbYbZc'],
    ['**', 'x'],
    ['a*a', 'aa'],
  ] as const) {
    t.ok(may([pattern], model), `${pattern} ${model}`);
  }
  for (const [pattern, model] of [
    ['gpt-5', 'gpt-5-mini'],
    ['gpt-*', 'my-gpt-5'],
    ['a*a', 'a'],
    ['a*b*c', 'acb'],
    ['GPT-*', 'gpt-5'],
    ['g.t', 'gpt'],
  ] as const) {
    t.notOk(may([pattern], model), `${pattern} ${model}`);
  }
  t.ok(may(['x', 'gpt-*'], 'gpt-5'), 'one of several');
  t.notOk(may([`${'*a'.repeat(500)}`], 'b'.repeat(10_000)), 'a pattern of many stars');
});

t.test('limits that are wrong are refused by their field', async (t) => {
  t.same(checkedLimits({}), { usdPerDay: null, tokensPerDay: null, unpriced: 'allow', models: null, expiresAt: null });
  t.match(checkedLimits({ usdPerDay: 0, tokensPerDay: 10, unpriced: 'refuse', models: ['gpt-*'], expiresAt: '2026-12-31' }), {
    usdPerDay: 0,
    unpriced: 'refuse',
    expiresAt: '2026-12-31T00:00:00.000Z',
  });
  const wrong: [object, RegExp][] = [
    [{ usdPerDay: -1 }, /^usdPerDay must/],
    [{ usdPerDay: '1' }, /^usdPerDay must/],
    [{ tokensPerDay: Number.NaN }, /^tokensPerDay must/],
    [{ unpriced: 'never' }, /^unpriced must be "allow" or "refuse"/],
    [{ models: [] }, /^models must/],
    [{ models: [''] }, /^models must/],
    [{ models: 'gpt-*' }, /^models must/],
    [{ expiresAt: 'soon' }, /^expiresAt must/],
  ];
  for (const [limits, message] of wrong) t.throws(() => checkedLimits(limits), { code: 'INVALID_REQUEST', message }, JSON.stringify(limits));
  for (const name of ['', 'A', '-a', 'a-', 'a b', 'a'.repeat(65), '../x', 5]) t.throws(() => assertKeyName(name), { code: 'INVALID_REQUEST' }, String(name));
  for (const name of ['a', 'my-app', 'team.web_1', 'a'.repeat(64)]) t.doesNotThrow(() => assertKeyName(name), name);
});

t.test('a stored key must have its hash and its times', async (t) => {
  const key = { name: 'app', hash: hashOfKey(newKey()), createdAt: '2026-11-22T00:00:00.000Z' };
  t.match(parseKey(key), { ...key, usdPerDay: null, unpriced: 'allow', models: null });
  t.match(parseKey({ ...key, unpriced: 'refuse' }), { unpriced: 'refuse' });
  for (const [wrong, message] of [
    [5, /object/],
    [{ ...key, hash: 'x' }, /hash of app/],
    [{ ...key, createdAt: 'x' }, /createdAt of app/],
    [{ ...key, name: 'A' }, /name/],
    [{ ...key, usdPerDay: 'x' }, /usdPerDay/],
  ] as const)
    t.throws(() => parseKey(wrong), { message }, JSON.stringify(wrong));
});

t.test('what limits a key, and under which names it may ask', async (t) => {
  const none = checkedLimits({});
  for (const limits of [{}, { models: ['m'] }, { expiresAt: '2030-01-01' }]) t.equal(hasLimits(checkedLimits(limits)), false, JSON.stringify(limits));
  for (const limits of [{ usdPerDay: 0 }, { tokensPerDay: 0 }, { unpriced: 'refuse' as const }]) t.equal(hasLimits({ ...none, ...limits }), true);
  const key = { ...none, name: 'app', hash: '', createdAt: '', models: ['fast', 'a/*'] };
  assertMayUse(key, ['fast', 'b/m']);
  assertMayUse(key, ['a/m', 'm']);
  t.throws(() => assertMayUse(key, ['b/m', 'm']), { code: 'KEY_FORBIDDEN', message: /"b\/m"; it may use fast, a\/\*/ });
});
