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

t.test('whoever holds all places by answers that it does not read, needs no key for that, and makes room for others', async (t) => {
  const server = await startServer(t, { http: { maxConnections: MOST } });
  const other = await server.core.keys?.create('other', {});
  const ask = `GET /v1/adapters HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${other}\r\n\r\n`;
  const patient = await RawClient.connect(t, server.port);
  t.match(await patient.send(ask).settle(1), [{ status: 200 }]);
  for (let count = 1; count < MOST; count += 1) {
    const client = await RawClient.connect(t, server.port);
    client.socket.pause();
    const before = unreadAnswers.bytes;
    client.send(`GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`.repeat(16)); // more than the buffers of the system take
    await until('its answers wait', () => unreadAnswers.bytes > before);
  }
  for (let count = 0; count < 3; count += 1) {
    const late = await RawClient.connect(t, server.port);
    t.match(await late.send(ask).settle(1), [{ status: 200 }], 'a new connection has room');
  }
  t.match(await patient.send(ask).settle(2), [{ status: 200 }, { status: 200 }], 'and an idle one stays');
});
