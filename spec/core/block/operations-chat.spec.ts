import t from 'tap';
import { answerEntry, userEntry } from '../../support/block-files.ts';
import { endAnswer, RUNNABLE, repeatingDaemon, runnable, sendPiece, startCore } from '../../support/blocks.ts';
import { sendJson } from '../../support/upstream.ts';

t.test('a message is on disk when it is acknowledged, and waits for a monitor', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const receipt = await one.blocks.post('ada', { message: 'hi' }, 'cli');
  t.match(receipt, { queued: true, block: 'ada', position: 0, running: false, note: /monitor is stopped.*blockhouse start ada/ });
  t.match(one.readJson('ada', 'chat'), [{ id: receipt.id, role: 'user', content: 'hi', status: 'queued', processed: false, channel: 'cli', attempts: 0 }]);
  t.equal((await one.blocks.post('ada', { message: 'more' }, 'web')).position, 1);
  t.match(one.factsOf('message.queued'), [{ block: 'ada', id: receipt.id, channel: 'cli' }, { channel: 'web' }]);
  t.match(await one.blocks.list(), [{ queue: 2, pulse: { state: 'stopped' } }]);
});

t.test('a running monitor answers a message', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  const { id, note } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  t.match(note, /will be in the chat history/);
  await one.told('message.finished', { id, status: 'done' });
  t.match(await one.blocks.history('ada'), [
    { id, status: 'done', processed: true },
    { role: 'assistant', replyTo: id, content: 'You said: hi' },
  ]);
});

t.test('the last message is asked again, with another text or another model, and its versions stay', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  await one.ask('ada', 'first');
  const { replyTo: id = '', id: answerId } = await one.ask('ada', 'hi');
  const asked = async (messageId: string, body: object) => {
    const receipt = await one.blocks.askAgain('ada', messageId, body, 'web');
    await one.told('message.finished', { id: receipt.id });
    return receipt.id;
  };
  const second = await asked(answerId, { message: 'hello', model: 'other' });
  t.match(await one.blocks.message('ada', second), {
    entry: { replaces: id, status: 'done' },
    answer: { content: 'You said: hello', provider: 'ollama', model: 'other' },
  });
  const third = await asked(second, {});
  const prompts = one.upstream.requests.map(({ body }) => JSON.parse(String(body)));
  t.match(prompts.at(-1), { model: 'm' }, 'the model of the block again');
  t.same(
    prompts.at(-1).messages.map(({ content }: { content: string }) => content),
    ['first', 'You said: first', 'hello'],
    'a model sees no earlier version',
  );
  for (const any of [id, answerId, second, third])
    t.match(await one.blocks.versions('ada', any), {
      versions: [
        { entry: { id, content: 'hi' }, answer: { content: 'You said: hi' } },
        { entry: { id: second } },
        { entry: { id: third, content: 'hello' }, answer: { model: 'm' } },
      ],
    });
  t.match((await one.blocks.details('ada')).memory.window, { messages: 4 });
  t.equal(one.readJson('ada', 'chat').length, 8, 'nothing is deleted');
  const bad: [object, string][] = [
    [{ provider: 'ollama' }, 'model'],
    [{ model: 'm', provider: 'nobody' }, 'provider'],
    [{ message: ' ' }, 'message'],
    [{ text: 'x' }, 'text'],
  ];
  for (const [body, path] of bad) await t.rejects(one.blocks.askAgain('ada', third, body, 'web'), { code: 'INVALID_REQUEST', details: [{ path }] });
  await t.rejects(one.blocks.askAgain('ada', id, {}, 'web'), { code: 'WRONG_STATE' });
  await t.rejects(one.blocks.versions('ada', 'unknown'), { code: 'MESSAGE_NOT_FOUND' });
});

