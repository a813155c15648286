import t from 'tap';
import { DEFAULT_LIMITS, MAX_MESSAGE_BYTES, MAX_MESSAGE_FRAMES, MAX_MESSAGE_PIECES } from '../../../transports/ws/limits.ts';

t.test('the limits fit each other and what the documentation says of them', async (t) => {
  const { quietMs, patienceMs, highWaterBytes, maxWaitingBytes, tokenCheckMs, messageBurst, maxSubscriptions } = DEFAULT_LIMITS;
  t.ok(quietMs < patienceMs && 1000 / quietMs <= 10, 'at most ten notices a second');
  t.ok(highWaterBytes < maxWaitingBytes);
  t.ok(tokenCheckMs + 200 < 2000, 'a rotation is noticed within two seconds');
  t.ok(messageBurst >= 2 * maxSubscriptions, 'all subscriptions may be renewed at once');
  t.strictSame([MAX_MESSAGE_BYTES, MAX_MESSAGE_FRAMES, MAX_MESSAGE_PIECES], [16_384, 64, 1024]);
});
