import t from 'tap';
import { nextTurn } from '../../../core/base/next-turn.ts';
import { EventRing } from '../../../core/event-ring.ts';
import { createBus, type ReplyStep } from '../../../core/index.ts';
import { DEFAULT_LIMITS, type WsLimits } from '../../../transports/ws/limits.ts';
import { Peer } from '../../../transports/ws/peer.ts';
import { FollowStub, SocketDouble } from '../../support/follow-stub.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { LogLine } from '../../support/server.ts';

function create(blocks: FollowStub, limits: Partial<WsLimits> = {}, hasRoom = () => true) {
  const socket = new SocketDouble();
  const clock = new ManualClock();
  const log: LogLine[] = [];
  const bus = createBus();
  const at = (level: LogLine['level']) => (fields: object, message: string) => void log.push({ level, fields: fields as Record<string, unknown>, message });
  const peer = new Peer(
    socket.asWebSocket(),
    {
      core: { blocks, recent: new EventRing(bus), events: bus },
      clock,
      limits: { ...DEFAULT_LIMITS, ...limits },
      log: { debug: at('debug'), info: at('info'), error: at('error') },
      requestId: 'req_1',
    },
    { hasRoom, nextTurn },
  );
  return { socket, clock, log, peer, bus };
}

const refresh = (block: string) => ({ type: 'refresh', block });
const content = (seq: number, text: string): ReplyStep => ({ id: 'm1', seq, event: 'content', text });

t.test('a subscription is answered by one refresh at once, and by one for each burst of changes after it', async (t) => {
  const blocks = new FollowStub('a', 'b');
  const { socket, clock } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a' });
  t.strictSame(socket.frames, [refresh('a')]);
  clock.pass(1000);
  for (let i = 0; i < 50; i += 1) blocks.change('a');
  blocks.change('b');
  clock.pass(99);
  t.equal(socket.frames.length, 1);
  clock.pass(1);
  t.strictSame(socket.frames, [refresh('a'), refresh('a')]);
  t.equal(clock.pending, 0);
});

t.test('several blocks are followed on one socket, each by itself', async (t) => {
  const blocks = new FollowStub('a', 'b');
  const { socket, clock } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a' });
  socket.hear({ type: 'subscribe', block: 'b' });
  blocks.change('b');
  clock.pass(100);
  t.strictSame(socket.frames, [refresh('a'), refresh('b'), refresh('b')]);
});

t.test('subscribing again is never a second subscription; it replaces the options', async (t) => {
  const blocks = new FollowStub('a');
  const { socket, clock } = create(blocks, { messageBurst: 20_000 });
  for (let i = 0; i < 10_000; i += 1) socket.hear({ type: 'subscribe', block: 'a', ...(i % 2 === 0 && { stream: true }) });
  t.strictSame([blocks.begun, blocks.active.size, clock.pending], [10_000, 1, 0]);
  blocks.step('a', content(1, 'unwanted'));
  socket.hear({ type: 'subscribe', block: 'a', stream: true });
  const { length } = socket.frames;
  blocks.step('a', content(2, 'wanted'));
  blocks.change('a');
  clock.pass(100);
  t.strictSame(socket.frames.slice(length), [{ type: 'stream', block: 'a', ...content(2, 'wanted') }, refresh('a')]);
});

t.test('the refresh goes before what the subscriber has missed of a reply', async (t) => {
  const blocks = new FollowStub('a');
  blocks.missed = [{ id: 'm1', seq: 7, event: 'start', provider: 'p', model: 'm', attempt: 1 }, content(8, 'so far')];
  const { socket } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a', stream: true, sinceSeq: 6 });
  t.equal([...blocks.active][0]?.options.sinceSeq, 6);
  blocks.step('a', content(9, 'and on'));
  t.strictSame(
    socket.frames.map(({ type, seq }) => seq ?? type),
    ['refresh', 7, 8, 9],
  );
});

t.test('without stream nothing of replies is asked for', async (t) => {
  const blocks = new FollowStub('a');
  const { socket } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a', stream: false });
  t.equal([...blocks.active][0]?.options.onReply, undefined);
});

t.test('whoever unsubscribes hears no more of the block, not even what was about to be told', async (t) => {
  const blocks = new FollowStub('a');
  const { socket, clock } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a' });
  blocks.change('a');
  socket.hear({ type: 'unsubscribe', block: 'a' });
  socket.hear({ type: 'unsubscribe', block: 'a' });
  socket.hear({ type: 'unsubscribe', block: 'never' });
  clock.pass(1000);
  t.strictSame(socket.frames, [refresh('a')]);
  t.strictSame([blocks.active.size, clock.pending], [0, 0]);
});