t.test('a model that only one message asks can be wrong without harm to the block', async (t) => {
  const one = await startCore(t, {
    answer: (request, response, at) =>
      JSON.parse(String(request.body)).model === 'm' ? repeatingDaemon(request, response, at) : sendJson(response, { error: 'no such model' }, 404),
  });
  await one.create('ada');
  await one.blocks.start('ada');
  const { id: answerId } = await one.ask('ada', 'hi');
  const { id } = await one.blocks.askAgain('ada', answerId, { model: 'wrong' }, 'web');
  await one.told('message.finished', { id, status: 'failed' });
  t.match(await one.ask('ada', 'still there?'), { content: 'You said: still there?' });
});

t.test('any text is kept exactly', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const texts = ['\ud800 lone', 'a\u2028\u2029b', 'nul \0', '\u001b[31mred', '\u202eevil', `a${'\n'.repeat(10_000)}`, '\ufeffbom', 'x'.repeat(262_144)];
  for (const message of texts) await one.blocks.post('ada', { message }, 'api');
  t.same(
    (await one.blocks.history('ada')).map(({ content }) => content),
    texts,
  );
  t.same(
    (one.readJson('ada', 'chat') as { content: string }[]).map(({ content }) => content),
    texts,
  );
});

t.test('blank, too long and malformed messages are refused, and nothing is written', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const bad: [unknown, string][] = [
    [{ message: '' }, 'message'],
    [{ message: ' \n\t\u00a0' }, 'message'],
    [{ message: 'x'.repeat(262_145) }, 'message'],
    [{ message: 5 }, 'message'],
    [{}, 'message'],
    [{ message: 'x', channel: 'web' }, 'channel'],
    [{ message: 'x', clientId: '' }, 'clientId'],
    [null, ''],
  ];
  for (const [body, path] of bad) await t.rejects(one.blocks.post('ada', body as never, 'web'), { code: 'INVALID_REQUEST', status: 400, details: [{ path }] });
  await t.rejects(one.blocks.post('nobody', { message: 'x' }, 'web'), { code: 'BLOCK_NOT_FOUND' });
  t.same(one.readJson('ada', 'chat'), []);
});

t.test('the same clientId gives the same message, also at the same moment and after a restart', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const body = { message: 'hi', clientId: 'mine' };
  const receipts = await Promise.all(Array.from({ length: 20 }, () => one.blocks.post('ada', body, 'web')));
  t.equal(new Set(receipts.map(({ id }) => id)).size, 1);
  t.equal(one.readJson('ada', 'chat').length, 1);
  t.equal(one.factsOf('message.queued').length, 1);
  await one.core.close();
  const next = await startCore(t, { workspace: one.workspace });
  t.equal((await next.blocks.post('ada', body, 'web')).id, receipts[0]?.id);
  await next.blocks.start('ada');
  await next.told('message.finished', { id: receipts[0]?.id });
  t.match(await next.blocks.post('ada', body, 'web'), { position: 0, note: /was sent before; it is done/ });
});

t.test('the queue is full at the cap of the block, and every acknowledged message is kept', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, queue: { cap: 10 } });
  const results = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => one.blocks.post('ada', { message: `${n}` }, 'web')));
  const accepted = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.id] : []));
  t.equal(accepted.length, 10);
  for (const result of results) if (result.status === 'rejected') t.match(result.reason, { code: 'QUEUE_FULL', status: 429, retryAfterMs: 5000 });
  t.same(
    (one.readJson('ada', 'chat') as { id: string }[]).map(({ id }) => id),
    accepted,
  );
});

t.test('of many messages to many blocks at once, each acknowledged one is kept', async (t) => {
  const names = Array.from({ length: 220 }, (_, n) => `b${n}`);
  const one = await startCore(t, { files: { blocks: runnable(names) } });
  const posts = [1, 2, 3].flatMap((round) => names.map((name) => one.blocks.post(name, { message: `${round}` }, 'web')));
  await Promise.all(posts);
  t.same(
    names.filter((name) => one.readJson(name, 'chat').length !== 3),
    [],
  );
});

