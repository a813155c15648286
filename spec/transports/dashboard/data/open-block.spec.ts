import { setImmediate as turn } from 'node:timers/promises';
import { type Signal, signal } from '@preact/signals';
import t from 'tap';
import type { ChatEntry, ChatHistory } from '../../../../core/types.ts';
import { ApiError } from '../../../../transports/dashboard/data/api-error.ts';
import { OpenBlock } from '../../../../transports/dashboard/data/open-block.ts';
import type { Outgoing } from '../../../../transports/dashboard/data/outbox.ts';
import type { Connection, Topic } from '../../../../transports/dashboard/data/socket.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const entry = (id: string, more: Partial<ChatEntry> = {}): ChatEntry => ({
  id,
  role: 'user',
  content: id,
  timestamp: '2026-11-23T06:00:00.000Z',
  processed: true,
  status: 'done',
  channel: 'web',
  ...more,
});

/** A server with one block, whose answers can be held back, and a browser that draws when the test says so. */
class Rig {
  readonly clock = new ManualClock();
  readonly connection: Signal<Connection>;
  readonly isSettled = signal(true);
  readonly isVisible = signal(true);
  readonly messages = signal<readonly Outgoing[]>([]);
  readonly dropped: string[] = [];
  readonly topics = new Set<Topic>();
  history: ChatHistory = { messages: [], seq: 0 };
  revision = 1;
  failure: ApiError | undefined;
  /** Paths that were asked for, with the tag that was shown. */
  readonly asked: string[] = [];
  #held: (() => void)[] | undefined;
  #draw: (() => void) | undefined;
  draws = 0;
  readonly open: OpenBlock;
  readonly close: () => void;

  constructor(connection: Connection = { state: 'live', since: 0 }) {
    this.connection = signal(connection);
    this.isSettled.value = connection.state !== 'opening';
    this.open = new OpenBlock('ada', {
      socket: {
        connection: this.connection,
        isSettled: this.isSettled,
        follow: (topic) => {
          this.topics.add(topic);
          if (this.connection.peek().state === 'live') topic.take({ type: 'refresh', block: 'ada' }); // the server's answer
          return () => this.topics.delete(topic);
        },
      },
      outbox: { messages: this.messages, drop: (_block, clientId) => void this.dropped.push(clientId) },
      isVisible: this.isVisible,
      timers: this.clock,
      read: async <T>(path: string, etag?: string) => {
        this.asked.push(`${path}${etag === undefined ? '' : ` ${etag}`}`);
        if (this.#held !== undefined) await new Promise<void>((go) => this.#held?.push(go));
        if (this.failure !== undefined) throw this.failure;
        const tag = `"${this.revision}"`;
        return { status: etag === tag ? 304 : 200, data: this.#answer(path) as T, etag: tag };
      },
      onFrame: (draw) => {
        this.#draw = draw;
        return () => {
          this.#draw = undefined;
        };
      },
    });
    this.close = this.open.open();
  }

  #answer(path: string): unknown {
    const url = new URL(path, 'http://server');
    if (url.pathname.endsWith('/why')) return { why: `as of ${this.revision}` };
    if (!url.pathname.endsWith('/chat')) return { name: 'ada', revision: this.revision };
    const before = url.searchParams.get('before');
    const all = this.history.messages.filter(({ id }) => before === null || id < before);
    return { ...this.history, messages: all.slice(-Number(url.searchParams.get('limit'))) };
  }

  /** How often the block was read. */
  get reads(): number {
    return this.asked.filter((path) => path.endsWith('/why')).length;
  }

  holdBack(): void {
    this.#held = [];
  }

  async letThrough(): Promise<void> {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const go of held) go();
    await turn();
  }

  async pass(ms: number): Promise<void> {
    this.clock.pass(ms);
    await turn();
  }

  frame(frame: Record<string, unknown>): void {
    for (const topic of this.topics) topic.take({ type: 'refresh', block: 'ada', ...frame });
  }

