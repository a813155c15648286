import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { createOllama } from '../../../adapters/ollama/index.ts';
import { createOpenAI } from '../../../adapters/openai/index.ts';
import { CredentialStore } from '../../../core/auth/credentials.ts';
import { createBus } from '../../../core/bus.ts';
import { CallSettings } from '../../../core/gateway/call-settings.ts';
import { KeyRings } from '../../../core/gateway/connections/key-rings.ts';

const never = new AbortController().signal;
const NOWHERE = { credentials: undefined, timeouts: {}, allowedOrigins: new Set<string>() };

t.test('what follows from the same settings is worked out once', async (t) => {
  const calls = new CallSettings({ ...NOWHERE, env: { OPENAI_API_KEY: 'k-1' } });
  const adapter = createOpenAI();
  const [one, other] = [calls.configured(adapter, undefined, never), calls.configured(adapter, { maxTokens: 5 }, never)];
  t.equal(one.settings, other.settings);
  t.equal(one.egress, other.egress);
});

t.test('another key in the environment or in auth.json serves the next call', async (t) => {
  const workspace = t.testdir();
  const env: Record<string, string> = { OPENAI_API_KEY: 'k-1' };
  let now = 0;
  const credentials = new CredentialStore(workspace, createBus(), () => now);
  const calls = new CallSettings({ ...NOWHERE, credentials, env });
  const adapter = createOpenAI();
  const key = (): string | undefined => calls.configured(adapter, undefined, never).settings.values['apiKey'];
  t.equal(key(), 'k-1');
  env['OPENAI_API_KEY'] = 'k-2';
  t.equal(key(), 'k-2');
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ openai: { apiKey: 'k-3' } }));
  now += 1000;
  t.equal(key(), 'k-3');
  delete env['OPENAI_API_KEY'];
  writeFileSync(join(workspace, 'auth.json'), '{}');
  now += 1000;
  t.throws(key, { code: 'ADAPTER_NOT_CONFIGURED' });
});

t.test('an adapter that is gone stays in no memory, as a connection does that each change of auth.json makes again', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const calls = new CallSettings({ ...NOWHERE, env: { OPENAI_API_KEY: 'k-1' } });
  const made = (): WeakRef<object> => {
    const adapter = createOpenAI();
    t.equal(calls.configured(adapter, undefined, never).settings.values['apiKey'], 'k-1');
    return new WeakRef(adapter);
  };
  const gone = made();
  for (let tries = 0; tries < 20 && gone.deref() !== undefined; tries += 1) {
    await turn();
    collect();
  }
  t.equal(gone.deref(), undefined);
});

t.test('a request with settings of its own gets them, and leaves nothing behind', async (t) => {
  const calls = new CallSettings({ ...NOWHERE, env: { OPENAI_API_KEY: 'k-1' } });
  const adapter = createOpenAI();
  const own = calls.configured(adapter, { apiKey: 'mine', baseURL: 'http://models.example/v1' }, never);
  t.equal(own.settings.values['apiKey'], 'mine');
  t.ok(own.egress.ownKey);
  const next = calls.configured(adapter, undefined, never);
  t.equal(next.settings.values['apiKey'], 'k-1');
  t.notOk(next.egress.ownKey);
  t.throws(() => calls.checked(adapter, { baseURL: 'http://models.example/v1' }, never), { code: 'INVALID_REQUEST' });
});

t.test('a bad address is the fault of whoever has set it', async (t) => {
  const calls = new CallSettings({ ...NOWHERE, env: { OLLAMA_BASE_URL: 'http://169.254.169.254' } });
  t.throws(() => calls.checked(createOllama(), undefined, never), { code: 'ADAPTER_NOT_CONFIGURED', message: /comes from env:OLLAMA_BASE_URL\./ });
});

t.test('of several keys, those are used that may go where the entry leads', async (t) => {
  const workspace = t.testdir();
  const env = { OPENAI_API_KEY: 'k-1', OTHER: 'k-2' };
  let now = 0;
  const credentials = new CredentialStore(workspace, createBus(), () => now);
  const calls = new CallSettings({ ...NOWHERE, credentials, env, rings: new KeyRings({ bus: createBus(), now: () => now }) });
  const adapter = createOpenAI();
  const keysOf = (entry: object) => {
    writeFileSync(join(workspace, 'auth.json'), JSON.stringify({ openai: entry }));
    now += 1000;
    const { keys, settings } = calls.configured(adapter, undefined, never);
    return keys === undefined ? [settings.values['apiKey']] : keys.ring.states.map((state) => keys.settingsOf(state).values['apiKey']);
  };
  const away = { baseURL: 'https://proxy.example/v1' };
  const [ofVariable, stored, second] = [{ apiKeyEnv: 'OTHER' }, { apiKey: 'k-3' }, { apiKey: 'k-4' }];
  t.same(keysOf({ keys: [ofVariable, stored, second] }), ['k-2', 'k-3', 'k-4'], "at the provider's own address");
  t.same(keysOf({ ...away, keys: [ofVariable, stored, second] }), ['k-3', 'k-4']);
  for (const keys of [
    [stored, ofVariable],
    [ofVariable, stored],
  ])
    t.same(keysOf({ ...away, keys }), ['k-3']);
  t.throws(() => keysOf({ ...away, keys: [ofVariable, { apiKeyEnv: 'OPENAI_API_KEY' }] }), { code: 'ADAPTER_NOT_CONFIGURED' });
});
