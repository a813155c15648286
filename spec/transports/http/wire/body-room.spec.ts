import t, { type Test } from 'tap';
import { BodyRoom, BodyShare, bodyRoomOf } from '../../../../transports/http/wire/body-room.ts';
import { RawClient } from '../../../support/raw.ts';
import { friendlyDaemon, startServer, until } from '../../../support/server.ts';
import { startUpstream } from '../../../support/upstream.ts';

const MIB = 1024 * 1024;

/** A room of 64 MiB, and shares of it; `take` says whether there was room at once. */
function rig(t: Test, patienceMs = 60_000) {
  const room = new BodyRoom({ bytes: 64 * MIB, patienceMs });
  const take = async (caller: string, mib: number) => {
    const share = new BodyShare(room, caller);
    t.teardown(() => share.release());
    const reserved = share.reserve(mib * MIB);
    const outcome = reserved.then(
      () => 'admitted',
      (error: { code: string }) => error.code,
    );
    const isAdmitted = (await Promise.race([outcome, new Promise((resolve) => setImmediate(resolve, 'waits'))])) === 'admitted';
    return { share, isAdmitted, outcome };
  };
  return { room, take };
}

t.test('bodies have room until it is full; the next one waits, and comes when another has ended', async (t) => {
  const { room, take } = rig(t);
  const first = await take('a', 30);
  const second = await take('b', 30);
  const third = await take('c', 30);
  t.same([first.isAdmitted, second.isAdmitted, third.isAdmitted], [true, true, false]);
  t.equal(room.held, 60 * MIB);
  first.share.release();
  t.equal(await third.outcome, 'admitted');
  for (const { share } of [second, third]) share.release();
  t.equal(room.held, 0);
});

t.test('a body that grows counts once, with what it has by now', async (t) => {
  const { room, take } = rig(t);
  await take('a', 20);
  const { share } = await take('b', 20);
  await share.reserve(38 * MIB);
  t.match({ held: room.held, waiting: room.waiting }, { held: 58 * MIB, waiting: 0 });
});

t.test('one that waits too long is refused with a time to come back', async (t) => {
  const { room, take } = rig(t, 1);
  await take('a', 40);
  const share = new BodyShare(room, 'b');
  await t.rejects(share.reserve(40 * MIB), { code: 'QUEUE_FULL', retryAfterMs: Number, message: /BLOCKHOUSE_BODY_MEMORY_MIB/ });
  t.match({ held: room.held, waiting: room.waiting }, { held: 40 * MIB, waiting: 0 });
});

t.test('a body that is larger than all room is admitted when no other large one is held', async (t) => {
  const { take } = rig(t);
  const small = await take('a', 1);
  const huge = await take('b', 100);
  const other = await take('c', 2);
  t.same([small.isAdmitted, huge.isAdmitted, other.isAdmitted], [true, true, false]);
  huge.share.release();
  t.equal(await other.outcome, 'admitted');
});

t.test('one caller holds at most three quarters, and does not stand before others in the line', async (t) => {
  const { take } = rig(t);
  const own = [await take('a', 24), await take('a', 24), await take('a', 2)];
  const other = await take('b', 10);
  t.same(
    own.map(({ isAdmitted }) => isAdmitted),
    [true, true, false],
  );
  t.ok(other.isAdmitted);
  own[0]?.share.release();
  t.equal(await own[2]?.outcome, 'admitted');
});

t.test('small bodies pass beside large ones that fill their part', async (t) => {
  const { take } = rig(t);
  await take('a', 45);
  await take('b', 15);
  t.notOk((await take('c', 2)).isAdmitted);
  const small = [await take('c', 1), await take('c', 1), await take('c', 1), await take('c', 1)];
  t.ok(small.every(({ isAdmitted }) => isAdmitted));
  t.notOk((await take('c', 1)).isAdmitted, 'their part is bounded, too');
});

t.test('large bodies come in their order', async (t) => {
  const { take } = rig(t);
  const first = await take('a', 40);
  const large = await take('b', 40);
  const later = await take('c', 5);
  t.same([large.isAdmitted, later.isAdmitted], [false, false], 'the later one would have room');
  first.share.release();
  t.same([await large.outcome, await later.outcome], ['admitted', 'admitted']);
});

t.test('who leaves while it waits takes no room, and what a body does not need is given back', async (t) => {
  const { room, take } = rig(t);
  const first = await take('a', 40);
  const waiting = await take('b', 40);
  waiting.share.release();
  t.equal(await waiting.outcome, 'CANCELLED');
  t.equal(room.waiting, 0);
  first.share.settle(3 * MIB);
  t.equal(room.held, 3 * MIB);
  first.share.settle(1000);
  t.equal(room.held, 0);
  await waiting.share.reserve(MIB);
  t.equal(room.held, 0, 'after its end, a request takes no room');
});

t.test('all servers of a core share one room', async (t) => {
  const core = {};
  t.equal(bodyRoomOf(core, { bytes: 1, patienceMs: 1 }), bodyRoomOf(core, { bytes: 2, patienceMs: 2 }));
});

