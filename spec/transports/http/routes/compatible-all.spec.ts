import t from 'tap';
import { COMPATIBLE_ROUTES } from '../../../../transports/http/routes/compatible-all.ts';

t.test('every compatible route is under /v1, or under the name of its protocol', async (t) => {
  for (const key of Object.keys(COMPATIBLE_ROUTES)) t.match(key, / \/(?:v1\/|ollama(?:\/|$))/);
});
