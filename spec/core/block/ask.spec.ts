import t, { type Test } from 'tap';
import type { BlockhouseError, BlockQuestion, ChatEntry } from '../../../core/index.ts';
import { RUNNABLE, type StartedCore, type StartOptions, startCore } from '../../support/blocks.ts';
import { type HeldDaemon, heldDaemon } from '../../support/held-daemon.ts';

const QUICK = { ...RUNNABLE, retry: { baseMs: 1, maxDelayMs: 1, maxAttempts: 1 } };
const APP = { name: 'app', hash: 'h-app' };

async function running(t: Test, options: StartOptions = {}, config: object = {}): Promise<{ one: StartedCore; daemon: HeldDaemon }> {
  let isOver = false;
  const daemon = heldDaemon((call) => isOver && call.cut());
  const one = await startCore(t, { answer: daemon.answer, retries: 0, ...options });
  t.teardown(() => {
    isOver = true;
    for (const call of daemon.calls) call.cut(); // a reply under way would hold up the end
  });
  await one.create('ada', { ...QUICK, ...config });
  await one.blocks.start('ada');
  return { one, daemon };
}

const say = (message: string, more: Partial<BlockQuestion> = {}): BlockQuestion => ({ message, conversation: '[]', ...more });
const messagesOf = async ({ blocks }: StartedCore): Promise<ChatEntry[]> => (await blocks.history('ada')).filter(({ role }) => role === 'user');

t.test('a question is a message of the channel api, with the key that it came with', async (t) => {
  const { one } = await running(t);
  await one.blocks.ask('ada', say('hi'));
  await one.blocks.ask('ada', say('hi', { key: APP }));
  t.match(await messagesOf(one), [
    { content: 'hi', channel: 'api', chain: [{ via: 'api' }], clientId: /^wire::/ },
    { content: 'hi', channel: 'api', chain: [{ via: 'key', key: 'app' }], clientId: /^wire:app:/ },
  ]);
  await one.blocks.ask('ada', say('trusted', { key: { ...APP, trusted: true } }));
  t.strictSame((await messagesOf(one)).at(-1)?.chain, [{ via: 'key', key: 'app', trusted: true }], 'that its key is trusted stays with it');
});

t.test('an idempotency key is the same message for ever, also while the block is stopped', async (t) => {
  const { one, daemon } = await running(t);
  const question = say('hi', { idempotencyKey: 'k-1' });
  const first = await one.blocks.ask('ada', question);
  t.equal((await one.blocks.ask('ada', { ...question, conversation: '[["user","other"]]' })).id, first.id, 'whatever came before');
  (await daemon.call(0)).answer('Hello');
  await one.blocks.answer('ada', first.id);
  first.delivered();
  t.equal((await one.blocks.ask('ada', question)).id, first.id, 'delivered');
  await one.blocks.stop('ada');
  t.equal((await one.blocks.ask('ada', question)).id, first.id, 'stopped');
  await t.rejects(one.blocks.ask('ada', say('hi', { idempotencyKey: 'k-2' })), { code: 'BLOCK_NOT_RUNNING' });
  t.equal((await messagesOf(one)).length, 1);
});

t.test('an idempotency key with another message is refused, and nothing is queued', async (t) => {
  const { one } = await running(t);
  const { id } = await one.blocks.ask('ada', say('hi', { idempotencyKey: 'k' }));
  await t.rejects(one.blocks.ask('ada', say('ho', { idempotencyKey: 'k' })), { code: 'IDEMPOTENCY_KEY_REUSED', message: new RegExp(id) });
  t.equal((await messagesOf(one)).length, 1);
});

t.test('two keys with one idempotency key never meet, nor does a key that was made again under the same name', async (t) => {
  const { one } = await running(t);
  const keys = [undefined, APP, { name: 'other', hash: 'h-other' }, { name: 'app', hash: 'h-again' }, { name: 'token', hash: 'h' }];
  const ids = await Promise.all(keys.map(async (key) => (await one.blocks.ask('ada', say('hi', { idempotencyKey: 'k', key }))).id));
  t.equal(new Set(ids).size, keys.length);
  const without = await Promise.all(keys.map(async (key) => (await one.blocks.ask('ada', say('hi', { key }))).id));
  t.equal(new Set([...ids, ...without]).size, 2 * keys.length);
});

t.test('of many with one idempotency key at once, one message is made', async (t) => {
  const { one } = await running(t);
  for (const idempotencyKey of ['k', undefined]) {
    const all = await Promise.all(Array.from({ length: 8 }, () => one.blocks.ask('ada', say(`${idempotencyKey}`, { idempotencyKey }))));
    t.equal(new Set(all.map(({ id }) => id)).size, 1, `${idempotencyKey}`);
  }
  t.equal((await messagesOf(one)).length, 2);
});

t.test('the same words are one message until they were delivered, and another one after that', async (t) => {
  const { one, daemon } = await running(t);
  const question = say('turn on the light');
  const first = await one.blocks.ask('ada', question);
  t.equal((await one.blocks.ask('ada', question)).id, first.id, 'not answered');
  (await daemon.call(0)).answer('It is on.');
  await one.blocks.answer('ada', first.id);
  const again = await one.blocks.ask('ada', question);
  t.equal(again.id, first.id, 'not delivered');
  again.delivered();
  const second = await one.blocks.ask('ada', question);
  t.not(second.id, first.id, 'delivered');
  t.equal((await one.blocks.ask('ada', question)).id, second.id);
});

