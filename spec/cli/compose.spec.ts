import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { createConfiguredCore, cutOff, startServer } from '../../cli/compose.ts';
import { inWorkspace, readConfig } from '../../cli/serve/place.ts';
import { CliError } from '../../cli/terminal/exit-codes.ts';
import { BlockhouseError } from '../../core/index.ts';
import { portOfOther, withOtherUser } from '../support/other-user.ts';
import { testFolder } from '../support/test-folder.ts';

t.test('a setting that is out of range is bad usage', async (t) => {
  t.throws(() => readConfig({ port: 'many' }), { message: /--port or BLOCKHOUSE_PORT/ });
});

t.test('a core of the CLI has every adapter and the workspace', async (t) => {
  const workspace = testFolder(t);
  const core = await createConfiguredCore(readConfig({ workspace }));
  t.teardown(() => core.close());
  t.equal(core.workspace, workspace);
  t.ok(core.adapterIds().length > 0);
});

t.test('failures of the file system name the workspace; failures of the core stay as they are', async (t) => {
  const config = readConfig({ workspace: testFolder(t) });
  const system = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  await t.rejects(
    inWorkspace(config, () => Promise.reject(system)),
    new CliError('place', `The workspace ${config.workspace} can't be used: EACCES: permission denied.`),
  );
  const own = new BlockhouseError('ADAPTER_NOT_CONFIGURED', 'damaged');
  await t.rejects(
    inWorkspace(config, () => Promise.reject(own)),
    own,
  );
});

t.test('a file in the place of a folder is named: the workspace, one above it, or one in it', async (t) => {
  const file = join(testFolder(t), 'notes.txt');
  writeFileSync(file, 'x');
  for (const workspace of [file, join(file, 'inner')])
    await t.rejects(startServer({ port: '0', workspace }), {
      kind: 'place',
      message: `The workspace ${workspace} can't be used: ${file} is not a folder. Move it away, or choose another folder with --workspace.`,
    });
  const workspace = testFolder(t);
  writeFileSync(join(workspace, 'blocks'), 'x');
  await t.rejects(startServer({ port: '0', workspace }), { kind: 'place', message: /blocks is not a folder\. Move it away/ });
});

t.test('a core that fails to close when its time is up is in the log, and nothing else comes of it', async (t) => {
  const lines: unknown[] = [];
  const error = new Error('no descriptors');
  await cutOff({ core: { close: () => Promise.reject(error) }, log: { error: (...line: unknown[]) => lines.push(line) } });
  t.match(lines, [[{ err: error }, /could not be closed/]]);
});

t.test('a second server has its own port, and closes with the first', async (t) => {
  const server = await startServer({ port: '0', ollamaPort: '0', workspace: testFolder(t) });
  const { ollamaUrl = '' } = server;
  t.match(ollamaUrl, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.not(ollamaUrl, server.url);
  t.equal(await (await fetch(ollamaUrl)).text(), 'Ollama is running');
  t.equal((await fetch(`${server.url}/`)).status, 401);
  await server.close();
  for (const url of [ollamaUrl, server.url]) await t.rejects(fetch(url));
});

t.test('a port that another user of the machine has taken is named as such', withOtherUser, async (t) => {
  const { port } = await portOfOther(t);
  await t.rejects(startServer({ port: String(port), workspace: testFolder(t) }), {
    kind: 'place',
    message: new RegExp(`127\\.0\\.0\\.1:${port} is in use by a program of another user .*; choose another port`),
  });
});

t.test('a second port that is in use is named, and neither server stays', async (t) => {
  const [taken, workspace] = [createServer(), testFolder(t)];
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port: first } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  await t.rejects(startServer({ port: String(first), ollamaPort: String(port), workspace }), {
    kind: 'place',
    message: `127.0.0.1:${port} is in use; choose another port with --ollama-port or BLOCKHOUSE_OLLAMA_PORT (0 picks a free one).`,
  });
  await t.rejects(fetch(`http://127.0.0.1:${first}/v1/health`));
  await (await startServer({ port: '0', workspace })).close();
});

t.test('a server starts, serves and closes', async (t) => {
  const server = await startServer({ port: '0', workspace: testFolder(t) });
  t.equal((await fetch(`${server.url}/v1/health`)).status, 200);
  t.equal((await fetch(`${server.url}/v1/adapters`)).status, 401);
  await server.close();
  await t.rejects(fetch(`${server.url}/v1/health`));
  const [name = ''] = readdirSync(join(server.config.workspace, 'logs'));
  t.match(
    readFileSync(join(server.config.workspace, 'logs', name), 'utf8'),
    /INFO "request refused" .*path=\/v1\/adapters status=401/,
    'a refused request is in the log of the workspace',
  );
});

t.test('content for a collector that can not have it is refused at the start, and nothing is asked of the variable without a collector', async (t) => {
  const env = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'EVENTS', BLOCKHOUSE_LOG_LEVEL: 'silent' };
  const flags = { workspace: testFolder(t), port: '0' };
  await t.rejects(startServer(flags, { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }), {
    code: 'INVALID_REQUEST',
    message: /^OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT must be one of NO_CONTENT, SPAN_ONLY/,
  });
  const server = await startServer(flags, env);
  await server.close();
});
