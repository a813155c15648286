import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createBus } from '../../../core/bus.ts';
import { KeyStore } from '../../../core/keys/key-store.ts';
import { hashOfKey, newKey } from '../../../core/keys/named-key.ts';
import { isTemporaryName } from '../../../core/store/files/atomic-file.ts';
import { openSettings } from '../../../core/store/open.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');

function storeIn(t: Test, content?: string) {
  const workspace = t.testdir(content === undefined ? {} : { 'keys.json': content });
  const bus = createBus();
  const told: string[] = [];
  bus.on('keys.damaged', ({ reason }) => told.push(reason));
  const clock = { ms: 0 };
  const store = new KeyStore({ settings: openSettings(workspace, () => clock.ms), bus, clock: () => NOW + clock.ms });
  return { store, told, path: join(workspace, 'keys.json'), later: () => (clock.ms += 1000) };
}

t.test('a key is found until it is revoked, and the file shows it to nobody', async (t) => {
  const { store, path } = storeIn(t);
  const key = await store.create('web-app', { usdPerDay: 5, models: ['gpt-*'], expiresAt: '2027-01-01' });
  t.match(store.find(key), { name: 'web-app', usdPerDay: 5, tokensPerDay: null, expiresAt: '2027-01-01T00:00:00.000Z', createdAt: '2026-11-22T12:00:00.000Z' });
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.notMatch(readFileSync(path, 'utf8'), key);
  t.match(store.list(), [{ name: 'web-app', usdPerDay: 5, usdPerWeek: null, tokensPerDay: null, unpriced: 'allow', group: null, models: ['gpt-*'] }]);
  t.equal('hash' in (store.list()[0] ?? {}) || 'bounds' in (store.list()[0] ?? {}), false);
  t.equal(store.find(newKey()), undefined, 'another key');
  t.equal(await store.revoke('web-app'), true);
  t.equal(store.find(key), undefined);
  t.equal(await store.revoke('web-app'), false);
});

t.test('a key for which keys.json has no room is refused, and all others are good', async (t) => {
  const { store, told } = storeIn(t);
  const models = Array.from({ length: 100 }, (_, index) => `${'m'.repeat(250)}${index}`);
  const keys: string[] = [];
  const fill = async (): Promise<void> => {
    for (let index = 0; index < 1000; index += 1) keys.push(await store.create(`app-${index}`, { models }));
  };
  await t.rejects(fill(), { code: 'INVALID_REQUEST', message: /^keys\.json would have more than 1048576 bytes/ });
  t.ok(keys.length > 30);
  t.same(
    keys.filter((key) => store.find(key) === undefined),
    [],
  );
  t.equal(await store.revoke('app-0'), true);
  await store.create('new', { models });
  t.same(told, []);
});

t.test('keys that are made at once are all kept, and each name is given once', async (t) => {
  const { store } = storeIn(t);
  const results = await Promise.allSettled(['a', 'b', 'a', 'c'].map((name) => store.create(name)));
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  t.match(results[2], { reason: { code: 'NAME_TAKEN' } });
  t.same(
    store.list().map(({ name }) => name),
    ['a', 'b', 'c'],
  );
});

t.test('an expired key gives its name away, once, and stays refused', async (t) => {
  const { store, later } = storeIn(t);
  const expired = await store.create('app', { expiresAt: new Date(NOW + 500).toISOString() });
  await t.rejects(store.create('app'), { code: 'NAME_TAKEN' });
  later();
  const results = await Promise.allSettled([store.create('app', { usdPerDay: 5 }), store.create('app')]);
  t.match(results, [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'NAME_TAKEN' } }]);
  t.match(store.list(), [{ name: 'app', usdPerDay: 5, expiresAt: null }]);
  t.equal(store.find(expired), undefined);
});

t.test('an edit by hand takes effect, and a file that others can read is closed to them', async (t) => {
  const { store, path, later } = storeIn(t);
  const key = await store.create('app');
  writeFileSync(path, JSON.stringify({ keys: JSON.parse(readFileSync(path, 'utf8')).keys.map((one: object) => ({ ...one, tokensPerDay: 7 })) }));
  chmodSync(path, 0o644);
  later();
  t.match(store.find(key), { tokensPerDay: 7 });
  t.equal(statSync(path).mode & 0o777, 0o600);
});

