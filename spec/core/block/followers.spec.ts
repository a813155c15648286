import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Followers } from '../../../core/block/followers.ts';
import { AnswerText } from '../../../core/block/reply/answer-text.ts';
import type { ReplyStep } from '../../../core/block/reply/reply-stream.ts';
import { ReplyStream, StepCounter } from '../../../core/block/reply/reply-stream.ts';
import { FolderWatches } from '../../../core/store/files/watch.ts';
import { until } from '../../support/until.ts';

function followersIn(t: Test, folder: string) {
  const watches = new FolderWatches({ onFault: (_folder, error) => t.fail(error.message) });
  const feed = new ReplyStream(new StepCounter(0));
  const touched: string[] = [];
  t.teardown(() => watches.close());
  return {
    watches,
    feed,
    touched,
    followers: new Followers({ feed, watch: () => watches.watch(folder, (name) => touched.push(name)), watchLog: () => () => undefined }),
  };
}

t.test('the folder is watched only while the monitor runs or there is a follower', async (t) => {
  const folder = t.testdir({ 'chat.json': '' });
  const { followers, watches, touched } = followersIn(t, folder);
  t.equal(watches.size, 0);
  followers.needWatch(true);
  t.equal(watches.size, 1);
  const leave = followers.add({});
  followers.needWatch(false);
  t.equal(watches.size, 1, 'somebody follows');
  t.equal(followers.size, 1);
  writeFileSync(join(folder, 'chat.json'), '[]');
  await until('the edit is seen', () => touched.includes('chat.json'));
  leave();
  leave();
  t.equal(watches.size, 0);
  t.equal(followers.size, 0);
});

t.test('a folder that is about to move is not watched, and one that stays is watched again', async (t) => {
  const { followers, watches } = followersIn(t, t.testdir({}));
  followers.add({});
  followers.pause();
  t.equal(watches.size, 0);
  followers.resume();
  t.equal(watches.size, 1);
});

t.test('each follower is called for changes until it leaves, also if it was added twice', async (t) => {
  const { followers } = followersIn(t, t.testdir({}));
  let changes = 0;
  const follower = {
    onChange: () => {
      changes += 1;
    },
  };
  const leave = followers.add(follower);
  followers.add(follower);
  followers.add({});
  followers.changed();
  t.equal(changes, 2);
  leave();
  followers.changed();
  t.equal(changes, 3);
});

t.test('a follower that leaves during a round is not called any more', async (t) => {
  const { followers } = followersIn(t, t.testdir({}));
  let told = 0;
  const leaves: (() => void)[] = [];
  const onChange = (): void => {
    told += 1;
    for (const leave of leaves) leave();
  };
  leaves.push(followers.add({ onChange }), followers.add({ onChange }));
  followers.changed();
  t.equal(told, 1);
});

t.test('a late reader gets the reply so far, and then each step', async (t) => {
  const { followers, feed } = followersIn(t, t.testdir({}));
  const text = new AnswerText();
  const say = (piece: string): void => feed.emit({ id: 'm1', event: 'content', text: text.append(piece) });
  feed.start({ id: 'm1', provider: 'p', model: 'm', attempt: 1 }, text);
  say('a');
  say('b');
  const all: ReplyStep[] = [];
  const rest: ReplyStep[] = [];
  followers.add({ onReply: (step) => all.push(step) });
  followers.add({ onReply: (step) => rest.push(step), sinceSeq: 2 });
  const leave = followers.add({ onReply: () => t.fail('it has left'), sinceSeq: 3 });
  leave();
  say('c');
  t.match(all, [
    { seq: 1, event: 'start' },
    { seq: 3, text: 'ab' },
    { seq: 4, text: 'c' },
  ]);
  t.match(rest, [
    { seq: 3, text: 'b' },
    { seq: 4, text: 'c' },
  ]);
});

t.test('after onGone a follower is not called', async (t) => {
  const { followers, feed, watches } = followersIn(t, t.testdir({}));
  const told: string[] = [];
  const leave = followers.add({ onChange: () => told.push('change'), onGone: () => told.push('gone'), onReply: () => told.push('reply') });
  followers.add({});
  followers.needWatch(true);
  followers.dismiss();
  followers.changed();
  feed.emit({ id: 'm1', event: 'content', text: 'late' });
  followers.dismiss();
  leave();
  t.strictSame(told, ['gone']);
  t.equal(watches.size, 0);
});

t.test('what happens in runs comes to those who asked for it, until they leave', async (t) => {
  const { followers } = followersIn(t, t.testdir({}));
  const calls: string[] = [];
  const leave = followers.add({ onRun: ({ id }) => void calls.push(id) });
  followers.add({});
  const fact = (id: string) => ({ name: 'tool.called', block: 'a', id, call: '1.1', tool: 'x/y' }) as const;
  followers.ran(fact('m1'));
  leave();
  followers.ran(fact('m2'));
  t.strictSame(calls, ['m1']);
});

t.test('an error of a follower is reported and does not reach others', async (t) => {
  const { followers, feed } = followersIn(t, t.testdir({}));
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  const fail = (what: unknown) => () => {
    throw what;
  };
  let told = 0;
  followers.add({ onChange: fail(new Error('change')), onReply: fail('reply'), onGone: fail(new Error('gone')) });
  followers.add({
    onChange: () => {
      told += 1;
    },
    onReply: () => {
      told += 1;
    },
    onGone: () => {
      told += 1;
    },
  });
  followers.changed();
  feed.emit({ id: 'm1', event: 'content', text: 'a' });
  followers.dismiss();
  t.equal(told, 3);
  await until('the warnings are out', () => warnings.length === 3);
  t.strictSame(warnings, ['change', 'reply', 'gone']);
});
