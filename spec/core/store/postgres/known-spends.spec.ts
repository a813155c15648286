import t from 'tap';
import { KnownSpends } from '../../../../core/store/postgres/known-spends.ts';

const SPENT = [{ usd: 1, tokens: 10 }];

function knownSpends() {
  const clock = { ms: 0 };
  return { spends: new KnownSpends(() => clock.ms), clock };
}

t.test('what came with a line answers the question that was asked before it, once and soon', (t) => {
  const { spends, clock } = knownSpends();
  t.same(spends.begin('ada'), [], 'nothing was asked');
  spends.end('ada', [], []);
  t.equal(spends.take('ada', [5]), undefined);
  const write = (): void => spends.end('ada', spends.begin('ada'), SPENT);
  write();
  t.equal(spends.take('ada', [6]), undefined, 'another question');
  write();
  t.same([spends.take('ada', [6]), spends.take('ada', [6])], [SPENT, undefined]);
  write();
  clock.ms += 101;
  t.equal(spends.take('ada', [6]), undefined, 'too late');
  write();
  spends.forget('ada');
  t.equal(spends.take('ada', [6]), undefined);
  t.end();
});

t.test('alone: lines that are written at the same time answer nothing, and what was known before them is forgotten', (t) => {
  const { spends } = knownSpends();
  spends.take('ada', [5]);
  spends.end('ada', spends.begin('ada'), SPENT);
  const [first, second] = [spends.begin('ada'), spends.begin('ada')];
  spends.begin('bob');
  spends.end('ada', first, SPENT);
  t.equal(spends.take('ada', [5]), undefined);
  spends.end('ada', second, SPENT);
  t.equal(spends.take('ada', [5]), undefined);
  spends.end('ada', spends.begin('ada'), SPENT);
  t.same(spends.take('ada', [5]), SPENT, 'one after them does');
  spends.end('ada', spends.begin('ada'));
  t.equal(spends.take('ada', [5]), undefined, 'nothing is known of its outcome');
  t.end();
});
