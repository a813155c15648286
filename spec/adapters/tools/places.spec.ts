// Who may run, and in which order.
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type Holder, Places } from '../../../adapters/tools/places.ts';
import { Throttle } from '../../../adapters/tools/running-server.ts';
import { Turns } from '../../../adapters/tools/turns.ts';
import { fakeTimers } from '../../support/fake-timers.ts';
import { until } from '../../support/until.ts';

class Fake implements Holder {
  readonly name: string;
  idleSince: number | undefined;
  ends = 0;
  places: Places | undefined;
  constructor(name: string = randomUUID()) {
    this.name = name;
  }
  async makeRoom(): Promise<void> {
    this.ends += 1;
    this.places?.free(this);
  }
}

const never = new AbortController().signal;

t.test('the longest idle makes room, and where none is idle the first to ask is the first to get a place', async (t) => {
  const places = new Places(2);
  const [a, b, c, d] = [new Fake(), new Fake(), new Fake(), new Fake()];
  for (const one of [a, b, c, d]) one.places = places;
  await places.take(a, never);
  await places.take(b, never);
  a.idleSince = 2;
  b.idleSince = 1;
  await places.take(c, never);
  t.strictSame([a.ends, b.ends], [0, 1]);
  a.idleSince = undefined;
  b.idleSince = undefined;
  const order: string[] = [];
  const leaves = new AbortController();
  const left = t.rejects(places.take(b, leaves.signal), { message: 'left' });
  const waits = [places.take(b, never).then(() => order.push('b')), places.take(d, never).then(() => order.push('d'))];
  leaves.abort(new Error('left'));
  await left;
  places.free(a);
  places.free(a);
  await waits[0];
  c.idleSince = 3;
  places.look(c);
  await Promise.all(waits);
  t.strictSame(order, ['b', 'd']);
  t.equal(c.ends, 1);
});

t.test('processes of one server that all have work leave places for those of others', async (t) => {
  const places = new Places(4);
  const [a, b, c, d, other] = [new Fake('one'), new Fake('one'), new Fake('one'), new Fake('one'), new Fake('other')];
  for (const one of [a, b, c, d, other]) one.places = places;
  for (const one of [a, b, c]) await places.take(one, never);
  let isFourth = false;
  const fourth = places.take(d, never).then(() => {
    isFourth = true;
  });
  await places.take(other, never);
  t.notOk(isFourth, 'three quarters are taken');
  b.idleSince = 1;
  places.look(b);
  await fourth;
  t.strictSame([a.ends, b.ends, c.ends, other.ends], [0, 1, 0, 0], 'its own process makes room');
  const leaves = new AbortController();
  const left = t.rejects(places.take(b, leaves.signal), { message: 'left' });
  leaves.abort(new Error('left'));
  await left;
  places.free(a);
  await places.take(b, never);
});

t.test('a place that one gets in the moment in which it leaves goes to the next', async (t) => {
  const places = new Places(1);
  const [a, b, c] = [new Fake(), new Fake(), new Fake()];
  await places.take(a, never);
  const leaves = new AbortController();
  const left = t.rejects(places.take(b, leaves.signal), { message: 'left' });
  const next = places.take(c, never);
  await Promise.resolve();
  places.free(a);
  leaves.abort(new Error('left'));
  await left;
  await next;
});

t.test('one that leaves in the moment in which a holder has nothing more to do lets the next one have its place', async (t) => {
  const places = new Places(1);
  const [a, b, c] = [new Fake(), new Fake(), new Fake()];
  a.places = places;
  await places.take(a, never);
  const leaves = new AbortController();
  const left = t.rejects(places.take(b, leaves.signal), { message: 'left' });
  let hasPlace = false;
  void places.take(c, never).then(() => {
    hasPlace = true;
  });
  await Promise.resolve();
  a.idleSince = 1;
  places.look(a);
  leaves.abort(new Error('left'));
  await left;
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  t.ok(hasPlace);
});

t.test('turns go round in order, and who leaves is passed over', async (t) => {
  const turns = new Turns(1);
  const leave = await turns.enter(never);
  const leaves = new AbortController();
  const left = t.rejects(turns.enter(leaves.signal), { message: 'left' });
  const order: string[] = [];
  const second = turns.enter(never).finally(() => order.push('second'));
  const third = turns.enter(never).finally(() => order.push('third'));
  leaves.abort(new Error('left'));
  await left;
  leave();
  (await second)();
  (await third)();
  t.strictSame(order, ['second', 'third']);
  await t.rejects(turns.enter(AbortSignal.abort(new Error('late'))), { message: 'late' });
  (await turns.enter(never))();
});

t.test('work that is asked for often is done at once, and once more at the end of the pause', async (t) => {
  let done = 0;
  const throttle = new Throttle(5, () => {
    done += 1;
  });
  for (let asked = 0; asked < 1000; asked += 1) throttle.ask();
  t.equal(done, 1);
  const keep = setInterval(() => undefined, 1000);
  await until('it is done once more', () => done === 2);
  throttle.ask();
  throttle.end();
  clearInterval(keep);
  t.equal(done, 2);
});

t.test('work that is asked for without end is done ever more rarely, and soon again after a pause', async (t) => {
  const pass = fakeTimers(t);
  let done = 0;
  const throttle = new Throttle(1000, () => {
    done += 1;
  });
  for (let second = 0; second < 200; second += 1) {
    throttle.ask();
    await pass(1000);
  }
  t.equal(done, 9, 'after 0, 1, 3, 7, 15, 31, 63, 127 and 191 seconds');
  for (const ms of [64_000, 64_000, 64_000]) await pass(ms);
  done = 0;
  throttle.ask();
  throttle.ask();
  await pass(1000);
  t.equal(done, 2);
  throttle.end();
});
