import t from 'tap';
import { NOBODY, Tally } from '../../../core/gateway/tally.ts';
import { Random } from '../../support/crash/random.ts';

t.test('a member is to blame as long as fewer than ten failures have come from others', async (t) => {
  const tally = new Tally();
  for (let n = 0; n < 11; n += 1) tally.add('a');
  tally.add('b');
  t.equal(tally.mainOf(20), 'a', "eight were nobody's");
  t.equal(tally.mainOf(21), undefined);
  tally.clear();
  t.equal(tally.mainOf(0), undefined);
});

t.test('it says the same as a count of all members, and remembers at most twelve of them', async (t) => {
  const wrong: object[] = [];
  for (let seed = 0; seed < 300; seed += 1) {
    const random = new Random(seed);
    const tally = new Tally();
    const counts = new Map<string, number>();
    for (let failures = 1; failures < 60; failures += 1) {
      const member = random.below(8) === 0 ? NOBODY : `m${random.below(1 + random.below(1 + (seed % 30)))}`;
      tally.add(member);
      if (member !== NOBODY) counts.set(member, (counts.get(member) ?? 0) + 1);
      const main = [...counts].find(([, own]) => failures - own < 10)?.[0];
      const found = tally.mainOf(failures);
      if (failures >= 20 && found !== main) wrong.push({ seed, failures, found, main });
    }
  }
  t.same(wrong, []);
});
