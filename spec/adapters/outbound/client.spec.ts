import type dns from 'node:dns';
import type { Socket } from 'node:net';
import t from 'tap';
import { Upstream } from '../../../adapters/outbound/client.ts';
import { adapterCall, Collector, closedPort, type RawConnection, resolveNames, startRawUpstream } from '../../support/adapter-call.ts';
import { until } from '../../support/until.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';
import { failure, get, newUpstream, post, refused, sendThenIdle } from '../../support/upstream-call.ts';

const LOOPBACK = { address: '127.0.0.1', family: 4 };
const METADATA = { address: '169.254.169.254', family: 4 };
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

t.test('allowed-only: where a call may go', async (t) => {
  t.test('an origin that is not allowed is refused before any connection', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.end(OK));
    const asked = resolveNames(t, () => [LOOPBACK]);
    const call = adapterCall({ egress: { ownKey: false } });
    const error = await refused(t, newUpstream(t).send(call, get(`http://somewhere.test:${server.url.port}/`), new Collector()), 'INVALID_REQUEST');
    t.match(error.message, /^config\.baseURL is at http:\/\/somewhere\.test/);
    t.equal(error.mayHaveRun, false);
    t.same(asked, [], 'the name was not even looked up');
    t.equal(server.connections.length, 0);
  });

  for (const host of ['169.254.169.254', '0xA9FEA9FE', '2852039166', '[fe80::1]', '[::ffff:169.254.169.254]', 'metadata.google.internal', '0.0.0.0']) {
    t.test(`${host} is refused, whoever's key it is`, async (t) => {
      const asked = resolveNames(t, () => [LOOPBACK]);
      await refused(t, newUpstream(t).send(adapterCall(), get(`http://${host}/`), new Collector()), 'INVALID_REQUEST');
      t.same(asked, []);
    });
  }

  const families: [string, dns.LookupAddress[]][] = [
    ['a link-local address', [METADATA]],
    ['a good address and a link-local one', [LOOPBACK, METADATA]],
    ['a link-local IPv6 address', [{ address: 'fe80::1', family: 6 }]],
    ['the unspecified address, which connects to loopback', [{ address: '0.0.0.0', family: 4 }]],
  ];
  for (const [what, addresses] of families) {
    t.test(`a name that resolves to ${what} is refused without a connection`, async (t) => {
      const server = await startRawUpstream(t, (socket) => socket.end(OK));
      resolveNames(t, () => addresses);
      const error = await refused(t, newUpstream(t).send(adapterCall(), get(`http://rebound.test:${server.url.port}/`), new Collector()), 'INVALID_REQUEST');
      t.match(error.message, /link-local, metadata or unroutable/);
      t.equal(server.connections.length, 0);
    });
  }

  t.test("an origin on the operator's list may resolve to such an address", async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    resolveNames(t, () => [{ address: '0.0.0.0', family: 4 }]);
    const origin = `http://listed.test:${server.url.port}`;
    const answer = new Collector();
    await newUpstream(t).send(adapterCall({ egress: { allowedOrigins: new Set([origin]) } }), get(origin), answer);
    t.equal(answer.text, 'ok');
  });

  t.test('a name is looked up once and the connection goes to the address that was checked', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    let first = true;
    const asked = resolveNames(t, () => {
      const addresses = first ? [LOOPBACK] : [METADATA];
      first = false;
      return addresses;
    });
    const upstream = newUpstream(t);
    for (let n = 0; n < 2; n += 1) await sendThenIdle(upstream, get(`http://pinned.test:${server.url.port}/`));
    t.same(asked, ['pinned.test']);
    t.match(server.requests[0], /\r\nhost: pinned\.test:\d+\r\n/i);
  });

  t.test('a name that does not resolve is an unreachable provider', async (t) => {
    resolveNames(t, () => []);
    const error = await refused(t, newUpstream(t).send(adapterCall(), get('http://nobody.test/'), new Collector()), 'UPSTREAM_UNREACHABLE');
    t.match(error, { retryable: true, mayHaveRun: false, message: /nobody\.test.*ENOTFOUND/ });
  });
});

