// The host of a server, which loads itself.
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { createCore } from '../../core/index.ts';
import { type LazyToolsOptions, lazyTools } from '../../cli/lazy-tools.ts';
import type { SettingStore } from '../../core/store/port.ts';
import { testFolder } from '../support/test-folder.ts';
import { HOSTILE } from '../support/tools/sessions-rig.ts';
import { skillMd } from '../support/tools/skill-core.ts';
import { until } from '../support/until.ts';

function lazy(workspace: string, store?: LazyToolsOptions['config']['store']) {
  return lazyTools({
    config: { workspace, host: '127.0.0.1', port: 8420, ollamaPort: 11_434, ...(store !== undefined && { store }) },
    env: process.env,
    providerVariables: new Set(['SOME_API_KEY']),
  });
}

t.test('without a server of tools there is nothing to list, to find fault with, or to end', async (t) => {
  const workspace = testFolder(t);
  const host = lazy(workspace);
  t.strictSame(await host.servers?.list(), []);
  t.strictSame(await host.servers?.findings(), []);
  const { servers } = host;
  if (servers === undefined) throw new Error('there are no servers of tools');
  const answer = async (): Promise<void> => void (await servers.answerSignIn('code=x&state=y', 'http://127.0.0.1:8420/callback'));
  await t.rejects(answer, { code: 'INVALID_REQUEST', message: /no answer to a sign-in that has begun/ }, 'anybody may say that they come back from one');
  host.tidy?.();
  await host.halt();
  await host.close();
  t.notOk(existsSync(join(workspace, '.servers.json')));
});

t.test('where a database keeps the workspace and no server runs, the servers of a file in the folder are not judged', async (t) => {
  const workspace = testFolder(t);
  writeFileSync(join(workspace, 'mcp.json'), '{"mcpServers": {"files": {"command": "node"}}}');
  t.match(await lazy(workspace).servers?.findings(), [{ place: 'mcp.json, files', problem: /is not approved/ }]);
  const host = lazy(workspace, { url: 'postgres://db.internal/blockhouse' } as never);
  const settings = { check: async () => ({ good: undefined }) } as never;
  host.keepIn?.(settings, 'files');
  t.match(await host.servers?.findings(), [{ place: 'mcp.json', problem: /is not read/ }]);
  t.equal((await host.servers?.findings())?.length, 1);
});

t.test('without skills there is nothing to list or to find fault with, and with one it is read', async (t) => {
  const workspace = testFolder(t);
  const { skills } = lazy(workspace);
  t.strictSame(await skills?.list(['ada', '_']), []);
  t.strictSame(await skills?.findings({ blocks: true }), []);
  await skills?.forget('ada');
  await skills?.rename('ada', 'bob');
  t.strictSame(readdirSync(workspace), [], 'nothing is written');
  const own = join(workspace, 'blocks/ada/skills/invoice');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'SKILL.md'), skillMd('invoice'));
  t.match(await skills?.findings({ blocks: true }), [{ place: 'blocks/ada/skills/invoice' }]);
  t.strictSame(await skills?.findings({ blocks: false }), []);
  const [listed] = (await skills?.list(['ada'])) ?? [];
  t.match(listed, { owner: 'ada', name: 'invoice', state: 'new' });
  t.match(await skills?.approve('ada', 'invoice', { hash: listed?.hash }, 'cli'), { state: 'approved' });
  t.match(await skills?.offered(['ada', '_'], ['*']), { skills: [{ name: 'invoice' }] });
  t.match(await skills?.read(['ada', '_'], 'invoice'), { body: 'The text of invoice.' });
  await skills?.rename('ada', 'bob');
  t.match(await skills?.get('ada', 'invoice'), { state: 'new' });
});

