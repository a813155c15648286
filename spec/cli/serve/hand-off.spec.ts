import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { type Door, HandOff, type Taker } from '../../../cli/serve/hand-off.ts';
import { takerOf } from '../../../cli/serve/workers.ts';
import { until } from '../../support/server.ts';

interface FakeWorker extends Taker {
  /** What it was given and says nothing of yet. */
  readonly given: { readonly number: number; readonly door: Door; readonly socket: Socket }[];
  readonly asked: number[];
}

function worker(): FakeWorker {
  const [given, asked]: [FakeWorker['given'], number[]] = [[], []];
  return { given, asked, hand: (number, door, socket) => void given.push({ number, door, socket }), ask: (number) => void asked.push(number) };
}

async function create(t: Test) {
  const drops: number[] = [];
  const handOff = new HandOff((most) => drops.push(most), 8);
  const { port } = await handOff.listen('main', 0, '127.0.0.1');
  t.teardown(() => handOff.close());
  const clients: Socket[] = [];
  t.teardown(() => {
    for (const client of clients) client.destroy();
  });
  let closed = 0;
  const arrive = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      const client = connect(port, '127.0.0.1');
      client.on('error', () => undefined);
      client.on('close', () => {
        closed += 1;
      });
      clients.push(client);
      await once(client, 'connect');
    }
  };
  return { handOff, port, drops, arrive, closed: () => closed };
}

/** It says that it has what it was given last. */
function takes(handOff: HandOff, one: FakeWorker): void {
  handOff.taken(one, one.given.at(-1)?.number ?? 0);
}

t.test('connections go to the workers in turn, and one that has not taken its last gets no other', async (t) => {
  const { handOff, arrive } = await create(t);
  const [one, two] = [worker(), worker()];
  await arrive(1);
  handOff.add(one);
  await until(() => one.given.length === 1, 'what came before the first worker');
  handOff.add(two);
  await arrive(4);
  await until(() => two.given.length === 1, 'the next has its turn');
  for (let turn = 2; turn <= 4; turn += 1) {
    takes(handOff, two);
    t.equal(two.given.length, turn);
  }
  t.equal(one.given.length, 1, 'it has said nothing');
  takes(handOff, one);
  takes(handOff, two);
  await arrive(2);
  await until(() => one.given.length === 2 && two.given.length === 5, 'both have one');
  t.match(one.given[0], { door: 'main' });
});

t.test('what a worker has not taken when it is gone goes to another, before what came later, and its client notices nothing', async (t) => {
  const { handOff, arrive, closed } = await create(t);
  const [one, two] = [worker(), worker()];
  handOff.add(one);
  await arrive(2);
  await until(() => one.given.length === 1, 'it has the first');
  handOff.remove(one);
  handOff.taken(one, 1);
  handOff.add(two);
  t.match(two.given, [{ number: 1 }]);
  t.notOk(two.given[0]?.socket.destroyed);
  takes(handOff, two);
  t.match(two.given, [{ number: 1 }, { number: 2 }]);
  t.ok(two.given[0]?.socket.destroyed, 'the primary lets go of what is taken');
  await until(() => closed() === 1, 'in this process nobody else had it');
});

t.test('a worker that drains gets no further connection while others live or come; when all end, it does', async (t) => {
  const { handOff, port, arrive, closed } = await create(t);
  const [one, two] = [worker(), worker()];
  handOff.add(one);
  handOff.drains(one);
  await arrive(1);
  handOff.add(two);
  await until(() => two.given.length === 1, 'the other has it');
  handOff.refused(two, 1);
  await until(() => closed() === 1, 'nobody else takes it');
  handOff.remove(two);
  await arrive(1);
  t.equal(one.given.length, 0, 'it waits for a worker to come');
  handOff.end();
  t.match(one.given, [{ number: 2 }]);
  takes(handOff, one);
  await arrive(1);
  await until(() => one.given.length === 2, 'it says to each that the server ends');
  handOff.refused(one, 3);
  await until(() => closed() === 3, 'nobody waits in vain');
  const late = connect(port, '127.0.0.1');
  t.match(await once(late, 'error'), [{ code: 'ECONNREFUSED' }], 'and the port is closed');
});

t.test('a connection that got lost on its way is noticed, and goes to another worker; one that no worker has got is closed', async (t) => {
  const { handOff, arrive, closed } = await create(t);
  const [one, two] = [worker(), worker()];
  handOff.add(one);
  handOff.add(two);
  await arrive(1);
  await until(() => one.asked.includes(1), 'it is asked when it says nothing');
  handOff.refused(one, 1);
  t.match(two.given, [{ number: 1 }]);
  handOff.refused(two, 1);
  await until(() => closed() === 1, 'it is closed');
  await arrive(1);
  await until(() => one.given.length + two.given.length === 3, 'both still get others');
});

t.test('an end without workers closes what waits, and of too many that wait the last is closed', async (t) => {
  const { handOff, arrive, drops, closed } = await create(t);
  await arrive(8 + 2);
  await until(() => closed() === 2, 'two are closed');
  t.same(drops, [8, 8]);
  handOff.end();
  await until(() => closed() === 8 + 2, 'all are');
});

t.test('a connection that comes when all workers have just died, which nobody has noticed yet, waits for the next one', async (t) => {
  const { handOff, arrive, closed } = await create(t);
  let tried = 0;
  const dead = (code: string): Taker => {
    const send = (_word: object, _socket: unknown, _options: object, done: (error: Error) => void): boolean => {
      tried += 1;
      queueMicrotask(() => done(Object.assign(new Error(code), { code })));
      return true;
    };
    const one: Taker = takerOf({ send } as never, { refuse: (number) => handOff.refused(one, number), leave: () => handOff.remove(one) });
    return one;
  };
  for (const code of ['EPIPE', 'ERR_IPC_CHANNEL_CLOSED']) handOff.add(dead(code));
  await arrive(1);
  await until(() => tried === 2, 'both have been tried');
  const next = worker();
  handOff.add(next);
  await until(() => next.given.length === 1, 'the next one has it');
  t.equal(closed(), 0);
});
