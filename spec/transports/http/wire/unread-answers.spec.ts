import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { UnreadAnswers } from '../../../../transports/http/wire/unread-answers.ts';
import { RawClient } from '../../../support/raw.ts';
import { until } from '../../../support/server.ts';

const MIB = 1024 * 1024;
/** Far more than the buffers of the system take. */
const ANSWER = Buffer.alloc(24 * MIB, 'a');

t.test('beyond the limit the connection that has waited longest is closed, and the others get their answers', async (t) => {
  const unread = new UnreadAnswers(50 * MIB);
  const server = createServer((_req, res) => {
    res.end(ANSWER);
    unread.add(res);
    unread.add(res); // counts once
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const ended: number[] = [];
  server.on('connection', (socket) => {
    const { remotePort } = socket;
    socket.once('close', () => ended.push(remotePort ?? 0));
  });
  const clients: RawClient[] = [];
  for (let n = 0; n < 3; n += 1) {
    const client = await RawClient.connect(t, port);
    client.socket.pause();
    const arrived = new Promise((resolve) => server.once('request', resolve));
    client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await arrived;
    clients.push(client);
  }
  await until(() => ended.length === 1, 'a connection is closed');
  t.equal(ended[0], clients[0]?.socket.localPort, 'the oldest one');
  t.ok(unread.bytes > 40 * MIB && unread.bytes <= 50 * MIB, `${unread.bytes} bytes are left`);
  for (const client of clients.slice(1)) {
    client.socket.resume();
    const [response] = await client.settle(1);
    t.equal(response?.body.length, ANSWER.length);
  }
  await until(() => unread.bytes === 0, 'nothing is held');
});

t.test('one answer may be larger than the limit', async (t) => {
  const unread = new UnreadAnswers(MIB);
  const server = createServer((_req, res) => {
    res.end(ANSWER);
    unread.add(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const client = await RawClient.connect(t, (server.address() as AddressInfo).port);
  const [response] = await client.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n').settle(1);
  t.equal(response?.body.length, ANSWER.length);
});

t.test('own-burden: a caller whose answers hold the most loses its own, however long those of others have waited', async (t) => {
  const unread = new UnreadAnswers(80 * MIB);
  const server = createServer((req, res) => {
    unread.belongs(res, req.url ?? '');
    res.end(ANSWER);
    unread.add(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const ended: number[] = [];
  server.on('connection', (socket) => {
    const { remotePort } = socket;
    socket.once('close', () => ended.push(remotePort ?? 0));
  });
  const clients: RawClient[] = [];
  for (const path of ['/one', '/other', '/other', '/other', '/other']) {
    const client = await RawClient.connect(t, port);
    client.socket.pause();
    const arrived = new Promise((resolve) => server.once('request', resolve));
    client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await arrived;
    clients.push(client);
  }
  const [first, ...others] = clients;
  await until(() => ended.length === 2, 'two connections are closed');
  t.same(
    ended,
    others.slice(0, 2).map(({ socket }) => socket.localPort),
  );
  first?.socket.resume();
  const [response] = (await first?.settle(1)) ?? [];
  t.equal(response?.body.length, ANSWER.length, 'the oldest one is read to its end');
});
