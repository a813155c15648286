import t from 'tap';
import { AdapterInfo, AuthStatus, GatewayHealth, ModelList, ServerHealth, VerifyRequest, VerifyResult } from '../../../core/schemas/adapter.ts';
import { compile } from '../../../core/schemas/validate.ts';

t.test("each resource takes the contract's example and refuses one without a required field", async (t) => {
  const info = { id: 'x', displayName: 'X', authRequired: true, defaultModel: 'm', supportsStreaming: true, envVars: [] };
  const cases = [
    ['adapter metadata', AdapterInfo, info],
    ['model list', ModelList, { provider: 'x', models: ['m'], count: 1 }],
    ['verify result', VerifyResult, { provider: 'x', ok: false, detail: 'no' }],
    ['gateway health', GatewayHealth, { status: 'ok', version: '1', adapters: [] }],
    ['server health', ServerHealth, { status: 'ok', version: '1', uptimeSeconds: 1, blocks: 0, monitorsRunning: 0 }],
    ['auth status', AuthStatus, { authenticated: false }],
  ] as const;
  for (const [name, schema, example] of cases) {
    const check: (value: unknown) => void = compile(schema);
    t.doesNotThrow(() => check(example), name);
    for (const field of Object.keys(example))
      t.throws(() => check({ ...example, [field]: undefined }), { code: 'INVALID_REQUEST', details: [{ path: field }] }, `${name} without ${field}`);
  }
});

t.test('a verify body takes the config of a chat and nothing else', async (t) => {
  const check: (value: unknown) => void = compile(VerifyRequest);
  t.doesNotThrow(() => check({ provider: 'x', config: { baseURL: 'http://x.example', apiKey: 'k' } }));
  t.throws(() => check({ config: { timeout: 1 } }), { code: 'INVALID_REQUEST', details: [{ path: 'config.timeout' }] });
  t.throws(() => check({ model: 'm' }), { code: 'INVALID_REQUEST', details: [{ path: 'model' }] });
});