t.test('an archived block is gone once, and may be subscribed to again when it is back', async (t) => {
  const blocks = new FollowStub('a');
  const { socket, clock } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a' });
  blocks.change('a');
  blocks.archive('a');
  clock.pass(1000);
  t.strictSame(socket.frames, [refresh('a'), { type: 'gone', block: 'a' }]);
  t.strictSame([blocks.active.size, clock.pending], [0, 0]);
  socket.hear({ type: 'subscribe', block: 'a' });
  t.strictSame(socket.frames.at(-1), refresh('a'));
});

t.test('a message that can not be served is answered by an error, and the rest goes on', async (t) => {
  const blocks = new FollowStub('a');
  const { socket, clock } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a' });
  const cases: [message: unknown, frame: object][] = [
    ['{', { type: 'error', code: 'INVALID_REQUEST', error: /not valid JSON/ }],
    [{ type: '__proto__' }, { type: 'error', code: 'INVALID_REQUEST', error: /^type/ }],
    [
      { type: 'subscribe', block: 'nobody' },
      { type: 'error', code: 'BLOCK_NOT_FOUND', block: 'nobody' },
    ],
    [
      { type: 'subscribe', block: '__proto__' },
      { type: 'error', code: 'BLOCK_NOT_FOUND', block: '__proto__' },
    ],
    [
      { type: 'subscribe', block: 'a', stream: 1 },
      { type: 'error', code: 'INVALID_REQUEST', error: /^stream/, block: 'a' },
    ],
    [
      { type: 'subscribe', block: 'x'.repeat(300) },
      { type: 'error', code: 'INVALID_REQUEST', block: undefined },
    ],
    [
      { type: 'subscribe', block: 5 },
      { type: 'error', code: 'INVALID_REQUEST', error: /^block/, block: undefined },
    ],
  ];
  for (const [message, frame] of cases) {
    socket.hear(message);
    t.match(socket.frames.at(-1), frame, JSON.stringify(message).slice(0, 80));
  }
  blocks.change('a');
  clock.pass(100);
  t.strictSame(socket.frames.at(-1), refresh('a'), 'the subscription is untouched');
  t.strictSame(socket.said, []);
});

t.test('a subscription that fails the second time is over', async (t) => {
  const blocks = new FollowStub('a');
  const { socket } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a' });
  (blocks.names as Set<string>).delete('a');
  socket.hear({ type: 'subscribe', block: 'a' });
  t.match(socket.frames.at(-1), { type: 'error', code: 'BLOCK_NOT_FOUND', block: 'a' });
  t.equal(blocks.active.size, 0);
});

t.test('a defect is told without its text, which is in the log', async (t) => {
  const { socket, log } = create(new FollowStub());
  socket.hear({ type: 'subscribe', block: 'broken' });
  t.match(socket.frames, [{ type: 'error', code: 'INTERNAL_ERROR', block: 'broken' }]);
  t.notMatch(JSON.stringify(socket.frames), 'secret-of-the-core');
  t.match(log, [{ level: 'error', fields: { requestId: 'req_1', code: 'INTERNAL_ERROR', err: { message: 'secret-of-the-core' } } }]);
});

t.test('there is a most of subscriptions; those there are can be renewed and exchanged', async (t) => {
  const names = Array.from({ length: 102 }, (_, index) => `b${index}`);
  const blocks = new FollowStub(...names);
  const { socket, clock } = create(blocks);
  for (const block of names.slice(0, 100)) socket.hear({ type: 'subscribe', block });
  t.equal(blocks.active.size, 100);
  socket.hear({ type: 'subscribe', block: 'b100' });
  t.match(socket.frames.at(-1), { type: 'error', code: 'INVALID_REQUEST', error: /100 subscriptions/, block: 'b100' });
  socket.hear({ type: 'subscribe', block: 'b0' });
  t.strictSame(socket.frames.at(-1), refresh('b0'));
  socket.hear({ type: 'unsubscribe', block: 'b0' });
  socket.hear({ type: 'subscribe', block: 'b101' });
  t.strictSame(socket.frames.at(-1), refresh('b101'));
  t.equal(blocks.active.size, 100);
  socket.emit('close', 1000, Buffer.alloc(0));
  t.strictSame([blocks.active.size, clock.pending], [0, 0]);
});

