import t from 'tap';
import { OLLAMA_ROUTES } from '../../../../transports/http/routes/compatible-ollama.ts';

t.test('every route is under /ollama, and answers its errors in the form of the protocol', async (t) => {
  for (const [key, route] of Object.entries(OLLAMA_ROUTES)) {
    t.match(key, / \/ollama(?:\/api\/|$)/);
    t.type(route.fault, 'function', key);
  }
});

t.test('only the text that says that a server is there needs no token', async (t) => {
  t.same(
    Object.entries(OLLAMA_ROUTES).flatMap(([key, route]) => ('public' in route ? [key] : [])),
    ['GET /ollama'],
  );
});
