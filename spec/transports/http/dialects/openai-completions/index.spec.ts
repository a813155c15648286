// Completions through the official client, before each provider's own bytes.
import OpenAI from 'openai';
import t from 'tap';
import { sendJson } from '../../../../support/upstream.ts';
import { answerWith, startWireServer, WIRES } from '../../../../support/wire-server.ts';

for (const wire of WIRES) {
  t.test(`the official client completes a text, before ${wire.name}`, async (t) => {
    const { url, token, upstream } = await startWireServer(t, wire, answerWith(wire));
    const client = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });
    const asked = { model: `${wire.adapter}/${wire.model}`, prompt: 'hi', max_tokens: 20, stop: ['END'] };
    const { data, response } = await client.completions.create(asked).withResponse();
    t.match(data, { object: 'text_completion', model: asked.model, choices: [{ text: 'Hello', finish_reason: 'stop' }], usage: { total_tokens: 17 } });
    t.equal(response.headers.get('x-blockhouse-model'), asked.model);
    t.match(upstream.requests[0]?.body, /"hi"/);
    const chunks = [];
    for await (const chunk of await client.completions.create({ ...asked, stream: true, stream_options: { include_usage: true } })) chunks.push(chunk);
    t.equal(chunks.map(({ choices }) => choices[0]?.text ?? '').join(''), 'Hello');
    t.match(chunks.at(-1), { choices: [], usage: { prompt_tokens: 12, completion_tokens: 5 } });
  });
}

t.test('errors have the form of the protocol, by the names of its fields', async (t) => {
  const wire = WIRES[0];
  if (wire === undefined) return t.fail('no wire');
  const { url, token, call } = await startWireServer(t, wire, (_request, res) => sendJson(res, { message: 'Busy' }, 500));
  const client = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });
  const model = `${wire.adapter}/${wire.model}`;
  const failureOf = (body: { model: string; prompt: string | string[] }) => client.completions.create(body).catch((error: unknown) => error);
  t.match(await failureOf({ model, prompt: ['a', 'b'] }), { status: 400, param: 'prompt', type: 'invalid_request_error' });
  t.match(await failureOf({ model: 'nobody', prompt: 'a' }), { status: 404, code: 'model_not_found' });
  t.match(await failureOf({ model, prompt: 'a' }), { status: 503, type: 'server_error' });
  t.match((await call('GET', '/v1/completions')).json, { error: { type: 'invalid_request_error' } });
});
