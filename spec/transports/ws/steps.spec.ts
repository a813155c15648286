// The frames of a subscription with `steps`.
import t from 'tap';
import { createBus } from '../../../core/index.ts';
import { followSteps, type RunFrame } from '../../../transports/ws/steps.ts';

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
