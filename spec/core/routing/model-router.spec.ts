import t from 'tap';
import { createBus } from '../../../core/bus.ts';
import type { Adapter } from '../../../core/ports.ts';
import { ModelRouter } from '../../../core/routing/model-router.ts';
import { ModelsFile, modelsCodec } from '../../../core/routing/models-file.ts';
import { openSettings } from '../../../core/store/open.ts';

const adapters = [
  { id: 'openai', curatedModels: ['gpt-5'], modelNames: /^gpt-/ },
  { id: 'anthropic', curatedModels: ['claude-sonnet-5-5'] },
  { id: 'ollama' },
] as unknown as Adapter[];

function router({ pulled = [] as string[], configured = ['openai', 'ollama'], file = undefined as ModelsFile | undefined } = {}) {
  const clock = { ms: 0 };
  const daemon = { models: pulled, calls: 0, isDown: false };
  const one = new ModelRouter({
    adapters,
    adapterIdOf: (name) => adapters.find(({ id }) => id === name)?.id,
    file,
    fetchModels: async () => {
      daemon.calls += 1;
      if (daemon.isDown) throw new Error('down');
      return daemon.models;
    },
    isConfigured: (id) => configured.includes(id),
    mustSearch: () => false,
    now: () => clock.ms,
  });
  return { one, daemon, clock };
}

t.test('a model of a list wins over a prefix, with or without its tag', async (t) => {
  const { one } = router({ pulled: ['gpt-oss:20b', 'claude-like:latest'] });
  t.match(await one.resolve('gpt-oss:20b'), { by: 'list', targets: [{ adapter: 'ollama', model: 'gpt-oss:20b' }] });
  t.match(await one.resolve('claude-like'), { by: 'list', targets: [{ adapter: 'ollama', model: 'claude-like' }] });
  t.match(await one.resolve('gpt-5'), { by: 'list', targets: [{ adapter: 'openai' }] });
  t.match(await one.resolve('gpt-6'), { by: 'prefix', targets: [{ adapter: 'openai', model: 'gpt-6' }] });
});

t.test('the daemon is asked once for many names at once, and again when the list is old', async (t) => {
  const { one, daemon, clock } = router({ pulled: ['a:1'] });
  await Promise.all(Array.from({ length: 20 }, () => one.resolve('a:1')));
  t.equal(daemon.calls, 1);
  clock.ms += 29_000;
  await one.resolve('a:1');
  t.equal(daemon.calls, 1);
  clock.ms += 2000;
  await one.resolve('a:1');
  t.equal(daemon.calls, 2);
});

t.test('a daemon that is down leaves its models out and fails nothing, and is asked again soon', async (t) => {
  const { one, daemon, clock } = router({ pulled: ['mine'] });
  daemon.isDown = true;
  await t.rejects(one.resolve('mine'), { code: 'MODEL_NOT_FOUND', status: 404 });
  t.match(await one.resolve('gpt-6'), { by: 'prefix' });
  t.same(await one.offered(), [{ id: 'openai/gpt-5', adapter: 'openai' }]);
  daemon.isDown = false;
  clock.ms += 6000;
  t.match(await one.resolve('mine'), { by: 'list' });
});

t.test('while models.json has never been good, provider/model still has its meaning, and every other name is refused', async (t) => {
  const workspace = t.testdir({ 'models.json': '{' });
  const file = new ModelsFile(
    openSettings(workspace),
    modelsCodec((name) => (name === 'openai' ? name : undefined), ['openai']),
    createBus(),
  );
  const { one } = router({ file });
  t.match(await one.resolve('openai/gpt-5'), { by: 'provider', targets: [{ adapter: 'openai', model: 'gpt-5' }] });
  t.equal(one.isTranslated('openai'), false);
  for (const name of ['gpt-5', 'gpt-6', 'mine']) await t.rejects(one.resolve(name), { code: 'WORKSPACE_DAMAGED' }, name);
});

t.test('a name that nothing resolves is refused with the three ways to write it', async (t) => {
  const { one } = router();
  await t.rejects(one.resolve('mine'), {
    code: 'MODEL_NOT_FOUND',
    message: /"mine"\. Write provider\/model, give.*models\.json.*defaultProvider.*openai, anthropic, ollama, and the connections of auth\.json\.$/,
  });
});

t.test('the models of adapters that could be called are offered', async (t) => {
  const { one } = router({ pulled: ['a:1'] });
  t.same(await one.offered(), [
    { id: 'openai/gpt-5', adapter: 'openai' },
    { id: 'ollama/a:1', adapter: 'ollama' },
  ]);
});

t.test('a name has 2048 characters at most, whichever way it would be found', async (t) => {
  const { one } = router();
  t.match(one.named(`openai/${'A'.repeat(2041)}`), { by: 'provider' });
  for (const name of [`openai/${'A'.repeat(2042)}`, `gpt-${'A'.repeat(30_000_000)}`]) {
    t.throws(() => one.named(name), { code: 'INVALID_REQUEST', details: [{ path: 'model' }] });
    await t.rejects(one.resolve(name), { code: 'INVALID_REQUEST', message: /2048/ });
  }
});
