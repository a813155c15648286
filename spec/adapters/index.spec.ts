import t from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { createCore, type KnownAdapterId } from '../../core/index.ts';

const core = createCore({ adapters: createAdapters(), env: {} });
t.teardown(() => core.close());

t.test('there are five adapters, in the order of the contract', async (t) => {
  t.same(core.adapterIds(), ['bedrock', 'openai', 'google', 'anthropic', 'ollama']);
});

t.test('their metadata is what the contract says', async (t) => {
  const byId = Object.fromEntries(core.adapters().map((info) => [info.id, info]));
  t.match(byId, {
    bedrock: { authRequired: true, envVars: [], supportsStreaming: true },
    openai: { authRequired: true, envVars: ['OPENAI_API_KEY', 'OPENAI_BASE_URL'], defaultBaseURL: 'https://api.openai.com/v1' },
    google: { authRequired: true, defaultBaseURL: 'https://generativelanguage.googleapis.com' },
    anthropic: { authRequired: true, defaultBaseURL: 'https://api.anthropic.com' },
    ollama: { authRequired: false, envVars: ['OLLAMA_BASE_URL'], defaultBaseURL: 'http://127.0.0.1:11434' },
  });
  t.notOk('defaultBaseURL' in (byId['bedrock'] ?? {}), 'the endpoint of bedrock follows from its region');
});

t.test('the default model of a hosted provider stands in its list', async (t) => {
  for (const { id, defaultModel } of core.adapters()) {
    if (id === 'ollama') continue; // what a daemon has is known only to it
    const { models, count } = await core.models(id);
    t.ok(models.includes(defaultModel), `${id}: ${defaultModel}`);
    t.equal(count, new Set(models).size, `${id}: no model stands twice`);
  }
});

t.test('gemini is an alias on input and never an output', async (t) => {
  const { provider } = await core.models('gemini');
  t.equal(provider, 'google');
  t.notOk(core.adapterIds().includes('gemini'));
});

t.test('without credentials every hosted provider names the ways to give them that every caller has', async (t) => {
  for (const { id, authRequired } of core.adapters()) {
    if (!authRequired || id === 'bedrock') continue; // bedrock asks AWS's own chain, which is known only after asking it
    const request = { adapter: id, model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };
    await t.rejects(core.chat(request), { code: 'ADAPTER_NOT_CONFIGURED', message: new RegExp(`^(?!.*config\\.).*blockhouse auth set ${id}`) });
  }
});

t.test('the type of adapter ids completes those that there are', async (t) => {
  const known: Readonly<Record<KnownAdapterId, true>> = { bedrock: true, openai: true, google: true, anthropic: true, ollama: true };
  t.strictSame(core.adapterIds(), Object.keys(known));
});

t.test('only models that surely hide no output count as open', async (t) => {
  const open: Record<string, readonly string[]> = {
    openai: ['gpt-4o-mini', 'gpt-4.1', 'gpt-4', 'gpt-3.5-turbo', 'ft:gpt-4o-mini:x'],
    anthropic: ['claude-3-5-haiku-20241022', 'claude-3-opus-20240229'],
    google: ['gemini-1.5-pro', 'gemini-2.0-flash', 'models/gemini-2.0-flash-lite'],
    bedrock: ['amazon.nova-lite-v1:0', 'us.meta.llama3-3-70b-instruct-v1:0', 'eu.anthropic.claude-3-5-sonnet-20240620-v1:0'],
    ollama: ['qwen3:8b', 'gpt-oss:20b'],
  };
  const hidden: Record<string, readonly string[]> = {
    openai: ['gpt-5', 'gpt-5.1', 'o3', 'o4-mini', 'codex-mini-latest', 'my-gpt-4'],
    anthropic: ['claude-3-7-sonnet-20250219', 'claude-sonnet-4-5', 'claude-haiku-4-5'],
    google: ['gemini-2.5-flash', 'gemini-2.0-flash-thinking-exp', 'gemini-3-pro-preview'],
    bedrock: ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 'openai.gpt-oss-120b-1:0', 'amazon.nova-2-lite-v1:0', 'deepseek.r1-v1:0'],
    ollama: [],
  };
  for (const adapter of createAdapters()) {
    for (const model of open[adapter.id] ?? []) t.ok(adapter.openModels?.test(model), model);
    for (const model of hidden[adapter.id] ?? []) t.notOk(adapter.openModels?.test(model), model);
  }
});
