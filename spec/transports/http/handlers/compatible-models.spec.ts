import t from 'tap';
import { ProviderChain } from '../../../../adapters/bedrock/chain.ts';
import { Authorizer } from '../../../../adapters/bedrock/credentials.ts';
import { createBedrock } from '../../../../adapters/bedrock/index.ts';
import { startServer } from '../../../support/server.ts';

t.test('case 38: the names that are offered are listed, and each that resolves is found', async (t) => {
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

t.test('models whose credentials only a search can find are offered if it finds them, and one search serves many lists', async (t) => {
  const keys = { accessKeyId: 'AKIACANARY0123456789', secretAccessKey: 'canarySecret0123456789' };
  for (const isFound of [true, false]) {
    let searches = 0;
    const chain = new ProviderChain(async () => async () => {
      searches += 1;
      if (!isFound) throw new Error('There is nothing.');
      return keys;
    });
    const server = await startServer(t, { adapters: [createBedrock(new Authorizer(chain))], env: {} });
    const lists = await Promise.all(Array.from({ length: 3 }, () => server.call('GET', '/v1/models')));
    for (const { json } of lists) t.equal((json['data'] as object[]).length > 0, isFound);
    await server.call('GET', '/v1/models');
    t.equal(searches, 1);
    await server.core.credentials?.update('bedrock', keys);
    t.match((await server.call('GET', '/v1/models')).json, { data: { 0: { owned_by: 'bedrock' } } }, 'a key that is stored counts at once');
  }
});

t.test("Anthropic's list comes in pages, forwards and backwards", async (t) => {
  const server = await startServer(t);
  for (const name of ['a', 'b', 'c']) await server.core.modelsFile?.setAlias(name, ['ollama/m:1b']);
  const headers = { 'anthropic-version': '2023-06-01' };
  const names = ['a', 'b', 'c', 'ollama/m:1b', 'ollama/n:7b'];
  for (const [query, ids, has_more] of [
    ['', names, false],
    ['?limit=2', ['a', 'b'], true],
    ['?limit=2&after_id=b', ['c', 'ollama/m:1b'], true],
    ['?limit=2&after_id=ollama/m:1b', ['ollama/n:7b'], false],
    ['?limit=2&before_id=ollama/m:1b', ['b', 'c'], true],
    ['?limit=5&before_id=b', ['a'], false],
    ['?after_id=ollama/n:7b', [], false],
  ] as const) {
    const { json } = await server.call('GET', `/v1/models${query}`, { headers });
    t.match(json, { has_more, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null }, query);
    t.same(
      (json['data'] as { id: string }[]).map(({ id }) => id),
      ids,
      query,
    );
  }
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'after_id=nobody', 'after_id=a&before_id=b'])
    t.match(await server.call('GET', `/v1/models?${query}`, { headers }), { status: 400, json: { type: 'error' } }, query);
  t.match((await server.call('GET', '/v1/models?limit=2')).json['data'], { length: 5 }, "OpenAI's list has no pages");
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
