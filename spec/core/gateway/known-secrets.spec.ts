import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { type Adapter, createCore } from '../../../core/index.ts';
import type { Entry } from '../../../core/auth/entry.ts';
import { BlockhouseError } from '../../../core/errors.ts';
import { secretVariables } from '../../../core/gateway/known-secrets.ts';
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

t.test('the variables of keys are those of adapters and those that entries name; an entry that can not be used names none', async (t) => {
  const settings = { apiKey: { secret: true, env: ['OPENAI_API_KEY'] }, baseURL: { env: ['OPENAI_BASE_URL'] } };
  const upstreams = [
    { id: 'openai', aliases: ['gpt'], settings },
    { id: 'broken', aliases: [], settings: {} },
  ] as unknown as Adapter[];
  const entry = (name: string) => {
    if (name === 'broken') throw new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'It is damaged.');
    return name === 'gpt' ? ({ settings: {}, fields: { apiKeyEnv: 'GPT_KEY' } } as unknown as Entry) : undefined;
  };
  t.strictSame([...secretVariables(upstreams, { entry })], ['OPENAI_API_KEY', 'GPT_KEY']);
});
