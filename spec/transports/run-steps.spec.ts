// The frames of a run, for a WebSocket and for a stream.
import t from 'tap';
import { createBus } from '../../core/index.ts';
import { followSteps, type RunFrame } from '../../transports/run-steps.ts';

t.test('a step is told once, before the first of its calls, and nothing comes after the end', async (t) => {
  const bus = createBus();
  const frames: RunFrame[] = [];
  const stop = followSteps(bus, 'a', (frame) => frames.push(frame));
  const call = (block: string, id: string, place: string) => bus.emit('tool.called', { block, id, call: place, tool: 'x/y' });
  call('a', 'm1', '2.1');
  call('a', 'm1', '2.2');
  call('b', 'm1', '3.1');
  call('a', 'm2', '2.1');
  t.strictSame(
    frames.map((frame) => ('event' in frame ? `${frame.id} ${frame.event} ${frame.event === 'step' ? frame.n : frame.call}` : frame.type)),
    ['m1 step 2', 'm1 tool 2.1', 'm1 tool 2.2', 'm2 step 2', 'm2 tool 2.1'],
  );
  stop();
  call('a', 'm2', '4.1');
  t.equal(frames.length, 5);
});

t.test('of one message, nothing of others is shown', async (t) => {
  const bus = createBus();
  const frames: RunFrame[] = [];
  followSteps(bus, 'a', (frame) => frames.push(frame), 'm1');
  for (const id of ['m1', 'm2']) {
    bus.emit('tool.called', { block: 'a', id, call: '1.1', tool: 'x/y' });
    bus.emit('approval.requested', { block: 'a', id, approval: `of-${id}`, tool: 'x/y', because: 'rule', expiresAt: '2026-11-28T12:00:00.000Z' });
  }
  t.strictSame(
    frames.map(({ id }) => id),
    ['m1', 'm1', 'of-m1'],
  );
});

t.test('a call that goes on is a frame of its own, which has only what its server has said', async (t) => {
  const bus = createBus();
  const frames: RunFrame[] = [];
  followSteps(bus, 'a', (frame) => frames.push(frame), 'm1');
  const fact = { block: 'a', id: 'm1', call: '2.1', tool: 'x/y', state: 'working', task: true } as const;
  bus.emit('tool.progressed', fact);
  bus.emit('tool.progressed', { ...fact, id: 'm2' });
  bus.emit('tool.progressed', { ...fact, progress: 0, total: 4, message: 'Reading' });
  const of = { type: 'run', block: 'a', id: 'm1', call: '2.1', event: 'progress', tool: 'x/y', state: 'working', task: true };
  t.strictSame(frames, [{ type: 'run', block: 'a', id: 'm1', event: 'step', n: 2 }, of, { ...of, progress: 0, total: 4, message: 'Reading' }]);
});
