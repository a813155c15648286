// Which notices of a server are handed on in a turn.
import t from 'tap';
import { Notices } from '../../../adapters/tools/notices.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const progress = (progressToken: unknown) => ({ method: 'notifications/progress', params: { progressToken } });

t.test('in-turns: fifty of each kind and twenty kinds, in each turn of the event loop', async (t) => {
  const notices = new Notices(() => false);
  const taken = (method: string, times: number): number => Array.from({ length: times }, () => notices.take({ method })).filter(Boolean).length;
  for (let turn = 0; turn < 2; turn += 1) {
    t.equal(taken('a', 1000), 50);
    t.equal(Array.from({ length: 100 }, (_, kind) => taken(`kind ${kind}`, 1)).filter((count) => count > 0).length, 19);
    t.equal(taken('a', 1), 0);
    await nextTurn();
  }
});

t.test('the progress of each call that is under way is a kind of its own, and that of others is one kind', async (t) => {
  const notices = new Notices((request) => request <= 64);
  const calls = Array.from({ length: 64 }, (_, at) => at + 1);
  for (let times = 0; times < 100; times += 1) notices.take(progress(65));
  t.equal(calls.filter((id) => notices.take(progress(id))).length, 64);
  t.ok(notices.take(progress('1')), 'the token may be a text of digits');
  t.notOk(notices.take(progress(66)));
  t.ok(notices.take({ method: 'notifications/progress' }) === false, 'one without a token is of no call');
  t.ok(notices.take({ method: 'notifications/tools/list_changed' }));
});
