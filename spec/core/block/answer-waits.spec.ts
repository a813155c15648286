import t from 'tap';
import { AnswerWaits } from '../../../core/block/answer-waits.ts';
import type { FollowOptions } from '../../../core/block/api.ts';
import type { Block } from '../../../core/block/block.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import type { Entries } from '../../../core/store/port.ts';
import { userEntry } from '../../support/block-files.ts';

const LIMITS = { waitMs: 60_000, signal: undefined, until: undefined };

/** The parts of a block that waits use, with the reads and followers counted. */
function standIn() {
  const followers = new Set<FollowOptions>();
  const state = { entries: [] as Entries | Error, reads: 0, isMoving: false, isRunning: true, state: 'working', followed: 0, unread: [] as Entries };
  const block = {
    name: 'ada',
    get isMoving() {
      return state.isMoving;
    },
    standing: async () => ({ isRunning: state.isRunning, state: state.state }),
    files: {
      conversation: {
        entries: async () => {
          state.reads += 1;
          if (state.entries instanceof Error) throw state.entries;
          return state.entries;
        },
        message: async (id: string) => {
          const entry = state.unread.find((one) => one.id === id);
          if (entry === undefined) throw new BlockhouseError('MESSAGE_NOT_FOUND', id);
          return { entry, answer: null };
        },
      },
    },
    follow: (follower: FollowOptions) => {
      followers.add(follower);
      state.followed += 1;
      return () => void followers.delete(follower);
    },
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    state,
    followers,
    waits: new AnswerWaits(block as unknown as Block),
    turn,
    change: async () => {
      for (const follower of followers) follower.onChange?.();
      await turn();
    },
    goAway: () => {
      for (const follower of followers) follower.onGone?.();
    },
  };
}

const waiting = (id: string) => userEntry(id, { status: 'queued', processed: false });
const over = (id: string) => userEntry(id, { status: 'done', processed: true });
const damaged = new BlockhouseError('BLOCK_DAMAGED', 'chat.json');

t.test('all waits of a block share one follower and one read after a change, and the last one ends both', async (t) => {
  const one = standIn();
  one.state.entries = [waiting('m1'), waiting('m2')];
  const all = Array.from({ length: 100 }, (_, n) => one.waits.wait(n % 2 === 0 ? 'm1' : 'm2', LIMITS));
  await one.turn();
  t.equal(one.state.followed, 1);
  t.ok(one.state.reads <= 2, 'for a hundred waits');
  const before = one.state.reads;
  await one.change();
  t.equal(one.state.reads, before + 1);
  t.equal(one.waits.size, 100);
  one.state.entries = [over('m1'), waiting('m2')];
  await one.change();
  t.equal(one.waits.size, 50);
  t.equal(await all[0], one.state.entries);
  one.state.entries = [];
  await one.change();
  t.same((await Promise.all(all)).length, 100, 'a message that is not there is not waited for');
  t.equal(one.followers.size, 0);
});

t.test('a message that is not among the entries yet is waited for, if it waits', async (t) => {
  const one = standIn();
  one.state.unread = [waiting('m1'), over('m2')];
  const [first, second] = ['m1', 'm2'].map((id) => one.waits.wait(id, LIMITS));
  await second;
  t.equal(one.waits.size, 1);
  one.state.entries = [over('m1')];
  await one.change();
  t.equal(await first, one.state.entries);
});

t.test('damage says nothing about a message, and any other fault ends the wait', async (t) => {
  const one = standIn();
  one.state.entries = damaged;
  const wait = one.waits.wait('m1', LIMITS);
  await one.change();
  t.equal(one.waits.size, 1);
  const fault = new BlockhouseError('STORAGE_FAILED', 'no');
  one.state.entries = fault;
  const refused = t.rejects(wait, fault);
  await one.change();
  await refused;
});

t.test('while a block moves, only an outcome ends a wait, until the block is gone', async (t) => {
  const one = standIn();
  one.state.entries = [waiting('m1'), waiting('m2')];
  const [done, left] = [one.waits.wait('m1', LIMITS), one.waits.wait('m2', LIMITS)];
  await one.turn();
  one.state.isMoving = true;
  one.state.isRunning = false;
  one.state.entries = [over('m1'), waiting('m2')];
  await one.change();
  t.ok(await done);
  one.state.entries = new BlockhouseError('STORAGE_FAILED', 'it is gone');
  await one.change();
  t.equal(one.waits.size, 1);
  const gone = t.rejects(left, { code: 'BLOCK_NOT_FOUND', message: /ada.*m2/ });
  one.goAway();
  await gone;
  t.equal(one.waits.size, 0);
});

t.test('a monitor that stops, pauses or fails ends every wait, and one that tries again none', async (t) => {
  for (const state of ['working', 'backoff', 'compacting', 'stopping', 'paused', 'failed', 'stopped']) {
    const one = standIn();
    one.state.entries = [waiting('m1')];
    const wait = one.waits.wait('m1', LIMITS);
    Object.assign(one.state, { state, isRunning: state !== 'stopped' });
    await one.change();
    const ends = ['paused', 'failed', 'stopped'].includes(state);
    t.equal(one.waits.size, ends ? 0 : 1, state);
    one.state.entries = [];
    await one.change();
    t.equal(await wait, ends ? undefined : one.state.entries, state);
  }
});

t.test('a signal that has fired already ends the wait at once', async (t) => {
  const one = standIn();
  one.state.entries = [waiting('m1')];
  await t.rejects(one.waits.wait('m1', { ...LIMITS, signal: AbortSignal.abort() }), { code: 'CANCELLED' });
  t.equal(await one.waits.wait('m1', { ...LIMITS, until: AbortSignal.abort() }), undefined);
  t.equal(await one.waits.wait('m1', { ...LIMITS, waitMs: 1 }), undefined);
  t.equal(one.followers.size, 0);
});
