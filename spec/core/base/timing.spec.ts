import t from 'tap';
import { newCallNumber } from '../../../core/base/call-number.ts';
import { timed } from '../../../core/base/timing.ts';

t.test('work is measured until it has succeeded, and only where somebody wants that', async (t) => {
  const seen: string[] = [];
  const timing = () => {
    seen.push('begun');
    return () => seen.push('ended');
  };
  t.equal(await timed(timing, async () => seen.push('done')), 2);
  t.same(seen, ['begun', 'done', 'ended']);
  await t.rejects(timed(timing, () => Promise.reject(new Error('full'))));
  t.equal(seen.at(-1), 'begun');
  t.equal(await timed(undefined, async () => 7), 7);
  t.equal(
    await timed(
      () => undefined,
      async () => 7,
    ),
    7,
  );
});

t.test('no two calls have one number, and each is exact', async (t) => {
  const numbers = Array.from({ length: 1000 }, newCallNumber);
  t.equal(new Set(numbers).size, 1000);
  t.ok(numbers.every(Number.isSafeInteger));
});
