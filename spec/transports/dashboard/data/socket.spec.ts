import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { ApiError } from '../../../../transports/dashboard/data/api-error.ts';
import { PATIENCE_MS, Socket, type Topic } from '../../../../transports/dashboard/data/socket.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** One connection, from the side of the server. */
class Connection {
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  readonly said: Record<string, unknown>[] = [];
  isClosed = false;

  send(text: string): void {
    this.said.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.isClosed = true;
  }

  accept(): void {
    this.onopen?.({} as Event);
  }

  frame(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) } as MessageEvent);
  }

  end(): void {
    this.onclose?.({} as CloseEvent);
  }
}

function begun() {
  const clock = new ManualClock();
  const connections: Connection[] = [];
  /** What the next requests for a ticket end with; afterwards each is good. */
  const failures: unknown[] = [];
  let tickets = 0;
  const line = {
    async ticket() {
      tickets += 1;
      if (failures.length > 0) throw failures.shift();
      return String(tickets);
    },
    open() {
      connections.push(new Connection());
      return connections.at(-1) as Connection;
    },
  };
  const socket = new Socket(line, clock);
  /** A new connection is there. */
  const accept = async (): Promise<Connection> => {
    await turn();
    connections.at(-1)?.accept();
    return connections.at(-1) as Connection;
  };
  return { clock, socket, connections, failures, accept, state: () => socket.connection.value.state, tickets: () => tickets };
}

/** A topic that takes frames with a number, and begins after the last one that it has seen. */
function numbered(type: string) {
  const seen: number[] = [];
  const topic: Topic = {
    begin: () => ({ type: 'subscribe', topic: type, since: seen.at(-1) ?? 0 }),
    end: () => ({ type: 'unsubscribe', topic: type }),
    take(frame) {
      if (frame.type !== type) return false;
      seen.push(frame['seq'] as number);
      return true;
    },
  };
  return { seen, topic };
}

t.test('a lost socket is tried after growing times, at most every 15 s, and by a ticket of its own each time', async (t) => {
  const { socket, clock, failures, state, tickets } = begun();
  failures.push(...Array.from({ length: 8 }, () => new Error('no network')));
  socket.connect();
  for (const ms of [500, 1000, 2000, 4000, 8000, 15_000, 15_000]) {
    await turn();
    t.equal(state(), 'lost');
    const wait = (socket.connection.value.nextTryAt ?? 0) - clock.now();
    t.ok(wait >= ms * 0.9 && wait <= ms * 1.1, `${wait} ms for ${ms} ms`);
    const before = tickets();
    clock.pass(wait - 1);
    t.equal(tickets(), before);
    clock.pass(1);
    t.equal(tickets(), before + 1);
    t.equal(state(), 'opening');
  }
  await turn();
});

t.test('the server may ask for more patience', async (t) => {
  const { socket, clock, failures } = begun();
  failures.push(new ApiError('Too many requests.', { status: 429, code: 'RATE_LIMITED', retryAfterMs: 9000 }));
  socket.connect();
  await turn();
  t.equal((socket.connection.value.nextTryAt ?? 0) - clock.now(), 9000);
});

t.test('after a good connection, the first try comes soon again', async (t) => {
  const { socket, clock, accept, failures } = begun();
  failures.push(new Error('no network'), new Error('no network'));
  socket.connect();
  await turn();
  clock.pass(1000);
  await turn();
  clock.pass(2000);
  const connection = await accept();
  connection.end();
  const wait = (socket.connection.value.nextTryAt ?? 0) - clock.now();
  t.ok(wait <= 550, `${wait} ms`);
});

t.test('by-itself: somebody who asks does not wait for the next try', async (t) => {
  const { socket, clock, accept, state, tickets } = begun();
  socket.connect();
  (await accept()).end();
  socket.tryNow();
  t.equal(tickets(), 2);
  await accept();
  t.equal(state(), 'live');
  socket.tryNow();
  clock.pass(1000);
  await turn();
  t.equal(tickets(), 2, 'neither the timer nor a live socket makes another connection');
});

