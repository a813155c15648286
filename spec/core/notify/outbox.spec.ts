import t from 'tap';
import type { NoticeBody } from '../../../core/notify/notices.ts';
import { type AboutApproval, Outbox } from '../../../core/notify/outbox.ts';
import { summaryBody } from '../../../core/notify/notices.ts';
import { MemoryFiles } from '../../support/notify/memory-files.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WAITS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, ...Array.from({ length: 24 }, () => HOUR)];

const body = (text: string): NoticeBody => ({ type: 'message.done', timestamp: '2026-11-28T16:00:00.000Z', text, data: {} });
const about = (id: string): AboutApproval => ({ block: 'ada', messageId: 'm1', id });

interface Rig {
  readonly outbox: Outbox;
  readonly files: MemoryFiles;
  readonly clock: { wall: number; monotonic: number };
  /** What came, with its id. */
  readonly sent: { readonly id: string; readonly text: string; readonly at: number }[];
  readonly failed: { readonly status: number | null; readonly isFinal: boolean }[];
  readonly faults: string[];
  /** What the receiver says; a function may wait. */
  answer: number | null | (() => Promise<number | null>);
  waits: (about: AboutApproval) => Promise<boolean>;
  take(text: string, approval?: string): Promise<void>;
  /** Lets time pass until the next notice is due, and sends it. */
  next(): Promise<void>;
  pass(ms: number): void;
  pending(): string[];
}

async function rig(files = new MemoryFiles(), clock = { wall: Date.parse('2026-11-28T16:00:00Z'), monotonic: 1000 }): Promise<Rig> {
  const one: Omit<Rig, 'outbox'> & { outbox?: Outbox } = {
    files,
    clock,
    sent: [],
    failed: [],
    faults: [],
    answer: 204,
    waits: async () => true,
    take: async (text, approval) => {
      outbox.take({ type: 'message.done', block: `block-${Number(text.slice(1)) % 2}` }, async () => ({
        body: body(text),
        about: approval === undefined ? undefined : about(approval),
      }));
      await settled();
    },
    next: async () => {
      const { dueAt } = outbox;
      if (dueAt === undefined) throw new Error('nothing is due');
      one.pass(Math.max(0, dueAt - clock.monotonic));
      await outbox.send();
      await settled();
    },
    pass: (ms) => {
      clock.monotonic += ms;
      clock.wall += ms;
    },
    pending: () => [...files.in('pending-phone').keys()],
  };
  const outbox = new Outbox({
    target: 'phone',
    files,
    now: () => clock.wall,
    monotonic: () => clock.monotonic,
    deliver: async (id, { text }) => {
      one.sent.push({ id, text, at: clock.monotonic });
      return typeof one.answer === 'function' ? one.answer() : one.answer;
    },
    summary: (counts) => summaryBody(counts, { at: '', base: undefined }),
    isWaiting: (which) => one.waits(which),
    onFailed: (status, isFinal) => one.failed.push({ status, isFinal }),
    onFault: (error) => one.faults.push(String(error)),
    onPlanned: () => undefined,
  });
  await outbox.open();
  return Object.assign(one, { outbox });
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(() => setImmediate(() => setImmediate(resolve))));

t.test(
  'what is not taken is sent again after 5 s, 30 s, 2, 10, 30 minutes and then hourly for a day, always under one id, and then given up and counted',
  async (t) => {
    const one = await rig();
    one.answer = 500;
    await one.take('a');
    for (let tries = 0; tries <= WAITS.length; tries += 1) await one.next();
    t.same(
      one.sent.slice(1).map(({ at }, index) => at - (one.sent[index]?.at ?? 0)),
      WAITS,
    );
    t.equal(new Set(one.sent.map(({ id }) => id)).size, 1);
    t.equal(one.failed.length, WAITS.length + 1);
    t.same(one.failed.filter(({ isFinal }) => isFinal).length, 1);
    t.equal(one.failed.at(-1)?.isFinal, true);
    t.match(one.outbox.state, { pending: 0, dropped: 1, off: false, last: { status: 500 } });
    t.same(one.pending(), []);
    t.equal(one.outbox.dueAt, undefined, 'no timer is needed');
  },
);

t.test('no answer, a redirect and a refusal are tried again; any 2xx is enough', async (t) => {
  for (const status of [null, 301, 308, 400, 404, 429, 503]) {
    const one = await rig();
    one.answer = status;
    await one.take('a');
    await one.next();
    t.equal(one.pending().length, 1, String(status));
    one.answer = 299;
    await one.next();
    t.same(one.pending(), []);
    t.match(one.outbox.state, { last: { status: 299 }, dropped: 0 });
  }
});

