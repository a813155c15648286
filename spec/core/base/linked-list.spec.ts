import t from 'tap';
import { LinkedList } from '../../../core/base/linked-list.ts';

t.test('those who are there are listed, the newest first', async (t) => {
  const list = new LinkedList<string>();
  t.same([...list], []);
  for (const name of ['a', 'b', 'c']) list.add(name);
  t.same([...list], ['c', 'b', 'a']);
  t.equal(list.size, 3);
});

t.test('whoever leaves is gone, from the beginning, the middle and the end', async (t) => {
  const names = ['a', 'b', 'c', 'd'];
  for (const leaving of names) {
    const list = new LinkedList<string>();
    const places = names.map((name) => list.add(name));
    list.leave(places[names.indexOf(leaving)] as (typeof places)[number]);
    t.same([...list], names.filter((name) => name !== leaving).reverse(), leaving);
    t.equal(list.size, 3);
  }
});

t.test('to leave twice changes nothing', async (t) => {
  const list = new LinkedList<string>();
  const place = list.add('a');
  list.add('b');
  list.leave(place);
  list.leave(place);
  t.same([...list], ['b']);
  t.equal(list.size, 1);
});

t.test('the same item may be there twice', async (t) => {
  const list = new LinkedList<string>();
  const first = list.add('a');
  list.add('a');
  list.leave(first);
  t.same([...list], ['a']);
});

t.test('whoever comes after all have left is listed', async (t) => {
  const list = new LinkedList<number>();
  for (let turn = 0; turn < 100; turn += 1) list.leave(list.add(turn));
  list.add(100);
  t.same([...list], [100]);
});

t.test('nothing points to what has left, and it points to nobody', async (t) => {
  const list = new LinkedList<string>();
  const [a, b, c] = [list.add('a'), list.add('b'), list.add('c')];
  list.leave(b);
  t.same(b, { item: undefined, older: undefined, newer: undefined });
  t.equal(a.newer, c);
  t.equal(c.older, a);
});
