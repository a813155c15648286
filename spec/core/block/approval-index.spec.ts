// Where calls wait, over all blocks.
import mitt from 'mitt';
import t from 'tap';
import { ApprovalIndex } from '../../../core/block/approval-index.ts';
import type { CoreBus } from '../../../core/bus.ts';
import { BlockhouseError } from '../../../core/errors.ts';

const waits = (id: string, ...waitingFor: string[]) => ({ id, role: 'user', status: 'waiting-approval', waitingFor });

function indexOf(chats: Readonly<Record<string, readonly object[] | BlockhouseError>>) {
  const bus = (mitt as unknown as () => CoreBus)();
  const read: string[] = [];
  const index = new ApprovalIndex({
    bus,
    now: () => Date.parse('2026-11-28T12:00:00Z'),
    list: async () => Object.keys(chats).map((name) => ({ name, queue: name === 'empty' ? 0 : 1 }) as never),
    conversation: async (name) => {
      read.push(name);
      const chat = chats[name];
      if (chat instanceof BlockhouseError && chat.code === 'BLOCK_NOT_FOUND') throw chat;
      return { entries: async () => (chat instanceof BlockhouseError ? Promise.reject(chat) : chat) } as never;
    },
  });
  const decided = (id: string, state: 'approved' | 'denied' = 'approved', block = 'a') =>
    bus.emit('approval.decided', { block, id: 'm1', approval: id, tool: 'x/y', state });
  return { index, bus, read, decided };
}

t.test('it reads the conversations of blocks with something in work, and leaves out what is damaged or gone', async (t) => {
  const { index, read } = indexOf({
    a: [waits('m1', 'a1', 'a2'), { id: 'm2', status: 'queued' }, { ...waits('m3', 'a3'), status: 'done' }],
    empty: [waits('m1', 'a9')],
    gone: new BlockhouseError('BLOCK_NOT_FOUND', 'x'),
    damaged: new BlockhouseError('BLOCK_DAMAGED', 'x'),
  });
  t.strictSame(await index.waiting(), [{ place: { block: 'a', messageId: 'm1' }, ids: ['a1', 'a2'] }]);
  t.strictSame(read, ['a', 'gone', 'damaged']);
  t.strictSame(await index.waiting('damaged'), []);
  t.strictSame(await index.placeOf('a2'), { block: 'a', messageId: 'm1' });
  t.equal(await index.placeOf('a3'), undefined);
});

t.test('a fault of the disk is not taken for an empty block', async (t) => {
  const { index } = indexOf({ a: new BlockhouseError('STORAGE_FAILED', 'x') });
  await t.rejects(index.waiting(), { code: 'STORAGE_FAILED' });
});

t.test('as-soon-as-told: what a message in work has asked is found before the message is shown as waiting, until it is decided', async (t) => {
  const { index, bus, decided } = indexOf({
    a: [
      { id: 'm1', status: 'processing' },
      { id: 'm2', status: 'processing' },
    ],
    b: [{ id: 'm1', status: 'processing' }],
    empty: [{ id: 'm1', status: 'processing' }],
  });
  t.strictSame(await index.waiting(), []);
  bus.emit('approval.requested', { block: 'a', id: 'm1', approval: 'a1', tool: 'x/y', because: 'rule', expiresAt: '' });
  t.strictSame(await index.waiting(), [{ place: { block: 'a', messageId: 'm1' }, ids: ['a1'] }]);
  decided('a1');
  t.strictSame(await index.waiting(), []);
  bus.emit('approval.requested', { block: 'empty', id: 'm1', approval: 'a2', tool: 'x/y', because: 'rule', expiresAt: '' });
  t.match(await index.waiting(), [{ place: { block: 'empty' }, ids: ['a2'] }], 'before the list of blocks says that something is in work');
});

