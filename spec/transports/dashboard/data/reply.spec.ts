import t from 'tap';
import { afterStep, type Reply, type Step } from '../../../../transports/dashboard/data/reply.ts';

const start = (seq: number, attempt = 1, id = 'm1'): Step => ({ id, seq, event: 'start', provider: 'p', model: 'm', attempt });
const content = (seq: number, text: string, id = 'm1'): Step => ({ id, seq, event: 'content', text });
const all = (...steps: readonly Step[]): Reply | undefined =>
  steps.reduce<Reply | undefined>((reply, step, index) => afterStep(reply, step, 1000 + index), undefined);

t.test('pieces add up, and the first one has its time', async (t) => {
  t.match(all(start(1), content(3, 'He'), content(6, 'llo')), { text: 'Hello', model: 'm', seq: 6, firstTextAt: 1001, at: 1002, phase: 'writing' });
});

t.test('what was there already when the page was opened does not count for the pace', async (t) => {
  const steps: readonly (readonly [Step, number])[] = [
    [content(3, 'He'), 1000],
    [content(6, 'llo, I '), 1200],
    [content(9, 'am'), 2000],
  ];
  const reply = steps.reduce<Reply | undefined>((before, [step, at]) => afterStep(before, step, at), undefined);
  t.match(reply, { text: 'Hello, I am', paceFrom: { at: 1200, characters: 9 } });
  t.match(afterStep(reply, start(12, 2), 3000), { paceFrom: { at: 3000, characters: 0 } }, 'a new attempt begins anew');
});

t.test('a piece that comes twice counts once', async (t) => {
  t.match(all(start(1), content(3, 'He'), content(3, 'He'), start(1)), { text: 'He', seq: 3 });
});

t.test('a new attempt discards the text of the one before', async (t) => {
  const failed: Step = { id: 'm1', seq: 4, event: 'error', code: 'UPSTREAM_FAILED', error: 'It broke.', willRetry: true };
  t.match(all(start(1), content(3, 'He'), failed), { phase: 'waits', error: 'It broke.', code: 'UPSTREAM_FAILED' });
  t.match(all(start(1), content(3, 'He'), failed, start(5, 2), content(7, 'Yo')), { text: 'Yo', attempt: 2, error: undefined, phase: 'writing' });
});

t.test('the end of a reply has its outcome', async (t) => {
  t.match(all(start(1), content(3, 'He'), { id: 'm1', seq: 4, event: 'done', answerId: 'a1', status: 'done', stopReason: 'end_turn' }), {
    phase: 'done',
    answerId: 'a1',
    text: 'He',
  });
  t.match(all(start(1), { id: 'm1', seq: 2, event: 'error', code: 'X', error: 'No.', willRetry: false }), { phase: 'failed' });
});

t.test('the reply to another message begins anew, also when its start was missed', async (t) => {
  t.match(all(start(1), content(3, 'He'), content(9, 'rest', 'm2')), { id: 'm2', text: 'rest' });
});

t.test('a step that the page has never heard of changes nothing', async (t) => {
  const before = all(start(1), content(3, 'He'));
  t.equal(afterStep(before, { id: 'm1', seq: 9, event: 'thought' }, 5), before);
});
