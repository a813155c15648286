import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { FirstBytes } from '../../../../transports/http/wire/first-bytes.ts';
import { RawClient } from '../../../support/raw.ts';
import { until } from '../../../support/server.ts';
import { StandIn } from '../../../support/stand-in-socket.ts';

t.test('of those with few lines, HTTP has 32 at the end of a turn; one with many lines waits', (t) => {
  let seen = 0;
  const first = new FirstBytes(() => {
    seen += 1;
  });
  const begun: StandIn[] = [];
  const connect = (text: string): StandIn => {
    const socket = new StandIn(0);
    first.lookAt(socket as unknown as Socket, () => begun.push(socket));
    socket.say(text);
    return socket;
  };
  const cheap = Array.from({ length: 39 }, () => connect('\n'.repeat(256)));
  cheap.push(connect('x'.repeat(65_536)));
  const dear = connect('\n'.repeat(257));
  t.equal(begun.length, 0);
  t.equal(seen, 41);
  first.beginCheap();
  t.strictSame(begun, cheap.slice(0, 32));
  first.beginCheap();
  t.strictSame(begun, cheap);
  t.ok(first.areDue && first.has(dear as unknown as Socket));
  t.strictSame([...first.dear], [dear]);
  first.begin(dear as unknown as Socket);
  t.equal(begun.at(-1), dear);
  t.strictSame(first.takeBegun(), begun);
  t.strictSame([first.areDue, first.takeBegun().length], [false, 0]);
  t.ok(begun.every((socket) => socket.listenerCount('error') === 0 && socket.listenerCount('readable') === 0));
  const ended = connect('');
  t.equal(begun.at(-1), ended, 'at its end there is nothing to wait for');
  t.end();
});

t.test('what was looked at of a new connection comes to HTTP whole', async (t) => {
  const first = new FirstBytes(
    () =>
      void turn()
        .then(() => first.beginCheap())
        .then(() => beginDear()),
  );
  const beginDear = (): void => {
    for (const socket of [...first.dear]) first.begin(socket);
  };
  const bodies: string[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.setEncoding('latin1');
    req.on('data', (piece: string) => (body += piece));
    req.on('end', () => {
      bodies.push(body);
      res.end('ok');
    });
  });
  const [toHttp] = server.listeners('connection');
  server.removeAllListeners('connection');
  let looked = 0;
  server.on('connection', (socket) =>
    first.lookAt(socket, () => {
      looked += 1;
      toHttp?.call(server, socket);
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  for (const body of ['x', 'x'.repeat(300_000), 'x\n'.repeat(150_000)]) {
    const client = await RawClient.connect(t, port);
    t.equal(looked, bodies.length, 'HTTP has it when its first bytes have come');
    client.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await client.settle(1);
    t.equal(bodies.at(-1), body);
  }
  const silent = await RawClient.connect(t, port);
  silent.socket.end();
  await until(() => silent.closed, 'one that ends without a word is closed');
});

t.test('one that HTTP has, and that it pauses, is not read', async (t) => {
  const first = new FirstBytes(() => void turn().then(() => first.beginCheap()));
  const asked: Socket[] = [];
  const server = createServer(({ socket }) => asked.push(socket)); // nobody reads the body
  const [toHttp] = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket) => first.lookAt(socket, () => toHttp?.call(server, socket)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  t.teardown(() => server.closeAllConnections());
  const client = await RawClient.connect(t, (server.address() as AddressInfo).port);
  client.send(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n${'x'.repeat(30_000_000)}`);
  await until(() => asked.length === 1, 'its head has come');
  let before = -1;
  while (asked[0]?.bytesRead !== before) {
    before = asked[0]?.bytesRead ?? 0;
    for (let n = 0; n < 50; n += 1) await turn();
  }
  t.ok(before < 3_000_000, `${before} bytes were read`);
});