t.test('410 turns a target off: what waits stays, nothing more is taken, also after a restart; set again, it gets what waits', async (t) => {
  const one = await rig();
  one.answer = 410;
  await one.take('a');
  await one.next();
  t.same(one.failed, [{ status: 410, isFinal: true }]);
  t.match(one.outbox.state, { off: true, pending: 1 });
  await one.take('b');
  const again = await rig(one.files, one.clock);
  t.match(again.outbox.state, { off: true, pending: 1, last: { status: 410 } });
  t.equal(again.outbox.dueAt, undefined);
  await again.outbox.turnOn();
  await again.next();
  t.same(again.sent, [{ id: one.sent[0]?.id, text: 'a', at: one.clock.monotonic }]);
  t.same(again.pending(), []);
});

t.test('a restart loses none, keeps the order and the ids, and goes on with the waits', async (t) => {
  const one = await rig();
  one.answer = 500;
  for (const text of ['a', 'b', 'c']) {
    await one.take(text);
    one.pass(1);
  }
  await one.next();
  const again = await rig(one.files, one.clock);
  t.equal(again.outbox.state.pending, 3);
  t.equal((again.outbox.dueAt ?? 0) - one.clock.monotonic, 5 * SECOND);
  one.pass(5 * SECOND);
  await again.outbox.send();
  t.same(
    again.sent.map(({ id, text }) => ({ id, text })),
    one.sent.map(({ id, text }) => ({ id, text })),
  );
});

t.test('a server that dies between the delivery and the note sends the same id again', async (t) => {
  const one = await rig();
  one.files.remove = async () => undefined; // nothing that comes after the delivery reaches the disk
  await one.take('a');
  await one.next();
  const again = await rig(one.files, one.clock);
  await again.next();
  t.equal(again.sent[0]?.id, one.sent[0]?.id);
});

t.test('a clock that was set back by a year, or forward, makes nobody wait longer than an hour', async (t) => {
  const one = await rig();
  one.answer = 500;
  await one.take('a');
  for (let tries = 0; tries < 7; tries += 1) await one.next();
  const back = await rig(one.files, { ...one.clock, wall: one.clock.wall - 365 * 24 * HOUR });
  t.equal((back.outbox.dueAt ?? 0) - one.clock.monotonic, HOUR);
  const forward = await rig(one.files, { ...one.clock, wall: one.clock.wall + 365 * 24 * HOUR });
  t.equal(forward.outbox.dueAt, one.clock.monotonic);
  one.clock.wall -= 365 * 24 * HOUR;
  t.equal((one.outbox.dueAt ?? 0) - one.clock.monotonic, HOUR, 'of a server that runs');
});

t.test('at most 500 wait: the oldest goes, and is counted', async (t) => {
  const one = await rig();
  one.answer = 500;
  for (let index = 0; index < 502; index += 1) {
    if (index % 60 === 0) one.pass(HOUR);
    one.pass(1);
    await one.take(`n${index}`);
  }
  t.match(one.outbox.state, { pending: 500, dropped: 2 });
  t.equal(one.pending().length, 500);
  const texts = [...one.files.in('pending-phone').values()].map((text) => JSON.parse(text).body.text);
  t.notOk(texts.includes('n0') || texts.includes('n1'));
  t.ok(texts.includes('n2') && texts.includes('n501'));
  t.match((await rig(one.files, one.clock)).outbox.state, { pending: 500, dropped: 2 });
});

t.test('above 60 an hour they are summed up in one, which is sent when the hour allows, and says the same after a restart', async (t) => {
  const one = await rig();
  for (let index = 0; index < 60; index += 1) await one.take(`n${index}`);
  await one.outbox.send();
  for (let index = 0; index < 1000; index += 1)
    one.outbox.take({ type: index % 2 === 0 ? 'message.done' : 'message.failed', block: 'ada' }, async () => undefined);
  await settled();
  t.equal(one.sent.length, 60);
  t.equal(one.pending().length, 1);
  const again = await rig(one.files, one.clock);
  t.equal((again.outbox.dueAt ?? 0) - one.clock.monotonic, HOUR);
  again.answer = 500;
  await again.next();
  t.match(again.sent, [{ text: '1000 more in the last hour: 500 message.done, 500 message.failed.' }]);
  again.outbox.take({ type: 'message.done', block: 'ada' }, async () => ({ body: body('x'), about: undefined }));
  await settled();
  again.answer = 200;
  await again.next();
  await again.next();
  t.match(again.sent.map(({ text }) => text).sort(), ['1000 more in the last hour: 500 message.done, 500 message.failed.', /^1000 more/, 'x']);
  t.equal(new Set(again.sent.filter(({ text }) => text !== 'x').map(({ id }) => id)).size, 1);
});