t.test('other words, another conversation and another client are another message', async (t) => {
  const { one } = await running(t);
  const asked = [say('a'), say('b'), say('a', { conversation: '[["user","x"]]' }), say('a', { key: APP })];
  const ids = await Promise.all(asked.map(async (question) => (await one.blocks.ask('ada', question)).id));
  t.equal(new Set(ids).size, asked.length);
});

t.test('an answer that nobody has got is given for ten minutes', async (t) => {
  let now = Date.now();
  const { one, daemon } = await running(t, { clock: () => now });
  const first = await one.blocks.ask('ada', say('hi'));
  (await daemon.call(0)).answer('Hello');
  await one.blocks.answer('ada', first.id);
  now += 599_000;
  t.equal((await one.blocks.ask('ada', say('hi'))).id, first.id);
  now += 2000;
  t.not((await one.blocks.ask('ada', say('hi'))).id, first.id);
});

t.test('nothing is queued that nobody would answer', async (t) => {
  const { one } = await running(t);
  const refused = async (code: string, message: RegExp, what: string) => {
    const error = await one.blocks.ask('ada', say(what)).then(
      () => undefined,
      (failure: BlockhouseError) => failure,
    );
    t.match(error, { code, message }, what);
    t.notMatch(error?.forKeys ?? 'blockhouse', /blockhouse|switch|budget/, 'an application reads no commands');
  };
  await one.blocks.halt({ reason: 'tests' });
  await refused('BLOCK_NOT_RUNNING', /kill switch/, 'halted');
  await one.blocks.unhalt();
  await one.blocks.stop('ada');
  await refused('BLOCK_NOT_RUNNING', /stopped.*blockhouse why ada/, 'stopped');
  await one.blocks.updateConfig('ada', { budget: { dailyUsd: 0 } });
  await one.blocks.start('ada');
  await refused('BUDGET_REACHED', /budget\.dailyUsd/, 'at its cap');
  t.strictSame(await messagesOf(one), []);
  await t.rejects(one.blocks.ask('eve', say('hi')), { code: 'BLOCK_NOT_FOUND' });
});

t.test('a full queue refuses, and says when to come again', async (t) => {
  const { one } = await running(t, {}, { queue: { cap: 1 } });
  await one.blocks.ask('ada', say('a'));
  await t.rejects(one.blocks.ask('ada', say('b')), { code: 'QUEUE_FULL', retryAfterMs: 5000 });
  await t.rejects(one.blocks.ask('ada', say('b', { idempotencyKey: 'k' })), { code: 'QUEUE_FULL' });
});

t.test(
  'the messages of one key leave room in the queue for the owner and for other keys, also those that come at once and whose clients have left',
  async (t) => {
    const { one } = await running(t, {}, { queue: { cap: 10 } });
    const { id } = await one.blocks.ask('ada', say('first', { key: APP, idempotencyKey: 'first' }));
    const greedy = Array.from({ length: 19 }, (_, each) =>
      one.blocks.ask('ada', say(`${each}`, { key: APP, ...(each % 2 === 0 && { idempotencyKey: `k${each}` }) })),
    );
    const refused = (await Promise.allSettled(greedy)).filter(({ status }) => status === 'rejected');
    t.equal(refused.length, 12);
    t.match((refused[0] as PromiseRejectedResult).reason, {
      code: 'QUEUE_FULL',
      retryAfterMs: 5000,
      message: /^8 messages of the key app wait for the block ada/,
    });
    t.match(await one.blocks.ask('ada', say('first', { key: APP, idempotencyKey: 'first' })), { id });
    await one.blocks.ask('ada', say('mine'));
    await one.blocks.ask('ada', say('mine', { key: { name: 'other', hash: 'h-other' } }));
    await t.rejects(one.blocks.ask('ada', say('more')), { code: 'QUEUE_FULL' });
  },
);

t.test('the messages of one key leave room for others by their size, too', async (t) => {
  const { one } = await running(t, {}, { queue: { cap: 100 } });
  await one.blocks.ask('ada', say('first', { key: APP, idempotencyKey: 'first' }));
  const long = '…'.repeat(262_144 - 1); // three quarters of a MiB in UTF-8
  const taken: boolean[] = [];
  for (let each = 0; each < 9; each += 1)
    taken.push(
      await one.blocks.ask('ada', say(`${each}${long}`, { key: APP, idempotencyKey: `k${each}` })).then(
        () => true,
        ({ code }) => code !== 'QUEUE_FULL',
      ),
    );
  t.strictSame(taken, [...Array<boolean>(7).fill(true), false, false]);
  await one.blocks.ask('ada', say(`x${long}`, { key: { name: 'other', hash: 'h-other' } }));
});

t.test('a stopped block with autoStart is started before anything is queued', async (t) => {
  const { one, daemon } = await running(t, {}, { autoStart: true });
  await one.blocks.stop('ada');
  const { id } = await one.blocks.ask('ada', say('hi'));
  (await daemon.call(0)).answer('Hello');
  t.match(await one.blocks.answer('ada', id), { answer: { content: 'Hello' } });
});

t.test('a message without text, and one that is too long, is refused', async (t) => {
  const { one } = await running(t);
  for (const message of ['', ' \n', 'x'.repeat(262_145)]) await t.rejects(one.blocks.ask('ada', say(message)), { code: 'INVALID_REQUEST' });
});

t.test('why a block does not answer is undefined while it does', async (t) => {
  const { one } = await running(t);
  t.equal(await one.blocks.whyBlocked('ada'), undefined);
  await one.blocks.stop('ada');
  t.match(await one.blocks.whyBlocked('ada'), { code: 'BLOCK_NOT_RUNNING' });
});
