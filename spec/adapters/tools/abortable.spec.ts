import t from 'tap';
import { abortable } from '../../../adapters/tools/abortable.ts';

t.test('who leaves leaves alone: the work goes on for others', async (t) => {
  let finish = (_: string): void => undefined;
  const work = new Promise<string>((resolve) => {
    finish = resolve;
  });
  const leaving = new AbortController();
  const [gone, stays] = [abortable(work, leaving.signal), abortable(work, new AbortController().signal)];
  leaving.abort(new Error('left'));
  await t.rejects(gone, { message: 'left' });
  finish('done');
  t.equal(await stays, 'done');
  await t.rejects(abortable(work, AbortSignal.abort(new Error('before'))), { message: 'before' });
  await t.rejects(abortable(Promise.reject(new Error('bad')), new AbortController().signal), { message: 'bad' });
});
