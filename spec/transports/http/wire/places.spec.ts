import t from 'tap';
import { unreadAnswers } from '../../../../transports/http/wire/unread-answers.ts';
import { RawClient } from '../../../support/raw.ts';
import { startServer } from '../../../support/server.ts';
import { until } from '../../../support/until.ts';

const MOST = 20;

t.test('whoever holds all places makes room for others: by idle connections, by bodies that do not come, and by silence', async (t) => {
  for (const how of ['idle', 'begun', 'silent']) {
    const server = await startServer(t, { http: { maxConnections: MOST } });
    const [greedy, other] = [await server.core.keys?.create('greedy', {}), await server.core.keys?.create('other', {})];
    const ask = (key: string | undefined) => `GET /v1/adapters HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${key}\r\n`;
    const patient = await RawClient.connect(t, server.port);
    t.match(await patient.send(`${ask(other)}\r\n`).settle(1), [{ status: 200 }]);
    const clients: RawClient[] = [];
    for (let count = 0; count < 2 * MOST; count += 1) {
      const client = await RawClient.connect(t, server.port);
      clients.push(client);
      if (how === 'idle') await client.send(`${ask(greedy)}\r\n`).settle(1);
      if (how === 'begun')
        client.send(ask(greedy).replace('GET /v1/adapters', 'POST /v1/chat').concat('Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{'));
    }
    const standing = () => clients.filter(({ closed }) => !closed).length;
    await until('the rest is closed', () => standing() < MOST);
    t.ok(standing() > MOST / 2, `${how}: ${standing()} stand`);
    t.notOk(patient.closed, `${how}: an idle connection of another key stays`);
    t.match(await patient.send(`${ask(other)}\r\n`).settle(2), [{ status: 200 }, { status: 200 }], how);
    const late = await RawClient.connect(t, server.port);
    t.match(await late.send(`${ask(other)}\r\n`).settle(1), [{ status: 200 }], `${how}: and a new one has room`);
    for (const client of [...clients, patient, late]) client.socket.destroy();
  }
});

t.test('no-hog: a key whose calls hold all places makes room for others', async (t) => {
  const server = await startServer(t, { http: { maxConnections: MOST }, answer: () => undefined });
  const [greedy, other] = [await server.core.keys?.create('greedy', {}), await server.core.keys?.create('other', {})];
  const head = (method: string, path: string, key: string | undefined) =>
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${key}\r\n`;
  const underWay = () => server.upstream.requests.filter(({ method }) => method === 'POST').length;
  const body = JSON.stringify({ adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'x' }] });
  const call = (key: string | undefined) => `${head('POST', '/v1/chat', key)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const patient = await RawClient.connect(t, server.port);
  patient.send(call(other));
  await until('its call is under way', () => underWay() === 1);
  const clients: RawClient[] = [];
  for (let count = 1; count < MOST; count += 1) clients.push((await RawClient.connect(t, server.port)).send(call(greedy)));
  await until('all calls are under way', () => underWay() === MOST);
  const late = await RawClient.connect(t, server.port);
  t.match(await late.send(`${head('GET', '/v1/adapters', other)}\r\n`).settle(1), [{ status: 200 }]);
  t.notOk(patient.closed, 'the call of another key goes on');
  t.equal(clients.filter(({ closed }) => closed).length, 1);
  t.ok(clients.at(-1)?.closed, 'the newest one gave its place');
  for (const client of [...clients, patient, late]) client.socket.destroy();
});

t.test('no-hog: nor does an idle connection of another key give its place to it', async (t) => {
  const server = await startServer(t, { http: { maxConnections: MOST }, answer: () => undefined });
  const [greedy, other] = [await server.core.keys?.create('greedy', {}), await server.core.keys?.create('other', {})];
  const ask = (key: string | undefined) => `GET /v1/adapters HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const body = JSON.stringify({ adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'x' }] });
  const call = ask(greedy)
    .replace('GET /v1/adapters', 'POST /v1/chat')
    .slice(0, -2)
    .concat(`Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const underWay = () => server.upstream.requests.filter(({ method }) => method === 'POST').length;
  const patient = await RawClient.connect(t, server.port);
  t.match(await patient.send(ask(other)).settle(1), [{ status: 200 }]);
  const clients: RawClient[] = [];
  for (let count = 1; count < MOST + 3; count += 1) {
    clients.push((await RawClient.connect(t, server.port)).send(call));
    await until('its call is under way', () => underWay() === count);
  }
  t.match(await patient.send(ask(other)).settle(2), [{ status: 200 }, { status: 200 }], 'it stays');
  t.strictSame(
    clients.flatMap(({ closed }, n) => (closed ? [n] : [])),
    [MOST - 2, MOST - 1, MOST],
    'the newest call gave its place each time',
  );
  const later = await RawClient.connect(t, server.port);
  t.match(await later.send(ask(other)).settle(1), [{ status: 200 }], 'and others have room');
  for (const client of [...clients, patient, later]) client.socket.destroy();
});

t.test('whoever holds all places by answers that it does not read, needs no key for that, and makes room for others', async (t) => {
  const server = await startServer(t, { http: { maxConnections: MOST } });
  const other = await server.core.keys?.create('other', {});
  const ask = `GET /v1/adapters HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${other}\r\n\r\n`;
  const patient = await RawClient.connect(t, server.port);
  t.match(await patient.send(ask).settle(1), [{ status: 200 }]);
  const served = () => server.log.filter(({ fields }) => fields['path'] === '/openapi.json').length;
  for (let count = 1; count < MOST; count += 1) {
    const client = await RawClient.connect(t, server.port);
    client.socket.pause();
    const before = served();
    client.send(`GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`.repeat(16)); // more than the buffers of the system take
    await until('its answers wait, or the system has taken them', () => served() > before);
  }
  t.ok(unreadAnswers.bytes > 0, 'some wait');
  for (let count = 0; count < 3; count += 1) {
    const late = await RawClient.connect(t, server.port);
    t.match(await late.send(ask).settle(1), [{ status: 200 }], 'a new connection has room');
  }
  t.match(await patient.send(ask).settle(2), [{ status: 200 }, { status: 200 }], 'and an idle one stays');
});
