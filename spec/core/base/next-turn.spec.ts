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