t.test('what was asked is found before the conversation shows it, and under the new name of its block', async (t) => {
  const { index, bus } = indexOf({});
  bus.emit('approval.requested', { block: 'a', id: 'm1', approval: 'a1', tool: 'x/y', because: 'rule', expiresAt: '' });
  t.match(await index.placeOf('a1'), { block: 'a', messageId: 'm1' });
  bus.emit('block.renamed', { from: 'a', block: 'b' });
  t.match(await index.placeOf('a1'), { block: 'b' });
});

t.test('bounded: of what was decided the newest places are known, the newest first', async (t) => {
  const { index, decided } = indexOf({});
  for (let i = 1; i <= 2001; i += 1) decided(`a${i}`);
  decided('d1', 'denied', 'b');
  t.equal(index.decided('approved').length, 1999);
  t.match(index.decided('approved')[0], { id: 'a2001' });
  t.equal(await index.placeOf('a1'), undefined);
  t.match(index.decided('denied', 'b'), [{ id: 'd1' }]);
  t.strictSame(index.decided('denied', 'a'), []);
});

t.test('one-after-the-other: work about one call waits for what came before, also for what failed', async (t) => {
  const { index } = indexOf({});
  const order: string[] = [];
  const first = index.inTurn('a1', async () => {
    await new Promise(setImmediate);
    order.push('first');
    throw new Error('no');
  });
  const second = index.inTurn('a1', async () => order.push('second'));
  const other = index.inTurn('a2', async () => order.push('other'));
  await t.rejects(first, { message: 'no' });
  await Promise.all([second, other]);
  t.strictSame(order, ['other', 'first', 'second']);
});

t.test('a store that has all approvals is asked where one is, also about one that was seen here', async (t) => {
  const bus = (mitt as unknown as () => CoreBus)();
  const find = async (id: string) => (id === 'a1' ? { block: 'renamed', approval: { messageId: 'm1' }, decision: undefined } : undefined);
  const never = (): never => {
    throw new Error('a list or a conversation was read');
  };
  const index = new ApprovalIndex({ bus, now: () => 0, list: never, conversation: never, stored: { find, list: never } as never });
  bus.emit('approval.requested', { block: 'a', id: 'm1', approval: 'a1', tool: 'x/y', because: 'rule', expiresAt: '' });
  t.strictSame(await index.placeOf('a1'), { block: 'renamed', messageId: 'm1' });
  t.equal(await index.placeOf('a2'), undefined);
});

t.test('what a block waited for is not looked for under its name once it is in the archive: it may come back under another one', async (t) => {
  const { index, bus, decided } = indexOf({ eve: [waits('m1', 'a1')] });
  bus.emit('approval.requested', { block: 'ada', id: 'm1', approval: 'a1', tool: 'x/y', because: 'rule', expiresAt: '' });
  decided('a0', 'denied', 'ada');
  t.strictSame(await index.placeOf('a1'), { block: 'ada', messageId: 'm1' });
  bus.emit('block.archived', { block: 'ada', archiveName: 'x' });
  t.strictSame(await index.placeOf('a1'), { block: 'eve', messageId: 'm1' });
  t.strictSame(index.decided('denied'), []);
});

t.test('what was decided stays listed where a rename leads by way of the archive, and not where the block stays there', async (t) => {
  const { index, bus, decided } = indexOf({});
  decided('a0', 'denied', 'ada');
  bus.emit('block.archived', { block: 'ada', archiveName: 'x' });
  t.strictSame(index.decided('denied'), []);
  t.equal(await index.placeOf('a0'), undefined);
  bus.emit('block.renamed', { from: 'ada', block: 'eve' });
  t.match(index.decided('denied'), [{ id: 'a0', block: 'eve', messageId: 'm1' }]);
  t.match(await index.placeOf('a0'), { block: 'eve' });
  bus.emit('block.archived', { block: 'eve', archiveName: 'y' });
  decided('a1', 'denied', 'eve'); // another block with its name
  bus.emit('block.archived', { block: 'eve', archiveName: 'z' });
  bus.emit('block.renamed', { from: 'eve', block: 'ada' });
  t.match(
    index.decided('denied').map(({ id, block }) => [id, block]),
    [['a1', 'ada']],
  );
});
