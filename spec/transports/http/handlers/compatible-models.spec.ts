import t from 'tap';
import { startServer } from '../../../support/server.ts';

t.test('the names that are offered are listed, and each that resolves is found', async (t) => {
  const server = await startServer(t);
  await server.core.modelsFile?.setAlias('best', ['ollama/m:1b']);
  t.match((await server.call('GET', '/v1/models')).json, {
    object: 'list',
    data: [{ id: 'best', owned_by: 'ollama' }, { id: 'ollama/m:1b', object: 'model' }, { id: 'ollama/n:7b' }],
  });
  t.match((await server.call('GET', '/v1/models/best')).json, { id: 'best', owned_by: 'ollama' });
  t.match((await server.call('GET', '/v1/models/ollama/hf.co/x/y', { headers: { 'anthropic-version': '2023-06-01' } })).json, {
    type: 'model',
    id: 'ollama/hf.co/x/y',
  });
});

t.test('a key finds only the models in the list that it may use, by their names or what they stand for', async (t) => {
  const server = await startServer(t);
  await server.core.modelsFile?.setAlias('best', ['ollama/m:1b']);
  await server.core.modelsFile?.setAlias('other', ['ollama/n:7b']);
  for (const [pattern, names] of [
    ['ollama/m:*', ['best', 'ollama/m:1b']],
    ['other', ['other']],
    ['*', ['best', 'other', 'ollama/m:1b', 'ollama/n:7b']],
  ] as const) {
    const made = await server.call('POST', '/api/keys', { body: { name: `key-${names.length}`, models: [pattern] } });
    const headers = { authorization: `Bearer ${made.json['key']}` };
    const { data } = (await server.call('GET', '/v1/models', { token: false, headers })).json as { data: { id: string }[] };
    t.same(
      data.map(({ id }) => id),
      names,
      pattern,
    );
    const { models } = (await server.call('GET', '/ollama/api/tags', { token: false, headers })).json as { models: { model: string }[] };
    t.equal(models.length, names.length, pattern);
  }
});

t.test('an error has the shape that the client reads', async (t) => {
  const server = await startServer(t);
  t.match(await server.call('GET', '/v1/models/mystery'), { status: 404, json: { error: { code: 'model_not_found' } } });
  const headers = { 'anthropic-version': '2023-06-01' };
  t.match(await server.call('GET', '/v1/models/mystery', { headers }), { status: 404, json: { type: 'error', error: { type: 'not_found_error' } } });
});
