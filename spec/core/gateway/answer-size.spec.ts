import t from 'tap';
import { ANSWER_LIMITS } from '../../../core/gateway/answer-limits.ts';
import { AnswerSize } from '../../../core/gateway/answer-size.ts';

t.test('what is kept of an answer is bounded, in few large pieces or in many empty ones', (t) => {
  const size = new AnswerSize();
  size.add(ANSWER_LIMITS.kept / 2);
  t.throws(() => size.add(ANSWER_LIMITS.kept / 2), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true });
  const small = new AnswerSize();
  t.throws(
    () => {
      for (let pieces = 0; pieces < ANSWER_LIMITS.kept; pieces += 1) small.add(0);
    },
    { code: 'UPSTREAM_MALFORMED' },
  );
  t.end();
});

t.test('a value counts with all that is in it, however deep, and a block as one', (t) => {
  let nested: unknown = 'x'.repeat(ANSWER_LIMITS.kept);
  for (let depth = 0; depth < 100_000; depth += 1) nested = [nested];
  t.throws(() => new AnswerSize().addValue({ a: nested }), { code: 'UPSTREAM_MALFORMED' });
  t.doesNotThrow(() => new AnswerSize().addValue({ a: ['x', { b: 1 }, null] }));
  const names = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`${index}`.padEnd(ANSWER_LIMITS.kept / 10, 'n'), 1]));
  t.throws(() => new AnswerSize().addValue(names), { code: 'UPSTREAM_MALFORMED' }, 'names too');
  const blocks = new AnswerSize();
  for (let count = 0; count < ANSWER_LIMITS.blocks; count += 1) blocks.addBlock();
  t.throws(() => blocks.addBlock(), { code: 'UPSTREAM_MALFORMED', mayHaveRun: true });
  t.end();
});
