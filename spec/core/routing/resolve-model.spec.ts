import t from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { parseModelTable } from '../../../core/routing/model-table.ts';
import { resolveByPrefix, resolveNamed } from '../../../core/routing/resolve-model.ts';

const IDS = ['bedrock', 'openai', 'google', 'anthropic', 'ollama'];
const idOf = (name: string) => (name === 'gemini' ? 'google' : IDS.find((id) => id === name));
const table = (document: unknown) => parseModelTable(document, idOf, IDS);
const named = (name: string, document: unknown = {}) => resolveNamed(name, table(document), idOf);

t.test('an alias is found by its exact name, or by the longest pattern that fits', async (t) => {
  const document = {
    aliases: { 'claude-*': 'ollama/qwen3', 'claude-opus-*': 'bedrock/big', 'claude-opus-5': 'anthropic/claude-opus-5', '*': 'google/gemini-3.8-flash' },
  };
  t.same(named('claude-opus-5', document), { by: 'alias', rule: 'claude-opus-5', targets: [{ adapter: 'anthropic', model: 'claude-opus-5' }] });
  t.match(named('claude-opus-4', document), { rule: 'claude-opus-*', targets: [{ adapter: 'bedrock', model: 'big' }] });
  t.match(named('claude-haiku', document), { rule: 'claude-*' });
  t.match(named('openai/gpt-5', document), { by: 'alias', rule: '*' }, 'an alias wins over provider/model');
  t.match(named('Claude-haiku', { aliases: { 'claude-*': 'ollama/qwen3' } }) ?? {}, {}, 'names are compared as they are written');
});

t.test('an alias may name several models, which are kept in order', async (t) => {
  t.same(named('best', { aliases: { best: ['gemini/gemini-3.8-pro', 'ollama/hf.co/x/y:Q4'] } })?.targets, [
    { adapter: 'google', model: 'gemini-3.8-pro' },
    { adapter: 'ollama', model: 'hf.co/x/y:Q4' },
  ]);
});

t.test('a name is split at its first slash only if an adapter is called like the part before it', async (t) => {
  t.same(named('ollama/hf.co/x/y'), { by: 'provider', targets: [{ adapter: 'ollama', model: 'hf.co/x/y' }] });
  t.same(named('gemini/gemini-3.8-flash')?.targets, [{ adapter: 'google', model: 'gemini-3.8-flash' }]);
  for (const name of ['meta-llama/x', '/x', 'openai/', 'openai', '']) t.equal(named(name), undefined, name);
});

t.test('a bare name is resolved by its prefix', async (t) => {
  const expected: Record<string, string> = {
    'claude-sonnet-5-5': 'anthropic',
    'gpt-5.4': 'openai',
    'chatgpt-4o-latest': 'openai',
    'codex-mini': 'openai',
    o3: 'openai',
    'o4-mini': 'openai',
    'text-embedding-3-small': 'openai',
    'text-embedding-ada-002': 'openai',
    'gemini-3.8-flash': 'google',
    'gemini-embedding-001': 'google',
    'anthropic.claude-sonnet-5-5-v1:0': 'bedrock',
    'us.anthropic.claude-opus-5-v1:0': 'bedrock',
    'global.amazon.nova-2-lite-v1:0': 'bedrock',
    'openai.gpt-oss-120b-1:0': 'bedrock',
    'arn:aws:bedrock:eu-west-1:123456789012:inference-profile/x': 'bedrock',
    'arn:aws-us-gov:bedrock:us-gov-west-1:123456789012:application-inference-profile/x': 'bedrock',
    'qwen3:8b': 'ollama',
  };
  for (const [name, adapter] of Object.entries(expected)) t.same(resolveByPrefix(name, createAdapters())?.targets, [{ adapter, model: name }], name);
  for (const name of ['mistral', 'opus', 'oops', 'my-gpt-4', 'us.acme.model', 'text-embedding-004'])
    t.equal(resolveByPrefix(name, createAdapters()), undefined, name);
  t.equal(resolveByPrefix('gpt-5', [{ id: 'mine' }]), undefined, 'an adapter that says nothing of names');
});

t.test('a document that is wrong names the field and the cure', async (t) => {
  const wrong: [unknown, RegExp][] = [
    [[], /JSON object/],
    [{ alias: {} }, /alias.*aliases/],
    [{ defaultProvider: 'acme' }, /^defaultProvider must be one of bedrock, openai/],
    [{ aliases: { a: 'b' } }, /^aliases\["a"\] must be provider\/model; "b" is not\.$/],
    [{ aliases: { a: 'ollama/x', b: 'a' } }, /aliases\["b"\]/],
    [{ aliases: { 'a*b': 'ollama/x' } }, /one \*, at the end/],
    [{ aliases: { ' a': 'ollama/x' } }, /blanks/],
    [{ aliases: { a: [] } }, /aliases/],
    [{ aliases: { a: 5 } }, /aliases/],
    [{ native: { acme: false } }, /^native.acme must be one of/],
    [{ native: { openai: 'no' } }, /native/],
  ];
  for (const [document, message] of wrong) t.throws(() => table(document), { code: 'INVALID_REQUEST', message }, JSON.stringify(document));
});

t.test('the native lane is off for the providers that are false', async (t) => {
  t.same([...table({ native: { openai: false, gemini: false, anthropic: true } }).translated], ['openai', 'google']);
});

t.test('a block is meant by its name, unless an alias says otherwise', async (t) => {
  t.same(named('block/ada'), { by: 'block', targets: [{ adapter: 'block', model: 'ada' }] });
  t.match(named('block/ada', { aliases: { 'block/ada': 'ollama/m' } }), { by: 'alias' });
  t.match(named('block/ada', { defaultProvider: 'ollama' }), { by: 'block' }, 'never the default provider');
});
