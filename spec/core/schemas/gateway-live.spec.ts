import t from 'tap';
import { GatewayFigures, GatewayRequests } from '../../../core/schemas/gateway-live.ts';

t.test('nothing of a message has a place in the figures or the requests', async (t) => {
  const names = JSON.stringify([GatewayFigures, GatewayRequests]);
  for (const word of ['"content"', '"text"', 'message"']) t.notOk(names.includes(word), word);
});