t.test('no-detours: what is not accepted', async (t) => {
  for (const status of [301, 302, 303, 307, 308]) {
    t.test(`a ${status} is handed over as it is, and the place it names sees nothing`, async (t) => {
      const second = await startRawUpstream(t, (socket) => socket.end(OK));
      const first = await startUpstream(t, (_request, res) => {
        res.writeHead(status, { location: second.url.href });
        res.end();
      });
      const answer = new Collector();
      await newUpstream(t).send(adapterCall(), { ...post(first.url), headers: { authorization: 'Bearer secret' } }, answer);
      t.equal(answer.status, status);
      t.equal(first.requests.length, 1);
      t.equal(second.connections.length, 0);
    });
  }

  for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip', 'identity, gzip']) {
    t.test(`an answer with content-encoding ${encoding} is refused without decoding, and its connection closed`, async (t) => {
      const server = await startUpstream(t, (_request, res) => {
        res.writeHead(200, { 'content-encoding': encoding });
        res.write(Buffer.alloc(1024, 0x1f));
      });
      const answer = new Collector();
      const error = await refused(t, newUpstream(t).send(adapterCall(), get(server.url), answer), 'UPSTREAM_MALFORMED');
      t.match(error, { upstreamStatus: 200, mayHaveRun: true });
      t.equal(answer.bytes, 0);
      await server.requests[0]?.closed;
    });
  }

  for (const encoding of ['identity', 'Identity', '']) {
    t.test(`content-encoding ${JSON.stringify(encoding)} is none`, async (t) => {
      const server = await startUpstream(t, (_request, res) => {
        res.writeHead(200, { 'content-encoding': encoding });
        res.end('ok');
      });
      const answer = new Collector();
      await newUpstream(t).send(adapterCall(), get(server.url), answer);
      t.equal(answer.text, 'ok');
    });
  }

  t.test('a request asks for identity, whatever the adapter thinks', async (t) => {
    const server = await startUpstream(t, (_request, res) => sendJson(res, {}));
    await newUpstream(t).send(adapterCall(), { ...get(server.url), headers: { 'accept-encoding': 'gzip' } }, new Collector());
    t.equal(server.requests[0]?.headers['accept-encoding'], 'identity');
  });

  t.test('method, path, query, headers and body arrive as given', async (t) => {
    const server = await startUpstream(t, (_request, res) => sendJson(res, {}));
    const request = { ...post(`${server.url}/a/b%2Fc?d=e%20f`, '{"x":"ü"}'), headers: { 'x-key': 'k' } };
    await newUpstream(t).send(adapterCall(), request, new Collector());
    t.match(server.requests[0], { method: 'POST', path: '/a/b%2Fc?d=e%20f', body: '{"x":"ü"}', headers: { 'x-key': 'k' } });
  });
});

