// Servers of tools of a workspace in a database: what is added, approved or changed at one server of Blockhouse holds at all, and secrets are of each.
import { realpathSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { createToolHost } from '../../adapters/tools/index.ts';
import { lazyTools } from '../../cli/lazy-tools.ts';
import { connectStore, type ToolHost, type ToolServerView } from '../../core/index.ts';
import { createHttpTransport } from '../../transports/http/index.ts';
import { RUNNABLE, type StartedCore, startCore } from '../support/blocks.ts';
import { migratedStore } from '../support/migrated.ts';
import { noPostgres } from '../support/postgres.ts';
import { testFolder } from '../support/test-folder.ts';
import { answerOf } from '../support/tools/answer-of.ts';
import { HOSTILE } from '../support/tools/sessions-rig.ts';
import { toolModel } from '../support/tools/tool-model.ts';
import { untilSo } from '../support/until.ts';

interface Answer {
  readonly status: number;
  readonly body: { readonly servers: readonly ToolServerView[]; readonly server: ToolServerView; readonly error: string };
}

interface Node extends Omit<StartedCore, 'ask'> {
  readonly host: ToolHost;
  readonly workspace: string;
  /** Over HTTP. */
  ask(method: string, path: string, body?: object): Promise<Answer>;
}

async function nodes(t: Test): Promise<{ readonly a: Node; readonly b: Node }> {
  const store = await migratedStore(t);
  const folder = realpathSync(testFolder(t, { a: {}, b: {} }));
  const answer = toolModel(({ results }) => (results.length === 0 ? [{ name: 'echo__echo', arguments: { text: 'hello' } }] : `It said ${results.join(' ')}`));
  let token = '';
  const start = async (name: string): Promise<Node> => {
    const workspace = `${folder}/${name}`;
    const host = createToolHost({ workspace, env: process.env });
    const started = await startCore(t, { workspace, store: await connectStore(store), tools: host, answer });
    const transport = createHttpTransport(started.core, {});
    const url = await transport.listen(0, '127.0.0.1');
    t.teardown(() => transport.close());
    const ask = async (method: string, path: string, body?: object): Promise<Answer> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' };
      const answer = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
      return { status: answer.status, body: (await answer.json()) as Answer['body'] };
    };
    return { ...started, host, workspace, ask };
  };
  const [a, b] = [await start('a'), await start('b')];
  token = (await a.core.token?.renew()) ?? '';
  await until(async () => (await b.ask('GET', '/api/tools')).status === 200);
  return { a, b };
}

const until = (isSo: () => Promise<boolean>): Promise<void> => untilSo('it holds', isSo);

const entry = (options: object, more: object = {}) => ({ command: process.execPath, args: [HOSTILE, JSON.stringify(options)], ...more });

async function approve(node: Node, name: string): Promise<Answer> {
  const { definition } = (await node.ask('GET', `/api/tools/${name}`)).body.server;
  const { tools } = (await node.ask('POST', `/api/tools/${name}/test`, { definition })).body.server;
  return node.ask('POST', `/api/tools/${name}/approve`, { definition, tools: Object.fromEntries(tools.map((tool) => [tool.name, tool.hash])) });
}

const stateOf = async (node: Node, name: string) => (await node.ask('GET', '/api/tools')).body.servers.find((server) => server.name === name);

