// The actor of one block, and the monitor within it.
import t from 'tap';
import { fromPromise } from 'xstate';
import { Lifecycle } from '../../../core/block/lifecycle.ts';
import type { Stored } from '../../../core/block/vault.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import { type Choice, createMonitorMachine, type ReplyOutcome } from '../../../core/monitor/machine.ts';
import { gate } from '../../support/stepped-adapter.ts';
import { until } from '../../support/until.ts';

const stored = (archiveName: string): Stored => ({ archiveName, unconfirmed: undefined });

function lifeOf({ archive = async () => stored('ada_2026') }: { archive?: (wasRunning: boolean) => Promise<Stored> } = {}) {
  const heard: string[] = [];
  const runs: boolean[] = [];
  const errors: unknown[] = [];
  let settled = gate();
  const reply = gate();
  const nothing = (): Promise<Choice> => Promise.resolve({ kind: 'nothing' });
  const machine = () =>
    createMonitorMachine(() => 0).provide({
      actors: {
        recover: fromPromise(nothing),
        choose: fromPromise(nothing),
        reply: fromPromise<ReplyOutcome, { readonly name: string; readonly messageId: string }>(async () => {
          await reply.opened;
          return { kind: 'over', failed: false };
        }),
        settle: fromPromise(() => settled.opened),
      },
    });
  const life = new Lifecycle({
    name: 'ada',
    machine,
    archive,
    onMonitor: (isRunning) => void runs.push(isRunning),
    onStep: ({ value }) => void (value !== heard.at(-1) && heard.push(String(value))),
    onError: (error) => void errors.push(error),
  });
  return {
    life,
    heard,
    runs,
    errors,
    settle: () => settled.open(),
    unsettle: () => {
      settled = gate();
    },
    is: (state: string) => until(`it is ${state}`, () => heard.at(-1) === state),
  };
}

t.test('a block that was never steered runs nothing, and has nothing to stop', async (t) => {
  const { life, runs } = lifeOf();
  t.notOk(life.isRunning);
  t.equal(life.context, undefined);
  life.send({ type: 'chat.changed' });
  await life.stop('stop', 'user');
  t.strictSame(runs, []);
});

t.test('a monitor is told of from its first step to its last', async (t) => {
  const { life, heard, runs, settle, is } = lifeOf();
  const started = life.start('start', 'user');
  t.ok(life.isRunning);
  t.match(life.context, { name: 'ada', cause: 'start', actor: 'user' });
  await started;
  await is('idle');
  life.send({ type: 'chat.changed' });
  await is('idle');
  const stopped = life.stop('stop', 'user');
  settle();
  await stopped;
  t.notOk(life.isRunning);
  t.equal(life.context, undefined);
  t.strictSame(runs, [true, false]);
  t.strictSame([heard[0], ...heard.slice(-2)], ['starting', 'stopping', 'stopped']);
});

t.test('a start that comes while the monitor ends begins another one', async (t) => {
  const { life, settle, is, runs } = lifeOf();
  await life.start('start', 'user');
  await is('idle');
  const stopped = life.stop('stop', 'user');
  const started = Promise.all([life.start('again', 'user'), life.start('again', 'user')]);
  settle();
  await Promise.all([stopped, started]);
  t.ok(life.isRunning);
  t.equal(life.context?.cause === 'again' || life.context?.cause === 'recovered', true);
  t.strictSame(runs, [true, false, true]);
});

t.test('after the stop of the server nothing starts any more', async (t) => {
  const { life, settle, is } = lifeOf();
  await life.start('start', 'user');
  await is('idle');
  const stopped = life.stop('server stops', 'server');
  const started = t.rejects(life.start('start', 'user'), { code: 'SHUTTING_DOWN' });
  settle();
  await Promise.all([stopped, started]);
  t.notOk(life.isRunning);
});

t.test('who has no time says so by a second stop', async (t) => {
  const { life, settle, is, heard } = lifeOf();
  await life.start('start', 'user');
  await is('idle');
  const hurry = gate();
  const stopped = life.stop('server stops', 'server', hurry.opened);
  hurry.open();
  settle();
  await stopped;
  t.equal(heard.at(-1), 'stopped');
});

t.test('a block moves when its monitor has ended', async (t) => {
  const asked: boolean[] = [];
  const { life, settle, is } = lifeOf({
    archive: async (wasRunning) => {
      asked.push(wasRunning);
      return stored('ada_2026');
    },
  });
  await life.start('start', 'user');
  await is('idle');
  const archived = life.archive();
  t.strictSame(asked, []);
  settle();
  t.same(await archived, stored('ada_2026'));
  t.strictSame(asked, [true]);
  t.notOk(life.isRunning);
});

t.test('a move that fails is thrown as it was, and the block can run and move again', async (t) => {
  const failure = Object.assign(new Error('no'), { code: 'EXDEV' });
  let isBroken = true;
  const { life, is } = lifeOf({ archive: () => (isBroken ? Promise.reject(failure) : Promise.resolve(stored('ada_2027'))) });
  const caught = await life.archive().catch((error: unknown) => error);
  t.equal(caught, failure);
  isBroken = false;
  await life.start('start', 'user');
  await is('idle');
  t.ok(life.isRunning);
  const other = lifeOf();
  t.same(await other.life.archive(), stored('ada_2026'), 'one that never ran moves as well');
});

t.test('what the disk did not confirm is told with the move', async (t) => {
  const unconfirmed = new BlockhouseError('STORAGE_FAILED', 'not confirmed');
  const { life } = lifeOf({ archive: async () => ({ archiveName: 'ada_2026', unconfirmed }) });
  t.same(await life.archive(), { archiveName: 'ada_2026', unconfirmed });
});

t.test('a start while the block is archived is refused, also one that waited for the end of the monitor', async (t) => {
  const moved = gate();
  const { life, settle, is } = lifeOf({ archive: () => moved.opened.then(() => stored('ada_2026')) });
  await life.start('start', 'user');
  await is('idle');
  const archived = life.archive();
  const waiting = t.rejects(life.start('start', 'user'), { code: 'WRONG_STATE', status: 409 });
  settle();
  await waiting;
  await t.rejects(life.start('start', 'user'), { code: 'WRONG_STATE' });
  moved.open();
  await archived;
  await t.rejects(life.start('start', 'user'), { code: 'WRONG_STATE' }, 'and afterwards');
  t.notOk(life.isRunning);
});