t.test('sent-once: connections that break', async (t) => {
  t.test('a refused connection is retryable, and nothing has run', async (t) => {
    const port = await closedPort();
    const error = await refused(t, newUpstream(t).send(adapterCall(), post(`http://127.0.0.1:${port}/`), new Collector()), 'UPSTREAM_UNREACHABLE');
    t.match(error, { retryable: true, mayHaveRun: false, message: /ECONNREFUSED/ });
  });

  const breaks: [how: string, acts: string, breakOff: (socket: Socket) => void][] = [
    ['closed', 'closes it', (socket) => socket.end()],
    ['reset', 'resets it', (socket) => socket.resetAndDestroy()],
    ['destroyed', 'destroys it', (socket) => socket.destroy()],
  ];
  for (const [how, acts, breakOff] of breaks) {
    for (const reused of [false, true]) {
      t.test(`a provider that reads the request on a ${reused ? 'kept-alive' : 'fresh'} connection and then ${acts} gets it exactly once`, async (t) => {
        const server = await startRawUpstream(t, (socket, index) => (reused && index === 0 ? socket.write(OK) : breakOff(socket)));
        const upstream = newUpstream(t);
        if (reused) await sendThenIdle(upstream, post(server.url));
        const error = await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE');
        t.match(error, { retryable: false, mayHaveRun: true });
        t.equal(server.requests.length, reused ? 2 : 1);
      });
    }

    t.test(`an idle connection that is ${how} before the request costs nothing: it is sent once, on a new connection`, async (t) => {
      const server = await startRawUpstream(t, (socket) => socket.write(OK));
      const upstream = newUpstream(t);
      await sendThenIdle(upstream, post(server.url, '{"n":1}'));
      breakOff((server.connections[0] as RawConnection).socket); // and no turn of the event loop until the request
      const answer = new Collector();
      await upstream.send(adapterCall(), post(server.url, '{"n":2}'), answer);
      t.equal(answer.text, 'ok');
      t.same(
        server.requests.map((request) => request.slice(-7)),
        ['{"n":1}', '{"n":2}'],
      );
      t.equal(server.connections.length, 2);
    });
  }

  t.test('a reset that arrives right before the request is written: the kernel takes none of it, and it is sent on a new connection', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, post(server.url, '{"n":1}'));
    // The connection is looked at once more in a turn of its own, and this comes right before.
    setImmediate(() => server.connections[0]?.socket.resetAndDestroy());
    const answer = new Collector();
    await upstream.send(adapterCall(), post(server.url, `{"n":2,"long":"${'x'.repeat(4_000_000)}"}`), answer);
    t.equal(answer.text, 'ok');
    t.equal(server.requests.length, 2);
    t.equal(server.connections.length, 2);
  });

  t.test('a connection that is closed right before the request is written takes its bytes: nobody can tell whether they were read', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, post(server.url));
    setImmediate(() => server.connections[0]?.socket.destroy());
    await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE', { retryable: false, mayHaveRun: true });
    t.equal(server.requests.length, 1);
  });

  t.test('a provider that closes the idle connection and is gone is not running, and nothing has run', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, post(server.url));
    server.connections[0]?.socket.resetAndDestroy();
    server.stop();
    const error = await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE');
    t.match(error, { retryable: true, mayHaveRun: false, message: /ECONNREFUSED/ });
  });

  t.test('a request that waited on a lost connection is sent on, although its pool has made room for others', async (t) => {
    const upstream = newUpstream(t);
    const server = await startRawUpstream(t, (socket) => socket.write(OK));
    resolveNames(t, () => [LOOPBACK]);
    await sendThenIdle(upstream, get(server.url));
    server.connections[0]?.socket.resetAndDestroy();
    const answer = new Collector();
    const ended = upstream.send(adapterCall(), get(server.url), answer);
    const others = Array.from({ length: 64 }, (_, n) => upstream.send(adapterCall(), get(`http://h${n}.test:${server.url.port}/`), new Collector()));
    await Promise.all([ended, ...others]);
    t.equal(answer.text, 'ok');
  });

  t.test('a GET is sent a second time when its connection breaks before the answer, but not a third time', async (t) => {
    for (const [broken, requests] of [
      [1, 2],
      [9, 2],
    ] as const) {
      const server = await startRawUpstream(t, (socket, index) => (index < broken ? socket.destroy() : socket.write(OK)));
      const answer = new Collector();
      const ended = newUpstream(t).send(adapterCall(), get(server.url), answer);
      if (broken === 1) await ended;
      else await refused(t, ended, 'UPSTREAM_UNREACHABLE', { mayHaveRun: true, retryable: true });
      t.equal(server.requests.length, requests);
    }
  });

  t.test('each connection of a pool that was lost in idleness is replaced, and each request sent once', async (t) => {
    let held: Socket[] = [];
    const server = await startRawUpstream(t, (socket, index) => {
      if (index > 2) socket.write(OK);
      else if (held.push(socket) === 3) for (const waiting of held.splice(0)) waiting.write(OK);
    });
    const upstream = newUpstream(t);
    await Promise.all([0, 1, 2].map(() => sendThenIdle(upstream, post(server.url))));
    held = [];
    t.equal(server.connections.length, 3);
    for (const { socket } of server.connections) socket.resetAndDestroy();
    const answers = [0, 1, 2].map(() => new Collector());
    await Promise.all(answers.map((answer) => upstream.send(adapterCall(), post(server.url), answer)));
    t.same(
      answers.map(({ text }) => text),
      ['ok', 'ok', 'ok'],
    );
    t.equal(server.requests.length, 6);
  });

  t.test('a kept-alive connection that breaks after the provider worked for a while is not stale: nothing is sent again', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => {
      if (index === 0) socket.write(OK);
      else setTimeout(() => socket.destroy(), 50);
    });
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, post(server.url));
    await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE', { mayHaveRun: true });
    t.equal(server.requests.length, 2);
  });

  for (const [what, bytes] of [
    ['half of a head', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['a 102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['a 103', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'],
  ] as const) {
    for (const [how, , breakOff] of breaks) {
      t.test(`a kept-alive connection that is ${how} behind ${what} is not sent again`, async (t) => {
        const server = await startRawUpstream(t, (socket, index) => {
          if (index === 0) socket.write(OK);
          else socket.write(bytes, () => setTimeout(() => breakOff(socket), 20));
        });
        const upstream = newUpstream(t);
        await sendThenIdle(upstream, post(server.url));
        await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_UNREACHABLE', { mayHaveRun: true });
        t.equal(server.requests.length, 2);
      });
    }
  }

  t.test('a kept-alive connection that breaks after the first bytes is not sent again', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => {
      if (index === 0) socket.write(OK);
      else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc');
    });
    const upstream = newUpstream(t);
    await sendThenIdle(upstream, post(server.url));
    await refused(t, upstream.send(adapterCall(), post(server.url), new Collector()), 'UPSTREAM_MALFORMED', { mayHaveRun: true });
    t.equal(server.requests.length, 2);
  });
});

