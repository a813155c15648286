import t from 'tap';
import { OPENAI_COMPLETIONS_ROUTES } from '../../../../transports/http/routes/compatible-openai-completions.ts';

t.test('every route answers its errors in the form of the protocol, and none is public', async (t) => {
  for (const [key, route] of Object.entries(OPENAI_COMPLETIONS_ROUTES)) {
    t.type(route.fault, 'function', key);
    t.notOk('public' in route, key);
  }
});
