import t from 'tap';
import { offeredAs, offeredTo, targetsOf } from '../../../../transports/http/handlers/client-model.ts';
import { scriptedAdapter } from '../../../support/scripted-adapter.ts';
import { startServer } from '../../../support/server.ts';

t.test('a key is kept to its models, also where a list of models falls back to others', async (t) => {
  const { core } = await startServer(t, { adapters: [scriptedAdapter({}, 'one'), scriptedAdapter({}, 'two')] });
  await core.modelsFile?.setAlias('both', ['one/a', 'two/b']);
  const find = async (models: string[] | null) => {
    const key = core.keys?.find((await core.keys.create(`k${Math.random().toString(36).slice(2)}`, { models })) ?? '');
    return (await targetsOf({ core, key }, 'both')).map(({ adapter, model }) => `${adapter}/${model}`);
  };
  t.same((await targetsOf({ core, key: undefined }, 'both')).length, 2);
  t.same(await find(null), ['one/a', 'two/b']);
  t.same(await find(['both']), ['one/a', 'two/b']);
  t.same(await find(['two/*']), ['two/b']);
  await t.rejects(find(['three/*']), { code: 'KEY_FORBIDDEN' });
});

t.test('others are served while a long list is compared with the models of a key', async (t) => {
  const { core } = await startServer(t);
  const offered = Array.from({ length: 400 }, (_, n) => ({ id: `one/m${n}`, adapter: 'one' }));
  const router = { offered: async () => offered, resolve: async (id: string) => ({ targets: [{ adapter: 'one', model: id.slice('one/'.length) }] }) };
  const models = [...Array.from({ length: 99 }, (_, n) => `*x*${n}`), 'one/m39*'];
  const key = core.keys?.find((await core.keys.create('long', { models })) ?? '');
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const found = await offeredTo({ core: { ...core, router } as unknown as typeof core, key });
  clearImmediate(next);
  t.same(
    found.map(({ id }) => id),
    ['one/m39', ...Array.from({ length: 10 }, (_, n) => `one/m39${n}`)],
  );
  t.ok(turns >= 5, `${turns} turns of the event loop`);
});

t.test('a key with a list sees its own models alone, by whatever route it asks', async (t) => {
  const server = await startServer(t);
  await server.core.modelsFile?.setAlias('mine', ['ollama/m:1b']);
  const withKey = async (name: string, models: string[] | null) => {
    const headers = { authorization: `Bearer ${await server.core.keys?.create(name, { models })}` };
    return (method: string, path: string, body?: object) => server.call(method, path, { token: false, headers, ...(body !== undefined && { body }) });
  };
  const ask = await withKey('one', ['ollama/m*', 'mine']);
  t.strictSame((await ask('GET', '/v1/adapters/ollama/models')).json, { provider: 'ollama', models: ['m:1b'], count: 1 });
  for (const name of ['ollama/m:1b', 'mine']) {
    t.match(await ask('GET', `/v1/models/${encodeURIComponent(name)}`), { status: 200, json: { id: name } }, name);
    t.match(await ask('POST', '/ollama/api/show', { model: name }), { status: 200 }, name);
  }
  t.match(await ask('GET', '/v1/models/ollama%2Fn:7b'), { status: 403, json: { error: { code: 'model_not_allowed' } } });
  t.match(await ask('POST', '/ollama/api/show', { model: 'ollama/n:7b' }), { status: 403 });
  const byName = await withKey('two', ['n:7b']);
  t.strictSame((await byName('GET', '/v1/adapters/ollama/models')).json, { provider: 'ollama', models: ['n:7b'], count: 1 }, 'a name without its provider');
  const free = await withKey('three', null);
  t.match(await free('GET', '/v1/adapters/ollama/models'), { status: 200, json: { count: 2 } });
});

t.test('others are served while a long list is written, and all who ask meanwhile share the work', async (t) => {
  const { core } = await startServer(t);
  const offered = Array.from({ length: 2000 }, (_, n) => ({ id: `one/m${n}`, adapter: 'one' }));
  const router = { offered: async () => offered };
  const context = { core: { ...core, router } as unknown as typeof core, key: undefined };
  let written = 0;
  const form = {
    opening: '{"data":',
    one: ({ id }: { readonly id: string }) => {
      written += 1;
      return { id };
    },
    closing: () => '}',
  };
  let most = 0;
  let before = 0;
  const look = (): void => {
    most = Math.max(most, written - before);
    before = written;
    next = setImmediate(look);
  };
  let next = setImmediate(look);
  const texts = await Promise.all(Array.from({ length: 20 }, () => offeredAs(context, form)));
  clearImmediate(next);
  t.same(JSON.parse(Buffer.from(texts[0]?.content ?? '').toString()), { data: offered.map(({ id }) => ({ id })) });
  t.equal(new Set(texts.map(({ content }) => content)).size, 1);
  t.equal(written, 2000, 'written once for all');
  t.ok(most < 1000, `${most} names in one turn`);
  await offeredAs(context, form);
  t.equal(written, 4000, 'and nothing of it is kept');
});

t.test('the lists of models in each form are the same, whole or for a key, however long they are', async (t) => {
  const server = await startServer(t);
  const aliases = Array.from({ length: 600 }, (_, n) => `alias-${n}`);
  await server.core.modelsFile?.adopt({ aliases: Object.fromEntries(aliases.map((name) => [name, 'ollama/m:1b'])) }, true);
  const key = await server.core.keys?.create('few', { models: ['alias-1*'] });
  const ask = async (path: string, token?: string, further: Record<string, string> = {}): Promise<string[]> => {
    const headers = { ...further, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const { json } = await server.call('GET', path, { headers, ...(token !== undefined && { token: false }) });
    return ((json['data'] ?? json['models']) as { id?: string; model?: string }[]).map(({ id, model }) => id ?? model ?? '');
  };
  const all = [...aliases, 'ollama/m:1b', 'ollama/n:7b'];
  const few = aliases.filter((name) => name.startsWith('alias-1'));
  const anthropic = { 'anthropic-version': '2023-06-01' };
  t.same(await ask('/v1/models'), all);
  t.same(await ask('/ollama/api/tags'), all);
  t.same(await ask('/v1/models', undefined, anthropic), all);
  t.same(await ask('/v1/models', key), few);
  t.same(await ask('/ollama/api/tags', key), few);
  t.same(await ask('/v1/models', key, anthropic), few);
  await server.core.modelsFile?.setAlias('newest', ['ollama/m:1b']);
  t.ok((await ask('/v1/models')).includes('newest'), 'a change is in the next list');
});
