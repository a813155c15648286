import t from 'tap';
import { createBus } from '../../core/bus.ts';
import { EventRing, type Happened } from '../../core/event-ring.ts';
import { until } from '../support/until.ts';

t.test('an event is told as it happens, with a number that grows', async (t) => {
  const bus = createBus();
  const ring = new EventRing(bus, () => 1_800_000_000_000);
  bus.emit('block.created', { block: 'early' });
  const told: Happened[] = [];
  const stop = ring.follow((event) => told.push(event));
  bus.emit('block.created', { block: 'a' });
  bus.emit('block.archived', { block: 'a', archiveName: 'a-1' });
  stop();
  bus.emit('block.created', { block: 'late' });
  t.match(told, [
    { name: 'block.created', data: { block: 'a' }, at: '2027-01-15T08:00:00.000Z' },
    { name: 'block.archived', data: { block: 'a' } },
  ]);
  t.equal(told.length, 2, 'nothing before it began, and nothing after its end');
  const [one, other] = told as unknown as [{ seq: number }, { seq: number }];
  t.equal(other.seq, one.seq + 1);
});

t.test('who comes back gets what was missed, and a hole where that is no longer kept', async (t) => {
  const bus = createBus();
  const ring = new EventRing(bus);
  const first: Happened[] = [];
  const stop = ring.follow((event) => first.push(event));
  bus.emit('block.created', { block: 'b0' });
  stop();
  const { seq } = first[0] as unknown as { seq: number };
  for (let index = 1; index <= 5; index += 1) bus.emit('block.created', { block: `b${index}` });
  const missed: Happened[] = [];
  ring.follow((event) => missed.push(event), seq)();
  t.same(
    missed.map((event) => ('data' in event ? (event.data as { block: string }).block : event)),
    ['b1', 'b2', 'b3', 'b4', 'b5'],
  );
  for (let index = 0; index < 5000; index += 1) bus.emit('block.created', { block: 'many' });
  const late: Happened[] = [];
  ring.follow((event) => late.push(event), seq)();
  const [hole, ...rest] = late as unknown as [{ missed: number }, ...Happened[]];
  t.equal(hole.missed + rest.length, 5005);
  t.ok(rest.length >= 1000 && rest.length <= 2000, String(rest.length));
});

t.test('a flood of events is told as how many were left out, not one by one', async (t) => {
  const bus = createBus();
  const ring = new EventRing(bus);
  const told: Happened[] = [];
  t.teardown(ring.follow((event) => told.push(event)));
  for (let index = 0; index < 5000; index += 1) bus.emit('block.created', { block: 'many' });
  t.ok(told.length <= 200, `${told.length} at once`);
  await until('the hole is told', () => told.some((event) => 'missed' in event));
  const missed = told.reduce((sum, event) => sum + ('missed' in event ? event.missed : 1), 0);
  t.equal(missed, 5000, 'together they are all');
});

t.test('no-echo: requests and sockets are no events for those who follow, and make no hole', async (t) => {
  const bus = createBus();
  const ring = new EventRing(bus);
  const told: Happened[] = [];
  t.teardown(ring.follow((event) => told.push(event)));
  bus.emit('block.created', { block: 'a' });
  bus.emit('socket.opened', { requestId: 'r' });
  bus.emit('request.served', { requestId: 'r', method: 'GET', route: '/api/blocks', status: 200, durationMs: 1 });
  bus.emit('socket.closed', { requestId: 'r', code: 1000, durationMs: 1 });
  bus.emit('block.created', { block: 'b' });
  t.match(told, [{ data: { block: 'a' } }, { data: { block: 'b' } }]);
  const [one, other] = told as unknown as [{ seq: number }, { seq: number }];
  t.equal(other.seq, one.seq + 1);
});

t.test('no-push: progress of calls is told, and pushes out nothing that has happened', async (t) => {
  const bus = createBus();
  const ring = new EventRing(bus);
  const told: Happened[] = [];
  const stop = ring.follow((event) => told.push(event));
  const progress = (many: number): void => {
    for (let done = 1; done <= many; done += 1)
      bus.emit('tool.progressed', { block: 'a', id: 'm', call: '1.1', tool: 'files/scan', state: 'working', task: false, progress: done });
  };
  bus.emit('block.created', { block: 'a' });
  progress(1);
  bus.emit('block.created', { block: 'b' });
  progress(5000);
  bus.emit('block.created', { block: 'c' });
  stop();
  t.match(told.slice(0, 4), [{ data: { block: 'a' } }, { data: { progress: 1 } }, { data: { block: 'b' } }, { data: { progress: 1 } }]);
  t.match(told.at(-1), { data: { block: 'c' } }, 'no hole, and a fact after the flood comes at once');
  t.ok(told.length <= 100, `${told.length} at once`);
  const [one, of, other] = told as unknown as [{ seq: number }, { seq: number }, { seq: number }];
  t.equal(of.seq, one.seq, 'it takes no number');
  t.equal(other.seq, one.seq + 1);
  const late: Happened[] = [];
  ring.follow((event) => late.push(event), one.seq)();
  t.match(late, [{ data: { block: 'b' } }, { data: { block: 'c' } }], 'who comes back reads what has happened');
  t.equal(late.length, 2);
});