  step(seq: number, event: string, more: object = {}): void {
    this.frame({ type: 'stream', id: 'm1', seq, event, ...more });
  }

  draw(): void {
    const draw = this.#draw;
    this.#draw = undefined;
    if (draw === undefined) return;
    this.draws += 1;
    draw();
  }

  change(messages: readonly ChatEntry[], seq = 0): void {
    this.history = { messages, seq };
    this.revision += 1;
  }
}

t.test('not-a-storm: a hundred notices a second make at most four reads, and the last state is shown', async (t) => {
  const rig = new Rig();
  await rig.pass(0);
  t.equal(rig.reads, 1);
  for (let at = 0; at < 100; at += 1) {
    rig.change([entry('m1', { content: String(at) })]);
    rig.frame({});
    await rig.pass(10);
  }
  t.ok(rig.reads <= 5, `${rig.reads} reads`);
  await rig.pass(300);
  t.equal(rig.open.entries.value.get('m1')?.content, '99');
  const { reads } = rig;
  await rig.pass(10_000);
  t.equal(rig.reads, reads, 'without a notice nothing is asked');
});

t.test('it is never read twice at a time; a notice that comes meanwhile makes one more read', async (t) => {
  const rig = new Rig();
  rig.holdBack();
  await rig.pass(0);
  for (let at = 0; at < 5; at += 1) {
    rig.frame({});
    await rig.pass(1000);
  }
  t.equal(rig.reads, 1);
  await rig.letThrough();
  await rig.pass(300);
  t.equal(rig.reads, 2);
  await rig.pass(300);
  t.equal(rig.reads, 2);
});

t.test('an answer that is written when another block is chosen is not drawn any more', async (t) => {
  const rig = new Rig();
  await rig.pass(0);
  rig.step(1, 'content', { text: 'Hel' });
  rig.close();
  rig.draw();
  t.equal(rig.draws, 0);
});

t.test('once-a-frame: the pieces of a frame are drawn together, and a new connection goes on after the last one', async (t) => {
  const rig = new Rig();
  await rig.pass(0);
  const begin = (): object | undefined => [...rig.topics][0]?.begin();
  t.strictSame(begin(), { type: 'subscribe', block: 'ada', stream: true });
  rig.step(1, 'start', { model: 'm' });
  for (const [at, text] of ['a', 'b', 'c'].entries()) rig.step(at + 2, 'content', { text });
  rig.step(3, 'content', { text: 'b' });
  t.equal(rig.open.reply.value, undefined);
  rig.draw();
  t.equal(rig.open.reply.value?.text, 'abc', 'what comes twice is there once');
  t.equal(rig.draws, 1);
  t.strictSame(begin(), { type: 'subscribe', block: 'ada', stream: true, sinceSeq: 4 });
});

t.test('a reply becomes its entry in the same place, and not before the entry is there', async (t) => {
  const rig = new Rig();
  rig.change([entry('m1', { status: 'processing' })]);
  await rig.pass(0);
  rig.step(1, 'content', { text: 'Hello' });
  rig.draw();
  const key = rig.open.lines.value.at(-1)?.key;
  t.match(rig.open.lines.value.at(-1), { kind: 'reply', to: 'm1' });
  rig.step(2, 'done', { answerId: 'm2' });
  rig.draw();
  await rig.pass(300);
  t.match(rig.open.lines.value.at(-1), { kind: 'reply' }, 'a list from before stays without it');
  rig.change([entry('m1'), entry('m2', { role: 'assistant', replyTo: 'm1', content: 'Hello' })], 2);
  rig.frame({});
  await rig.pass(300);
  t.equal(rig.open.reply.value, undefined);
  t.match(rig.open.lines.value.at(-1), { kind: 'entry', key, entry: { id: 'm2' } });
});