t.test('a ping is answered by a pong', async (t) => {
  const { socket } = create(new FollowStub());
  socket.hear({ type: 'ping' });
  t.strictSame(socket.frames, [{ type: 'pong' }]);
});

t.test('too many messages, of whatever kind, end the connection; a steady pace does not', async (t) => {
  for (const say of [
    (socket: SocketDouble) => socket.hear({ type: 'ping' }),
    (socket: SocketDouble) => socket.emit('ping', Buffer.alloc(0)),
    (socket: SocketDouble) => socket.emit('pong', Buffer.alloc(0)),
  ]) {
    const { socket, clock } = create(new FollowStub());
    for (let second = 0; second < 60; second += 1) {
      for (let i = 0; i < 200; i += 1) say(socket);
      clock.pass(1000);
    }
    t.strictSame(socket.said, []);
    for (let i = 0; i < 401; i += 1) say(socket);
    t.strictSame(socket.said, ['close 1008 Too many messages.']);
    for (let i = 0; i < 1000; i += 1) say(socket);
    t.equal(socket.said.length, 1, 'and is not spoken to any more');
  }
});

t.test('clients whose messages take longer than a turn has room for have turns one after the other', async (t) => {
  let isFull = false;
  const client = (limits?: Partial<WsLimits>): SocketDouble => create(new FollowStub(), limits, () => !isFull).socket;
  const [one, other, flooding] = [client(), client(), client({ messageBurst: 1 })];
  one.hear({ type: 'ping' });
  t.equal(one.isPaused, false, 'a turn has room');
  isFull = true;
  for (const socket of [one, other, flooding]) socket.hear({ type: 'ping' });
  t.strictSame([one.isPaused, other.isPaused], [true, true]);
  t.strictSame([one.frames.length, other.frames.length], [1, 0], 'what was read waits');
  flooding.hear({ type: 'ping' });
  await nextTurn('another');
  t.strictSame([one.isPaused, other.isPaused], [false, true]);
  t.strictSame([one.frames.length, other.frames.length], [2, 0]);
  await nextTurn('another');
  t.strictSame([other.isPaused, other.frames.length], [false, 1]);
  await nextTurn('another');
  t.strictSame([flooding.isPaused, flooding.frames.length], [true, 0], 'who is cut off for a flood is not read again');
});

t.test('100,000 messages that must be refused end the connection', async (t) => {
  const { socket, clock } = create(new FollowStub());
  let refused = 0;
  for (let i = 0; i < 100_000 && socket.said.length === 0; i += 1) {
    clock.pass(5);
    socket.hear({ type: 'subscribe', block: `unknown-${i}` });
    refused += 1;
  }
  t.strictSame(socket.said, ['close 1008 Too many invalid messages.']);
  t.ok(refused > 1000 && refused < 1020, `${refused} refusals in some seconds`);
});

t.test('a mistake now and then never adds up', async (t) => {
  const { socket, clock } = create(new FollowStub());
  for (let i = 0; i < 5000; i += 1) {
    clock.pass(1000);
    socket.hear('{');
  }
  t.strictSame(socket.said, []);
});

t.test('a binary frame ends the connection', async (t) => {
  const { socket } = create(new FollowStub('a'));
  socket.emit('message', Buffer.from('{"type":"ping"}'), true);
  t.strictSame(socket.said, ['close 1003 Send text frames, not binary ones.']);
  socket.hear({ type: 'ping' });
  t.strictSame(socket.frames, []);
});

t.test('a client that does not answer a ping by the next one is cut off', async (t) => {
  const blocks = new FollowStub('a');
  const { socket, peer, log } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a' });
  for (let i = 0; i < 3; i += 1) {
    peer.ping();
    socket.emit('pong', Buffer.alloc(0));
  }
  peer.ping();
  t.strictSame(socket.said, ['ping', 'ping', 'ping', 'ping']);
  peer.ping();
  t.equal(socket.said.at(-1), 'terminate');
  t.equal(blocks.active.size, 0);
  peer.ping();
  t.equal(socket.said.length, 5, 'nothing after the end');
  t.match(log, [{ level: 'info', fields: { requestId: 'req_1', reason: /ping/ } }]);
});

