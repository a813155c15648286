import t from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { makeNames } from '../../../../cli/input/litellm/aliases.ts';
import { readConfig } from '../../../../cli/input/litellm/apply.ts';
import { type ImportWorld, numberOf, readDeployments } from '../../../../cli/input/litellm/deployments.ts';
import { makeEntries } from '../../../../cli/input/litellm/entries.ts';
import { addFacts } from '../../../../cli/input/litellm/facts.ts';
import { addOtherNames, MAX_TARGETS } from '../../../../cli/input/litellm/fallbacks.ts';
import { importLiteLlm } from '../../../../cli/input/litellm/import.ts';
import { ReportBook } from '../../../../cli/input/litellm/report.ts';
import { addSettings } from '../../../../cli/input/litellm/settings.ts';

const adapters = createAdapters();
const PRESETS: Readonly<Record<string, ReturnType<ImportWorld['preset']>>> = {
  groq: { adapter: 'openai', baseURL: 'https://api.groq.com/openai/v1', baseURLForm: null, variable: 'GROQ_API_KEY' },
  together: { adapter: 'openai', baseURL: 'https://api.together.xyz/v1', baseURLForm: null, variable: 'TOGETHER_API_KEY' },
  vllm: { adapter: 'openai', baseURL: 'http://127.0.0.1:8000/v1', baseURLForm: null, variable: null },
};
const WORLD: ImportWorld = {
  adapterIdOf: (name) => adapters.find(({ id, aliases }) => id === name || aliases.includes(name))?.id,
  settingsOf: (id) => adapters.find((adapter) => adapter.id === id)?.settings ?? {},
  ownerOf: (model) => adapters.find(({ modelNames }) => modelNames?.test(model) === true)?.id,
  preset: (name) => PRESETS[name],
};

const one = (model_name: string, litellm_params: object, model_info?: object) => ({
  model_name,
  litellm_params,
  ...(model_info !== undefined && { model_info }),
});
const imported = (list: readonly unknown[], more: object = {}) => importLiteLlm({ model_list: list, ...more }, WORLD);
const entriesOf = (list: readonly unknown[]) => Object.fromEntries(imported(list).entries);
const notes = (list: readonly unknown[], more: object = {}) =>
  Object.fromEntries(
    imported(list, more)
      .report()
      .left.map(({ path, note }) => [path, note]),
  );

t.test('what has the usual key at the usual address needs no entry, or an empty one of a preset', (t) => {
  t.same(entriesOf([one('a', { model: 'gpt-4o' }), one('b', { model: 'gemini/gemini-2.5-pro', api_key: 'os.environ/GEMINI_API_KEY' })]), {});
  t.same(entriesOf([one('a', { model: 'together_ai/x/y', api_key: 'os.environ/TOGETHER_API_KEY' })]), { together: {} });
  t.same(entriesOf([one('a', { model: 'groq/x', api_base: 'https://api.groq.com/openai/v1/' })]), { groq: {} });
  t.same(entriesOf([one('a', { model: 'ollama_chat/m', api_base: 'http://10.0.0.3:11434' })]), {
    'at-10-0-0-3': { adapter: 'ollama', baseURL: 'http://10.0.0.3:11434', auth: 'none' },
  });
  t.end();
});

t.test('one-address: keys of one name at one address are keys of one connection, others make another one', (t) => {
  const groq = (name: string, key: string) => one(name, { model: 'groq/x', api_key: key });
  t.same(entriesOf([groq('a', 'key-1'), groq('b', 'key-2')]), { groq: { apiKey: 'key-1' }, 'groq-2': { preset: 'groq', apiKey: 'key-2' } });
  t.same(entriesOf([groq('a', 'key-1'), groq('b', 'key-2'), groq('a', 'key-2')]), { groq: { keys: [{ apiKey: 'key-1' }, { apiKey: 'key-2' }] } });
  const gpu = (host: string) => one('a', { model: 'hosted_vllm/m', api_base: `http://${host}:8000/v1` });
  t.same(entriesOf([gpu('gpu1.acme.example'), gpu('gpu2.acme.example'), gpu('gpu1.acme.example')]), {
    vllm: { baseURL: 'http://gpu1.acme.example:8000/v1' },
    'gpu2-acme-example': { preset: 'vllm', baseURL: 'http://gpu2.acme.example:8000/v1' },
  });
  t.match(Object.keys(entriesOf([one('a', { model: 'openai/m', api_base: `https://${'long'.repeat(12)}.example/v1` })]))[0], /^[a-z][a-z0-9-]{0,31}$/);
  t.end();
});

