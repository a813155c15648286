// The id of a request in the place where each official SDK looks for it, on every kind of answer, translated and in the native lane.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import t from 'tap';
import { CLIENTS, startTranslating } from '../support/dialect-clients.ts';
import { type Answerer, sendJson } from '../support/upstream.ts';
import { answerWith, WIRES } from '../support/wire-server.ts';

const ASK = { max_tokens: 50, messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }] };
const OWN = { 'request-id': 'req_of_provider', 'x-request-id': 'xreq_of_provider' };
const QUESTION = { input: [{ role: 'user' as const, content: 'hi' }] };
const MINE = 'mine-1';

for (const wire of WIRES.filter(({ name }) => name === 'anthropic' || name === 'google')) {
  for (const isNative of wire.name === 'anthropic' ? [true, false] : [false]) {
    const at = `${wire.name}${isNative ? ', native' : ''}`;

    t.test(`each answer of Messages has our request-id, which x-request-id says again (${at})`, async (t) => {
      let answer: Answerer = answerWith(wire);
      const { call, model, token, url } = await startTranslating(
        t,
        wire,
        (request, res, index) => {
          for (const [name, value] of Object.entries(OWN)) res.setHeader(name, value);
          return /count_?tokens/i.test(request.path) ? sendJson(res, { input_tokens: 3, totalTokens: 3 }) : answer(request, res, index);
        },
        isNative,
      );
      const same = async (title: string, path: string, body: object, status: number) => {
        const got = await call('POST', path, { body, headers: { 'x-request-id': MINE } });
        t.match(got.headers, { 'request-id': MINE, 'x-request-id': MINE }, title);
        t.equal(got.status, status, title);
      };
      await same('whole', '/v1/messages', { model, ...ASK }, 200);
      await same('streamed', '/v1/messages', { model, ...ASK, stream: true }, 200);
      await same('counted', '/v1/messages/count_tokens', { model, messages: ASK.messages }, 200);
      await same('an unknown model', '/v1/messages', { model: 'nobody/m', ...ASK }, 404);
      answer = (_request, res) =>
        sendJson(res, { type: 'error', error: { type: 'invalid_request_error', message: 'no', code: 400, status: 'INVALID_ARGUMENT' } }, 400);
      await same('refused by the provider', '/v1/messages', { model, ...ASK }, 400);
      await same('refused as a stream', '/v1/messages', { model, ...ASK, stream: true }, 400);

      answer = answerWith(wire);
      const client = new Anthropic({ apiKey: token, baseURL: url, maxRetries: 0, defaultHeaders: { 'x-request-id': MINE } });
      t.equal((await client.messages.create({ model, ...ASK }))._request_id, MINE);
      t.equal((await client.messages.countTokens({ model, messages: ASK.messages }))._request_id, MINE);
      const stream = client.messages.stream({ model, ...ASK });
      await stream.finalMessage();
      t.equal(stream.request_id, MINE);
      const refused = await client.messages.create({ model: 'nobody/m', ...ASK }).catch((error: unknown) => error);
      t.match(refused, { status: 404, requestID: MINE });
    });
  }
}

t.test("the provider's own id of a request in the native lane of Messages is in a header of its own", async (t) => {
  const wire = WIRES.find(({ name }) => name === 'anthropic');
  if (wire === undefined) return t.fail('no such wire');
  const answer: Answerer = (request, res, index) => {
    res.setHeader('request-id', OWN['request-id']);
    return answerWith(wire)(request, res, index);
  };
  const { call, model } = await startTranslating(t, wire, answer, true);
  for (const stream of [false, true]) {
    const { headers } = await call('POST', '/v1/messages', { body: { model, ...ASK, stream } });
    t.equal(headers['x-blockhouse-upstream-request-id'], OWN['request-id']);
  }
});

for (const client of CLIENTS.filter(({ id }) => id !== 'messages')) {
  t.test(`answers of the ${client.id} dialect have x-request-id, which the SDK shows`, async (t) => {
    for (const wire of WIRES.filter(({ name }) => name === client.native || name === 'ollama')) {
      const { call, model, token, url } = await startTranslating(t, wire, answerWith(wire), wire.name === client.native);
      for (const more of [{}, { stream: true }, { model: 'nobody/m' }]) {
        t.match(
          (await call('POST', client.path, { body: client.ask(model, client.id === 'chat' ? more : { input: QUESTION.input, ...more }) })).headers[
            'x-request-id'
          ],
          /^req_/,
        );
      }
      const openai = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });
      const made =
        client.id === 'chat'
          ? await openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'hi' }] })
          : await openai.responses.create({ model, input: QUESTION.input });
      t.match(made._request_id, /^req_/);
    }
  });
}
