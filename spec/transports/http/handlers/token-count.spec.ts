import t from 'tap';
import { startServer } from '../../../support/server.ts';

const PATH = '/v1/messages/count_tokens';
const body = (fields: object = {}) => ({ model: 'ollama/m', messages: [{ role: 'user', content: 'x'.repeat(400) }], ...fields });

t.test('tokens are counted without a call of the model, and the headers say how', async (t) => {
  const { call, upstream } = await startServer(t);
  t.match(await call('POST', PATH, { body: body({ container: 'c' }) }), {
    status: 200,
    json: { input_tokens: 110 },
    headers: { 'x-blockhouse-estimated': 'true', 'x-blockhouse-model': 'ollama/m', 'x-blockhouse-warnings': 'container' },
  });
  t.same(upstream.requests, []);
});

t.test("a refusal is in the form of the client, with the client's name of the field", async (t) => {
  const { call, core } = await startServer(t);
  t.match(await call('POST', PATH, { body: { model: 'ollama/m' } }), { status: 400, json: { type: 'error', error: { message: /^messages must have/ } } });
  t.match(await call('POST', PATH, { body: body(), token: false }), { status: 401, json: { type: 'error', error: { type: 'authentication_error' } } });
  t.match(await call('POST', PATH, { body: body({ tools: [{ name: 'y' }], tool_choice: { type: 'tool', name: 'x' } }) }), {
    status: 400,
    json: { error: { message: /^tool_choice names no tool/ } },
  });
  const key = await core.keys?.create('app', { models: ['google/*'] });
  t.match(await call('POST', PATH, { body: body(), token: false, headers: { 'x-api-key': key ?? '' } }), {
    status: 403,
    json: { error: { type: 'permission_error' } },
  });
});

t.test('a megabyte is estimated', async (t) => {
  const { call } = await startServer(t);
  const { json } = await call('POST', PATH, { body: body({ system: 'y'.repeat(1024 * 1024) }) });
  t.ok(Number(json['input_tokens']) > 288_000);
});

t.test('an alias with weights is counted by its first model', async (t) => {
  const { call, core } = await startServer(t);
  await core.modelsFile?.setAlias('some', [
    { model: 'ollama/m', weight: 2 },
    { model: 'ollama/n', weight: 1 },
  ]);
  t.match(await call('POST', PATH, { body: body({ model: 'some' }) }), { status: 200, headers: { 'x-blockhouse-model': 'ollama/m' } });
});
