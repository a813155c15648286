import t from 'tap';
import { ContentRoom, type Droppable } from '../../../../core/store/parts/content-room.ts';

/** The objects stay in `all`, since a room keeps none alive. */
function contents(names: string, mayDrop: (name: string) => boolean = () => true) {
  const dropped: string[] = [];
  const all = [...names].map((name): Droppable => ({ drop: () => mayDrop(name) && dropped.push(name) > 0 }));
  return { dropped, all, refs: all.map((one) => new WeakRef(one)) as [WeakRef<Droppable>, WeakRef<Droppable>, WeakRef<Droppable>] };
}

t.test('beyond the room, what was used least recently is dropped', (t) => {
  const room = new ContentRoom(100, 10);
  const { dropped, all, refs } = contents('abc');
  for (const ref of refs.slice(0, 2)) room.use(ref, 40);
  room.use(refs[0], 40);
  t.same([room.bytes, dropped], [80, []]);
  room.use(refs[2], 50);
  t.same([room.bytes, dropped, all.length], [90, ['b'], 3]);
  room.use(refs[0], 101);
  t.same([room.bytes, dropped], [0, ['b', 'c', 'a']], 'one that is too large alone stays no longer than it is held');
  t.end();
});

t.test('small contents, and those that have left, are not counted; one that is held stays', (t) => {
  const room = new ContentRoom(100, 10);
  const { dropped, all, refs } = contents('abc', (name) => name !== 'a');
  room.use(refs[0], 60);
  room.use(refs[1], 9);
  t.equal(room.bytes, 60);
  room.use(refs[1], 60);
  t.same([room.bytes, dropped, all.length], [60, ['b'], 3]);
  room.use(refs[0], 5);
  room.leave(refs[2]);
  t.equal(room.bytes, 0, 'it has become small');
  t.end();
});
