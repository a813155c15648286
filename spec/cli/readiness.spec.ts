import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { readinessOf, shownSettings } from '../../cli/readiness.ts';
import { createCore } from '../../core/index.ts';
import { testFolder } from '../support/test-folder.ts';

t.test('auth.json wins over the environment, and only what somebody has set is shown', async (t) => {
  const workspace = testFolder(t, { 'auth.json': JSON.stringify({ ollama: { apiKey: 'stored-0123456789-abcd', typo: 'mistyped-0123456789' } }) });
  const core = createCore({ workspace, adapters: createAdapters() });
  t.teardown(() => core.close());
  const settings = shownSettings(core, { OLLAMA_API_KEY: 'environment-0123456789', OLLAMA_HOST: ':77' });
  t.same(settings, [
    { adapter: 'ollama', field: 'baseURL', value: 'http://127.0.0.1:77', source: 'OLLAMA_HOST' },
    { adapter: 'ollama', field: 'apiKey', value: '••••abcd', source: 'auth.json' },
    { adapter: 'ollama', field: 'typo', value: '••••6789', source: 'auth.json, not used by any adapter' },
  ]);
  t.match(
    readinessOf(core, {}).find(({ id }) => id === 'ollama'),
    { ready: true, hasSecret: true },
  );
});

t.test('a mistyped name is shown with the name that was probably meant', async (t) => {
  const key = 'mistyped-0123456789';
  const workspace = testFolder(t, {
    'auth.json': JSON.stringify({ opnai: { apiKey: key }, openai: { apikey: key }, gemini: { apiKey: key }, other: { x: key } }),
  });
  const core = createCore({ workspace, adapters: createAdapters() });
  t.teardown(() => core.close());
  t.same(
    shownSettings(core, {}).map(({ adapter, field, source }) => [`${adapter}.${field}`, source]),
    [
      ['openai.apikey', 'auth.json, not used by any adapter; did you mean openai.apiKey?'],
      ['opnai.apiKey', 'auth.json, not used by any adapter; did you mean openai?'],
      ['gemini.apiKey', 'auth.json, not used by any adapter; did you mean google?'],
      ['other.x', 'auth.json, not used by any adapter'],
    ],
  );
});

t.test('what is missing is told for each adapter', async (t) => {
  const core = createCore({ workspace: testFolder(t), adapters: createAdapters() });
  t.teardown(() => core.close());
  const local = readinessOf(core, { OLLAMA_BASE_URL: 'https://ollama.com' }).find(({ id }) => id === 'ollama');
  t.match(local, { ready: false, hasSecret: false, missing: /OLLAMA_API_KEY/ });
});

t.test('a damaged auth.json makes adapters not ready instead of hiding them', async (t) => {
  const workspace = testFolder(t);
  writeFileSync(join(workspace, 'auth.json'), '{');
  const core = createCore({ workspace, adapters: createAdapters() });
  t.teardown(() => core.close());
  const readiness = readinessOf(core, {});
  t.equal(readiness.length, core.adapterIds().length);
  t.match(readiness[0], { ready: false, missing: /auth\.json/ });
});
