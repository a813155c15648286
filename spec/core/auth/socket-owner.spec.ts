import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { endianness } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { isFromOtherUser, isListenedOnByOther, isToOtherUser, ownerOf, readTable } from '../../../core/auth/socket-owner.ts';
import { isStrangeDaemon } from '../../../core/auth/strange-daemon.ts';
import { portOfOther, startAsOther, withOtherUser } from '../../support/other-user.ts';

const OWN = process.geteuid?.() ?? 0;
const OTHER = 65_534;
const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const [HERE, MAPPED, SIX] = ['0100007F', '0000000000000000FFFF00000100007F', '00000000000000000000000001000000'];
const ANY = '00000000:0000';
const TABLES_ARE_LE = { skip: endianness() !== 'LE' && 'the texts are those of a little-endian processor' };

interface Line {
  readonly local: string;
  readonly remote?: string;
  readonly state?: string;
  readonly uid?: number;
  readonly inode?: number;
}

/** Port 8420 is 20E4, and 40000 is 9C40. */
function tableOf(...lines: readonly Line[]): string {
  const texts = lines.map(
    ({ local, remote = ANY, state = '01', uid = OTHER, inode = 77 }, index) =>
      `   ${index}: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`,
  );
  return HEAD + texts.join('');
}

/** In pieces that end within lines. */
const reads = (tcp?: string, tcp6?: string) =>
  async function* (path: string): AsyncGenerator<string> {
    yield* (path.endsWith('6') ? tcp6 : tcp)?.match(/.{1,100}/gs) ?? [];
  };
const ends = (remoteAddress: string | undefined, localAddress = remoteAddress) =>
  ({ remoteAddress, remotePort: 40_000, localAddress, localPort: 8420 }) as Socket;

t.test('the user at the other end of a connection is found by both ends', TABLES_ARE_LE, async (t) => {
  const peer = { local: `${HERE}:9C40`, remote: `${HERE}:20E4` };
  const own = { local: `${HERE}:20E4`, remote: `${HERE}:9C40`, uid: OWN };
  const table: [what: string, from: Socket, tcp: string | undefined, tcp6: string | undefined, isOther: boolean][] = [
    ['another user', ends('127.0.0.1'), tableOf(own, peer), '', true],
    ['this user', ends('127.0.0.1'), tableOf(own, { ...peer, uid: OWN }), '', false],
    ['root', ends('127.0.0.1'), tableOf(own, { ...peer, uid: 0 }), '', false],
    ['a program that has closed the connection', ends('127.0.0.1'), tableOf(own, { ...peer, state: '05', uid: 0, inode: 0 }), '', true],
    ['an earlier connection with the same ends', ends('127.0.0.1'), tableOf({ ...peer, state: '06', uid: 0, inode: 0 }, { ...peer, uid: OWN }), '', false],
    ['another connection of another user', ends('127.0.0.1'), tableOf(own, { ...peer, local: `${HERE}:9C41` }), '', false],
    ['a socket for both kinds of addresses', ends('::ffff:127.0.0.1'), '', tableOf({ local: `${MAPPED}:9C40`, remote: `${MAPPED}:20E4` }), true],
    ['the two kinds mixed', ends('::ffff:127.0.0.1'), tableOf(peer), '', true],
    ['IPv6', ends('::1'), '', tableOf({ local: `${SIX}:9C40`, remote: `${SIX}:20E4` }), true],
    ['another machine', ends('192.0.2.7', '192.0.2.1'), tableOf(own), tableOf(), false],
    ['a system without tables', ends('127.0.0.1'), undefined, undefined, false],
    ['a connection that has gone', ends(undefined), tableOf(peer), '', false],
  ];
  for (const [what, from, tcp, tcp6, isOther] of table) t.equal(await isFromOtherUser(from, reads(tcp, tcp6)), isOther, what);
});

t.test('the user who listens is found by the address, or by that of all interfaces', TABLES_ARE_LE, async (t) => {
  const listens = { local: `${HERE}:20E4`, state: '0A' };
  const anywhere = { local: '00000000:20E4', state: '0A' };
  const table: [what: string, tcp: string | undefined, isOther: boolean][] = [
    ['another user', tableOf(listens), true],
    ['this user', tableOf({ ...listens, uid: OWN }), false],
    ['root', tableOf({ ...listens, uid: 0 }), false],
    ['nobody', tableOf(), false],
    ['another user, on all interfaces', tableOf(anywhere), true],
    ['another user before this one on all interfaces', tableOf({ ...anywhere, uid: OWN }, listens), true],
    ['this user before another one on all interfaces', tableOf(anywhere, { ...listens, uid: OWN }), false],
    ['a connection of another user from this port', tableOf({ ...listens, state: '01' }), false],
    ['a system without tables', undefined, false],
  ];
  for (const [what, tcp, isOther] of table) t.equal(await isListenedOnByOther('127.0.0.1', 8420, reads(tcp)), isOther, what);
  t.equal(await isListenedOnByOther('server.example', 8420, reads(tableOf(listens))), false, 'a name');
});

