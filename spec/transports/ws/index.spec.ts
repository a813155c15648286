// The whole way: files on disk, the core, the server, clients of `ws`.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Ajv } from 'ajv';
import t, { type Test } from 'tap';
import { isObject, parseJson } from '../../../core/base/json.ts';
import { createCore } from '../../../core/index.ts';
import { asyncApiDocument } from '../../../transports/asyncapi.ts';
import { createWsTransport } from '../../../transports/ws/index.ts';
import { writeNewToken } from '../../support/new-token.ts';
import { DAEMON_END, daemonLine, startServer } from '../../support/server.ts';
import { gate } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';
import { RawWs, type Received, startWsServer, WsClient, type WsServer } from '../../support/ws.ts';

const { schemas } = asyncApiDocument()['components'] as { schemas: Record<string, object> };
const published = Object.values(schemas).map((schema) => new Ajv({ strict: false, code: { optimize: false } }).compile(schema));

/** Every frame of the server is one of those that its published contract names. */
function assertPublished(t: Test, frames: readonly Received[]): void {
  for (const frame of frames) t.equal(published.filter((fits) => fits(frame)).length, 1, JSON.stringify(frame).slice(0, 200));
}

const refresh = (block: string): Received => ({ type: 'refresh', block });

function configPath(server: WsServer, block: string): string {
  return join(server.workspace, 'blocks', block, 'config.json');
}

/** As an editor saves: whole, under the name in one step. */
function editByHand(server: WsServer, block: string, description: string): void {
  const path = configPath(server, block);
  const config = parseJson(readFileSync(path, 'utf8'));
  if (!isObject(config)) throw new Error('config.json is no object');
  writeFileSync(`${path}~`, JSON.stringify({ ...config, description }));
  renameSync(`${path}~`, path);
}

/** What a client does at each refresh. */
async function fetchAgain(server: WsServer, block: string): Promise<void> {
  await server.core.blocks.details(block);
  await server.core.blocks.history(block);
}

async function following(t: Test, server: WsServer, ...blocks: string[]): Promise<WsClient> {
  const client = await WsClient.connect(t, server);
  for (const block of blocks) client.send({ type: 'subscribe', block });
  await client.received(blocks.length);
  for (const block of blocks) await fetchAgain(server, block);
  return client;
}

/** All that was sent before this was asked for has come when it resolves. */
async function settled(client: WsClient): Promise<Received[]> {
  client.send({ type: 'ping' });
  const pongs = client.frames.filter(({ type }) => type === 'pong').length;
  await until('a pong', () => client.frames.filter(({ type }) => type === 'pong').length > pongs);
  return client.frames.filter(({ type }) => type !== 'pong');
}

t.test('a subscriber hears of a change by the API, and of one by hand', async (t) => {
  const server = await startWsServer(t);
  await server.core.blocks.create({ name: 'support' });
  const client = await following(t, server, 'support');
  t.strictSame(client.frames, [refresh('support')], 'one at once');
  await server.core.blocks.updateConfig('support', { description: 'by the API' });
  await client.received(2);
  editByHand(server, 'support', 'by hand');
  await client.received(3);
  t.match(await server.core.blocks.config('support'), { description: 'by hand' }, 'what is read after a refresh is new');
  t.strictSame(
    await settled(client),
    Array.from({ length: 3 }, () => refresh('support')),
  );
});

t.test('a client that follows the list and the events hears of each change once, and of none after it has stopped', async (t) => {
  const server = await startWsServer(t);
  await server.core.blocks.create({ name: 'a' });
  const client = await WsClient.connect(t, server);
  const of = (type: string): Received[] => client.frames.filter((frame) => frame['type'] === type);
  for (const topic of ['fleet', 'fleet', 'events', 'events']) client.send({ type: 'subscribe', [topic]: true });
  await until('it follows the list', () => of('fleet').length > 0);
  await settled(client);
  t.match(of('fleet').at(-1), { reset: true, changed: [], gone: [] });
  const before = of('fleet').length;
  await server.core.blocks.create({ name: 'b' });
  await until('both tell of it', () => of('fleet').length > before && of('event').length > 0);
  t.match(of('fleet').slice(before), [{ reset: false, changed: [{ name: 'b' }], gone: [] }]);
  t.match(of('event'), [{ name: 'block.created', data: { block: 'b' } }]);
  assertPublished(t, await settled(client));
  for (const topic of ['fleet', 'events']) client.send({ type: 'unsubscribe', [topic]: true });
  const heard = await settled(client);
  const other = await WsClient.connect(t, server);
  other.send({ type: 'subscribe', fleet: true }).send({ type: 'subscribe', events: true });
  await other.received(1);
  await server.core.blocks.create({ name: 'c' });
  await until('the other client hears of it', () => other.frames.filter(({ type }) => type === 'event').length > 0 && other.frames.length > 2);
  t.strictSame(await settled(client), heard);
});