t.test('a database', { skip: noPostgres }, async (t) => {
  const { a, b } = await nodes(t);

  t.test('what is approved at one server is called at the other, and what is changed at one is refused at the other', async (t) => {
    t.match(await a.ask('PUT', '/api/tools/echo', { server: entry({}) }), { status: 200 });
    t.match(await stateOf(b, 'echo'), { state: 'held' }, 'the other one knows it, and holds it');
    t.match(await approve(a, 'echo'), { status: 200 });
    t.match(await stateOf(b, 'echo'), { state: 'idle' });

    await a.core.drain(a.core.storeHealth?.node ?? '', true);
    await b.create('ada', { ...RUNNABLE, tools: { servers: ['echo'], allow: ['echo/*'] } });
    await b.blocks.start('ada');
    const { id } = await a.blocks.post('ada', { message: 'Ask it.' }, 'api');
    t.match(await answerOf(b.blocks, 'ada', id), { content: /hello/, steps: [{ tool: 'echo/echo', outcome: 'done' }] });
    t.strictSame([a.factsOf('server.started'), b.factsOf('server.started')], [[], [{ server: 'echo' }]], 'it was started where the block is');

    const { tools } = await b.host.catalogue(['echo']);
    const { pin = '' } = tools.find(({ tool }) => tool === 'echo') ?? {};
    const call = { block: 'ada', server: 'echo', tool: 'echo', arguments: { text: 'x' }, pin, timeoutMs: 60_000, maxBytes: 1_000_000, callId: 'ada/m/9.1' };
    await b.host.call(call, new AbortController().signal);
    t.match(await a.ask('PUT', '/api/tools/echo', { server: entry({ era: 'other' }) }), { body: { server: { state: 'changed' } } });
    await until(async () => (await b.host.catalogue(['echo'])).tools.length === 0); // told, and a second later at most
    await t.rejects(b.host.call(call, new AbortController().signal), { code: 'TOOL_NOT_BEGUN', message: /not the approved one any more/ });
    t.match([await stateOf(a, 'echo'), await stateOf(b, 'echo')], [{ state: 'changed' }, { state: 'changed' }]);
    await until(async () => b.factsOf('server.exited').length > 0);

    const before = { definition: (await stateOf(a, 'echo'))?.definition ?? '', tools: {} };
    t.match(await approve(b, 'echo'), { status: 200 });
    t.match(await stateOf(a, 'echo'), { state: 'idle' }, 'approved at the other one again');
    t.match(await a.ask('PUT', '/api/tools/echo', { server: entry({ era: 'third' }) }), { status: 200 });
    t.match(
      await b.ask('POST', '/api/tools/echo/approve', before),
      { status: 409, body: { error: /not the one that was shown/ } },
      'by what was shown, wherever',
    );
    t.match(await b.ask('DELETE', '/api/tools/echo'), { status: 200 });
    t.equal(await stateOf(a, 'echo'), undefined);
  });

  t.test('two servers that change entries at once lose none, and each has the secrets of its own machine', async (t) => {
    const names = Array.from({ length: 10 }, (_, n) => `s${n}`);
    const put = await Promise.all(names.map((name, n) => (n % 2 === 0 ? a : b).ask('PUT', `/api/tools/${name}`, { server: entry({}) })));
    t.same(
      put.map(({ status }) => status),
      names.map(() => 200),
    );
    for (const node of [a, b]) t.same((await node.ask('GET', '/api/tools')).body.servers.map(({ name }) => name).sort(), names);

    const server = entry({}, { env: { TOKEN: `\${auth:s0.token}` } });
    t.match(await a.ask('PUT', '/api/tools/s0', { server }), { status: 200 });
    await a.host.servers?.setSecret('s0', 'token', { value: 'a-long-secret' });
    t.match(await approve(a, 's0'), { status: 200 });
    t.match(await stateOf(a, 's0'), { state: 'idle', secrets: [{ name: 's0.token', isStored: true }] });
    t.match(await stateOf(b, 's0'), { state: 'failed', problem: /blockhouse tools secret set s0\.token/, secrets: [{ isStored: false }] });
    t.match((await b.host.catalogue(['s0'])).problems, [{ server: 's0', problem: /is not stored/ }]);
    await b.host.servers?.setSecret('s0', 'token', { value: 'another-secret' });
    t.match(await stateOf(b, 's0'), { state: 'idle' }, 'the approval names no value');
  });

  t.test('a file in the folder of a server is not read, and the doctor says so', async (t) => {
    const store = await migratedStore(t);
    const workspace = testFolder(t);
    writeFileSync(`${workspace}/mcp.json`, JSON.stringify({ mcpServers: { old: entry({}) } }), { mode: 0o600 });
    const tools = lazyTools({ config: { workspace, host: '127.0.0.1', port: 1 }, env: process.env, providerVariables: new Set() });
    const { core } = await startCore(t, { workspace, store: await connectStore(store), tools });
    t.strictSame(await tools.servers?.list(), []);
    t.match((await core.check()).findings, [{ severity: 'warning', place: 'mcp.json', problem: /is not read/, fix: /tools import/ }]);
    await tools.servers?.put('echo', { server: entry({}) });
    t.match(await tools.servers?.list(), [{ name: 'echo', state: 'held' }]);
  });
});