t.test('a daemon of another person at a default address is strange, one of a service or at a configured address is not', TABLES_ARE_LE, async (t) => {
  const listens = { local: `${HERE}:20E4`, state: '0A' };
  const spec = { baseURL: { env: ['X'], default: 'http://127.0.0.1:8420' } };
  t.equal(await isStrangeDaemon(spec, [{ field: 'apiKey' }], reads(tableOf(listens))), true, 'another person');
  t.equal(await isStrangeDaemon(spec, [], reads(tableOf({ ...listens, uid: 998 }))), false, 'the user of a service');
  t.equal(await isStrangeDaemon(spec, [], reads(tableOf({ ...listens, uid: OWN }))), false, 'this user');
  t.equal(await isStrangeDaemon(spec, [], reads(tableOf())), false, 'nobody');
  t.equal(await isStrangeDaemon(spec, [{ field: 'baseURL' }], reads(tableOf(listens))), false, 'it is configured');
  t.equal(await isStrangeDaemon({ baseURL: { default: 'https://server.example' } }, [], reads(tableOf(listens))), false, 'another machine');
  t.equal(await isStrangeDaemon({ apiKey: { secret: true } }, [], reads(tableOf(listens))), false, 'no address');
});

t.test('the user who answers a connection is found, or the one who listens until it is accepted', TABLES_ARE_LE, async (t) => {
  const listens = { local: `${HERE}:9C40`, state: '0A' };
  const peer = { local: `${HERE}:9C40`, remote: `${HERE}:20E4` };
  const waiting = { ...peer, uid: 0, inode: 0 };
  const table: [what: string, tcp: string | undefined, isOther: boolean][] = [
    ['another user', tableOf(peer), true],
    ['another user, though this one listens by now', tableOf({ ...listens, uid: OWN }, peer), true],
    ['this user', tableOf({ ...peer, uid: OWN }), false],
    ['not yet accepted, with a listener of another user', tableOf(waiting, listens), true],
    ['not yet accepted, with another user on all interfaces', tableOf(waiting, { ...listens, local: '00000000:9C40' }), true],
    ['not yet accepted, with a listener of this user', tableOf(waiting, { ...listens, uid: OWN }), false],
    ['an earlier connection with the same ends', tableOf({ ...waiting, state: '06' }, peer), true],
    ['another machine', tableOf(), false],
    ['a system without tables', undefined, false],
  ];
  for (const [what, tcp, isOther] of table) t.equal(await isToOtherUser(ends('127.0.0.1'), undefined, reads(tcp)), isOther, what);
  t.equal(await isToOtherUser(ends('127.0.0.1'), OTHER, reads(tableOf(peer))), false, 'the user of the server');
  t.equal(await isToOtherUser(ends(undefined), undefined, reads(tableOf(peer))), false, 'a connection that has gone');
});

t.test('the tables are read no further than to the socket', TABLES_ARE_LE, async (t) => {
  const peer = { local: `${HERE}:9C40`, remote: `${HERE}:20E4` };
  const read: string[] = [];
  const inLines = async function* (path: string): AsyncGenerator<string> {
    for (const what of ['before', 'it', 'after']) {
      read.push(`${path} ${what}`);
      yield tableOf(what === 'it' && path.endsWith('tcp') ? peer : { local: `${HERE}:9C41` });
    }
  };
  t.equal(await isToOtherUser(ends('127.0.0.1'), undefined, inLines), true);
  t.equal(await isFromOtherUser(ends('127.0.0.1'), inLines), true);
  t.same(read, ['/proc/net/tcp before', '/proc/net/tcp it', '/proc/net/tcp before', '/proc/net/tcp it']);
});

t.test('few-turns: a long table is read in few turns, and lets others have theirs', async (t) => {
  const path = join(t.testdir({ table: 'x'.repeat(40 * 65_536) }), 'table');
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  const turnsAt: number[] = [];
  for await (const piece of readTable(path)) {
    t.equal(piece.length, 65_536);
    if (turnsAt.length === 0) count();
    turnsAt.push(turns);
  }
  isOver = true;
  t.strictSame(new Set(turnsAt.slice(0, 16)), new Set([1]));
  t.equal(turnsAt.length, 40);
  t.ok(new Set(turnsAt).size === 3, `${new Set(turnsAt).size}`);
  t.strictSame(await readTable(join(path, '..', 'none')).next(), { done: true, value: undefined });
});

t.test('the tables of this system name this user', async (t) => {
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer().listen(0, host);
    const isThere = await Promise.race([once(server, 'listening').then(() => true), once(server, 'error').then(() => false)]);
    if (!isThere) continue; // a system without IPv6
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect(port, host);
    t.teardown(() => client.destroy());
    const [socket] = await accepted;
    t.equal(await isFromOtherUser(socket), false, host);
    t.equal(await isToOtherUser(client, undefined), false, host);
    t.equal(await isListenedOnByOther(host, port), false, host);
  }
});

t.test('a connection and a port of another user are recognised', withOtherUser, async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  startAsOther(t, `require('node:net').connect(${(server.address() as AddressInfo).port}, '127.0.0.1')`);
  t.equal(await isFromOtherUser((await accepted)[0]), true);
  const { port, pid } = await portOfOther(t);
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  t.teardown(() => client.destroy());
  t.equal(await isToOtherUser(client, undefined), true);
  t.equal(await isListenedOnByOther('127.0.0.1', port), true);
  t.equal(await isToOtherUser(client, await ownerOf(pid)), false, 'the lock names that very process');
});