t.test('servers are managed and called as by the host itself, and an address of this server is refused', async (t) => {
  const workspace = realpathSync(testFolder(t));
  const host = lazy(workspace);
  t.teardown(() => host.close());
  const { servers } = host;
  await servers?.put('hostile', { server: { command: process.execPath, args: [HOSTILE, '{}'] } });
  const definition = (await servers?.get('hostile'))?.definition ?? '';
  const seen = await servers?.test('hostile', { definition }, new AbortController().signal);
  const hashes = Object.fromEntries((seen?.tools ?? []).map(({ name, hash }) => [name, hash]));
  await servers?.approve('hostile', { definition, tools: hashes }, 'cli');
  const { tools } = await host.catalogue(['hostile']);
  const { pin = '' } = tools.find(({ tool }) => tool === 'echo') ?? {};
  const call = {
    block: 'ada',
    server: 'hostile',
    tool: 'echo',
    arguments: { text: 'hello' },
    pin,
    timeoutMs: 60_000,
    maxBytes: 1_000_000,
    callId: 'ada/m/1.1',
  };
  t.match(await host.call(call, new AbortController().signal), { parts: [{ text: 'hello' }] });
  t.match(await servers?.list(), [{ name: 'hostile', state: 'ready' }]);
  await servers?.setSecret('hostile', 'token', { value: 'a-long-secret' });
  await servers?.remove('hostile');
  for (const port of [8420, 11_434])
    await t.rejects(async () => servers?.put('loop', { server: { type: 'http', url: `http://127.0.0.1:${port}/mcp` } }), {
      code: 'TOOL_SERVER_REFUSED',
    });
});

t.test('where the core says that it is served, at any port and behind a proxy, no server of tools may be', async (t) => {
  const workspace = realpathSync(testFolder(t));
  const host = lazy(workspace);
  const core = createCore({ workspace, adapters: [], env: {}, tools: host });
  t.teardown(() => core.close());
  await core.start();
  const put = async (url: string) => core.toolServers().put('loop', { server: { type: 'http', url } });
  const remove = core.ownAddresses.add(['http://127.0.0.1:41234', 'https://agents.example.com'], ['/mcp/']);
  for (const url of ['http://127.0.0.1:41234/mcp', 'https://agents.example.com/mcp']) await t.rejects(put(url), { code: 'TOOL_SERVER_REFUSED' }, url);
  await put('https://agents.example.com/other');
  remove();
  await put('http://127.0.0.1:41234/mcp');
});

t.test('a variable that a connection has its key from is given to no server of tools', async (t) => {
  const workspace = realpathSync(testFolder(t));
  const entries = {
    openai: { baseURL: 1 },
    groq: { preset: 'groq' },
    gpu: { adapter: 'openai', baseURL: 'http://127.0.0.1:1', keys: [{ apiKeyEnv: 'ONE' }, { apiKeyEnv: 'TWO' }] },
  };
  writeFileSync(join(workspace, 'auth.json'), JSON.stringify(entries), { mode: 0o600 });
  const core = createCore({ workspace, adapters: createAdapters(), env: {}, tools: lazy(workspace) });
  t.teardown(() => core.close());
  await core.start();
  const put = async (variable: string) => core.toolServers().put('own', { server: { command: 'node', env: { TOKEN: `\${env:${variable}}` } } });
  for (const variable of ['GROQ_API_KEY', 'ONE', 'TWO', 'SOME_API_KEY', 'BLOCKHOUSE_STORE'])
    await t.rejects(put(variable), { code: 'TOOL_SERVER_REFUSED', message: /belongs to Blockhouse or a provider/ }, variable);
  t.match(await put('GITHUB_TOKEN'), { name: 'own' }, 'which a preset would read, and no connection does');
});

t.test('with a database, files that are not read any more are named, each with what helps', async (t) => {
  const workspace = testFolder(t, { 'mcp.json': '{}', 'mcp-pins.json': '{}' });
  const host = lazy(workspace);
  t.teardown(() => host.close());
  const empty = async () => ({ good: undefined, fault: undefined });
  host.keepIn?.({ open: () => t.fail('nothing is opened'), check: empty } as unknown as SettingStore, 'postgres');
  t.match(await host.servers?.findings(), [
    { place: 'mcp.json', problem: /is not read/, fix: /tools import <the file>.*remove mcp\.json/ },
    { place: 'mcp-pins.json', problem: /is not read/, fix: /^Approve what is missing with `blockhouse tools approve <server>`, and remove mcp-pins\.json/ },
  ]);
});

t.test('what an earlier process has left is looked for at the start, where something was written down', async (t) => {
  const workspace = testFolder(t);
  writeFileSync(join(workspace, '.servers.json'), '{}');
  const host = lazy(workspace);
  t.teardown(() => host.close());
  host.tidy?.();
  await until('the file has a mark', () => /"mark":"[0-9a-f]{32}"/.test(readText(workspace)));
});

function readText(workspace: string): string {
  return existsSync(join(workspace, '.servers.json')) ? readFileSync(join(workspace, '.servers.json'), 'utf8') : '';
}
