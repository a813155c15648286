import t from 'tap';
import { chooseModel } from '../../../cli/talk/model-choice.ts';
import { createBus } from '../../../core/bus.ts';
import { type AdapterStatus, type Core, ModelRouter } from '../../../core/index.ts';
import { ModelsFile, modelsCodec } from '../../../core/routing/models-file.ts';
import { openSettings } from '../../../core/store/open.ts';

const context = { signal: new AbortController().signal, command: 'blockhouse' };

/** A core whose adapters are ready as far as they are named, each with its models; the first is its default. */
function coreOf(models: Readonly<Record<string, readonly string[]>>, ready: readonly string[] = Object.keys(models), file?: ModelsFile): Core {
  const defaultModel = (id: string): string => `default-of-${id}`;
  return {
    adapter: (id: string) => ({ id, defaultModel: defaultModel(id) }),
    adapterIds: () => ['a', 'b'],
    adapterIdOf: (name: string) => (name === 'alias-of-a' ? 'a' : name),
    connections: { list: () => Object.keys(models).map((name) => ({ name, ready: true })) },
    status: async () => Object.keys(models).map((id) => ({ id, ready: ready.includes(id), defaultModel: defaultModel(id) }) as AdapterStatus),
    router: new ModelRouter({
      adapters: [],
      adapterIdOf: (name) => Object.keys(models).find((id) => id === name),
      file,
      fetchModels: async () => [],
      isConfigured: () => true,
      mustSearch: () => false,
      now: () => 0,
    }),
    models: async (id: string) => ({ provider: id, models: models[id] ?? [], count: models[id]?.length ?? 0 }),
  } as unknown as Core;
}

t.test('a provider has a default model, and nothing else is looked at', async (t) => {
  t.same(await chooseModel(coreOf({}), { adapter: 'a' }, context), { adapter: 'a', model: 'default-of-a' });
  t.same(await chooseModel(coreOf({}), { adapter: 'a', model: 'x' }, context), { adapter: 'a', model: 'x' });
});

t.test('a connection has no default model: its only one is taken, and of several one must be named', async (t) => {
  t.same(await chooseModel(coreOf({}), { adapter: 'alias-of-a' }, context), { adapter: 'alias-of-a', model: 'default-of-alias-of-a' });
  t.same(await chooseModel(coreOf({ gpu: ['x'] }), { adapter: 'gpu' }, context), { adapter: 'gpu', model: 'x' });
  for (const models of [['x', 'y'], []])
    await t.rejects(chooseModel(coreOf({ gpu: models }), { adapter: 'gpu' }, context), {
      kind: 'usage',
      message: 'The connection gpu has no default model; name one with --model. `blockhouse models gpu` lists them.',
    });
});

t.test('the only ready provider is asked, for its default model or the first that it has', async (t) => {
  t.same(await chooseModel(coreOf({ a: ['x', 'default-of-a'], b: [] }, ['a']), {}, context), { adapter: 'a', model: 'default-of-a' });
  t.same(await chooseModel(coreOf({ a: ['x', 'y'] }), {}, context), { adapter: 'a', model: 'x' });
  t.same(await chooseModel(coreOf({ a: [] }), {}, context), { adapter: 'a', model: 'default-of-a' });
  t.same(await chooseModel(coreOf({ a: ['x'] }), { model: 'new' }, context), { adapter: 'a', model: 'new' });
});

t.test('among several, a model belongs to the one that lists it', async (t) => {
  const core = coreOf({ a: ['x'], b: ['y'] });
  t.same(await chooseModel(core, { model: 'y' }, context), { adapter: 'b', model: 'y' });
  await t.rejects(chooseModel(core, { model: 'z\x1b[2J' }, context), {
    kind: 'usage',
    message: 'No ready provider (a, b) lists the model z; name its provider with --provider.',
  });
});

t.test('a model may have its provider before it, as clients of the gateway write it', async (t) => {
  const core = coreOf({ a: ['x'], b: ['b/y'] }, ['b']);
  t.same(await chooseModel(core, { model: 'a/x' }, context), { adapter: 'a', model: 'x' });
  t.same(await chooseModel(core, { model: 'b/y/z' }, context), { adapter: 'b', model: 'y/z' });
  t.same(await chooseModel(core, { model: 'hf.co/x' }, context), { adapter: 'b', model: 'hf.co/x' });
  t.same(await chooseModel(core, { adapter: 'b', model: 'b/y' }, context), { adapter: 'b', model: 'b/y' });
  t.same(await chooseModel(core, { model: 'a/' }, context), { adapter: 'b', model: 'a/' });
});

t.test('an alias of models.json means its first model, as in the gateway', async (t) => {
  const workspace = t.testdir({ 'models.json': JSON.stringify({ aliases: { fast: ['b/y', 'a/x'], 'a/x': 'b/z' } }) });
  const adapterIds = ['a', 'b'];
  const file = new ModelsFile(
    openSettings(workspace),
    modelsCodec((name) => adapterIds.find((id) => id === name), adapterIds),
    createBus(),
  );
  const core = coreOf({ a: ['x'], b: ['y'] }, ['a', 'b'], file);
  t.match(await chooseModel(core, { model: 'fast' }, context), { adapter: 'b', model: 'y' });
  t.match(await chooseModel(core, { model: 'a/x' }, context), { adapter: 'b', model: 'z' });
});

t.test('what can not be chosen is an error that says what to add', async (t) => {
  await t.rejects(chooseModel(coreOf({ a: [], b: [] }), {}, context), {
    kind: 'usage',
    message: 'Several providers are ready (a, b); choose one, for instance with `-a a`.',
  });
  await t.rejects(chooseModel(coreOf({ a: [] }, []), {}, context), {
    kind: 'credentials',
    message: 'No provider is ready yet; `blockhouse providers` shows what each one needs.',
  });
  await t.rejects(chooseModel(coreOf({ a: [], gpu: ['x'] }, []), {}, context), {
    kind: 'credentials',
    message: /shows what each one needs, or name a model of a connection, such as `-m gpu\/<model>`\.$/,
  });
});

t.test('a block is talked to with another command', async (t) => {
  await t.rejects(chooseModel(coreOf({ a: [] }), { model: 'block/ada' }, context), {
    kind: 'usage',
    message: /block\/ada is a block.*`blockhouse attach ada`/,
  });
});
