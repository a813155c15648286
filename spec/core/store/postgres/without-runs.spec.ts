// A database keeps no journals yet.
import t from 'tap';
import { WithoutRuns } from '../../../../core/store/postgres/without-runs.ts';

t.test('nothing is there, and nothing is written without a word', async (t) => {
  const runs = new WithoutRuns();
  t.strictSame(await runs.steps('m1'), []);
  t.equal(await runs.result('m1', '1.1'), undefined);
  t.equal(await runs.clearSteps(), 0);
  for (const refused of [runs.appendSteps(undefined, 'm1', 0, []), runs.keepResult({} as never, 'm1', '1.1', new Uint8Array())])
    await t.rejects(refused, { code: 'WRONG_STATE', message: /A database keeps no journals of runs yet.*Remove `tools`/ });
});
