import t, { type Test } from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { createCore, type Environment, type ShownSetting } from '../../../core/index.ts';
import { testFolder } from '../../support/test-folder.ts';

function settingsOf(t: Test, auth: object, env: Environment): ShownSetting[] {
  const core = createCore({ workspace: testFolder(t, { 'auth.json': JSON.stringify(auth) }), adapters: createAdapters(), env });
  t.teardown(() => core.close());
  return core.settings();
}

t.test('auth.json wins over the environment, and only what somebody has set is shown', async (t) => {
  const settings = settingsOf(
    t,
    { ollama: { apiKey: 'stored-0123456789-abcd', typo: 'mistyped-0123456789-6789' } },
    { OLLAMA_API_KEY: 'environment-0123456789', OLLAMA_HOST: ':77' },
  );
  t.same(settings, [
    { adapter: 'ollama', field: 'baseURL', value: 'http://127.0.0.1:77', source: 'OLLAMA_HOST' },
    { adapter: 'ollama', field: 'apiKey', value: '••••abcd', source: 'auth.json' },
    { adapter: 'ollama', field: 'typo', value: '••••6789', source: 'auth.json, not used by any provider' },
  ]);
});

t.test('a mistyped name is shown with the name that was probably meant', async (t) => {
  const key = 'mistyped-0123456789';
  const auth = { opnai: { apiKey: key }, openai: { apikey: key }, gemini: { apiKey: key }, other: { x: key } };
  t.same(
    settingsOf(t, auth, {}).map(({ adapter, field, source }) => [`${adapter}.${field}`, source]),
    [
      ['openai.apikey', 'auth.json, not used by any provider; did you mean openai.apiKey?'],
      ['opnai.apiKey', 'auth.json, not used by any provider; did you mean openai?'],
      ['gemini.apiKey', 'auth.json, not used by any provider; did you mean google?'],
      ['other.x', 'auth.json, not used by any provider'],
    ],
  );
});

t.test('a connection of which nothing is set is shown by what it is built on', async (t) => {
  const auth = {
    vllm: {},
    groq: { keys: [{ apiKeyEnv: 'GROQ_API_KEY' }] },
    lab: { preset: 'groq', apiKeyEnv: 'LAB' },
    own: { adapter: 'openai', apiKeyEnv: 'OWN' },
    other: { adapter: 'openai', apiKeyEnv: 'OTHER' },
  };
  t.same(settingsOf(t, auth, { OTHER: 'own-0123456789-0123456789' }), [
    { adapter: 'groq', field: 'preset', value: 'groq', source: 'auth.json' },
    { adapter: 'lab', field: 'preset', value: 'groq', source: 'auth.json' },
    { adapter: 'other', field: 'apiKey', value: '••••6789', source: 'OTHER' },
    { adapter: 'own', field: 'adapter', value: 'openai', source: 'auth.json' },
    { adapter: 'vllm', field: 'preset', value: 'vllm', source: 'auth.json' },
  ]);
});
