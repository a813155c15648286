// What a client of the compatible endpoints presents to us never reaches a provider.
import t from 'tap';
import { type Answerer, sendJson } from '../support/upstream.ts';
import { answerWith, startWireServer, WIRES } from '../support/wire-server.ts';

/** A question in each protocol, by the path that takes it. */
const QUESTIONS: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'hi' }] },
  '/v1/messages': { max_tokens: 100, messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] },
  '/v1/responses': { input: [{ role: 'user', content: 'hi' }] },
};
/** Each provider has a name of its own for the count of tokens. */
const COUNT = { input_tokens: 3, inputTokens: 3, totalTokens: 3 };
const answerCountsAnd =
  (answer: Answerer): Answerer =>
  (request, res, index) =>
    /count/i.test(request.path) ? sendJson(res, COUNT) : answer(request, res, index);

const PLACEHOLDER = 'placeholder-of-a-client';

for (const wire of WIRES) {
  t.test(`case 39: what is presented at an endpoint of clients is not sent to the provider (${wire.name})`, async (t) => {
    const server = await startWireServer(t, wire, answerCountsAnd(answerWith(wire)));
    const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app' } })).json as { key: string };
    const seen: string[] = [];
    server.upstream.server.prependListener('request', (req) => seen.push(req.url ?? '', ...req.rawHeaders));
    const presented: Record<string, string>[] = [server.token, key].flatMap((secret) => [
      { authorization: `Bearer ${secret}` },
      { 'x-api-key': secret },
      { authorization: `Bearer ${PLACEHOLDER}`, 'x-api-key': secret },
      { authorization: `Bearer ${secret}`, 'x-api-key': PLACEHOLDER },
    ]);
    const assertUnsent = (path: string): void => {
      const sent = JSON.stringify([seen, server.upstream.requests.map(({ body }) => body)]);
      for (const secret of [server.token, key, PLACEHOLDER]) t.notOk(sent.includes(secret), path);
    };
    const model = `${wire.adapter}/${wire.model}`;
    for (const [path, question] of Object.entries(QUESTIONS)) {
      const { length } = server.upstream.requests;
      for (const headers of presented)
        for (const stream of [false, true])
          t.match(await server.call('POST', path, { token: false, headers, body: { model, ...question, stream } }), { status: 200 }, path);
      t.ok(server.upstream.requests.length >= length + presented.length * 2);
      assertUnsent(path);
    }
    const count = { model, messages: [{ role: 'user', content: 'hi' }] };
    for (const headers of presented) {
      const counted = await server.call('POST', '/v1/messages/count_tokens', { token: false, headers, body: count });
      t.match(counted, { status: 200, json: { input_tokens: Number } });
    }
    assertUnsent('the count of tokens');
    const log = JSON.stringify(server.log);
    for (const secret of [server.token, key]) t.notOk(log.includes(secret));
  });
}
