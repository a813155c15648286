import t from 'tap';
import { testText } from '../../../cli/views/notify-text.ts';

t.test('what became of a test is one sentence', async (t) => {
  t.equal(testText('phone', { delivered: true, status: 204, problem: null, ms: 41.6 }), 'phone has taken it (204, in 42 ms).');
  t.equal(testText('phone', { delivered: false, status: 500, problem: null, ms: 1 }), 'phone has not taken it: it answered 500.');
  t.equal(
    testText('phone', { delivered: false, status: null, problem: 'It has not answered in time.', ms: 1 }),
    'phone has not taken it: It has not answered in time.',
  );
});