t.test('a step that comes later than the entry which it led to draws nothing a second time, and the entry keeps its place', async (t) => {
  const rig = new Rig();
  rig.change([entry('m1', { status: 'processing' })]);
  await rig.pass(0);
  rig.step(1, 'content', { text: 'Hel' });
  rig.draw();
  rig.change([entry('m1'), entry('m2', { role: 'assistant', replyTo: 'm1', content: 'Hello' })], 3);
  rig.frame({});
  await rig.pass(300);
  const shown = rig.open.lines.value;
  t.match(shown, [{ kind: 'entry' }, { kind: 'entry', entry: { id: 'm2' } }]);
  const { reads } = rig;
  for (const [seq, event, more] of [
    [2, 'content', { text: 'lo' }],
    [3, 'content', { text: '' }],
    [4, 'done', { answerId: 'm2' }],
  ] as const) {
    rig.step(seq, event, more);
    rig.draw();
    t.strictSame(rig.open.lines.value, shown, event);
    t.equal(rig.open.reply.value, undefined);
  }
  t.match([...rig.topics][0]?.begin(), { sinceSeq: 4 }, 'a new connection goes on after them');
  await rig.pass(300);
  t.equal(rig.reads, reads + 1, 'the end is a reason to read the block');
  t.strictSame(rig.open.lines.value, shown);
});

t.test('a late step of an attempt that failed draws nothing, and one of the next attempt does', async (t) => {
  const rig = new Rig();
  rig.change([entry('m1', { status: 'failed' })], 3);
  await rig.pass(0);
  rig.step(3, 'content', { text: 'old' });
  rig.draw();
  t.equal(rig.open.reply.value, undefined);
  rig.step(4, 'start', { model: 'm' });
  rig.step(5, 'content', { text: 'new' });
  rig.draw();
  t.equal(rig.open.reply.value?.text, 'new');
});

t.test('a message that was sent here leaves the outbox when its entry is read', async (t) => {
  const rig = new Rig();
  rig.messages.value = [{ block: 'ada', clientId: 'c1', text: 'a', state: 'sent' }];
  await rig.pass(0);
  t.strictSame(rig.dropped, []);
  rig.change([entry('m1', { clientId: 'c1' })]);
  rig.frame({});
  await rig.pass(300);
  t.strictSame(rig.dropped, ['c1']);
});

t.test('never-emptied: a failure stands beside what is shown, and afterwards all is read anew', async (t) => {
  const rig = new Rig();
  rig.change([entry('m1')]);
  await rig.pass(0);
  rig.failure = new ApiError('The server does not answer.', { status: 0, code: 'NO_ANSWER' });
  rig.frame({});
  await rig.pass(300);
  t.equal(rig.open.error.value, rig.failure);
  t.equal(rig.open.lines.value.length, 1);
  rig.failure = undefined;
  rig.asked.length = 0;
  rig.connection.value = { state: 'live', since: 1 };
  rig.frame({}); // the answer to the subscription
  await rig.pass(300);
  t.equal(rig.open.error.value, undefined);
  t.notMatch(rig.asked.join(), '"', 'no tag of an answer that was perhaps not shown');
  rig.asked.length = 0;
  rig.frame({});
  await rig.pass(300);
  t.strictSame(rig.asked.filter((path) => path.includes('"')).length, 2, 'what has not changed is not sent again');
});

t.test('a block that is gone is told, by the server or by what is asked', async (t) => {
  const frames: Record<string, unknown>[] = [{ type: 'gone' }, { type: 'error', code: 'BLOCK_NOT_FOUND' }];
  for (const frame of frames) {
    const rig = new Rig();
    rig.frame({ ...frame, block: 'bob' });
    t.equal(rig.open.isGone.value, false, 'another block');
    rig.frame(frame);
    t.equal(rig.open.isGone.value, true);
  }
  const rig = new Rig();
  rig.failure = new ApiError('There is no block ada.', { status: 404, code: 'BLOCK_NOT_FOUND' });
  await rig.pass(0);
  t.equal(rig.open.isGone.value, true);
});

