import t from 'tap';
import { COMPATIBLE_ROUTES } from '../../../../transports/http/routes/compatible-all.ts';
import { ANTHROPIC_ROUTES } from '../../../../transports/http/routes/compatible-anthropic.ts';
import { EMBEDDINGS_ROUTES } from '../../../../transports/http/routes/compatible-embeddings.ts';
import { OPENAI_CHAT_ROUTES } from '../../../../transports/http/routes/compatible-openai-chat.ts';
import { OPENAI_COMPLETIONS_ROUTES } from '../../../../transports/http/routes/compatible-openai-completions.ts';
import { OPENAI_RESPONSES_ROUTES } from '../../../../transports/http/routes/compatible-openai-responses.ts';

t.test('every compatible route is under /v1, or under the name of its protocol, and answers its errors in the form of the protocol', async (t) => {
  for (const [key, route] of Object.entries(COMPATIBLE_ROUTES)) {
    t.match(key, / \/(?:v1\/|ollama(?:\/|$))/);
    t.type(route.fault, 'function', key);
  }
});

t.test('the routes of each protocol are among them', async (t) => {
  for (const routes of [ANTHROPIC_ROUTES, EMBEDDINGS_ROUTES, OPENAI_CHAT_ROUTES, OPENAI_COMPLETIONS_ROUTES, OPENAI_RESPONSES_ROUTES]) {
    t.ok(Object.keys(routes).length > 0);
    for (const key of Object.keys(routes)) t.ok(key in COMPATIBLE_ROUTES, key);
  }
});
