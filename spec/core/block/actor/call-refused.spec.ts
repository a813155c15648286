import t from 'tap';
import { CallRefused, haltPause } from '../../../../core/block/actor/call-refused.ts';

t.test('the kill switch pauses until it is released, and the pause says why it was set', async (t) => {
  t.equal(haltPause({ halted: false, since: null, reason: null }), undefined);
  const pause = haltPause({ halted: true, since: '2026-11-20T14:03:22.123Z', reason: 'Too dear' });
  t.match(pause, { kind: 'pause', until: null, actor: 'user', reason: { code: 'HALTED', message: /Too dear/, fix: 'blockhouse unhalt' } });
});

t.test('a refusal has the message of its pause', async (t) => {
  const pause = { kind: 'pause', until: 1, actor: 'budget', reason: { code: 'BUDGET_REACHED', message: 'No.', fix: null } } as const;
  t.match(new CallRefused(pause), { message: 'No.', pause });
});
