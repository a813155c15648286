import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { createCore } from '../../../core/index.ts';
import { testFolder } from '../../support/test-folder.ts';

t.test('they are those of auth.json, also under another name of a provider, and of the environment, used or not', async (t) => {
  const workspace = testFolder(t);
  const entries = {
    gemini: { apiKey: 'of-another-name' },
    openai: { apiKey: 'of-the-file' },
    groq: { adapter: 'openai', baseURL: 'http://127.0.0.1:1', keys: [{ apiKey: 'one-of-two' }, { apiKeyEnv: 'TWO' }], headers: { 'x-team': 'a-header' } },
    gpu: { adapter: 'openai', baseURL: 'http://127.0.0.1:1', apiKeyEnv: 'GPU_KEY' },
  };
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify(entries), { mode: 0o600 });
  const env = { OPENAI_API_KEY: 'of-the-environment', TWO: 'two-of-two', GPU_KEY: 'of-the-gpu', OTHER: 'not-a-key' };
  const core = createCore({ workspace, adapters: createAdapters(), env });
  t.teardown(() => core.close());
  const mask = core.masker();
  for (const secret of ['of-the-file', 'of-another-name', 'of-the-environment', 'one-of-two', 'two-of-two', 'a-header', 'of-the-gpu'])
    t.equal(mask(`{"content":"${secret}"}`), '{"content":"[redacted]"}', secret);
  t.equal(mask('not-a-key'), 'not-a-key');
  writeFileSync(join(workspace, 'auth.json'), 'damaged', { mode: 0o600 });
  core.credentials?.refresh(true);
  t.equal(mask('of-the-file'), '[redacted]');
});
