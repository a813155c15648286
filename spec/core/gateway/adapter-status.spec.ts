import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { type Core, createCore, type Environment } from '../../../core/index.ts';
import { testFolder } from '../../support/test-folder.ts';
import { sendJson, startUpstream } from '../../support/upstream.ts';

// AWS's chain reads the environment of the process, and must look at no folder and no service of this machine.
Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' });
for (const name of Object.keys(process.env).filter((one) => /^AWS_(?!EC2)/.test(one))) delete process.env[name];

function coreOf(t: Test, env: Environment, workspace = testFolder(t)): Core {
  const core = createCore({ workspace, adapters: createAdapters(), env });
  t.teardown(() => core.close());
  return core;
}

async function statusOf(core: Core, id: string) {
  return (await core.status()).find((adapter) => adapter.id === id);
}

t.test('a hosted provider is ready with a key, and names what is missing without one', async (t) => {
  t.match(await statusOf(coreOf(t, { OPENAI_API_KEY: 'sk-0123456789abcdef' }), 'openai'), { ready: true, hasSecret: true, problem: undefined });
  t.match(await statusOf(coreOf(t, {}), 'openai'), { ready: false, hasSecret: false, problem: 'credential', detail: /OPENAI_API_KEY/ });
});

t.test('a daemon is ready when it answers, and not when nothing listens', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => sendJson(res, { models: [] }));
  t.match(await statusOf(coreOf(t, { OLLAMA_BASE_URL: upstream.url }), 'ollama'), { ready: true });
  t.match(await statusOf(coreOf(t, { OLLAMA_BASE_URL: 'http://127.0.0.1:1' }), 'ollama'), { ready: false, problem: 'unreachable', detail: /ollama serve/ });
});

t.test('a daemon that stays silent does not hold up the list', async (t) => {
  const upstream = await startUpstream(t, () => undefined);
  t.match(await statusOf(coreOf(t, { OLLAMA_BASE_URL: upstream.url }), 'ollama'), { ready: false, problem: 'unreachable' });
});

t.test('a daemon whose answer never ends does not hold up the list', async (t) => {
  const upstream = await startUpstream(t, (_request, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => res.write(' '), 100);
    res.on('close', () => clearInterval(drip));
  });
  t.match(await statusOf(coreOf(t, { OLLAMA_BASE_URL: upstream.url }), 'ollama'), { ready: false, problem: 'unreachable', detail: /did not finish/ });
});

t.test('the cloud of a local provider is not called: its key is enough', async (t) => {
  t.match(await statusOf(coreOf(t, { OLLAMA_BASE_URL: 'https://ollama.com' }), 'ollama'), { ready: false, problem: 'credential', detail: /OLLAMA_API_KEY/ });
  t.match(await statusOf(coreOf(t, { OLLAMA_BASE_URL: 'https://ollama.com', OLLAMA_API_KEY: 'key-0123456789' }), 'ollama'), { ready: true, hasSecret: true });
});

t.test('a provider with a credential chain is ready only when the chain finds keys', async (t) => {
  t.match(await statusOf(coreOf(t, {}), 'bedrock'), { ready: false, hasSecret: false, problem: 'credential', detail: /No AWS credentials were found/ });
  t.match(await statusOf(coreOf(t, { AWS_BEARER_TOKEN_BEDROCK: 'token-0123456789' }), 'bedrock'), { ready: true, hasSecret: true });
  const [bedrock] = await coreOf(t, {}).status({ searches: false });
  t.match(bedrock, { id: 'bedrock', ready: false, problem: 'unchecked' }, 'the chain was not asked');
});

t.test('a damaged auth.json makes adapters not ready instead of hiding them', async (t) => {
  const workspace = testFolder(t);
  writeFileSync(join(workspace, 'auth.json'), '{');
  const core = coreOf(t, {}, workspace);
  const statuses = await core.status({ searches: false });
  t.equal(statuses.length, core.adapterIds().length);
  t.match(statuses[0], { ready: false, problem: 'settings', detail: /auth\.json/ });
});
