import t from 'tap';
import { toolServer } from '../../../support/tools/tool-server.ts';
import { RULES } from '../../../support/tools/tool-core.ts';
import type { ReplyStep } from '../../../../core/index.ts';
import { ask, createBlock, historyOf } from '../../../support/block-calls.ts';
import { startServer, until } from '../../../support/server.ts';

t.test('a message is queued for the web channel, and answered once the monitor runs', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const receipt = await server.call('POST', '/api/blocks/a/chat', { body: { message: 'Hello' } });
  t.match(receipt, { status: 200, json: { queued: true, block: 'a', id: String, position: 0, running: false, note: String } });
  t.match(await historyOf(server, 'a'), [{ id: receipt.json['id'], role: 'user', content: 'Hello', status: 'queued', channel: 'web' }]);
  await server.call('POST', '/api/blocks/a/start');
  await until(async () => (await historyOf(server, 'a')).length === 2, 'the answer');
  t.match(await historyOf(server, 'a'), [{ status: 'done' }, { role: 'assistant', content: 'Hello, you', replyTo: receipt.json['id'], status: 'done' }]);
});

t.test('a history is as new as the step whose number it has', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const read = async () => (await server.call('GET', '/api/blocks/a/chat')).json as { messages: { status: string }[]; seq: number };
  const before = (await read()).seq;
  const seen: { step: ReplyStep; history: ReturnType<typeof read> }[] = [];
  t.teardown(server.core.blocks.follow('a', { onReply: (step) => seen.push({ step, history: read() }) }));
  await server.call('POST', '/api/blocks/a/start');
  await ask(server, 'a', 'Hello');
  t.match([seen[0]?.step.event, seen.at(-1)?.step.event], ['start', 'done']);
  for (const { step, history } of seen) t.ok((await history).seq >= step.seq, step.event);
  const { seq, messages } = await read();
  t.equal(seq, seen.at(-1)?.step.seq);
  t.ok(seq > before);
  t.match(messages, [{ status: 'done' }, { status: 'done' }]);
});

t.test('the header names another channel, and no unknown one', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const post = (channel: string) => server.call('POST', '/api/blocks/a/chat', { body: { message: channel }, headers: { 'x-blockhouse-channel': channel } });
  for (const channel of ['cli', 'api', 'web']) t.match(await post(channel), { status: 200 }, channel);
  for (const channel of ['CLI', 'telegram', 'web, cli'])
    t.match(await post(channel), { status: 400, json: { code: 'INVALID_REQUEST', error: /web, cli, api/ } }, channel);
  t.strictSame(
    (await historyOf(server, 'a')).map(({ channel, content }) => [channel, content]),
    [
      ['cli', 'cli'],
      ['api', 'api'],
      ['web', 'web'],
    ],
  );
});

t.test('the same clientId again is the same message', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const body = { message: 'once', clientId: 'c-1' };
  const first = await server.call('POST', '/api/blocks/a/chat', { body });
  const second = await server.call('POST', '/api/blocks/a/chat', { body });
  t.equal(second.status, 200);
  t.equal(second.json['id'], first.json['id']);
  t.equal((await historyOf(server, 'a')).length, 1);
});

t.test('a message that is none is a 400, and one too many a 429 with Retry-After', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a', { queue: { cap: 1 } });
  for (const body of [{}, { message: '' }, { message: ' \n' }, { message: 1 }, { message: 'x', role: 'system' }, [], { message: 'x'.repeat(262_145) }])
    t.match(await server.call('POST', '/api/blocks/a/chat', { body }), { status: 400, json: { code: 'INVALID_REQUEST' } }, JSON.stringify(body).slice(0, 40));
  t.strictSame(await historyOf(server, 'a'), []);
  t.match(await server.call('POST', '/api/blocks/a/chat', { body: { message: 'fits' } }), { status: 200 });
  t.match(await server.call('POST', '/api/blocks/a/chat', { body: { message: 'too many' } }), {
    status: 429,
    headers: { 'retry-after': /^[1-9]\d*$/ },
    json: { code: 'QUEUE_FULL' },
  });
});

