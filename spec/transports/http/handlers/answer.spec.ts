import { once } from 'node:events';
import t, { type Test } from 'tap';
import { createBlock, historyOf, RUNNABLE } from '../../../support/block-calls.ts';
import { type HeldDaemon, heldDaemon } from '../../../support/held-daemon.ts';
import { type CallOptions, framesOf, readAnswer, responseOf, startServer, type TestServer, type TestServerOptions, until } from '../../../support/server.ts';

const CHAT = '/api/blocks/a/chat';
const EVENTS = { accept: 'text/event-stream' };
const QUICK = { ...RUNNABLE, retry: { baseMs: 1, maxDelayMs: 1, maxAttempts: 2 } };
const say = (message: string, clientId?: string): object => ({ message, ...(clientId !== undefined && { clientId }) });

interface Asker {
  readonly server: TestServer;
  readonly daemon: HeldDaemon;
  post(message: string, query: string, options?: CallOptions): ReturnType<TestServer['call']>;
}

/** A server with a running block. */
async function asker(t: Test, options: TestServerOptions = {}, config: object = QUICK): Promise<Asker> {
  let isOver = false;
  const daemon = heldDaemon((call) => isOver && call.cut());
  const server = await startServer(t, { answer: daemon.answer, retries: 0, ...options });
  t.teardown(() => {
    isOver = true;
    for (const call of daemon.calls) call.cut(); // a reply under way would hold up the end
  });
  await createBlock(server, 'a', config);
  await server.call('POST', '/api/blocks/a/start');
  return { server, daemon, post: (message, query, options) => server.call('POST', CHAT + query, { body: say(message), ...options }) };
}

t.test('the reply comes with the receipt when it is there in time', async (t) => {
  const { daemon, post } = await asker(t);
  const posted = post('hi', '?wait=60');
  (await daemon.call(0)).answer('Hello');
  t.match(await posted, {
    status: 200,
    json: {
      queued: true,
      block: 'a',
      id: String,
      position: 0,
      running: true,
      note: 'The message has its answer.',
      entry: { status: 'done' },
      answer: { content: 'Hello' },
    },
  });
});

t.test('a late reply is a 202 with the receipt, and is there later: for the same clientId, and under the id of the message', async (t) => {
  const { server, daemon, post } = await asker(t);
  const body = say('hi', 'c-1');
  const late = await post('', '?wait=0', { body });
  t.match(late, { status: 202, json: { queued: true, block: 'a', id: String, running: true, note: /no answer yet/ } });
  t.notOk('answer' in late.json);
  const at = `${CHAT}/${late.json['id']}`;
  t.match(await server.call('GET', `${at}?wait=1`), { status: 202, json: { entry: { status: 'processing' }, answer: null, note: /no answer yet/ } });
  const waits = [post('', '?wait=60', { body }), post('', '?wait=60', { body }), server.call('GET', `${at}?wait=60`)];
  (await daemon.call(0)).answer('Hello');
  for (const answer of await Promise.all(waits)) t.match(answer, { status: 200, json: { entry: { id: late.json['id'] }, answer: { content: 'Hello' } } });
  t.match(await post('', '?wait=0', { body }), { status: 200, json: { answer: { content: 'Hello' } } });
  t.equal((await historyOf(server, 'a')).length, 2, 'the message was sent once');
});

t.test('without wait, nothing waits and nothing is streamed', async (t) => {
  const { server, post } = await asker(t);
  const { status, json } = await post('hi', '', { headers: EVENTS });
  t.equal(status, 200);
  t.same(Object.keys(json), ['queued', 'block', 'id', 'position', 'running', 'note']);
  t.match(await server.call('GET', `${CHAT}/${json['id']}`, { headers: EVENTS }), { status: 200, json: { entry: {}, answer: null } });
});

t.test('a wait that is no number of seconds from 0 to 600 is a 400, and no message is queued', async (t) => {
  const { server, post } = await asker(t);
  const refused = {
    status: 400,
    json: { code: 'INVALID_REQUEST', error: 'wait must be a whole number of seconds from 0 to 600.', details: [{ path: 'wait' }] },
  };
  for (const wait of ['abc', '', '-1', '1.5', '601', '1e3', '99999999999999999999', '0x10']) {
    t.match(await post('hi', `?wait=${wait}`), refused, wait);
    t.match(await server.call('GET', `${CHAT}/some-id?wait=${wait}`), refused, wait);
  }
  t.match(await post('hi', '?wait=1&wait=2'), { status: 400 });
  t.same(await historyOf(server, 'a'), []);
  t.match(await post('hi', '?wait=600', { body: say(' ') }), { status: 400, json: { details: [{ path: 'message' }] } });
  t.match(await server.call('GET', `${CHAT}/nobody?wait=600`, { headers: EVENTS }), { status: 404, json: { code: 'MESSAGE_NOT_FOUND' } });
});