t.test('a message starts a stopped monitor only with autoStart', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, autoStart: true });
  t.match(await one.blocks.post('ada', { message: 'hi' }, 'web'), { running: true });
  await one.told('message.finished', { block: 'ada', status: 'done' });
  t.match(await one.blocks.config('ada'), { enabled: true });
  await one.create('bob', { autoStart: true });
  t.match(await one.blocks.post('bob', { message: 'hi' }, 'web'), { queued: true, running: false });
  t.match(await one.told('workspace.fault', { block: 'bob' }), { what: 'autoStart', error: /adapter/ });
  t.equal(one.readJson('bob', 'chat').length, 1, 'the message waits all the same');
});

t.test("the note says when the monitor can't answer", async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.halt();
  await one.blocks.start('ada');
  await one.told('block.transitioned', { block: 'ada', to: 'paused' });
  t.match(await one.blocks.post('ada', { message: 'hi' }, 'web'), { running: true, note: /is paused, so the message waits; `blockhouse why ada` says why/ });
});

t.test("a waiting message can be cancelled, and one with an outcome can't", async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  t.match(await one.blocks.cancel('ada', id), { id, status: 'cancelled', processed: true, finishedAt: /Z$/ });
  t.match(one.readJson('ada', 'chat'), [{ id, status: 'cancelled' }]);
  t.same(one.factsOf('message.finished'), [{ block: 'ada', id, status: 'cancelled' }]);
  await t.rejects(one.blocks.cancel('ada', id), { code: 'WRONG_STATE', message: /is cancelled already/ });
  await t.rejects(one.blocks.cancel('ada', 'unknown'), { code: 'MESSAGE_NOT_FOUND', status: 404 });
  t.equal(one.factsOf('message.finished').length, 1);
});

t.test('a reply under way can be cancelled, and its text so far is kept', async (t) => {
  const one = await startCore(t, { answer: (_request, res) => sendPiece(res, 'so far') });
  await one.create('ada');
  await one.blocks.start('ada');
  const grown = new Promise<void>((resolve) => {
    one.blocks.follow('ada', { onReply: ({ event }) => event === 'content' && resolve() });
  });
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  await grown;
  t.match(await one.blocks.cancel('ada', id), { id, status: 'cancelled' });
  t.match(await one.blocks.history('ada'), [{ id }, { role: 'assistant', replyTo: id, content: 'so far', status: 'interrupted' }]);
});

t.test('only a failed, cancelled or expired message can be queued again, and goes to the end', async (t) => {
  let fails = true;
  const one = await startCore(t, {
    answer: (request, res, index) => {
      if (!fails) return repeatingDaemon(request, res, index);
      return sendJson(res, { error: 'no such model' }, 400);
    },
  });
  await one.create('ada');
  const entries = (['failed', 'cancelled', 'expired', 'done'] as const).map((status) => userEntry(status, { status, attempts: 4, finishedAt: 'x' }));
  one.write('ada', 'chat', [...entries, answerEntry('partial', 'cancelled', { status: 'interrupted' }), answerEntry('answer', 'done')]);
  for (const id of ['failed', 'cancelled', 'expired']) {
    const entry = await one.blocks.retry('ada', id);
    t.match(entry, { id, status: 'queued', processed: false, attempts: 0, error: null });
    t.equal(entry.finishedAt, undefined);
  }
  t.same(
    (one.readJson('ada', 'chat') as { id: string }[]).map(({ id }) => id),
    ['done', 'answer', 'failed', 'cancelled', 'expired'],
    'the part of an answer that there was goes',
  );
  t.equal(one.factsOf('message.queued').length, 3);
  for (const id of ['done', 'failed', 'answer']) await t.rejects(one.blocks.retry('ada', id), { code: 'WRONG_STATE', status: 409 });
  await t.rejects(one.blocks.retry('ada', 'unknown'), { code: 'MESSAGE_NOT_FOUND' });
  fails = false;
  await one.blocks.start('ada');
  for (const id of ['failed', 'cancelled', 'expired']) await one.told('message.finished', { id, status: 'done' });
});

