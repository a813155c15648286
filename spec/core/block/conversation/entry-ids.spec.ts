import t from 'tap';
import { EntryIds } from '../../../../core/block/conversation/entry-ids.ts';
import { AT, userEntry } from '../../../support/block-files.ts';

const NOW = Date.parse(AT);
const HOUR = 3_600_000;
const TEN_YEARS = 10 * 365 * 24 * HOUR;

t.test('ids sort by time, and by order within a millisecond', (t) => {
  let now = NOW;
  const ids = new EntryIds(() => now);
  const made: string[] = [];
  for (let n = 0; n < 300; n += 1) {
    made.push(ids.next());
    if (n % 100 === 99) now += 1;
  }
  t.same([...made].sort(), made);
  t.equal(new Set(made).size, 300);
  t.end();
});

t.test('ids stay in order when the clock goes back an hour or forward ten years', (t) => {
  let now = NOW;
  const ids = new EntryIds(() => now);
  const made = [ids.next()];
  for (const step of [-HOUR, 1, TEN_YEARS, -TEN_YEARS, 1]) {
    now += step;
    made.push(ids.next(), ids.next());
  }
  t.same([...made].sort(), made);
  t.end();
});

t.test('after a restart with a clock that was set back, ids follow those of the entries', (t) => {
  const before = new EntryIds(() => NOW + TEN_YEARS);
  const there = [before.next(), before.next(), before.next()];
  const ids = new EntryIds(() => NOW);
  ids.follow([userEntry('by-hand'), ...there.map((id) => userEntry(id)), userEntry('m-odd')]);
  const made = [ids.next(), ids.next()];
  t.same([...there, ...made].sort(), [...there, ...made]);
  ids.follow([userEntry(there[0] as string)]);
  t.ok(ids.next() > (made[1] as string), 'an older id changes nothing');
  t.end();
});
