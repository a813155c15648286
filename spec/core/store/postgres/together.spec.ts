import t from 'tap';
import { Together } from '../../../../core/store/postgres/together.ts';

t.test('what waits for its turn is asked at once, and each question has its own answer', async (t) => {
  const seen: number[] = [];
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };
  const doubled = new Together<number, number>(inTurn, async (asked) => {
    seen.push(asked.length);
    await Promise.resolve();
    if (asked.includes(-1)) throw new Error('not that one');
    return asked.map((n) => 2 * n);
  });
  const first = doubled.ask(1);
  t.equal(await first, 2);
  const many = Array.from({ length: 300 }, (_, n) => n);
  t.strictSame(
    await Promise.all(many.map((n) => doubled.ask(n))),
    many.map((n) => 2 * n),
  );
  const failed = [doubled.ask(-1), doubled.ask(2)];
  await Promise.all(failed.map((one) => t.rejects(one, { message: 'not that one' })));
  t.equal(await doubled.ask(3), 6, 'the next ones do not fail');
  t.strictSame(seen, [1, 256, 44, 2, 1]);
});
