import t, { type Test } from 'tap';
import { Tenure } from '../../../core/block/tenure.ts';
import type { Claim } from '../../../core/store/port.ts';
import { fakeTimers } from '../../support/fake-timers.ts';

const CLAIM: Claim = { name: 'a', block: 1, owner: 'me', fence: 1 };
const turn = () => new Promise((resolve) => setImmediate(resolve));

function tenure(t: Test, isShared = true) {
  const pass = fakeTimers(t);
  const done: string[] = [];
  const one = {
    doing: 'nothing' as 'nothing' | 'idle' | 'something',
    heldBy: undefined as string | undefined,
    dueAt: null as string | null,
    heldUntil: undefined as number | undefined,
  };
  const world = {
    member: () => ({ isShared, take: async () => (one.heldBy === undefined ? CLAIM : { heldBy: one.heldBy }) }),
    now: () => 5,
    steps: { follow: (seq: number) => void done.push(`numbers from ${seq}`) },
    schedules: { dueAt: () => one.dueAt },
    store: { signals: { publish: () => () => void done.push('unpublished') } },
  } as never;
  const made = new Tenure({
    ref: CLAIM,
    world,
    feed: { join: () => () => undefined },
    doing: () => one.doing,
    heldUntil: () => one.heldUntil,
    written: async () => void done.push('written'),
    leave: () => void done.push('left'),
    giveBack: (_claim, { state, dueAt }) => void done.push(`given back ${state}${dueAt === null ? '' : ` until ${dueAt}`}`),
  });
  return { made, one, done, pass };
}

t.test('what nothing runs in is given back at once, after all is stored', async (t) => {
  const { made, one, done } = tenure(t);
  t.equal(await made.take(), true);
  t.equal(made.claim, CLAIM);
  one.doing = 'something';
  made.see();
  one.doing = 'nothing';
  made.see();
  await turn();
  t.equal(made.claim, undefined);
  t.same(done, ['numbers from 5000', 'written', 'unpublished', 'given back stopped']);
});

t.test('what waits for messages is given back after half a minute, unless one comes', async (t) => {
  const { made, one, done, pass } = tenure(t);
  await made.take();
  one.doing = 'idle';
  made.see();
  await pass(29_999);
  one.doing = 'something';
  made.see();
  one.doing = 'idle';
  made.see();
  await pass(29_999);
  await turn();
  t.equal(made.claim, CLAIM);
  await pass(1);
  await turn();
  t.same(done.slice(1), ['written', 'unpublished', 'left', 'given back idle']);
});

t.test('a block with a schedule is looked at again when its next run comes', async (t) => {
  const { made, one, done, pass } = tenure(t);
  one.dueAt = '2026-11-23T07:00:00.000Z';
  await made.take();
  one.doing = 'idle';
  made.see();
  await pass(30_000);
  await turn();
  t.equal(done.at(-1), 'given back idle until 2026-11-23T07:00:00.000Z');
});

t.test('work that comes while the last steps are stored keeps the block', async (t) => {
  const { made, one } = tenure(t);
  await made.take();
  made.see();
  one.doing = 'something';
  await turn();
  t.equal(made.claim, CLAIM);
});

t.test('what another server has is not taken, and what is ours is not asked for again', async (t) => {
  const { made, one } = tenure(t);
  one.heldBy = 'other';
  t.equal(await made.take(), false);
  t.equal(made.claim, undefined);
  made.begin(CLAIM);
  t.equal(await made.take(), true);
  t.equal(made.end(), CLAIM);
});

t.test('a server alone keeps every block', async (t) => {
  const { made, done, pass } = tenure(t, false);
  await made.take();
  made.see();
  await pass(60_000);
  await turn();
  t.same([made.claim, done], [CLAIM, []]);
});

for (const [dueAt, until] of [
  [null, '1970-01-01T00:00:09.000Z'],
  ['1970-01-01T00:00:08.000Z', '1970-01-01T00:00:08.000Z'],
  ['1970-01-01T00:00:10.000Z', '1970-01-01T00:00:09.000Z'],
] as const) {
  t.test(`what waits for a person is given back until the time is over, or until a schedule is due before that (${dueAt})`, async (t) => {
    const { made, one, done, pass } = tenure(t);
    Object.assign(one, { doing: 'idle', heldUntil: 9000, dueAt });
    await made.take();
    made.see();
    await pass(30_000);
    await turn();
    t.equal(done.at(-1), `given back waiting-approval until ${until}`);
  });
}

t.test('what needs the claim keeps it until it is over', async (t) => {
  const { made, done } = tenure(t);
  const result = await made.using(async () => {
    await made.take();
    made.see();
    await turn();
    t.equal(made.claim, CLAIM);
    return 5;
  });
  t.equal(result, 5);
  await turn();
  t.equal(made.claim, undefined);
  t.equal(done.at(-1), 'given back stopped');
  await t.rejects(
    made.using(() => Promise.reject(new Error('x'))),
    { message: 'x' },
  );
});
