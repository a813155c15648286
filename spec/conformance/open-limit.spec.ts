// A client of a compatible endpoint that names no token limit: the provider's own default holds, because a small one would end a model while it thinks.
import t from 'tap';
import { answerWith, startWireServer, WIRES } from '../support/wire-server.ts';

/** Messages needs a limit. An answer of Ollama may not outgrow its context, so it gets the room that the prompt leaves: 9 tokens of 16,384 here. */
const LIMITS: Readonly<Record<string, number>> = { anthropic: 16_384, ollama: 16_375 };

for (const wire of WIRES) {
  t.test(`${wire.name}: no limit in the request is no limit for the provider, beside the default of /v1/chat`, async (t) => {
    const server = await startWireServer(t, wire, answerWith(wire));
    const messages = [{ role: 'user', content: 'hi' }];
    t.match(await server.call('POST', '/v1/chat/completions', { body: { model: `${wire.adapter}/${wire.model}`, messages } }), { status: 200 });
    t.match(await server.call('POST', '/v1/chat', { body: server.chat() }), { status: 200 });
    const [open, limited] = server.upstream.requests.map((request) => wire.readRequest(request).maxTokens);
    t.equal(open, LIMITS[wire.adapter]);
    t.equal(limited, 4096);
  });
}
