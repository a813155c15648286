import t from 'tap';
import { CallSums, type KeySums } from '../../../core/keys/call-sums.ts';
import { keyWith } from '../../support/key-requests.ts';

const NOTHING = { usd: 0, tokens: 0 };
const newSums = () => new CallSums(() => NOTHING);

t.test('a call counts for its key and for the group of the key', async (t) => {
  const sums = newSums();
  const [one, other] = [sums.of(keyWith({ group: 'team' }, {}, 'one')), sums.of(keyWith({ group: 'team' }, {}, 'other'))];
  sums.join(one, one.key).add(1, 10);
  sums.join(other, other.key).add(2, 20);
  t.match(sums.known('key', 'one'), { calls: 1, usd: 1, tokens: 10 });
  t.match(one.roughly({ kind: 'key', name: 'one' }), { usd: 1, tokens: 10 });
  t.match(one.roughly({ kind: 'group', name: 'team' }), { usd: 3, tokens: 30 });
  one.takeOff(1, 10);
  t.match(sums.known('key', 'one'), { calls: 0, usd: 0, tokens: 0 });
  t.match(sums.known('group', 'team'), { calls: 1, usd: 2, tokens: 20 });
});

t.test('what is kept is found again until the key changes, and counts in the same sum then', async (t) => {
  const sums = newSums();
  const [before, after] = [keyWith({}, undefined, 'app'), keyWith({ tokensPerDay: 5 }, undefined, 'app')];
  const found = sums.of(before);
  t.equal(sums.of(before), found);
  t.equal(sums.join(found, before), found);
  const since = sums.join(found, after);
  t.equal(since.key, after);
  t.equal(since.ofKey, found.ofKey);
  t.equal(found.ofKey.calls, 2);
});

t.test('of very many names, those without calls are forgotten, and a call that has come before that counts with the later ones', async (t) => {
  const sums = newSums();
  const key = keyWith({}, undefined, 'app');
  const busy = sums.join(undefined, keyWith({}, undefined, 'busy'));
  const early: KeySums = sums.of(key);
  for (let number = 0; number < 2000; number += 1) sums.of(keyWith({}, undefined, `other-${number}`));
  sums.forgetUnused();
  t.equal(sums.known('key', 'app'), undefined);
  t.equal(sums.known('key', 'busy'), busy.ofKey);
  const later = sums.join(undefined, keyWith({}, undefined, 'app'));
  t.equal(sums.join(early, key).ofKey, later.ofKey);
  t.equal(later.ofKey.calls, 2);
  sums.forgetUnused();
  t.equal(sums.known('key', 'app'), later.ofKey, 'few are kept as they are');
});

t.test('two that sum up calls of the same key each have their own sums', async (t) => {
  const [one, other] = [newSums(), newSums()];
  const key = keyWith({}, undefined, 'app');
  one.join(undefined, key).add(1, 10);
  other.join(undefined, key).add(2, 20);
  t.match(
    [one.known('key', 'app'), other.known('key', 'app')],
    [
      { calls: 1, tokens: 10 },
      { calls: 1, tokens: 20 },
    ],
  );
});
