import t from 'tap';
import { ANSWER_LIMITS } from '../../../core/gateway/answer-limits.ts';

t.test('the parts of an answer have smaller limits than the whole of it', async (t) => {
  const { head, error, line, record, whole, frame, kept, stream } = ANSWER_LIMITS;
  const rising = [error, line, record, whole, kept, stream];
  t.same(
    rising,
    rising.toSorted((a, b) => a - b),
  );
  t.ok(head <= line && frame <= whole);
});
