import t from 'tap';
import { LinkedList } from '../../../core/base/linked-list.ts';

t.test('those who are there are listed, the newest first', async (t) => {
  const roster = new LinkedList<string>();
  t.same([...roster], []);
  for (const name of ['a', 'b', 'c']) roster.add(name);
  t.same([...roster], ['c', 'b', 'a']);
  t.equal(roster.size, 3);
});

t.test('whoever leaves is gone, from the beginning, the middle and the end', async (t) => {
  const names = ['a', 'b', 'c', 'd'];
  for (const leaving of names) {
    const roster = new LinkedList<string>();
    const places = names.map((name) => roster.add(name));
    roster.leave(places[names.indexOf(leaving)] as (typeof places)[number]);
    t.same([...roster], names.filter((name) => name !== leaving).reverse(), leaving);
    t.equal(roster.size, 3);
  }
});

t.test('to leave twice changes nothing', async (t) => {
  const roster = new LinkedList<string>();
  const place = roster.add('a');
  roster.add('b');
  roster.leave(place);
  roster.leave(place);
  t.same([...roster], ['b']);
  t.equal(roster.size, 1);
});

t.test('the same item may be there twice', async (t) => {
  const roster = new LinkedList<string>();
  const first = roster.add('a');
  roster.add('a');
  roster.leave(first);
  t.same([...roster], ['a']);
});

t.test('whoever comes after all have left is listed', async (t) => {
  const roster = new LinkedList<number>();
  for (let turn = 0; turn < 100; turn += 1) roster.leave(roster.add(turn));
  roster.add(100);
  t.same([...roster], [100]);
});

t.test('nothing points to what has left, and it points to nobody', async (t) => {
  const roster = new LinkedList<string>();
  const [a, b, c] = [roster.add('a'), roster.add('b'), roster.add('c')];
  roster.leave(b);
  t.same(b, { item: undefined, older: undefined, newer: undefined });
  t.equal(a.newer, c);
  t.equal(c.older, a);
});