t.test('a message is queued again only while the queue has room', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, queue: { cap: 1 } });
  one.write('ada', 'chat', [userEntry('old', { status: 'failed' })]);
  await one.blocks.post('ada', { message: 'hi' }, 'web');
  await t.rejects(one.blocks.retry('ada', 'old'), { code: 'QUEUE_FULL', status: 429, retryAfterMs: 5000, message: /queue\.cap is 1/ });
  t.match(one.readJson('ada', 'chat'), [{ id: 'old', status: 'failed' }, { content: 'hi' }]);
  t.equal(one.factsOf('message.queued').length, 1);
});

t.test('a failed message that is cancelled no longer counts as failed', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  one.write('ada', 'chat', [userEntry('old', { status: 'failed' }), answerEntry('odd', undefined, { status: 'failed' })]);
  t.match(await one.blocks.list(), [{ failures: { count: 1, last: { id: 'old' } } }]);
  t.match(await one.blocks.explain('ada'), { failures: { count: 1 }, failed: /old/ });
  t.match(await one.blocks.cancel('ada', 'old'), { status: 'cancelled', processed: true });
  t.match(await one.blocks.list(), [{ failures: { count: 0, last: null } }]);
  t.same(one.factsOf('message.finished'), [], 'it had its outcome before');
  await t.rejects(one.blocks.cancel('ada', 'odd'), { code: 'WRONG_STATE' });
});

t.test('long answers are shown, and entries that left the active window can still be read', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, memory: { maxContextTokens: 1000 } });
  const text = 'x'.repeat(200_000);
  const old = Array.from({ length: 28 }, (_, n) => userEntry(`old${n}`, { content: text, clientId: `c${n}`, status: 'cancelled' }));
  one.write('ada', 'chat', old);
  const unseen: unknown[] = [];
  const looks: Promise<void>[] = [];
  one.core.events.on('message.finished', ({ id }) => {
    const look = one.blocks.history('ada').then((history) => void (history.some(({ replyTo }) => replyTo === id) || unseen.push(id)));
    looks.push(look);
  });
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push((await one.blocks.post('ada', { message: `${n} ${text}` }, 'web')).id);
  await one.blocks.start('ada');
  for (const id of ids) await one.told('message.finished', { id });
  await Promise.all(looks);
  t.same(unseen, []);
  const active = (await one.blocks.history('ada')).length;
  t.ok(active >= 20 && active < 36, `${active} are active`);
  const all: string[] = [];
  let page = await one.blocks.history('ada', { limit: 9 });
  for (; page.length > 0; page = await one.blocks.history('ada', { limit: 9, before: page[0]?.id ?? '' })) all.unshift(...page.map(({ id }) => id));
  t.same(
    all.filter((id) => !id.startsWith('m')),
    old.map(({ id }) => id),
  );
  t.equal(all.length, 28 + 4 + 4, 'each message, and each answer');
  t.match(await one.blocks.message('ada', 'old0'), { entry: { id: 'old0', content: text }, answer: null });
  t.match(await one.blocks.message('ada', ids[0] ?? ''), { entry: { status: 'done' }, answer: { replyTo: ids[0] } });
  const again = await one.blocks.post('ada', { message: 'x', clientId: 'c0' }, 'web');
  t.match(again, { id: 'old0', position: 0, note: /was sent before; it has its outcome, and is in the archive/ });
  t.match(await one.blocks.list(), [{ queue: 0 }], 'and no second message');
  await one.core.close();
  const next = await startCore(t, { workspace: one.workspace });
  t.equal((await next.blocks.post('ada', { message: 'x', clientId: 'c1' }, 'web')).id, 'old1', 'also after a restart');
});

t.test('one very long answer does not push out the conversation', async (t) => {
  const one = await startCore(t, {
    answer: (_request, res) => {
      for (let n = 0; n < 47; n += 1) sendPiece(res, 'x'.repeat(100_000));
      endAnswer(res);
    },
  });
  await one.create('ada');
  await one.blocks.start('ada');
  one.write('ada', 'chat', [userEntry('1'), answerEntry('1a', '1')]);
  const { id } = await one.blocks.post('ada', { message: 'hi', clientId: 'mine' }, 'web');
  await one.told('message.finished', { id, status: 'done' });
  t.match(await one.blocks.history('ada'), [{ id: '1' }, { id: '1a' }, { id }, { replyTo: id, content: /^x{1000}/ }]);
  t.equal((await one.blocks.post('ada', { message: 'hi', clientId: 'mine' }, 'web')).id, id);
});