t.test('a block whose messages fail all the time leaves room for what another one has to tell', async (t) => {
  const one = await rig();
  const tell = async (type: 'approval.asked' | 'message.failed', block: string): Promise<void> => {
    one.outbox.take({ type, block }, async () => ({ body: body(`${block} ${type}`), about: undefined }));
    await settled();
  };
  for (let index = 0; index < 100; index += 1) await tell('message.failed', 'broken');
  for (let index = 0; index < 5; index += 1) await tell('approval.asked', 'ada');
  await one.outbox.send();
  const texts = one.sent.map(({ text }) => text);
  t.equal(texts.filter((text) => text === 'broken message.failed').length, 40);
  t.equal(texts.filter((text) => text === 'ada approval.asked').length, 5);
  await one.next();
  t.equal(one.sent.at(-1)?.text, '60 more in the last hour: 60 message.failed.');
});

t.test('a notice about a call that was decided meanwhile is dropped: at once, and where nobody has heard of it before it is sent', async (t) => {
  const one = await rig();
  one.answer = 500;
  await one.take('a', 'a1');
  await one.take('b', 'a2');
  await one.take('c');
  await one.outbox.send();
  await one.outbox.forget('a1');
  t.equal(one.pending().length, 2);
  one.waits = async ({ id }) => id !== 'a2';
  one.answer = 200;
  await one.next();
  t.same(
    one.sent.slice(3).map(({ text }) => text),
    ['c'],
  );
  t.same(one.pending(), []);
  t.equal(one.outbox.state.dropped, 0, 'that is no loss');
});

t.test('a full disk holds up nothing: it is sent all the same, and told', async (t) => {
  const one = await rig();
  one.files.isFull = true;
  await one.take('a');
  t.match(one.faults, [/no space left/]);
  one.answer = 500;
  await one.next();
  one.answer = 200;
  await one.next();
  t.equal(one.sent.length, 2);
  t.equal(one.outbox.state.pending, 0);
});

t.test('a block that can not be read is asked again a minute later, and the others do not wait for it', async (t) => {
  const one = await rig();
  one.waits = async () => {
    throw new Error('the disk is slow');
  };
  await one.take('a', 'a1');
  await one.take('b');
  await one.outbox.send();
  t.same(
    one.sent.map(({ text }) => text),
    ['b'],
  );
  t.match(one.faults, [/the disk is slow/]);
  t.equal((one.outbox.dueAt ?? 0) - one.clock.monotonic, MINUTE);
});

t.test('what never arrives holds up nothing that is new', async (t) => {
  const one = await rig();
  one.answer = 500;
  await one.take('old');
  await one.next();
  await one.take('new');
  one.pass(5 * SECOND);
  await one.outbox.send();
  t.same(
    one.sent.slice(1).map(({ text }) => text),
    ['new', 'old'],
  );
});

t.test('an end in the middle of a delivery keeps the notice', async (t) => {
  const one = await rig();
  let cut: (status: null) => void = () => undefined;
  one.answer = () => new Promise((resolve) => (cut = resolve));
  await one.take('a');
  void one.outbox.send();
  await settled();
  const closed = one.outbox.close();
  cut(null);
  await closed;
  t.equal(one.pending().length, 1);
  t.same(one.failed, []);
  t.equal((await rig(one.files, one.clock)).outbox.state.pending, 1);
});

t.test('files that are none of ours are left, and told', async (t) => {
  const files = new MemoryFiles();
  files.in('pending-phone').set('msg_1', '{');
  files.in('pending-phone').set('msg_2', '[]');
  files.in('pending-phone').set('note', '{"body":{}}');
  files.in('targets').set('phone', '"x"');
  const one = await rig(files);
  t.match(one.outbox.state, { pending: 0, off: false, dropped: 0, last: null });
  t.equal(one.faults.length, 3);
  t.equal(one.pending().length, 3);
});

t.test('a target that is removed leaves nothing', async (t) => {
  const one = await rig();
  one.answer = 500;
  await one.take('a');
  await one.next();
  await one.outbox.erase();
  t.same(one.pending(), []);
  t.equal(one.files.in('targets').size, 0);
});