t.test('a hidden page asks nothing, and is right in one read when it is seen again', async (t) => {
  const rig = new Rig();
  await rig.pass(0);
  rig.isVisible.value = false;
  for (let at = 0; at < 50; at += 1) {
    rig.change([entry('m1', { content: String(at) })]);
    rig.frame({});
    await rig.pass(1000);
  }
  t.equal(rig.reads, 1);
  rig.isVisible.value = true;
  await rig.pass(0);
  t.equal(rig.reads, 2);
  t.equal(rig.open.entries.value.get('m1')?.content, '49');
});

t.test('older entries come by the page, up to the beginning', async (t) => {
  const rig = new Rig();
  rig.change(Array.from({ length: 100 }, (_, index) => entry(`m${String(index).padStart(3, '0')}`)));
  await rig.pass(0);
  t.equal(rig.open.entries.value.size, 40);
  await rig.open.readOlder(40);
  t.equal(rig.open.entries.value.size, 80);
  t.equal(rig.open.hasOlder.value, true);
  await rig.open.readOlder(40);
  t.equal(rig.open.entries.value.size, 100);
  t.equal(rig.open.hasOlder.value, false);
});

t.test('after a gap of more than a page, only the newest entries are shown', async (t) => {
  const rig = new Rig();
  rig.change([entry('m000')]);
  await rig.pass(0);
  rig.change(Array.from({ length: 900 }, (_, index) => entry(`m${String(index).padStart(3, '0')}`)));
  rig.frame({});
  await rig.pass(300);
  t.equal(rig.open.entries.value.has('m000'), false, 'no hole between what was known and what is new');
  t.equal(rig.open.entries.value.has('m899'), true);
  t.equal(rig.open.hasOlder.value, true);
});

t.test('answers that come late, after another block was chosen, make no further requests', async (t) => {
  const rig = new Rig();
  rig.holdBack();
  await rig.pass(0);
  rig.frame({});
  rig.close();
  t.equal(rig.topics.size, 0);
  await rig.letThrough();
  await rig.pass(10_000);
  rig.connection.value = { state: 'live', since: 1 };
  rig.isVisible.value = false;
  rig.isVisible.value = true;
  await rig.pass(10_000);
  t.equal(rig.reads, 1);
  t.equal(rig.clock.pending, 0, 'no timer is left');
});

t.test('where versions are folded away, older entries are read until there is something to show', async (t) => {
  const rig = new Rig();
  const versions = Array.from({ length: 60 }, (_, index) => entry(String(170 + index), index === 0 ? {} : { replaces: String(169 + index) }));
  rig.history = { messages: [...Array.from({ length: 70 }, (_, index) => entry(String(100 + index))), ...versions], seq: 0 };
  await rig.pass(0);
  const { lines, entries } = rig.open;
  t.ok(lines.value.length >= 20, `${lines.value.length} lines`);
  t.match(lines.value.at(-1), { entry: { id: '229' }, versions: { at: 59 } }, 'all versions are there');
  t.ok(entries.value.size < 130, 'and not the whole chat');
  rig.open.showVersion('170');
  t.match(lines.value.at(-1), { entry: { id: '170' }, versions: { at: 0, isSeen: false } });
  rig.close();
});

t.test('a block is read once the server has answered the subscription; without a connection, when that is known', async (t) => {
  const rig = new Rig({ state: 'opening', since: 0 });
  await rig.pass(10_000);
  t.equal(rig.reads, 0, 'nothing is read twice, so nothing is read before');
  rig.connection.value = { state: 'live', since: 1 };
  rig.isSettled.value = true;
  await rig.pass(10_000);
  t.equal(rig.reads, 0);
  rig.frame({});
  await rig.pass(0);
  t.equal(rig.reads, 1);
  rig.frame({ type: 'error', code: 'INVALID_REQUEST' });
  await rig.pass(300);
  t.equal(rig.reads, 2, 'also where the server refuses to follow it');
  rig.close();
  const alone = new Rig({ state: 'lost', since: 0 });
  await alone.pass(0);
  t.equal(alone.reads, 1, 'the socket is lost');
  alone.connection.value = { state: 'opening', since: 0 };
  await alone.pass(10_000);
  t.equal(alone.reads, 1, 'each try of the socket is no reason to read');
  alone.close();
});