t.test('a key that is revoked by hand while another is made stays revoked', async (t) => {
  const { store, path } = storeIn(t);
  const [revoked, kept] = [await store.create('revoked'), await store.create('kept')];
  const { keys } = JSON.parse(readFileSync(path, 'utf8')) as { keys: { name: string }[] };
  const made = store.create('made');
  while (!readdirSync(dirname(path)).some(isTemporaryName)) await nextTurn();
  writeFileSync(path, JSON.stringify({ keys: [...keys.filter(({ name }) => name !== 'revoked'), { ...keys[1], name: 'byhand', hash: hashOfKey(newKey()) }] }));
  const key = await made;
  t.same(
    store.list().map(({ name }) => name),
    ['kept', 'byhand', 'made'],
  );
  t.equal(store.find(revoked), undefined);
  t.match([store.find(kept), store.find(key)], [{ name: 'kept' }, { name: 'made' }]);
});

t.test('a damaged file refuses every key of it, is told, and is not overwritten', async (t) => {
  const { store, path, told, later } = storeIn(t);
  const key = await store.create('app');
  const sound = readFileSync(path, 'utf8');
  const { keys } = JSON.parse(sound);
  for (const bad of ['', '{', '[]', '{"keys":5}', JSON.stringify({ keys: [...keys, ...keys] }), JSON.stringify({ keys: [{ ...keys[0], hash: 'x' }] })]) {
    writeFileSync(path, bad);
    later();
    t.throws(() => store.find(key), { code: 'WORKSPACE_DAMAGED', message: /^keys\.json of the workspace is damaged, so no key is accepted\. [^/{]*$/ }, bad);
    t.equal(store.find('not-a-key'), undefined);
    t.throws(() => store.list(), { code: 'WORKSPACE_DAMAGED' });
    await t.rejects(store.create('other'), { code: 'WORKSPACE_DAMAGED' });
    await t.rejects(store.revoke('app'), { code: 'WORKSPACE_DAMAGED' });
    t.equal(readFileSync(path, 'utf8'), bad);
  }
  t.equal(told.length, 6);
  writeFileSync(path, sound);
  later();
  t.match(store.find(key), { name: 'app' });
});

t.test('limits of a key change by field: null lifts one, what is left out stays, and the key stays the same', async (t) => {
  const { store, later } = storeIn(t);
  const key = await store.create('app', { usdPerDay: 5, models: ['m'], unpriced: 'refuse' });
  t.match(await store.change('app', { usdPerWeek: 20, usdPerDay: null, inFlight: 4 }), { usdPerDay: null, usdPerWeek: 20, inFlight: 4, unpriced: 'refuse' });
  later();
  t.match(store.find(key), { usdPerDay: null, usdPerWeek: 20, inFlight: 4, unpriced: 'refuse', models: ['m'], capsUsd: true });
  await t.rejects(store.change('other', {}), { code: 'KEY_NOT_FOUND' });
  await t.rejects(store.change('app', { inFlight: 0 }), { code: 'INVALID_REQUEST', message: /^inFlight/ });
  await t.rejects(store.change('app', { expiresAt: '2020-01-01' }), { code: 'INVALID_REQUEST', message: /^expiresAt/ });
  t.match(store.find(key), { usdPerWeek: 20, inFlight: 4 });
});

t.test('a key has the limits of its group besides its own, an unknown group is refused, and one with keys is not removed', async (t) => {
  const { store, path, later, told } = storeIn(t);
  await t.rejects(store.create('app', { group: 'team' }), {
    code: 'INVALID_REQUEST',
    message: /^group of app is team, which is no group; .*key group set team/,
  });
  t.match(await store.setGroup('team', { usdPerDay: 20 }), { name: 'team', usdPerDay: 20, keys: [] });
  const key = await store.create('app', { group: 'team', tokensPerDay: 7 });
  await store.create('other', { group: 'team' });
  t.match(await store.setGroup('team', { usdPerMonth: 100 }), { usdPerDay: 20, usdPerMonth: 100, keys: ['app', 'other'] });
  t.match(store.find(key)?.bounds, [
    { kind: 'key', name: 'app', tokensPerDay: 7, usdPerDay: null },
    { kind: 'group', name: 'team', tokensPerDay: null, usdPerDay: 20, usdPerMonth: 100 },
  ]);
  await t.rejects(store.change('other', { group: 'nobody' }), { code: 'INVALID_REQUEST', message: /nobody/ });
  await t.rejects(store.removeGroup('team'), { code: 'WRONG_STATE', message: /app is in the group team/ });
  await store.revoke('app');
  await store.change('other', { group: null });
  t.equal(await store.removeGroup('team'), true);
  t.equal(await store.removeGroup('team'), false);
  t.same(store.groups(), []);
  const { keys } = JSON.parse(readFileSync(path, 'utf8'));
  for (const [bad, reason] of [
    [{ keys: [{ ...keys[0], group: 'team' }] }, /is no group/],
    [{ keys, groups: { team: { models: ['m'] } } }, /groups\.team\.models/],
    [{ keys, groups: [] }, /groups/],
  ] as const) {
    writeFileSync(path, JSON.stringify(bad));
    later();
    t.throws(() => store.list(), { code: 'WORKSPACE_DAMAGED' });
    t.match(told.at(-1), reason);
  }
});

t.test('the group of a key is known also when the key has expired, and while the file is damaged', async (t) => {
  const { store, path, later } = storeIn(t);
  await store.setGroup('team', {});
  await store.create('app', { group: 'team', expiresAt: new Date(NOW + 500).toISOString() });
  await store.create('alone');
  later();
  t.equal(store.named('app'), undefined);
  const groups = () => ['app', 'alone', 'other'].map((name) => store.lastKnown(name)?.group ?? undefined);
  t.same(groups(), ['team', undefined, undefined]);
  writeFileSync(path, '{');
  later();
  t.throws(() => store.named('app'), { code: 'WORKSPACE_DAMAGED' });
  t.same(groups(), ['team', undefined, undefined]);
});

t.test('a key that was revoked is still known to those who ask for what it was', async (t) => {
  const { store } = storeIn(t);
  await store.create('app', { usdPerDay: 1 });
  await store.create('stays');
  await store.revoke('app');
  t.match([store.named('app'), store.lastKnown('app'), store.lastKnown('never')], [undefined, { name: 'app', usdPerDay: 1 }, undefined]);
  await store.create('app', { usdPerDay: 2 });
  t.match(store.lastKnown('app'), { usdPerDay: 2 }, 'a new one of its name');
  await store.revoke('app');
  t.match([store.lastKnown('app'), store.lastKnown('stays')], [{ usdPerDay: 2 }, { name: 'stays' }]);
});

t.test('the limits of a group as they are now hold for a key of it that was revoked, and its last ones once it is removed', async (t) => {
  const { store } = storeIn(t);
  await store.setGroup('team', { usdPerDay: 5 });
  await store.create('app', { usdPerDay: 9, group: 'team' });
  const caps = () => store.lastKnown('app')?.bounds.map(({ name, usdPerDay }) => `${name} ${usdPerDay}`);
  await store.revoke('app');
  t.same(caps(), ['app 9', 'team 5']);
  await store.setGroup('team', { usdPerDay: 2 });
  t.same(caps(), ['app 9', 'team 2']);
  const known = store.lastKnown('app');
  await store.create('other');
  t.equal(store.lastKnown('app'), known, 'the same until the group changes');
  await store.removeGroup('team');
  t.same(caps(), ['app 9', 'team 2']);
  t.equal(store.lastKnown('app')?.group, 'team');
});

t.test('a workspace without keys has no file', async (t) => {
  const { store, path } = storeIn(t);
  t.same(store.list(), []);
  t.equal(store.find(newKey()), undefined);
  t.equal(existsSync(path), false);
});

t.test('a key is debugged until a time, which is stored, and no longer than an hour', async (t) => {
  const { store, path, later } = storeIn(t);
  await store.create('app');
  await store.create('gone', { expiresAt: new Date(NOW + 500).toISOString() });
  t.equal(await store.debug('app', 60), '2026-11-22T13:00:00.000Z');
  await store.debug('gone', 1);
  t.same([...store.debugged().keys()], ['app', 'gone']);
  later();
  t.same([...store.debugged()], [['app', '2026-11-22T13:00:00.000Z']], 'an expired key is not');
  await store.change('app', { usdPerDay: 5 });
  t.equal(store.debugged().size, 1, 'another change leaves it');
  t.equal(await store.debug('app', 0), undefined);
  t.equal(store.debugged().size, 0);
  for (const minutes of [61, -1, 0.5, Number.NaN]) await t.rejects(store.debug('app', minutes), { code: 'INVALID_REQUEST' });
  await t.rejects(store.debug('other', 5), { code: 'KEY_NOT_FOUND' });
  const file = JSON.parse(readFileSync(path, 'utf8'));
  file.keys[0].debugUntil = '2026-11-22T13:30:00.000Z';
  writeFileSync(path, JSON.stringify(file));
  later();
  t.equal(store.debugged().size, 0, 'nor by hand');
  file.keys[0].debugUntil = 'soon';
  writeFileSync(path, JSON.stringify(file));
  later();
  t.throws(() => store.list(), { code: 'WORKSPACE_DAMAGED', message: /debugUntil/ });
  t.equal(store.debugged().size, 0);
});