t.test('a failed message is a 200 that says why, because a repeated request would send it again', async (t) => {
  const { daemon, post } = await asker(t, {}, { ...QUICK, retry: { maxAttempts: 1 } });
  const posted = post('hi', '?wait=60');
  (await daemon.call(0)).refuse(500, 'broken');
  t.match(await posted, {
    status: 200,
    json: { note: /has failed/, entry: { status: 'failed', error: { code: 'UPSTREAM_FAILED', message: String } }, answer: null },
  });
  const streamed = post('hi', '?wait=60', { headers: EVENTS });
  (await daemon.call(1)).refuse(500, 'broken');
  const { status, headers, text } = await streamed;
  t.match({ status, headers }, { status: 200, headers: { 'content-type': /^text\/event-stream/ } });
  t.match(framesOf(text), [{ event: 'error', data: { code: 'UPSTREAM_FAILED', status: 502, error: String, requestId: String } }]);
});

t.test('a block that does not answer is a 202 at once, streamed or not', async (t) => {
  const { server, post } = await asker(t);
  await server.call('POST', '/api/blocks/a/stop');
  for (const headers of [{}, EVENTS])
    t.match(await post('hi', '?wait=600', { headers }), { status: 202, json: { running: false, note: /stopped.*blockhouse start a/ } }, 'stopped');
  await server.call('POST', '/api/halt');
  await server.call('POST', '/api/blocks/a/start');
  await until(async () => (await server.call('GET', '/api/blocks/a/why')).json['state'] === 'paused', 'a pause');
  t.match(await post('hi', '?wait=600'), { status: 202, json: { note: /paused.*blockhouse why a/ } }, 'paused');
});

t.test('the reply is streamed with the frames of /v1/chat', async (t) => {
  const { daemon, post } = await asker(t);
  const posted = post('hi', '?wait=60', { headers: { accept: 'application/json;q=0.5, text/event-stream' } });
  const call = await daemon.call(0);
  call.say('Hel');
  call.say('lo');
  call.end();
  const { status, headers, text } = await posted;
  t.match({ status, headers }, { status: 200, headers: { 'content-type': /^text\/event-stream/, 'x-request-id': String } });
  const frames = framesOf(text);
  t.match(frames[0], { event: 'start', data: { provider: 'ollama', model: 'm', id: String, attempt: 1 } });
  t.equal(frames.map(({ data }) => data['text'] ?? '').join(''), 'Hello');
  t.match(frames.at(-1), { event: 'done', data: { usage: { inputTokens: 3, outputTokens: 2 }, stopReason: 'end_turn', answerId: String } });
  t.same([...new Set(frames.map(({ event }) => event))], ['start', 'content', 'done']);
});

t.test('a reply from before the request is streamed as one piece', async (t) => {
  const { server, daemon, post } = await asker(t);
  const first = post('', '?wait=60', { body: say('hi', 'c-1') });
  (await daemon.call(0)).answer('Hello');
  const { json } = await first;
  const whole = [{ event: 'start', data: { provider: 'ollama', model: 'm' } }, { event: 'content', data: { text: 'Hello' } }, { event: 'done' }];
  t.match(framesOf((await post('', '?wait=60', { body: say('hi', 'c-1'), headers: EVENTS })).text), whole);
  t.match(framesOf((await server.call('GET', `${CHAT}/${json['id']}?wait=0`, { headers: EVENTS })).text), whole);
});

t.test('an attempt that fails after some text makes the next start void that text', async (t) => {
  const { server, daemon } = await asker(t);
  const response = await streamOf(server, daemon, 'Hel');
  (await daemon.call(0)).cut();
  (await daemon.call(1)).answer('Good day');
  t.match(framesOf((await readAnswer(response)).text), [
    { event: 'start', data: { attempt: 1 } },
    { event: 'content', data: { text: 'Hel' } },
    { event: 'start', data: { attempt: 2 } },
    { event: 'content', data: { text: 'Good day' } },
    { event: 'done' },
  ]);
});

/** The answer to a streamed request whose first text has come. */
async function streamOf(server: TestServer, daemon: HeldDaemon, text: string, wait = 60) {
  const request = server.open('POST', `${CHAT}?wait=${wait}`, { body: say('hi'), headers: EVENTS });
  (await daemon.call(0)).say(text);
  return responseOf(request);
}

