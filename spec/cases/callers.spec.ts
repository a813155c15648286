// One application never shuts out another: keys share a provider's places, and each is paused for its own failures alone.
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { CHAT, friendlyDaemon, readAnswer, responseOf, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';

const broken: Answerer = (request, res, index) =>
  request.body.includes('"broken') ? sendJson(res, { error: 'out of memory' }, 500) : friendlyDaemon(request, res, index);

async function keyOf(server: TestServer, name: string): Promise<{ authorization: string }> {
  const { json } = await server.call('POST', '/api/keys', { body: { name } });
  return { authorization: `Bearer ${json['key']}` };
}

const asks = (server: TestServer, headers: { authorization: string }, model: string) =>
  server.call('POST', '/v1/chat', { headers, body: { ...CHAT, model, messages: [{ role: 'user', content: `${Math.random()}` }] } });

t.test("the model of one key always fails: that key's calls to it are paused, and every call of another key is answered", async (t) => {
  const server = await startServer(t, { answer: broken, retries: 0 });
  const [failing, healthy] = [await keyOf(server, 'failing'), await keyOf(server, 'healthy')];
  for (let n = 0; n < 20; n += 1) t.match(await asks(server, failing, 'broken'), { status: 502, json: { code: 'UPSTREAM_FAILED' } });
  const sent = server.upstream.requests.length;
  t.match(await asks(server, failing, 'broken'), { status: 502, json: { code: 'UPSTREAM_UNREACHABLE', error: /asked for broken by the key failing/ } });
  t.equal(server.upstream.requests.length, sent, 'it is paused');
  for (let n = 0; n < 10; n += 1) {
    t.match(await asks(server, healthy, 'good'), { status: 200 });
    t.match(await asks(server, failing, 'broken'), { status: 502 });
  }
  t.match(await asks(server, failing, 'good'), { status: 200 }, 'another model of the same key');
  t.match(await server.call('POST', '/v1/chat', { body: { ...CHAT, model: 'good' } }), { status: 200 }, 'and a program with the token');
  const [adapter] = (await server.call('GET', '/api/gateway')).json['adapters'] as [{ breaker: string; paused: object[] }];
  t.equal(adapter.breaker, 'closed');
  t.match(adapter.paused, [{ scope: 'caller', key: 'failing', model: 'broken', until: /^\d{4}-/ }]);
  t.equal(adapter.paused.length, 1);
});

t.test('a key that alternates models and prompts, all of which fail, pauses nobody else', async (t) => {
  const server = await startServer(t, { answer: broken, retries: 0 });
  const [failing, healthy] = [await keyOf(server, 'failing'), await keyOf(server, 'healthy')];
  for (let n = 0; n < 60; n += 1) t.match(await asks(server, failing, `broken-${n % 7}`), { status: 502 });
  for (let n = 0; n < 10; n += 1) t.match(await asks(server, healthy, 'good'), { status: 200 });
});

t.test('keys whose model is broken pause that model for all, and no other', async (t) => {
  const server = await startServer(t, { answer: broken, retries: 0 });
  const keys = [await keyOf(server, 'one'), await keyOf(server, 'two'), await keyOf(server, 'three')];
  for (let n = 0; n < 20; n += 1) await asks(server, keys[n % 3] as { authorization: string }, 'broken');
  const four = await keyOf(server, 'four');
  t.match(await asks(server, four, 'broken'), { status: 502, json: { code: 'UPSTREAM_UNREACHABLE', error: /asked for broken,/ } });
  t.match(await asks(server, four, 'good'), { status: 200 });
  const [adapter] = (await server.call('GET', '/api/gateway')).json['adapters'] as [{ breaker: string; paused: object[] }];
  t.match(adapter, { breaker: 'closed', paused: [{ scope: 'model', model: 'broken', until: /^\d{4}-/ }] });
});

t.test('keys that fail with different models pause the provider for all; after that each tries by itself, and the one that is answered ends it', async (t) => {
  const clock = { ms: 0 };
  const hangs: Answerer = (request, res, index) => (request.body.includes('"hangs') ? undefined : broken(request, res, index));
  const server = await startServer(t, { answer: hangs, retries: 0, now: () => clock.ms });
  const [one, two, four] = [await keyOf(server, 'one'), await keyOf(server, 'two'), await keyOf(server, 'four')];
  for (let n = 0; n < 20; n += 1) await asks(server, n % 2 === 0 ? one : two, `broken-${n % 2}`);
  t.match(await asks(server, four, 'good'), { status: 502, json: { code: 'UPSTREAM_UNREACHABLE' } });
  clock.ms += 5000;
  const sent = server.upstream.requests.length;
  const hanging = server.open('POST', '/v1/chat', { headers: one, body: { ...CHAT, model: 'hangs' } });
  hanging.on('error', () => undefined); // it is cut off below
  await until('one hangs', () => server.upstream.requests.length === sent + 1);
  t.match(await asks(server, two, 'broken-1'), { json: { code: 'UPSTREAM_FAILED' } }, 'another fails');
  t.match(await asks(server, two, 'broken-1'), { json: { code: 'UPSTREAM_UNREACHABLE' } }, 'and is paused for that');
  t.match(await asks(server, four, 'good'), { status: 200 });
  t.match(await asks(server, two, 'good'), { status: 200 });
  hanging.destroy();
});

t.test('one key has 64 calls at work and 256 waiting: another is not refused, and gets its place', async (t) => {
  const held: ServerResponse[] = [];
  const slow: Answerer = (request, res, index) => void (request.body.includes('"slow') ? held.push(res) : friendlyDaemon(request, res, index));
  const server = await startServer(t, { answer: slow, queue: { concurrency: 64, waiting: 256 } });
  const [greedy, modest, third] = [await keyOf(server, 'greedy'), await keyOf(server, 'modest'), await keyOf(server, 'third')];
  const body = { ...CHAT, model: 'slow' };
  const calls = Array.from({ length: 64 + 256 }, () => responseOf(server.open('POST', '/v1/chat', { headers: greedy, body })).then(readAnswer));
  const load = () => server.core.load('ollama');
  await until('all have come', () => load().atWork + load().waiting === 319 && held.length === 63);
  t.match(load(), { atWork: 63, waiting: 256 }, 'the last place is kept');
  t.match(await asks(server, modest, 'good'), { status: 200 }, 'for a newcomer, at once');

  const holder = server.open('POST', '/v1/chat', { headers: modest, body });
  await until('another caller holds it', () => held.length === 64);
  const waiting = asks(server, third, 'good');
  await until('its call waits in a room that was full', () => server.core.liveCalls().some(({ key, phase }) => key === 'third' && phase === 'waiting'));
  t.match(load(), { atWork: 64, waiting: 256 });
  held.shift()?.destroy();
  t.match(await waiting, { status: 200 }, 'the first place that becomes free');

  holder.destroy();
  const statuses = new Map<number, number>();
  let settled = 0;
  for (const call of calls)
    void call.then(({ status }) => {
      settled += 1;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    });
  await until('every call of the greedy key has ended', () => {
    for (const res of held.splice(0)) sendJson(res, { error: 'no' }, 400);
    return settled === 320;
  });
  t.equal(statuses.get(429), 2, 'one that found the room full, and the newest one that made room');
  t.match(load(), { atWork: 0, waiting: 0 });
});
