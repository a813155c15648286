import t from 'tap';
import { dayText, uncountedText, unpricedText } from '../../../../transports/dashboard/text/costs.ts';

t.test('calls without a known price are told beside a sum, and are not free', async (t) => {
  t.equal(uncountedText(1234), '1,234 not priced');
  const day = { day: '2026-11-23', cost: 4.11, calls: 120 };
  t.equal(dayText({ ...day, uncounted: 0 }), '2026-11-23: $4.11, 120 calls');
  t.equal(dayText({ ...day, uncounted: 5 }), '2026-11-23: $4.11, 120 calls, 5 not priced');
  t.notMatch(dayText({ ...day, cost: null, uncounted: 120 }), /\$0/);
  t.match(unpricedText(1), /^1 call has no known price and is not in the sum/);
});