t.test('a stream whose time is over in the middle of the reply ends with an error, and the reply goes on', async (t) => {
  const { server, daemon } = await asker(t);
  const frames = framesOf((await readAnswer(await streamOf(server, daemon, 'Hel', 1))).text);
  const [{ id } = { id: '' }] = await historyOf(server, 'a');
  t.match(frames, [
    { event: 'start' },
    { event: 'content' },
    { event: 'error', data: { code: 'ANSWER_PENDING', status: 504, error: new RegExp(`no answer yet.*${id}`) } },
  ]);
  (await daemon.call(0)).answer('lo');
  t.match(await server.call('GET', `${CHAT}/${id}?wait=60`), { status: 200, json: { answer: { content: 'Hello' } } });
});

t.test('a silent stream is opened by a comment, and then its end is an error too', async (t) => {
  const { post } = await asker(t, { http: { sse: { openAfterMs: 10, keepAliveMs: 100 } } });
  const { status, text } = await post('hi', '?wait=1', { headers: EVENTS });
  t.equal(status, 200);
  t.match(text, /^: keep-alive\n/);
  t.match(framesOf(text), [{ event: 'error', data: { code: 'ANSWER_PENDING' } }]);
});

t.test('a cancelled message has its outcome, and its half reply does not look whole', async (t) => {
  const { server, daemon } = await asker(t);
  const response = await streamOf(server, daemon, 'Hel');
  const [{ id } = { id: '' }] = await historyOf(server, 'a');
  const waits = server.call('GET', `${CHAT}/${id}?wait=60`);
  await server.call('POST', `${CHAT}/${id}/cancel`);
  t.match(await waits, { status: 200, json: { entry: { status: 'cancelled' }, answer: { status: 'interrupted', content: 'Hel' } } });
  t.match(framesOf((await readAnswer(response)).text).at(-1), { event: 'error', data: { code: 'NOT_ANSWERED', status: 409, error: /cancelled.*kept/ } });
});

t.test('a client that leaves only stops waiting', async (t) => {
  const { server, daemon } = await asker(t);
  const whole = server.open('POST', `${CHAT}?wait=60`, { body: say('hi') });
  (await daemon.call(0)).say('Hel');
  whole.destroy();
  const [{ id } = { id: '' }] = await historyOf(server, 'a');
  const streamed = server.open('GET', `${CHAT}/${id}?wait=60`, { headers: EVENTS });
  const response = await responseOf(streamed);
  const gone = once(response, 'close');
  streamed.destroy();
  await gone.catch(() => undefined);
  await until(() => server.log.filter(({ fields }) => fields['code'] === 'CANCELLED').length === 2, 'both to be logged as left');
  t.notOk((await daemon.call(0)).isClosed);
  (await daemon.call(0)).answer('lo');
  t.match(await server.call('GET', `${CHAT}/${id}?wait=60`), { json: { answer: { content: 'Hello' } } });
});

t.test('a server that drains ends the waits, and the reply goes on', async (t) => {
  const { server, daemon, post } = await asker(t);
  const streamed = await streamOf(server, daemon, 'Hel');
  const whole = post('next', '?wait=600');
  await until(async () => (await historyOf(server, 'a')).length === 2, 'the second message');
  server.transport.drain();
  t.match(await whole, { status: 202, json: { id: String, note: String } });
  t.match(framesOf((await readAnswer(streamed)).text).at(-1), { event: 'error', data: { code: 'ANSWER_PENDING' } });
  t.notOk((await daemon.call(0)).isClosed);
});

t.test('a block that is archived or renamed ends the waits with 404, which a repeated request gets too', async (t) => {
  for (const [method, path, body] of [
    ['DELETE', '/api/blocks/a', undefined],
    ['POST', '/api/blocks/a/rename', { name: 'b' }],
  ] as const) {
    const { server, daemon, post } = await asker(t);
    const streamed = await streamOf(server, daemon, 'Hel');
    const whole = post('', '?wait=600', { body: say('next', 'c-1') });
    await until(async () => (await historyOf(server, 'a')).length === 2, 'the second message');
    const leaving = server.call(method, path, { body });
    (await daemon.call(0)).answer('lo');
    t.match(await whole, { status: 404, json: { code: 'BLOCK_NOT_FOUND', error: /still has the message/ } });
    t.match(framesOf((await readAnswer(streamed)).text).at(-1), { event: 'done' }, 'a reply that ends before the move is whole');
    await leaving;
    t.match(await post('', '?wait=600', { body: say('next', 'c-1') }), { status: 404, json: { code: 'BLOCK_NOT_FOUND' } });
  }
});
