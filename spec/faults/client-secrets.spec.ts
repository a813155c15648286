// Case 39 of the compatible endpoints: what a client presents to us never reaches a provider.
import t from 'tap';
import { answerWith, startWireServer, WIRES } from '../support/wire-server.ts';

for (const wire of WIRES) {
  t.test(`${wire.name}: neither the token nor a key of ours is sent to the provider`, async (t) => {
    const server = await startWireServer(t, wire, answerWith(wire));
    const { key } = (await server.call('POST', '/api/keys', { body: { name: 'app' } })).json as { key: string };
    const seen: string[] = [];
    server.upstream.server.prependListener('request', (req) => seen.push(req.url ?? '', ...req.rawHeaders));
    const presented: Record<string, string>[] = [server.token, key].flatMap((secret) => [
      { authorization: `Bearer ${secret}` },
      { 'x-api-key': secret },
      { authorization: 'Bearer placeholder-of-a-client', 'x-api-key': secret },
      { authorization: `Bearer ${secret}`, 'x-api-key': 'placeholder-of-a-client' },
    ]);
    for (const headers of presented) {
      for (const stream of [false, true]) {
        const body = { model: `${wire.adapter}/${wire.model}`, messages: [{ role: 'user', content: 'hi' }], stream };
        t.match(await server.call('POST', '/v1/chat/completions', { token: false, headers, body }), { status: 200 });
      }
    }
    t.match(await server.call('GET', '/v1/models', { token: false, headers: { 'x-api-key': key } }), { status: 200 });
    t.ok(server.upstream.requests.length >= presented.length * 2);
    const sent = JSON.stringify([seen, server.upstream.requests.map(({ path, headers, body }) => [path, headers, body])]);
    for (const secret of [server.token, key, 'placeholder-of-a-client']) t.notOk(sent.includes(secret));
    const log = JSON.stringify(server.log);
    for (const secret of [server.token, key]) t.notOk(log.includes(secret));
  });
}
