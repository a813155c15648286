import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAdapters } from '../../../../adapters/index.ts';
import { connectionFindings } from '../../../../core/gateway/connections/connection-findings.ts';
import { startCore } from '../../../support/blocks.ts';

/** What the doctor says of such an auth.json, before the start and after it. */
async function found(t: Test, auth: object | string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const { core, workspace } = await startCore(t, { adapters: createAdapters(), env, start: false });
  writeFileSync(join(workspace, 'auth.json'), typeof auth === 'string' ? auth : JSON.stringify(auth), { mode: 0o600 });
  const before = await core.check();
  await core.start();
  const after = await core.check();
  t.strictSame(after, before);
  return after.findings.map(({ severity, place, problem, fix }) => [severity, place, problem, fix].join(' | '));
}

t.test('the doctor names connections whose variable is not set, and says what helps', async (t) => {
  t.type(connectionFindings, 'function');
  const auth = { groq: {}, gpu: { adapter: 'openai', baseURL: 'https://gpu.example/v1', apiKeyEnv: 'GPU_KEY' }, openai: { apiKeyEnv: 'TEAM_KEY' } };
  t.match(await found(t, auth), [
    /^warning \| auth\.json \| the provider openai can't be called as it is \| OpenAI needs a key: .*/,
    /^warning \| auth\.json \| the connection gpu can't be called as it is \| gpu needs a key: set GPU_KEY, or gpu\.apiKey in auth\.json \(`blockhouse auth set gpu`\)\.$/,
    /^warning \| auth\.json \| the connection groq can't be called as it is \| groq needs a key: set GROQ_API_KEY, or .*/,
  ]);
  t.strictSame(await found(t, auth, { GROQ_API_KEY: 'k1', GPU_KEY: 'k2', TEAM_KEY: 'k3' }), []);
});

t.test('of several keys it names those whose variable is not set', async (t) => {
  const auth = { groq: { keys: [{ apiKeyEnv: 'ONE' }, { apiKeyEnv: 'TWO', label: 'b' }] } };
  t.strictSame(await found(t, auth, { ONE: 'k' }), [
    'warning | auth.json | TWO is not set, so groq does without that key | Set it, or remove the key: `blockhouse auth rm groq --key b`.',
  ]);
  t.match(
    await found(t, { groq: { keys: [{ apiKeyEnv: 'ONE' }, { apiKey: 'sk-0123456789abcdef' }] } }),
    [/ONE is not set.*`blockhouse auth rm groq --key '#1'`/],
    '# begins a comment of the shell',
  );
  t.match(await found(t, auth), [/the connection groq can't be called as it is \| groq needs a key: set ONE or TWO/]);
});

t.test('of several keys of an adapter it names those whose variable is not sent to another address', async (t) => {
  const keys = [{ apiKeyEnv: 'OPENAI_API_KEY', label: 'x' }, { apiKey: 'sk-0123456789abcdef' }];
  const set = { OPENAI_API_KEY: 'k' };
  t.match(await found(t, { openai: { baseURL: 'https://a.example/v1', keys } }, set), [
    /^warning \| auth\.json \| openai does without the key in OPENAI_API_KEY \| The key in OPENAI_API_KEY is not sent: .* Store the key beside the address/,
  ]);
  t.strictSame(await found(t, { openai: { keys } }, set), [], 'it is sent to the address of OpenAI');
  t.strictSame(await found(t, { openai: { baseURL: 'http://127.0.0.1:9/v1' } }, set), [], 'nobody has named it for that address');
});

t.test('what needs no key, what is wrong otherwise and what nobody has set up is not named as well', async (t) => {
  t.strictSame(await found(t, { local: { preset: 'vllm' }, openai: { baseURL: 'https://a.example/v1' } }), []);
  t.strictSame(await found(t, {}), []);
  t.match(await found(t, { odd: { adapter: 'opnai' }, openai: { apiKeyEnv: 5 } }), { length: 2 }, 'only that the entries are wrong');
  t.match(await found(t, '{"groq"'), { length: 1 }, 'only that the file is damaged');
});
