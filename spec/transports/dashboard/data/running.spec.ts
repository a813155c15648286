import t from 'tap';
import { afterEvent, type RunningCall } from '../../../../transports/dashboard/data/running.ts';

const AT = '2026-11-28T10:00:00.000Z';
const event = (name: string, data: object = {}) => ({ name, at: AT, data: { block: 'ada', id: 'm1', call: '1.1', tool: 'bank/pay', ...data } });
const after = (...events: readonly ReturnType<typeof event>[]): readonly RunningCall[] => events.reduce<readonly RunningCall[]>(afterEvent, []);

t.test('a call runs from when it is sent until it has an outcome, however often it is told of', async (t) => {
  const [one, other] = [event('tool.called'), event('tool.called', { call: '1.2' })];
  t.strictSame(after(one, one), [{ block: 'ada', messageId: 'm1', place: '1.1', tool: 'bank/pay', at: AT }]);
  t.match(after(one, other, event('tool.finished')), [{ place: '1.2' }]);
  t.strictSame(after(one, event('tool.finished', { block: 'bob' })).length, 1, 'another block has calls of the same name');
});

t.test('a call says how far it is, keeps its place, and is seen also where it has begun before the page', async (t) => {
  const called = [event('tool.called'), event('tool.called', { call: '1.2' })];
  const progress = event('tool.progressed', { state: 'working', task: true, progress: 3, total: 10, message: 'Reading' });
  t.match(after(...called, progress), [{ place: '1.1', at: AT, said: '3 of 10 Reading' }, { place: '1.2' }]);
  t.strictSame(after(event('tool.progressed', { task: true })), [{ block: 'ada', messageId: 'm1', place: '1.1', tool: 'bank/pay', said: '' }]);
  t.strictSame(after(progress, event('tool.finished')), []);
});

t.test('none is left after the end of its message, or when events are missing', async (t) => {
  t.strictSame(after(event('tool.called'), event('tool.called', { call: '1.2' }), event('message.finished')), []);
  t.equal(after(event('tool.called'), event('message.finished', { id: 'm2' })).length, 1);
  t.strictSame(after(event('tool.called'), event('missed')), []);
});

t.test('what is nothing of tools leaves the same list', async (t) => {
  const calls = after(event('tool.called'));
  for (const name of ['block.started', 'message.queued', 'constructor']) t.equal(afterEvent(calls, event(name)), calls);
});
