import t from 'tap';
import { AGENT_MESSAGES_PER_HOUR } from '../../../core/block/agent-message.ts';
import { RUNNABLE, startCore } from '../../support/blocks.ts';

const key = (name: string) => ({ name, hash: `hash of ${name}` });

t.test('a message says that it came over MCP, and with which key', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.blocks.postFromAgent('ada', { body: { message: 'from the token' } });
  await one.blocks.postFromAgent('ada', { body: { message: 'from a key' }, key: key('agent') });
  t.match(one.readJson('ada', 'chat'), [
    { content: 'from the token', channel: 'mcp', chain: [{ via: 'mcp' }], status: 'queued' },
    { content: 'from a key', channel: 'mcp', chain: [{ via: 'mcp', key: 'agent' }], status: 'queued' },
  ]);
});

t.test('the same clientId is the same message, of one sender, also of two at once; with another text it is refused', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  const send = (message: string, sender?: string) =>
    one.blocks.postFromAgent('ada', { body: { message, clientId: '1' }, ...(sender !== undefined && { key: key(sender) }) });
  const [first, second] = await Promise.all([send('hi'), send('hi')]);
  t.same(first, second);
  t.same(await send('hi'), first);
  await t.rejects(send('something else'), { code: 'IDEMPOTENCY_KEY_REUSED', status: 409 });
  const ofKey = await send('hi', 'agent');
  t.not(ofKey.id, first.id);
  t.not((await send('something else', 'other')).id, ofKey.id);
  const { id } = await one.blocks.post('ada', { message: 'not over MCP', clientId: '1' }, 'api');
  t.not(id, first.id);
  t.equal(one.readJson('ada', 'chat').length, 4);
});

t.test('a sender has so many messages an hour over all blocks, a repeated one counts once, and another sender has as many', async (t) => {
  let monotonic = 0;
  const one = await startCore(t, { now: () => monotonic });
  const config = { ...RUNNABLE, queue: { cap: 100 } };
  await one.create('ada', config);
  await one.create('ben', config);
  const send = (block: string, clientId: string, sender = key('agent')) => one.blocks.postFromAgent(block, { body: { message: 'hi', clientId }, key: sender });
  for (let n = 0; n < AGENT_MESSAGES_PER_HOUR; n += 1) await send(n % 2 === 0 ? 'ada' : 'ben', String(n));
  await t.rejects(send('ada', 'more'), { code: 'MCP_LIMIT', status: 429, retryable: true, retryAfterMs: 3_600_000 });
  await send('ada', '0');
  await send('ada', 'more', key('other'));
  await one.blocks.postFromAgent('ada', { body: { message: 'from the token' } });
  monotonic = 3_600_001;
  await send('ada', 'more');
});

t.test('a message is checked, and a full queue takes none', async (t) => {
  const one = await startCore(t);
  await one.create('ada', { ...RUNNABLE, queue: { cap: 1 } });
  for (const body of [{ message: ' ' }, {}, { message: 'x', more: 1 }, { message: 'x', clientId: '' }, { message: 'x', clientId: 'y'.repeat(129) }])
    await t.rejects(one.blocks.postFromAgent('ada', { body: body as never }), { code: 'INVALID_REQUEST' }, JSON.stringify(body));
  await t.rejects(one.blocks.postFromAgent('nobody', { body: { message: 'x' } }), { code: 'BLOCK_NOT_FOUND' });
  await one.blocks.postFromAgent('ada', { body: { message: 'x' } });
  await t.rejects(one.blocks.postFromAgent('ada', { body: { message: 'y' } }), { code: 'QUEUE_FULL' });
});
