import t from 'tap';
import { FairLine, WaitingRoom } from '../../../core/gateway/waiting-room.ts';
import { Random } from '../../support/crash/random.ts';

const waiter = (caller: string, id: string) => ({ caller, id, limits: [], leaving: new AbortController(), start: async () => id });

t.test('as long as a call may start, there is one to take out, and never otherwise', async (t) => {
  const room = new WaitingRoom(8);
  const line = new FairLine(room);
  for (let n = 0; n < 7; n += 1) room.take('a');
  const { start, ...options } = waiter('a', 'a1');
  line.enqueue(start, { ...options, signal: options.leaving.signal });
  t.equal(line.size, 0, 'the last place is kept');
  t.equal(line.dequeue(), undefined);
  room.add(waiter('b', 'b1'));
  room.add(waiter('b', 'b2'));
  t.equal(line.size, 2);
  t.equal(await line.dequeue()?.(), 'b1');
  room.take('b');
  t.equal(line.size, 0);
  room.leave('a');
  t.equal(line.size, 0, 'the last one again');
  room.leave('b');
  t.equal(line.size, 2);
  t.equal(await line.dequeue()?.(), 'b2');
});

t.test('who has left the line or given up the last place is not in memory', async (t) => {
  const room = new WaitingRoom(1);
  const line = new FairLine(room);
  room.take('a');
  for (const id of ['1', '2', '3']) room.add(waiter('b', id));
  room.add(waiter('c', '4'));
  t.equal(room.callers, 3);
  for (const id of ['2', '4', 'unknown', '1', '3']) line.remove(id);
  room.leave('a');
  t.same([room.atWork, room.waiting, room.callers], [0, 0, 0]);
});

t.test('the call that makes room is the newest of the caller who has at least two more', async (t) => {
  const room = new WaitingRoom(1);
  t.equal(room.newestOfGreediest('a'), undefined);
  const [first, second] = [waiter('a', '1'), waiter('a', '2')];
  room.add(first);
  t.equal(room.newestOfGreediest('b'), undefined, 'one each is fair');
  room.add(second);
  t.equal(room.newestOfGreediest('b'), second);
  t.equal(room.newestOfGreediest('a'), undefined, 'a caller does not displace itself');
});

t.test('the line counts nothing by options, and knows no priority', async (t) => {
  const line = new FairLine(new WaitingRoom(1));
  t.same(line.filter(), []);
  t.throws(() => line.setPriority(), { message: 'A call has no priority.' });
});

t.test('with any callers in any order, a caller with fewer places is never passed over, and one caller keeps its order', async (t) => {
  const dice = new Random(5);
  const roll = (sides: number): number => Math.floor(dice.next() * sides);
  for (let round = 0; round < 100; round += 1) {
    const places = 1 + roll(12);
    const room = new WaitingRoom(places);
    const held: string[] = [];
    let waiting: { readonly caller: string; readonly id: string }[] = [];
    const heldBy = (caller: string): number => held.filter((each) => each === caller).length;
    const mayHave = (caller: string): boolean => held.length < places - (places >= 8 && heldBy(caller) > 0 ? 1 : 0);
    for (let n = 0; n < 200; n += 1) {
      const caller = 'abcd'[Math.min(roll(4), roll(4))] as string;
      const [left] = waiting.splice(roll(20), 1);
      if (left !== undefined) room.remove(left.id);
      if (held.length > 0 && roll(2) === 0) room.leave(held.splice(roll(held.length), 1)[0] as string);
      room.add(waiter(caller, `${n}`));
      waiting.push({ caller, id: `${n}` });
      for (let next = room.next(); next !== undefined; next = room.next()) {
        const { caller: chosen, id } = next;
        if (!mayHave(chosen)) t.fail('it got a place that is kept for others');
        for (const other of waiting) if (mayHave(other.caller) && heldBy(other.caller) < heldBy(chosen)) t.fail(`${other.caller} was passed over`);
        if (waiting.find((each) => each.caller === chosen)?.id !== id) t.fail('not in order');
        waiting = waiting.filter((each) => each.id !== id);
        room.take(chosen);
        held.push(chosen);
      }
      if (waiting.some((each) => mayHave(each.caller))) t.fail('somebody waits for a place that is free');
      if (room.atWork !== held.length || room.waiting !== waiting.length || held.length > places) t.fail('counted wrongly');
    }
    t.equal(room.callers, new Set([...held, ...waiting.map(({ caller }) => caller)]).size);
  }
});
