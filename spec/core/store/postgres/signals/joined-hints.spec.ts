import t from 'tap';
import { JoinedHints } from '../../../../../core/store/postgres/signals/joined-hints.ts';
import { fakeTimers } from '../../../../support/fake-timers.ts';

t.test('first-at-once: a hint that is repeated without end is handed on ten times a second, and the last one is not lost', async (t) => {
  const pass = fakeTimers(t);
  const handed: string[] = [];
  const hints = new JoinedHints<{ what: string; block: number }>(({ what, block }) => handed.push(`${what} ${block}`));
  for (let n = 0; n < 50; n += 1) for (const what of ['work', 'wish']) hints.hear({ what, block: 1 });
  t.strictSame(handed.splice(0), ['work 1', 'wish 1']);
  await pass(100);
  t.strictSame(handed.splice(0), ['work 1', 'wish 1'], 'what was heard meanwhile');
  hints.hear({ what: 'work', block: 1 });
  hints.hear({ what: 'work', block: 2 });
  t.strictSame(handed.splice(0), ['work 2']);
  await pass(100);
  t.strictSame(handed.splice(0), ['work 1']);
  await pass(200);
  t.strictSame(handed, []);
  hints.hear({ what: 'work', block: 1 });
  t.strictSame(handed.splice(0), ['work 1'], 'and again at once');

  for (let block = 0; block < 2000; block += 1) hints.hear({ what: 'work', block });
  t.equal(handed.splice(0).length, 999, 'bounded');
  hints.hear({ what: 'work', block: 1 });
  hints.close();
  await pass(1000);
  t.strictSame(handed, []);
});
