import t from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { friendlyDaemon, startServer } from '../../../support/server.ts';
import { sendJson, startUpstream } from '../../../support/upstream.ts';

t.test('the list has the names of GET /v1/models, aliases first', async (t) => {
  const server = await startServer(t);
  await server.core.modelsFile?.setAlias('best', ['ollama/m:1b']);
  const { models } = (await server.call('GET', '/ollama/api/tags')).json as { models: { name: string; model: string; digest: string }[] };
  t.same(
    models.map(({ name }) => name),
    ['best', 'ollama/m:1b', 'ollama/n:7b'],
  );
  t.equal(new Set(models.map(({ digest }) => digest)).size, 3);
});

t.test('a model is shown by the name or alias that clients send', async (t) => {
  const server = await startServer(t);
  await server.core.modelsFile?.setAlias('best', ['ollama/m:1b']);
  for (const body of [{ model: 'best' }, { name: 'ollama/m:1b' }, { model: 'm:1b', verbose: true }])
    t.match(await server.call('POST', '/ollama/api/show', { body }), {
      status: 200,
      json: { model_info: { 'general.architecture': 'ollama' }, capabilities: ['completion', 'tools', 'vision', 'thinking'] },
    });
  t.match(await server.call('POST', '/ollama/api/show', { body: {} }), { status: 400, json: { error: /name/ } });
});

t.test('the context length is that of the daemon or of the price data, and is left out where neither knows it', async (t) => {
  const shown = { model_info: { 'general.architecture': 'x', 'x.context_length': 8192 } };
  const daemon = await startUpstream(t, friendlyDaemon, (res) => sendJson(res, shown));
  const server = await startServer(t, { env: { OLLAMA_BASE_URL: daemon.url }, adapters: createAdapters() });
  const infoOf = async (model: string) => (await server.call('POST', '/ollama/api/show', { body: { model } })).json['model_info'];
  t.match(await infoOf('ollama/m:1b'), { 'ollama.context_length': 8192 });
  t.match(await infoOf('openai/gpt-5'), { 'general.architecture': 'openai', 'openai.context_length': 400_000 });
  t.same(await infoOf('openai/mystery'), { 'general.architecture': 'openai', 'general.basename': 'mystery' });
});

t.test('other paths of the API are refused in its form', async (t) => {
  const server = await startServer(t);
  for (const [method, path] of [
    ['POST', 'pull'],
    ['DELETE', 'delete'],
    ['GET', 'blobs/sha256:00'],
  ] as const)
    t.match(await server.call(method, `/ollama/api/${path}`), {
      status: 404,
      json: { error: new RegExp(`no /api/${path} here\\. Blockhouse does not manage models`) },
    });
});
