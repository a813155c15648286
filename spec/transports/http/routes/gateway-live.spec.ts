import t from 'tap';
import { GATEWAY_LIVE_ROUTES } from '../../../../transports/http/routes/gateway-live.ts';

t.test('no route that watches the gateway is public, and the windows are those of the meter', async (t) => {
  for (const [key, route] of Object.entries(GATEWAY_LIVE_ROUTES)) t.notOk('public' in route, key);
  t.same(GATEWAY_LIVE_ROUTES['GET /api/gateway'].query.window.schema, { type: 'string', enum: ['15m', '90m', '24h'], default: '15m' });
});
