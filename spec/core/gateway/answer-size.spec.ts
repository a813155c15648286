// How its users keep to it is in spec/cases/bounded-answers.spec.ts.
import t from 'tap';
import { ANSWER_LIMITS } from '../../../core/gateway/answer-limits.ts';
import { AnswerSize } from '../../../core/gateway/answer-size.ts';

const TOO_MUCH = { code: 'UPSTREAM_MALFORMED', mayHaveRun: true };

t.test('pieces, values and blocks count up to their limits', async (t) => {
  const { kept, blocks } = ANSWER_LIMITS;
  const bytes = new AnswerSize();
  bytes.add(kept - 32);
  t.throws(() => bytes.add(0), TOO_MUCH, 'an empty piece takes some bytes as well');
  const values = new AnswerSize();
  values.addValue({ a: 'x'.repeat(kept / 2), b: [1, null, {}] });
  t.throws(() => values.addValue('x'.repeat(kept / 2)), TOO_MUCH);
  t.throws(() => new AnswerSize().addValue(Array.from({ length: kept / 32 }, () => 0)), TOO_MUCH, 'a number takes more than its text');
  const many = new AnswerSize();
  for (let count = 0; count < blocks; count += 1) many.addBlock();
  t.throws(() => many.addBlock(), TOO_MUCH);
});

t.test('a value that nests very deep counts like any other', async (t) => {
  let deep: unknown = [];
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  t.doesNotThrow(() => new AnswerSize().addValue(deep));
});