t.test('asks-anew: each topic goes on after the number that it has seen last', async (t) => {
  const { socket, accept, clock } = begun();
  const [fleet, events] = [numbered('fleet'), numbered('event')];
  socket.follow(fleet.topic);
  const end = socket.follow(events.topic);
  socket.connect();
  const first = await accept();
  t.strictSame(first.said, [
    { type: 'subscribe', topic: 'fleet', since: 0 },
    { type: 'subscribe', topic: 'event', since: 0 },
  ]);
  for (const seq of [1, 2, 3]) first.frame({ type: 'fleet', seq });
  first.frame({ type: 'event', seq: 7 });
  first.end();
  clock.pass(600);
  const second = await accept();
  t.strictSame(second.said, [
    { type: 'subscribe', topic: 'fleet', since: 3 },
    { type: 'subscribe', topic: 'event', since: 7 },
  ]);
  t.strictSame([fleet.seen, events.seen], [[1, 2, 3], [7]]);
  end();
  socket.followAnew(events.topic);
  socket.followAnew(fleet.topic);
  t.strictSame(second.said.slice(2), [
    { type: 'unsubscribe', topic: 'event' },
    { type: 'subscribe', topic: 'fleet', since: 3 },
  ]);
});

t.test('found-dead: a socket that answers no ping is found 24 s after it, and its answer puts that off', async (t) => {
  const { socket, clock, accept, state } = begun();
  socket.connect();
  const connection = await accept();
  const second = (): void => {
    clock.pass(1000);
    socket.endIfDead();
  };
  for (let at = 0; at < 20; at += 1) second();
  t.match(connection.said.at(-1), { type: 'ping' });
  connection.frame({ type: 'pong' });
  for (let at = 20; at < 63; at += 1) second();
  t.equal(state(), 'live', 'the ping at 40 s has waited for 23 s');
  second();
  t.equal(state(), 'lost');
  t.equal(socket.connection.value.since, 20_000, 'what is shown is as of the last word');
  t.ok(connection.isClosed);
});

t.test('found-dead: after a sleep of the computer the socket is given up at the first look, and soon there is another', async (t) => {
  const { socket, clock, accept, state } = begun();
  socket.connect();
  await accept();
  clock.sleep(89_999);
  socket.endIfDead();
  t.equal(state(), 'live');
  clock.sleep(1);
  socket.endIfDead();
  t.equal(state(), 'lost');
  t.equal(socket.connection.value.since, 0, 'what is shown is as of the last word');
  clock.pass(550);
  await accept();
  t.equal(state(), 'live');
});

t.test('a connection that was replaced changes nothing more', async (t) => {
  const { socket, accept, state, connections } = begun();
  socket.connect();
  const first = await accept();
  socket.connect();
  await accept();
  first.end();
  t.equal(state(), 'live');
  t.equal(connections.length, 2);
});

t.test('whoever signs out has no socket, and gets none when the ticket comes late', async (t) => {
  const { socket, connections, accept, state, tickets, clock } = begun();
  socket.connect();
  socket.disconnect();
  await turn();
  t.equal(connections.length, 0, 'the ticket came after the end');
  socket.connect();
  const connection = await accept();
  socket.disconnect();
  t.ok(connection.isClosed);
  connection.end();
  clock.pass(60_000);
  socket.tryNow();
  await turn();
  t.equal(tickets(), 2);
  t.not(state(), 'lost');
});

t.test(
  'settled: a first connection settles without a second reading; one that fails or is slow is not waited for, and counts as one that came back',
  async (t) => {
    const quick = begun();
    quick.socket.connect();
    t.equal(quick.socket.isSettled.value, false);
    const said: unknown[] = [];
    quick.socket.isSettled.subscribe((is) => is && said.push(quick.connections[0]?.said.length));
    quick.socket.follow(numbered('a').topic);
    await quick.accept();
    t.strictSame(said, [1], 'what is followed is asked for before');
    t.equal(quick.socket.revivals.value, 0);
    quick.connections[0]?.end();
    quick.clock.pass(1000);
    await quick.accept();
    t.equal(quick.socket.revivals.value, 1);

    const failing = begun();
    failing.failures.push(new ApiError('The server does not answer.', { status: 0, code: 'NO_ANSWER' }));
    failing.socket.connect();
    await turn();
    t.equal(failing.socket.isSettled.value, true);

    const slow = begun();
    slow.socket.connect();
    await turn();
    slow.clock.pass(PATIENCE_MS);
    t.equal(slow.socket.isSettled.value, true);
    await slow.accept();
    t.equal(slow.socket.revivals.value, 1, 'what was read without it is read again');
  },
);