t.test('the fields of a page are checked', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  one.write('ada', 'chat', [userEntry('1'), answerEntry('1a', '1'), userEntry('2', { status: 'cancelled' })]);
  t.match(await one.blocks.history('ada', { limit: 2 }), [{ id: '1a' }, { id: '2' }]);
  t.match(await one.blocks.history('ada', { since: '1a' }), [{ id: '2' }]);
  t.same(await one.blocks.history('ada', { before: '1' }), []);
  for (const [page, path] of [
    [{ limit: 0 }, 'limit'],
    [{ limit: 501 }, 'limit'],
    [{ limit: Number.NaN }, 'limit'],
    [{ before: '' }, 'before'],
    [{ before: '1', since: '1' }, 'since'],
  ] as const)
    await t.rejects(one.blocks.history('ada', page), { code: 'INVALID_REQUEST', details: [{ path }] });
  await t.rejects(one.blocks.history('ada', { before: 'nobody' }), { code: 'MESSAGE_NOT_FOUND' });
  await t.rejects(one.blocks.message('ada', 'nobody'), { code: 'MESSAGE_NOT_FOUND' });
});

t.test('no event is emitted for a cancelled or repeated message that could not be written', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const { id } = await one.blocks.post('ada', { message: 'hi' }, 'web');
  one.write('ada', 'chat', 'damaged');
  await t.rejects(one.blocks.cancel('ada', id), { code: 'BLOCK_DAMAGED' });
  await t.rejects(one.blocks.retry('ada', id), { code: 'BLOCK_DAMAGED' });
  await t.rejects(one.blocks.post('ada', { message: 'x' }, 'web'), { code: 'BLOCK_DAMAGED' });
  t.equal(one.readText('ada', 'chat'), 'damaged');
  t.same(one.factsOf('message.finished'), []);
  t.equal(one.factsOf('message.queued').length, 1);
});

t.test('a running monitor answers a message that was written by hand', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.start('ada');
  one.write('ada', 'chat', [{ role: 'user', content: 'by hand' }]);
  await one.told('message.finished', { block: 'ada', status: 'done' });
  t.match(one.readJson('ada', 'chat'), [{ id: /^m/, status: 'done' }, { content: 'You said: by hand' }]);
});

t.test('messages stay in order when the clock goes back an hour or forward ten years', async (t) => {
  let now = Date.parse('2026-11-20T14:00:00.000Z');
  const one = await startCore(t, { clock: () => now });
  await one.create('ada');
  await one.blocks.start('ada');
  for (const step of [0, -3_600_000, 10 * 365 * 86_400_000, -10 * 365 * 86_400_000]) {
    now += step;
    t.match(await one.ask('ada', `${step}`), { status: 'done' });
  }
  const history = await one.blocks.history('ada');
  t.equal(history.length, 8);
  const ids = history.map(({ id }) => id);
  t.same([...ids].sort(), ids);
  for (const { latencyMs } of history) t.ok((latencyMs ?? 0) >= 0);
  t.ok((await one.blocks.details('ada')).pulse.uptimeSeconds >= 0);
});

t.test('a provider may end its answer late', async (t) => {
  let end = (): void => undefined;
  const one = await startCore(t, {
    answer: (_request, res) => {
      sendPiece(res, 'a');
      end = () => endAnswer(res);
    },
  });
  await one.create('ada');
  await one.blocks.start('ada');
  const { id } = await one.blocks.post('ada', { message: '1' }, 'web');
  await one.upstream.arrived(0);
  t.match(await one.blocks.post('ada', { message: '2' }, 'web'), { position: 1 }, 'one at work counts');
  end();
  await one.told('message.finished', { id, status: 'done' });
  await one.upstream.arrived(1);
  end();
});