/** A server with room for two large bodies, both taken by clients who send nothing. */
async function serve(t: Test) {
  const daemon = await startUpstream(t, friendlyDaemon);
  const server = await startServer(t, { env: { OLLAMA_BASE_URL: daemon.url }, http: { bodies: { bytes: 80 * MIB, patienceMs: 50 } } });
  const { port, token } = server;
  const begin = async (path: string, framing: string): Promise<RawClient> => {
    const client = await RawClient.connect(t, port);
    client.send(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nConnection: close\r\n${framing}\r\n\r\n`,
    );
    return client;
  };
  const large = `Content-Length: ${30 * MIB}`;
  const holders = [await begin('/v1/chat/completions', large), await begin('/v1/chat/completions', large)];
  const leave = (): void => {
    for (const { socket } of holders) socket.destroy();
  };
  return { ...server, begin, large, leave };
}

t.test('a body without room is not read, and is refused in the protocol of its path; a small one passes', async (t) => {
  const { begin, large, leave, call } = await serve(t);
  const client = await begin('/v1/messages', `${large}\r\nExpect: 100-continue`);
  const [refused] = await client.untilClosed();
  t.equal(refused?.status, 429);
  t.equal(refused?.headers.get('retry-after'), '2');
  t.match(client.received, /"type":"rate_limit_error"/);
  t.notMatch(client.received, '100 Continue');
  const body = { model: 'ollama/m', messages: [{ role: 'user', content: 'x'.repeat(100_000) }] };
  t.match(await call('POST', '/v1/chat/completions', { body }), { status: 200 });
  leave();
  await until(async () => {
    const next = await begin('/v1/messages', `${large}\r\nExpect: 100-continue`);
    await until(() => next.closed || next.received.includes('HTTP/1.1 100'), 'an answer to the head');
    return !next.closed;
  }, 'room for a body when the holders have left');
});

t.test('a body of unknown length takes its room while it comes', async (t) => {
  const { begin, leave } = await serve(t);
  const [refused] = await (await sendChunks(begin)).untilClosed();
  t.equal(refused?.status, 429);
  leave();
  await until(async () => {
    const client = await sendChunks(begin);
    client.send('0\r\n\r\n');
    return (await client.untilClosed())[0]?.status === 400; // blanks are no JSON
  }, 'room for a body when the holders have left');
});

async function sendChunks(begin: (path: string, framing: string) => Promise<RawClient>): Promise<RawClient> {
  const client = await begin('/v1/chat/completions', 'Transfer-Encoding: chunked');
  for (let count = 0; count < 3; count += 1) for (const part of [`${MIB.toString(16)}\r\n`, Buffer.alloc(MIB, ' '), '\r\n']) client.send(part);
  return client;
}

t.test('what bodies are parsed to has a room of its own, however few bytes they have', async (t) => {
  const hangs = (body: string): boolean => body.includes('wait');
  const server = await startServer(t, {
    answer: (request, res, index) => (hangs(request.body) ? undefined : friendlyDaemon(request, res, index)),
    http: { bodies: { bytes: MIB, patienceMs: 50 } },
  });
  const body = (content: string, objects: number) => ({
    model: 'ollama/m',
    messages: [{ role: 'user', content }],
    y: Array.from({ length: objects }, () => ({})),
  });
  const ask = (content: string, objects: number) => server.call('POST', '/v1/chat/completions', { body: body(content, objects) });
  const client = await RawClient.connect(t, server.port);
  const holder = JSON.stringify(body('wait', 16_000));
  client.send(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${holder.length}\r\n\r\n${holder}`,
  );
  await until(() => server.upstream.requests.some((request) => hangs(request.body)), 'the one that holds the room');
  t.match(await ask('hi', 16_000), { status: 429 }, 'in one');
  t.match(await ask('x'.repeat(MIB), 16_000), { status: 429 }, 'in slices');
  const input = (objects: number) => [
    { role: 'user', content: 'hi' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: JSON.stringify({ y: Array.from({ length: objects }, () => ({})) }) },
    { type: 'function_call_output', call_id: 'c', output: 'x' },
  ];
  const call = (objects: number) => server.call('POST', '/v1/responses', { body: { model: 'ollama/m', input: input(objects) } });
  t.match(await call(8000), { status: 429 }, 'as text within the body');
  t.match(await call(10), { status: 200 });
  const counted = (objects: number) => {
    const used = { type: 'tool_use', id: 'c', name: 'f', input: JSON.stringify({ y: Array.from({ length: objects }, () => ({})) }) };
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [used] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x' }] },
    ];
    return server.call('POST', '/v1/messages/count_tokens', { body: { model: 'ollama/m', messages } });
  };
  t.match(await counted(8000), { status: 429 }, 'where tokens are counted, too');
  t.match(await counted(10), { status: 200 });
  t.match(await ask('x'.repeat(40_000), 10), { status: 200 }, 'a usual one passes');
  client.socket.destroy();
  await until(async () => (await ask('hi', 16_000)).status === 200, 'room when the holder has left');
  await until(async () => (await ask('x'.repeat(MIB), 16_000)).status === 200, 'in slices, too');
});
