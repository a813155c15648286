// Look-ups of names, with a resolver that has two threads, as that of Node has.
import dns, { type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { dialer } from '../../../adapters/outbound/dial.ts';
import { Names, type Resolve } from '../../../adapters/outbound/names.ts';

const LOOPBACK: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];

interface Question {
  readonly name: string;
  end(error?: Error): void;
}

/** Two look-ups at a time. Those of names that begin with `slow` end when the test says so. */
function twoThreads() {
  const asked: string[] = [];
  const hanging: Question[] = [];
  const waiting: (() => void)[] = [];
  let atWork = 0;
  const begin = (name: string, done: (error: Error | null, found: LookupAddress[]) => void): void => {
    atWork += 1;
    const end = (error: Error | null = null): void => {
      atWork -= 1;
      waiting.shift()?.();
      done(error, error === null ? LOOPBACK : []);
    };
    if (name.startsWith('slow')) hanging.push({ name, end });
    else setImmediate(end);
  };
  const resolve: Resolve = (name, _options, done) => {
    asked.push(name);
    if (atWork < 2) begin(name, done);
    else waiting.push(() => begin(name, done));
  };
  return { asked, hanging, resolve };
}

function namesOf() {
  const threads = twoThreads();
  const clock = { ms: 0 };
  const names = new Names(threads.resolve, () => clock.ms);
  const find = (name: string) => names.find(name, {});
  return { ...threads, clock, find, names };
}

const gone = Object.assign(new Error('getaddrinfo EAI_AGAIN slow.test'), { code: 'EAI_AGAIN' });

t.test('a name is looked up once at a time, and each connection that waits for it has the answer', async (t) => {
  const { asked, hanging, find } = namesOf();
  const all = [find('slow.test'), find('slow.test'), find('slow.test')];
  t.same(asked, ['slow.test']);
  hanging.shift()?.end();
  t.same(await Promise.all(all), [LOOPBACK, LOOPBACK, LOOPBACK]);
  const again = find('slow.test');
  t.same(asked, ['slow.test', 'slow.test'], 'nothing is kept of an answer');
  hanging.shift()?.end(gone);
  await t.rejects(again, { code: 'EAI_AGAIN' });
});

t.test('look-ups of one name for different kinds of addresses are different ones', async (t) => {
  const { asked, names } = namesOf();
  await Promise.all([names.find('a.test', {}), names.find('a.test', { family: 6 }), names.find('a.test', { hints: 32 })]);
  t.equal(asked.length, 3);
});

t.test('names whose look-up takes long wait for each other, and others do not wait for them', async (t) => {
  const { asked, hanging, find, clock } = namesOf();
  const first = ['slow.one', 'slow.two'].map((name) => t.rejects(find(name), { code: 'EAI_AGAIN' }));
  clock.ms = 1500;
  for (const { end } of hanging.splice(0)) end(gone);
  await Promise.all(first);

  const one = find('slow.one');
  const two = find('slow.two');
  t.same(await find('other.test'), LOOPBACK, 'one thread is left');
  t.same(asked.slice(2).sort(), ['other.test', 'slow.one']);
  clock.ms = 1600;
  hanging.shift()?.end();
  t.same(await one, LOOPBACK);
  await nextTurn();
  t.same(
    hanging.map(({ name }) => name),
    ['slow.two'],
  );
  hanging.shift()?.end();
  await two;

  const both = [find('slow.one'), find('slow.two')];
  t.equal(hanging.length, 2, 'a name that was found at once is as any other');
  for (const { end } of hanging) end();
  await Promise.all(both);
});

t.test('a thousand names that take long are not remembered for ever', async (t) => {
  const { hanging, find, clock, names } = namesOf();
  for (let each = 0; each < 1000; each += 1) {
    const found = find(`slow.${each}`);
    clock.ms += 2000;
    hanging.shift()?.end();
    await found;
  }
  t.equal(names.slow, 256);
});

function lookUpWith(t: Test, resolve: Resolve): void {
  const { lookup } = dns;
  const use = (used: unknown): void => {
    Object.assign(dns, { lookup: used });
    syncBuiltinESMExports();
  };
  use(resolve);
  t.teardown(() => use(lookup));
}

t.test('a provider whose name is not found keeps no connection from another one', async (t) => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { asked, hanging, resolve } = twoThreads();
  lookUpWith(t, resolve);
  const egress = { trustedOrigins: new Set<string>(), allowedOrigins: new Set<string>(), ownKey: false, isKeyless: true };
  const open = (host: string, opened = (): void => undefined) => {
    const socket = dialer(`http://${host}:${port}`, egress, undefined)(0, opened);
    socket.on('error', () => undefined);
    sockets.push(socket);
  };
  for (let each = 0; each < 20; each += 1) open('slow.test');
  await new Promise<void>((opened) => open('other.test', opened));
  t.same(asked, ['slow.test', 'other.test']);
  for (const { end } of hanging) end(gone);
});