t.test('pools', async (t) => {
  t.test('at most 64 origins keep connections, and a live request survives the eviction of its own', async (t) => {
    const upstream = newUpstream(t);
    let live: Socket | undefined;
    const server = await startRawUpstream(t, (socket, index) => {
      if (index === 0) {
        live = socket;
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc');
      } else socket.write(OK);
    });
    resolveNames(t, () => [LOOPBACK]);
    const open = (): number => server.connections.filter(({ closed }) => !closed).length;
    const answer = new Collector();
    const ended = upstream.send(adapterCall(), get(`http://first.test:${server.url.port}/`), answer);
    await until('the first answer has begun', () => answer.text === 'abc');
    for (let n = 0; n < 80; n += 1) await upstream.send(adapterCall(), get(`http://h${n}.test:${server.url.port}/`), new Collector());
    await until('64 idle connections and the live one are left', () => open() <= 65);
    t.equal(open(), 65);
    live?.write('def');
    await ended;
    t.equal(answer.text, 'abcdef');
    await until('the connection of the evicted pool is gone', () => open() === 64);
  });

  t.test('requests at the same time have connections of their own; one after the other they share', async (t) => {
    const waiting: Socket[] = [];
    const server = await startRawUpstream(t, (socket, index) => {
      if (index >= 3) socket.write(OK);
      else if (waiting.push(socket) === 3) for (const one of waiting) one.write(OK);
    });
    const upstream = newUpstream(t);
    await Promise.all([1, 2, 3].map(() => sendThenIdle(upstream, get(server.url))));
    for (let n = 0; n < 3; n += 1) await sendThenIdle(upstream, get(server.url));
    t.equal(server.connections.length, 3);
  });

  t.test('close ends idle connections and running calls', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => (index === 0 ? socket.write(OK) : undefined));
    const upstream = new Upstream();
    await sendThenIdle(upstream, get(server.url));
    const ended = failure(upstream.send(adapterCall(), get(server.url), new Collector()));
    await until('the second request is there', () => server.requests.length === 2);
    await upstream.close();
    t.match(await ended, { code: 'SHUTTING_DOWN', retryable: false, mayHaveRun: true });
    await until('every connection is closed', () => server.connections.every(({ closed }) => closed));
    t.equal(server.requests.length, 2, 'nothing is sent again');
  });
});

t.test('closed-for-good: after close', async (t) => {
  t.test('nothing is sent, although a call was made before it', async (t) => {
    const server = await startRawUpstream(t, (socket) => socket.end(OK));
    const upstream = new Upstream();
    const first = failure(upstream.send(adapterCall(), get(server.url), new Collector())); // the client is still being loaded
    await upstream.close();
    t.match(await first, { code: 'SHUTTING_DOWN', retryable: false, mayHaveRun: false });
    await refused(t, upstream.send(adapterCall(), get(server.url), new Collector()), 'SHUTTING_DOWN');
    t.equal(server.connections.length, 0);
  });

  t.test('a connection that is being opened is given up', async (t) => {
    const server = await startRawUpstream(t, () => undefined); // the first byte of a TLS handshake is never answered
    const upstream = new Upstream();
    const call = adapterCall({ timeouts: { connectMs: 3_600_000 } });
    const ended = failure(upstream.send(call, get(`https://127.0.0.1:${server.url.port}/`), new Collector()));
    await until('the connection is there', () => server.connections.length === 1);
    await upstream.close();
    t.match(await ended, { code: 'SHUTTING_DOWN', mayHaveRun: false });
    await until('and is gone', () => server.connections[0]?.closed === true);
  });

  t.test('a call whose pool had to make room for others ends too', async (t) => {
    const server = await startRawUpstream(t, (socket, index) => socket.write(index === 0 ? 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc' : OK));
    resolveNames(t, () => [LOOPBACK]);
    const upstream = new Upstream();
    const answer = new Collector();
    const ended = failure(upstream.send(adapterCall(), get(`http://first.test:${server.url.port}/`), answer));
    await until('its answer has begun', () => answer.text === 'abc');
    for (let n = 0; n < 64; n += 1) await upstream.send(adapterCall(), get(`http://h${n}.test:${server.url.port}/`), new Collector());
    await upstream.close();
    t.match(await ended, { code: 'SHUTTING_DOWN', mayHaveRun: true });
    await until('every connection is closed', () => server.connections.every(({ closed }) => closed));
  });
});
