import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { resolve } from 'node:path';
import t, { type Test } from 'tap';
import { argsForFile } from '../../support/node-args.ts';
import { readAnswer, responseOf, until } from '../../support/server.ts';
import { testFolder } from '../../support/test-folder.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

function run(t: Test, env: Record<string, string>): { child: ChildProcess; output(): string } {
  const child = spawn(process.execPath, argsForFile('transports/http/main.ts'), {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], HOME: testFolder(t), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    text += chunk;
  });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, output: () => text };
}

t.test('node transports/http starts a server from its environment, and a signal ends it', async (t) => {
  const workspace = testFolder(t);
  const { child, output } = run(t, { BLOCKHOUSE_WORKSPACE: workspace, BLOCKHOUSE_PORT: '0' });
  await until(() => /"url":"http/.test(output()) || child.exitCode !== null, 'the server to listen', 60_000);
  const url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(output())?.[1];
  t.ok(url, output());
  t.match(await readAnswer(await responseOf(get(`${url}/v1/health`, { agent: false }))), { status: 200, json: { status: 'ok' } });
  const token = readFileSync(resolve(workspace, '.api-token'), 'utf8').trim();
  t.match(await readAnswer(await responseOf(get(`${url}/v1/adapters`, { agent: false, headers: { authorization: `Bearer ${token}` } }))), { status: 200 });
  t.notMatch(output(), token);
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  t.equal(code, 0);
});

t.test('a setting that cannot be ends it with an error that names the setting', async (t) => {
  const { child, output } = run(t, { BLOCKHOUSE_WORKSPACE: testFolder(t), BLOCKHOUSE_PORT: 'x' });
  const [code] = (await once(child, 'close')) as [number];
  t.not(code, 0);
  t.match(output(), 'BLOCKHOUSE_PORT');
});

t.test('the folder is a package whose main is the built file', async (t) => {
  const manifest = JSON.parse(readFileSync(resolve(ROOT, 'transports/http/package.json'), 'utf8')) as { main: string; type: string };
  t.equal(resolve(ROOT, 'transports/http', manifest.main), resolve(ROOT, 'dist/transports/http/main.js'));
  t.equal(manifest.type, 'module');
  t.ok(existsSync(resolve(ROOT, 'transports/http/main.ts')), 'which is built from this source');
});
