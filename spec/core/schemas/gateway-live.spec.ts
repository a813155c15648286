import t from 'tap';
import { GatewayFigures, GatewayRequestDetail, GatewayRequests } from '../../../core/schemas/gateway-live.ts';

t.test('nothing of a message has a place in the figures or the requests, except for the bodies of a debugged key', async (t) => {
  const names = JSON.stringify([GatewayFigures, GatewayRequests, GatewayRequestDetail.properties.calls]);
  for (const word of ['"content"', '"text"', 'message"']) t.notOk(names.includes(word), word);
});

t.test('one request has all that the list has of it', async (t) => {
  const listed = GatewayRequests.properties.live.items.required;
  const { required } = GatewayRequestDetail.properties.calls.items;
  for (const field of listed) t.ok(required.includes(field), field);
});