t.test('a client that stops reading has its notices joined, and is cut off in the end', async (t) => {
  const blocks = new FollowStub('a', 'b');
  const { socket, clock, log } = create(blocks, { highWaterBytes: 100 });
  socket.stalled = true;
  socket.hear({ type: 'subscribe', block: 'a' });
  socket.hear({ type: 'subscribe', block: 'b' });
  for (let i = 0; i < 50; i += 1) {
    blocks.change('a');
    clock.pass(100);
  }
  t.ok(socket.bufferedAmount <= 100);
  clock.pass(30_000);
  t.strictSame(socket.said, ['terminate']);
  t.strictSame([blocks.active.size, clock.pending], [0, 0]);
  t.match(log, [{ fields: { reason: /stopped reading/ } }]);
});

t.test('a broken connection is a line in the log and nothing else', async (t) => {
  const blocks = new FollowStub('a');
  const { socket, clock, log } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a' });
  blocks.change('a');
  socket.emit('error', new Error('read ECONNRESET'));
  socket.emit('close', 1006, Buffer.alloc(0));
  clock.pass(10_000);
  t.strictSame(socket.frames, [refresh('a')]);
  t.strictSame([blocks.active.size, clock.pending], [0, 0]);
  t.match(log, [{ level: 'debug', fields: { error: 'read ECONNRESET' } }]);
});

t.test('after a close nothing is sent and nothing is left', async (t) => {
  const blocks = new FollowStub('a');
  const { socket, clock, peer } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a', stream: true });
  const [following] = blocks.active;
  peer.close(1001, 'bye');
  t.strictSame([blocks.active.size, clock.pending], [0, 0]);
  following?.options.onReply?.(content(1, 'late'));
  following?.options.onGone?.();
  clock.pass(1000);
  t.strictSame(socket.frames, [refresh('a')]);
  t.strictSame(socket.said, ['close 1001 bye']);
});

t.test('lines of the log come only to those who ask for them', async (t) => {
  const blocks = new FollowStub('a', 'b');
  const { socket } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a', logs: true });
  socket.hear({ type: 'subscribe', block: 'b' });
  for (const block of ['a', 'b']) for (const { options } of blocks.active) options.onLog?.({ file: 'f.log', offset: 3, text: `${block}\n` });
  t.strictSame(
    socket.frames.filter(({ type }) => type === 'log'),
    ['a', 'b'].map((text) => ({ type: 'log', block: 'a', file: 'f.log', offset: 3, text: `${text}\n` })),
  );
});

t.test('with steps a client gets the calls of its block and what waits, and nothing after it has left', async (t) => {
  const blocks = new FollowStub('a', 'b');
  const { socket, clock } = create(blocks);
  socket.hear({ type: 'subscribe', block: 'a', steps: true });
  socket.hear({ type: 'subscribe', block: 'b' });
  const of = { block: 'a', id: 'm1' };
  const asked = { ...of, approval: 'a1', tool: 'x/y' };
  blocks.run('a', { name: 'approval.requested', ...asked, because: 'rule', expiresAt: '2026-11-28T12:00:00.000Z' });
  blocks.run('a', { name: 'approval.decided', ...asked, state: 'approved' });
  blocks.run('a', { name: 'tool.called', ...of, call: '3.1', tool: 'x/y' });
  blocks.run('a', { name: 'tool.finished', ...of, call: '3.1', tool: 'x/y', outcome: 'done', isError: false, ms: 4 });
  blocks.run('a', { name: 'tool.finished', ...of, call: '4.1', tool: 'x/y', outcome: 'denied', isError: false, ms: null });
  blocks.run('b', { name: 'tool.called', ...of, block: 'b', call: '1.1', tool: 'x/y' });
  const run = { type: 'run', block: 'a', id: 'm1' };
  t.strictSame(socket.frames.slice(2), [
    { type: 'approval', id: 'a1', block: 'a', state: 'pending' },
    { type: 'approval', id: 'a1', block: 'a', state: 'approved' },
    { ...run, event: 'step', n: 3 },
    { ...run, event: 'tool', call: '3.1', tool: 'x/y', state: 'called' },
    { ...run, event: 'tool', call: '3.1', tool: 'x/y', state: 'done', isError: false, ms: 4 },
    { ...run, event: 'step', n: 4 },
    { ...run, event: 'tool', call: '4.1', tool: 'x/y', state: 'denied', isError: false },
  ]);
  socket.hear({ type: 'unsubscribe', block: 'a' });
  blocks.run('a', { name: 'tool.called', ...of, call: '5.1', tool: 'x/y' });
  t.equal(socket.frames.length, 9);
  t.equal(clock.pending, 0);
});