t.test('a client hears of the blocks that it follows, and of no other', async (t) => {
  const server = await startWsServer(t);
  for (const name of ['a', 'b', 'c']) await server.core.blocks.create({ name });
  const client = await following(t, server, 'a', 'b');
  client.send({ type: 'unsubscribe', block: 'a' });
  await settled(client);
  for (const name of ['c', 'a', 'b']) await server.core.blocks.updateConfig(name, { description: 'new' });
  await until('the change of b', () => client.frames.filter(({ block }) => block === 'b').length === 2);
  t.strictSame(await settled(client), [refresh('a'), refresh('b'), refresh('b')]);
  assertPublished(t, client.frames);
});

t.test('an unknown or impossible block is an error frame, and the socket goes on', async (t) => {
  const server = await startWsServer(t);
  await server.core.blocks.create({ name: 'a' });
  const client = await WsClient.connect(t, server);
  const names = [
    'nobody',
    '..',
    '../../etc',
    'A',
    '',
    'a/b',
    '__proto__',
    'constructor',
    'con',
    'a\u0000',
    '\u202ea',
    'é',
    'x'.repeat(33),
    '/etc/passwd',
    '%2e%2e',
  ];
  for (const block of names) client.send({ type: 'subscribe', block });
  const frames = await client.received(names.length);
  for (const [index, block] of names.entries()) t.match(frames[index], { type: 'error', code: 'BLOCK_NOT_FOUND', block }, JSON.stringify(block));
  client.send('{').send([]).send({ type: 'subscribe', block: 'a' });
  t.match((await client.received(names.length + 3)).slice(-3), [{ code: 'INVALID_REQUEST' }, { code: 'INVALID_REQUEST' }, refresh('a')]);
  assertPublished(t, client.frames);
});

t.test('whoever follows a block that is archived is told so, and may follow it again when it is back', async (t) => {
  const server = await startWsServer(t);
  await server.core.blocks.create({ name: 'a' });
  const client = await following(t, server, 'a');
  const { archiveName } = await server.core.blocks.archive('a');
  await until('the end', () => client.frames.some(({ type }) => type === 'gone'));
  t.strictSame((await settled(client)).at(-1), { type: 'gone', block: 'a' });
  client.send({ type: 'subscribe', block: 'a' });
  await until('an error', () => client.frames.at(-1)?.['type'] === 'error');
  t.match(client.frames.at(-1), { code: 'BLOCK_NOT_FOUND', block: 'a' });
  await server.core.blocks.restore(archiveName);
  client.send({ type: 'subscribe', block: 'a' });
  await until('a refresh', () => client.frames.at(-1)?.['type'] === 'refresh');
  await fetchAgain(server, 'a');
  const { length } = client.frames;
  editByHand(server, 'a', 'back');
  t.strictSame((await client.received(length + 1))[length], refresh('a'));
  assertPublished(t, client.frames);
});

t.test('a reply is told while it is written, and whoever comes later gets what is missing', async (t) => {
  const more = gate();
  const server = await startWsServer(
    t,
    {},
    {
      answer: async (_request, res) => {
        res.writeHead(200, { 'content-type': 'application/x-ndjson' });
        res.write(daemonLine('Hel'));
        await more.opened;
        res.end(daemonLine('lo') + DAEMON_END);
      },
    },
  );
  await server.core.blocks.create({ name: 'a', config: { adapter: { provider: 'ollama', model: 'm' } } });
  await server.core.blocks.start('a');
  const steps = (client: WsClient): Received[] => client.frames.filter(({ type }) => type === 'stream');
  const textOf = (frames: readonly Received[]): string => frames.map(({ text }) => text ?? '').join('');
  const [first, quiet] = [await WsClient.connect(t, server), await following(t, server, 'a')];
  first.send({ type: 'subscribe', block: 'a', stream: true });
  await first.received(1);
  const { id } = await server.core.blocks.post('a', { message: 'hi' }, 'api');
  await until('the first piece', () => textOf(steps(first)) === 'Hel');

  const [late, again] = [await WsClient.connect(t, server), await WsClient.connect(t, server)];
  late.send({ type: 'subscribe', block: 'a', stream: true });
  again.send({ type: 'subscribe', block: 'a', stream: true, sinceSeq: steps(first).at(-1)?.['seq'] });
  await until('the text so far', () => textOf(steps(late)) === 'Hel');
  t.strictSame(late.frames[0], refresh('a'), 'the refresh goes first');
  await settled(again);
  more.open();
  for (const client of [first, late, again]) await until('the end of the reply', () => steps(client).some(({ event }) => event === 'done'));

  t.match(steps(first), [
    { block: 'a', id, event: 'start', provider: 'ollama', model: 'm', attempt: 1 },
    { id, event: 'content', text: 'Hel' },
    { id, event: 'content', text: 'lo' },
    { id, event: 'done', status: 'done', stopReason: 'end_turn' },
  ]);
  t.strictSame(steps(late), steps(first));
  t.strictSame(steps(again), steps(first).slice(2), 'nothing twice');
  t.strictSame(steps(quiet), []);
  const answerId = steps(first).at(-1)?.['answerId'];
  t.match(await server.core.blocks.history('a'), [{ id }, { id: answerId, content: 'Hello', replyTo: id }]);
  for (const client of [first, late, again, quiet]) assertPublished(t, client.frames);
});

