import t from 'tap';
import { nextTurn } from '../../../core/base/next-turn.ts';

t.test('each turn of the event loop goes to one of those who wait, in their order', async (t) => {
  let turn = 0;
  const count = (): void => {
    turn += 1;
    ticking = setImmediate(count);
  };
  let ticking = setImmediate(count);
  const turns = await Promise.all([0, 1, 2].map(() => nextTurn().then(() => turn)));
  clearImmediate(ticking);
  t.ok((turns[0] ?? 0) < (turns[1] ?? 0) && (turns[1] ?? 0) < (turns[2] ?? 0), turns.join());
});

t.test('callers have turns one after the other, however often one of them waits', async (t) => {
  const order: string[] = [];
  const wait = (caller: string): Promise<unknown> => nextTurn(caller).then(() => order.push(caller));
  await Promise.all([wait('a'), wait('a'), wait('a'), wait('b'), wait('b')]);
  t.strictSame(order, ['a', 'b', 'a', 'b', 'a']);
});