t.test('a page of the history, and a message with its answer', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const ids: unknown[] = [];
  for (let n = 0; n < 5; n += 1) ids.push((await server.call('POST', '/api/blocks/a/chat', { body: { message: `${n}` } })).json['id']);
  const page = async (query: string) => ((await server.call('GET', `/api/blocks/a/chat?${query}`)).json['messages'] as { id: string }[]).map(({ id }) => id);
  t.same(await page('limit=2'), ids.slice(3));
  t.same(await page(`limit=2&before=${ids[3]}`), ids.slice(1, 3));
  t.same(await page(`since=${ids[1]}`), ids.slice(2));
  t.same(await page(`before=${ids[0]}`), []);
  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['before=', 'before'],
    [`before=${ids[0]}&since=${ids[0]}`, 'since'],
  ] as const)
    t.match(await server.call('GET', `/api/blocks/a/chat?${query}`), { status: 400, json: { code: 'INVALID_REQUEST', details: [{ path: field }] } }, query);
  t.match(await server.call('GET', '/api/blocks/a/chat?before=nobody'), { status: 404, json: { code: 'MESSAGE_NOT_FOUND' } });
  t.match(await server.call('GET', `/api/blocks/a/chat/${ids[0]}`), { status: 200, json: { entry: { id: ids[0], content: '0' }, answer: null } });
  t.match(await server.call('GET', '/api/blocks/a/chat/nobody'), { status: 404, json: { code: 'MESSAGE_NOT_FOUND' } });
});

t.test('odd text is kept as it is', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const odd = ['a\u2028b', 'nul \u0000 inside', '\u202e right to left', '\u001b[31mred', '😀', '<img src=x onerror=1>', '__proto__', '\n'.repeat(10_000)];
  for (const message of odd.slice(0, -1))
    t.match(await server.call('POST', '/api/blocks/a/chat', { body: { message } }), { status: 200 }, JSON.stringify(message));
  t.strictSame(
    (await historyOf(server, 'a')).map(({ content }) => content),
    odd.slice(0, -1),
  );
});

t.test('a waiting message is cancelled and queued again', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  const { json } = await server.call('POST', '/api/blocks/a/chat', { body: { message: 'hi' } });
  const at = `/api/blocks/a/chat/${json['id'] as string}`;
  t.match(await server.call('POST', `${at}/retry`), { status: 409, json: { code: 'WRONG_STATE' } });
  t.match(await server.call('POST', `${at}/cancel`), {
    status: 200,
    json: { success: true, message: /cancelled/, entry: { id: json['id'], status: 'cancelled' } },
  });
  t.match(await server.call('POST', `${at}/cancel`), { status: 409, json: { code: 'WRONG_STATE' } });
  t.match(await server.call('POST', `${at}/retry`), { status: 200, json: { success: true, message: /queued/, entry: { id: json['id'], status: 'queued' } } });
  for (const id of ['nobody', '__proto__', '..', '%2e%2e%2f', '%00', 'x'.repeat(300)])
    for (const verb of ['cancel', 'retry'])
      t.match(await server.call('POST', `/api/blocks/a/chat/${id}/${verb}`), { status: 404, json: { code: 'MESSAGE_NOT_FOUND' } }, `${verb} ${id}`);
});

t.test('an answered message is neither cancelled nor queued again', async (t) => {
  const server = await startServer(t);
  await createBlock(server, 'a');
  await server.call('POST', '/api/blocks/a/start');
  const { replyTo } = await ask(server, 'a', 'hi');
  for (const verb of ['cancel', 'retry']) t.match(await server.call('POST', `/api/blocks/a/chat/${replyTo}/${verb}`), { status: 409 }, verb);
});

t.test('a whole result is read, or some characters of it', async (t) => {
  const server = await toolServer(t, {
    rules: { ...RULES, limits: { resultTokens: 100 } },
    say: ({ results }) => (results.length === 0 ? [{ name: 'bank__long', arguments: { characters: 5000 } }] : 'Done.'),
  });
  const id = await server.post('Read.');
  await server.outcome(id);
  const path = `/api/blocks/ada/runs/${id}/results/1.1`;
  t.strictSame((await server.call('GET', path)).json, { isError: false, parts: [{ type: 'text', text: 'x'.repeat(5000) }] });
  for (const [query, length] of [
    ['offset=4990', 10],
    ['limit=7', 7],
    ['offset=5000&limit=7', 0],
  ] as const)
    t.strictSame(
      (await server.call('GET', `${path}?${query}`)).json,
      { isError: false, parts: [{ type: 'text', text: 'x'.repeat(length) }], chars: 5000 },
      query,
    );
  for (const query of ['limit=0', 'limit=100001', 'offset=-1', 'offset=x', 'limit='])
    t.match(
      await server.call('GET', `${path}?${query}`),
      { status: 400, json: { code: 'INVALID_REQUEST', details: [{ path: query.replace(/=.*/, '') }] } },
      query,
    );
  t.match(await server.call('GET', `/api/blocks/ada/runs/${id}/results/9.1?limit=1`), { status: 404, json: { code: 'RUN_NOT_FOUND' } });
});
