// The frames of a run, for a WebSocket and for a stream.
import t from 'tap';
import type { FollowOptions } from '../../core/index.ts';
import { followSteps, type RunFrame } from '../../transports/run-steps.ts';

type Fact = Parameters<NonNullable<FollowOptions['onRun']>>[0];

/** Blocks that tell their followers what a test says. */
function talking() {
  const followers = new Map<FollowOptions, string>();
  const follow = (name: string, options: FollowOptions) => {
    followers.set(options, name);
    return () => void followers.delete(options);
  };
  const say = (fact: Fact): void => {
    for (const [follower, name] of followers) if (name === fact.block) follower.onRun?.(fact);
  };
  return { blocks: { follow }, say };
}

const called = (block: string, id: string, call: string): Fact => ({ name: 'tool.called', block, id, call, tool: 'x/y' });

t.test('a step is told once, before the first of its calls, and nothing comes after the end', async (t) => {
  const { blocks, say } = talking();
  const frames: RunFrame[] = [];
  const stop = followSteps(blocks, 'a', (frame) => frames.push(frame));
  for (const fact of [called('a', 'm1', '2.1'), called('a', 'm1', '2.2'), called('b', 'm1', '3.1'), called('a', 'm2', '2.1')]) say(fact);
  t.strictSame(
    frames.map((frame) => ('event' in frame ? `${frame.id} ${frame.event} ${frame.event === 'step' ? frame.n : frame.call}` : frame.type)),
    ['m1 step 2', 'm1 tool 2.1', 'm1 tool 2.2', 'm2 step 2', 'm2 tool 2.1'],
  );
  say({ name: 'tool.finished', block: 'a', id: 'm2', call: '2.1', tool: 'x/y', outcome: 'done', isError: false, ms: 7 });
  say({ name: 'tool.finished', block: 'a', id: 'm2', call: '2.1', tool: 'x/y', outcome: 'unknown', isError: false, ms: null });
  say({ name: 'approval.decided', block: 'a', id: 'm2', approval: 'p', tool: 'x/y', state: 'denied' });
  const tool = { type: 'run', block: 'a', id: 'm2', event: 'tool', call: '2.1', tool: 'x/y' };
  t.strictSame(frames.slice(5), [
    { ...tool, state: 'done', isError: false, ms: 7 },
    { ...tool, state: 'unknown', isError: false },
    { type: 'approval', id: 'p', block: 'a', state: 'denied' },
  ]);
  stop();
  say(called('a', 'm2', '4.1'));
  t.equal(frames.length, 8);
});

t.test('of one message, nothing of others is shown', async (t) => {
  const { blocks, say } = talking();
  const frames: RunFrame[] = [];
  followSteps(blocks, 'a', (frame) => frames.push(frame), 'm1');
  for (const id of ['m1', 'm2']) {
    say(called('a', id, '1.1'));
    say({ name: 'approval.requested', block: 'a', id, approval: `of-${id}`, tool: 'x/y', because: 'rule', expiresAt: '2026-11-28T12:00:00.000Z' });
  }
  t.strictSame(
    frames.map(({ id }) => id),
    ['m1', 'm1', 'of-m1'],
  );
});

t.test('a call that goes on is a frame of its own, which has only what its server has said', async (t) => {
  const { blocks, say } = talking();
  const frames: RunFrame[] = [];
  followSteps(blocks, 'a', (frame) => frames.push(frame), 'm1');
  const fact = {
    name: 'tool.progressed',
    block: 'a',
    id: 'm1',
    call: '2.1',
    tool: 'x/y',
    state: 'working',
    task: true,
  } as const;
  say(fact);
  say({ ...fact, id: 'm2' });
  say({ ...fact, progress: 0, total: 4, message: 'Reading' });
  const of = { type: 'run', block: 'a', id: 'm1', call: '2.1', event: 'progress', tool: 'x/y', state: 'working', task: true };
  t.strictSame(frames, [{ type: 'run', block: 'a', id: 'm1', event: 'step', n: 2 }, of, { ...of, progress: 0, total: 4, message: 'Reading' }]);
});