t.test('what can not be taken is left out with its reason', (t) => {
  const left = notes([
    one('a', { model: 'sagemaker/x' }),
    { model_name: 'b' },
    one('c', { model: 'openai/m', api_base: 'os.environ/BASE' }),
    one('d', { model: 'groq/x', input_cost_per_token: 1e-6 }),
    one('e', { model: 'bedrock/m', aws_session_token: 'os.environ/OTHER' }),
    one('g/*', { model: 'groq/*' }),
    one('h', { model: 'groq/x', extra_headers: { 'x-a': 'line\nbreak' } }),
  ]);
  t.match(left, {
    'model_list[0]': /sagemaker/,
    'model_list[1]': /needs a model_name/,
    'model_list[2].litellm_params.api_base': /in a variable has to be written out/,
    'model_list[3].litellm_params.input_cost_per_token': /both input and output/,
    'model_list[4].litellm_params.aws_session_token': /Only a key can be in a variable/,
    'model_list[5].model_name': /groq\/<model>/,
    'model_list[6].litellm_params.extra_headers.x-a': /no header/,
  });
  t.throws(() => importLiteLlm({ models: [] }, WORLD), /no model_list/);
  t.end();
});

t.test('each leaf of the source is in the report once, whatever it is', (t) => {
  const source = {
    model_list: [one('a', { model: 'groq/x', odd: { deep: [1, {}] } })],
    'a\nkey': null,
    router_settings: { fallbacks: 'x', model_group_alias: { b: 'none', c: { model: 'a', hidden: true } } },
  };
  const { taken, changed, left } = importLiteLlm(source, WORLD).report();
  t.same([...taken, ...changed, ...left].map(({ path }) => path).sort(), [
    'model_list[0].litellm_params.model',
    'model_list[0].litellm_params.odd.deep[0]',
    'model_list[0].litellm_params.odd.deep[1]',
    'model_list[0].model_name',
    'router_settings.fallbacks',
    'router_settings.model_group_alias.b',
    'router_settings.model_group_alias.c',
    '…',
  ]);
  t.end();
});

t.test('an alias has at most eight models, and never leads to another alias', (t) => {
  const list = Array.from({ length: 10 }, (_, index) => one(index < 9 ? 'many' : 'last', { model: `groq/m${index}` }));
  const { aliases } = imported(list, { litellm_settings: { fallbacks: [{ last: ['many', 'last'] }, { last: ['unknown'] }, 'x'] } });
  t.equal(aliases['many']?.length, MAX_TARGETS);
  t.same(aliases['last']?.slice(0, 3), ['groq/m9', 'groq/m0', 'groq/m1']);
  t.equal(aliases['last']?.length, MAX_TARGETS);
  const same = imported([one('groq/m', { model: 'groq/m' }), one('groq/*', { model: 'groq/*' })]);
  t.same([same.aliases, same.defaultProvider], [{}, undefined], 'a name that leads there anyway needs none');
  t.end();
});

t.test('numbers may be texts, as YAML reads them', (t) => {
  t.same(
    [numberOf('1e-06'), numberOf('5'), numberOf(2), numberOf('0x10'), numberOf(null), numberOf(Number.NaN)],
    [1e-6, 5, 2, undefined, undefined, undefined],
  );
  for (const part of [makeNames, readConfig, readDeployments, makeEntries, addFacts, addOtherNames, addSettings, ReportBook]) t.type(part, 'function');
  t.end();
});