t.test('2,000 changes at once are a few refreshes, and the last comes after the last change', async (t) => {
  const server = await startWsServer(t);
  await server.core.blocks.create({ name: 'a' });
  const client = await following(t, server, 'a');
  const begun = performance.now();
  for (let i = 0; i < 2000; i += 1) editByHand(server, 'a', `${i}`);
  const { length } = client.frames;
  await client.received(length + 1);
  t.match(await server.core.blocks.config('a'), { description: '1999' });
  const { length: told } = await settled(client);
  t.ok(told - 1 <= ((performance.now() - begun) / 1000) * 10 + 1, `${told} notices`);
});

t.test('changes without end are told once to ten times a second', async (t) => {
  const server = await startWsServer(t);
  await server.core.blocks.create({ name: 'a' });
  const client = await following(t, server, 'a');
  const came: number[] = [];
  client.socket.on('message', () => came.push(performance.now()));
  const begun = performance.now();
  let lastChange = begun;
  for (let i = 0; performance.now() - begun < 2500; i += 1) {
    lastChange = performance.now();
    editByHand(server, 'a', `${i}`);
    await delay(50);
  }
  const elapsed = performance.now() - begun;
  const { length } = came;
  await until('a notice after the last change', () => (came.at(-1) ?? 0) > lastChange);
  t.ok(length >= Math.floor(elapsed / 1000), `${length} notices in ${elapsed} ms`);
  for (const [index, at] of came.entries()) {
    const within = came.slice(index).filter((other) => other - at < 1000).length;
    t.ok(within <= 11, `${within} in the second from ${Math.round(at - begun)} ms`);
  }
});

t.test('a replaced token ends 50 sockets by itself, within two seconds', async (t) => {
  const server = await startWsServer(t);
  const clients = await Promise.all(Array.from({ length: 50 }, () => WsClient.connect(t, server)));
  const begun = performance.now();
  const token = await writeNewToken(server.workspace);
  for (const client of clients) t.match(await client.untilClosed(), { code: 1008, reason: 'The token was replaced.' });
  t.ok(performance.now() - begun < 10_000, 'soon; the figure itself is in the limits');
  t.equal((await (await WsClient.connect(t, { port: server.port, token })).send({ type: 'ping' }).next())?.['type'], 'pong');
});

t.test('a client that gives no sign of life is cut off, and one that does is not', async (t) => {
  const server = await startWsServer(t, { limits: { heartbeatMs: 100 } });
  const lively = await WsClient.connect(t, server);
  const dead = await RawWs.connect(t, server);
  await until('it is gone', () => dead.raw.closed);
  t.ok(
    dead.frames.some(({ opcode }) => opcode === 9),
    'it was asked',
  );
  t.equal((await lively.send({ type: 'ping' }).next())?.['type'], 'pong');
  t.equal(server.ws.connections(), 1);
});

t.test('a close tells everybody, waits for nobody longer than its limit, and leaves nothing', async (t) => {
  const server = await startWsServer(t, { limits: { closeMs: 200 } });
  await server.core.blocks.create({ name: 'a' });
  const client = await following(t, server, 'a');
  const deaf = await RawWs.connect(t, server);
  t.equal(server.ws.connections(), 2);
  await server.ws.close();
  t.match(await client.untilClosed(), { code: 1001 });
  await until('the deaf one is cut off', () => deaf.raw.closed);
  t.equal(deaf.closeCode, 1001);
  t.equal(server.ws.connections(), 0);
  t.equal(server.transport.server.listenerCount('upgrade'), 0);
  t.equal(server.core.events.all.get('token.rotated')?.length ?? 0, 0);
  await server.ws.close();
  await server.transport.close();
});

t.test('the code of a close may be chosen', async (t) => {
  const server = await startWsServer(t);
  const client = await WsClient.connect(t, server);
  await server.ws.close(1012);
  t.match(await client.untilClosed(), { code: 1012 });
});

t.test('clients of a core that is at its end are told so', async (t) => {
  const server = await startWsServer(t);
  await server.core.blocks.create({ name: 'a' });
  const client = await following(t, server, 'a');
  await server.core.stop();
  client.send({ type: 'subscribe', block: 'a' });
  await until('an error', () => client.frames.some(({ type }) => type === 'error'));
  t.match(client.frames.at(-1), { type: 'error', code: 'SHUTTING_DOWN', block: 'a' });
});

t.test('a core without a workspace has no token to check, and gets no transport', async (t) => {
  const core = createCore({ adapters: [] });
  const { transport } = await startServer(t);
  t.throws(() => createWsTransport(core, transport.server), { message: /needs a workspace/ });
  t.equal(transport.server.listenerCount('upgrade'), 0);
  await core.close();
});

t.test('without a log it works all the same', async (t) => {
  const server = await startServer(t);
  const ws = createWsTransport(server.core, server.transport.server);
  t.teardown(() => ws.close());
  const client = await WsClient.connect(t, server);
  t.equal((await client.send({ type: 'ping' }).next())?.['type'], 'pong');
});
