import t from 'tap';
import {
  assertKeyName,
  assertMayAskFor,
  assertMayUse,
  checkedLimits,
  hashOfKey,
  isHeld,
  mayUse,
  newKey,
  parseGroup,
  parseKey,
  mayAskBlock,
  mayReachBlock,
} from '../../../core/keys/named-key.ts';
import { keyWith } from '../../support/key-requests.ts';

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
  t.same(new Set(Object.values(checkedLimits({}))), new Set([null, 'allow', []]));
  t.match(checkedLimits({ usdPerDay: 0, tokensPerDay: 10, unpriced: 'refuse', models: ['gpt-*'], expiresAt: '2026-12-31' }), {
    usdPerDay: 0,
    unpriced: 'refuse',
    expiresAt: '2026-12-31T00:00:00.000Z',
  });
  const wrong: [object, RegExp][] = [
    [{ usdPerDay: -1 }, /^usdPerDay must/],
    [{ usdPerDay: '1' }, /^usdPerDay must/],
    [{ tokensPerDay: Number.NaN }, /^tokensPerDay must/],
    [{ usdPerWeek: -1 }, /^usdPerWeek must/],
    [{ tokensPerMonth: '5' }, /^tokensPerMonth must/],
    ...['inFlight', 'requestsPerMinute', 'tokensPerMinute'].flatMap((field): [object, RegExp][] =>
      [0, -1, 1.5, '4', Number.POSITIVE_INFINITY].map((value) => [{ [field]: value }, new RegExp(`^${field} must be a whole number of 1 or more`)]),
    ),
    [{ group: 'Team' }, /^group must/],
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
  const all = { ...checkedLimits({ usdPerWeek: 1, models: ['m'], rights: ['mcp'], trusted: true, blocks: ['b'] }), debugUntil: '2026-11-22T00:30:00.000Z' };
  t.same(parseKey({ ...key, ...all }), { ...key, ...all });
  for (const [wrong, message] of [
    [5, /object/],
    [{ ...key, hash: 'x' }, /hash of app/],
    [{ ...key, createdAt: 'x' }, /createdAt of app/],
    [{ ...key, name: 'A' }, /name/],
    [{ ...key, usdPerDay: 'x' }, /usdPerDay/],
    [{ ...key, tokensPerDy: 5 }, /^tokensPerDy of app is not a field that a key can have$/],
    [{ ...key, constructor: 5 }, /^constructor of app/],
  ] as const)
    t.throws(() => parseKey(wrong), { message }, JSON.stringify(wrong));
});

t.test('a stored group has figures alone, since what it does not know would not hold', async (t) => {
  t.match(parseGroup('team', { usdPerDay: 20 }), { usdPerDay: 20, usdPerMonth: null, unpriced: 'allow' });
  for (const [value, message] of [
    [5, /groups\.team must be an object/],
    [{ models: ['m'] }, /groups\.team\.models is not a limit that a group can have/],
    [{ usdPerDy: 5 }, /groups\.team\.usdPerDy/],
    [{ usdPerDay: -5 }, /usdPerDay/],
  ] as const)
    t.throws(() => parseGroup('team', value), { message }, JSON.stringify(value));
  t.throws(() => parseGroup('Team', {}), { message: /name of a group/ });
});

t.test('what limits a key, and under which names it may ask', async (t) => {
  for (const limits of [{}, { models: ['m'] }, { expiresAt: '2030-01-01' }, { inFlight: 1, requestsPerMinute: 1, tokensPerMinute: 1 }]) {
    t.equal(isHeld(keyWith(limits)), false, JSON.stringify(limits));
  }
  for (const limits of [{ usdPerDay: 0 }, { usdPerWeek: 0 }, { usdPerMonth: 0 }, { tokensPerDay: 0 }, { tokensPerMonth: 0 }, { unpriced: 'refuse' as const }]) {
    t.equal(isHeld(keyWith(limits)), true, JSON.stringify(limits));
    t.equal(isHeld(keyWith({}, limits)), true, `of its group: ${JSON.stringify(limits)}`);
  }
  const key = keyWith({ models: ['fast', 'a/*'] });
  assertMayAskFor(key, { key: 'app', askedAs: 'fast', adapterId: 'b', model: 'm' });
  assertMayAskFor(key, { key: 'app', askedAs: 'm', adapterId: 'a', model: 'm' });
  const refused = { code: 'KEY_FORBIDDEN', message: /"b\/m"; it may use fast, a\/\*/ };
  t.throws(() => assertMayAskFor(key, { key: 'app', askedAs: undefined, adapterId: 'b', model: 'm' }), refused);
  t.throws(() => assertMayUse(key, 'b/m'), refused);
});

t.test('a key with the right to MCP reaches the blocks of its list, or all of them, and has that list for nothing else', async (t) => {
  const may = (limits: object, block: string) => [mayReachBlock(checkedLimits(limits), block), mayAskBlock(checkedLimits(limits), block)];
  t.strictSame(may({ rights: ['mcp'] }, 'ada'), [true, false]);
  t.strictSame(may({ rights: ['mcp'], blocks: ['a*'] }, 'ada'), [true, false]);
  t.strictSame(may({ rights: ['mcp'], blocks: ['b*'] }, 'ada'), [false, false]);
  t.strictSame(may({ rights: ['mcp', 'blocks'], blocks: ['a*'] }, 'ada'), [true, true]);
  t.strictSame(may({ rights: ['blocks'] }, 'ada'), [false, true]);
  t.strictSame(may({ blocks: ['ada'] }, 'ada'), [false, true]);
  t.strictSame(may({}, 'ada'), [false, false]);
});

t.test('a key may ask the blocks of its list, or with the right all of them', async (t) => {
  const may = (limits: object, block: string) => mayAskBlock(checkedLimits(limits), block);
  t.notOk(may({}, 'ada'));
  t.notOk(may({ models: ['*', 'block/ada'] }, 'ada'), 'a list of models gives nothing');
  t.ok(may({ rights: ['blocks'] }, 'ada'));
  t.ok(may({ rights: ['blocks'], models: ['none'] }, 'ada'), 'and takes nothing');
  t.ok(may({ blocks: ['ada', 'team-*'] }, 'team-1'));
  t.notOk(may({ rights: ['blocks'], blocks: ['ada', 'team-*'] }, 'bob'));
  for (const [field, value] of [
    ['rights', 'blocks'],
    ['rights', ['all']],
    ['rights', [1]],
    ['blocks', []],
    ['blocks', ['A']],
    ['blocks', ['a/b']],
    ['blocks', 'ada'],
    ['blocks', Array.from({ length: 101 }, () => 'a')],
  ] as const)
    t.throws(() => checkedLimits({ [field]: value } as object), { code: 'INVALID_REQUEST', details: [{ path: field }] }, JSON.stringify(value).slice(0, 20));
});
