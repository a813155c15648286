import t from 'tap';
import { OneAtATime } from '../../../core/base/one-at-a-time.ts';

const NEVER = new AbortController().signal;

t.test('work is done one after the other, and who has left costs nothing', async (t) => {
  const line = new OneAtATime();
  let running = 0;
  let most = 0;
  const work = async (): Promise<number> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return most;
  };
  const leaving = new AbortController();
  const left = line.run(work, leaving.signal);
  leaving.abort(new Error('left'));
  const failed = line.run(() => Promise.reject(new Error('failed')), NEVER);
  const others = Promise.all([1, 2, 3].map(() => line.run(work, NEVER)));
  t.equal(line.length, 5);
  await t.rejects(left, { message: 'left' });
  await t.rejects(failed, { message: 'failed' });
  t.same(await others, [1, 1, 1]);
  t.equal(line.length, 0);
});
