import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { processStart } from '../../../core/store/files/lock-holder.ts';
import { testFolder } from '../../support/test-folder.ts';
import { CLI, ROOT, runHere, serve, start } from '../run.ts';
import { noTerminal, openTerminal } from '../terminal.ts';

t.test('--json prints where it listens, the log is JSON lines on stderr, and SIGTERM ends it with 0', async (t) => {
  const workspace = testFolder(t);
  const { url, child, ended, printed } = await serve(t, workspace);
  t.match(JSON.parse(await printed('\n')), { url, workspace, version: /^\d/, pid: child.pid });
  t.equal((await fetch(`${url}/v1/health`)).status, 200);
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  t.equal(code, 0);
  for (const line of stderr.trim().split('\n')) t.type(JSON.parse(line), 'object');
  t.match(stderr, 'blockhouse is listening');
  t.notMatch(stderr, /bh_/);
});

t.test(
  'a server whose workspace another process holds, since its lock was deleted, ends with 5 and says who; without --json nothing goes to stdout',
  async (t) => {
    const workspace = testFolder(t);
    const { child, ended } = start(t, ['serve', '--port', '0', '--workspace', workspace]);
    let log = '';
    for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
      log += String(chunk);
      if (log.includes('blockhouse is listening')) break;
    }
    const other = { pid: process.pid, startedAt: new Date().toISOString(), processStart: await processStart(process.pid), url: null, version: '1' };
    writeFileSync(join(workspace, '.lock'), JSON.stringify(other));
    t.match(await ended, { code: 5, stdout: '', stderr: new RegExp(`Process ${process.pid} now holds the workspace .* because its \\.lock was deleted`) });
    t.match(JSON.parse(readFileSync(join(workspace, '.lock'), 'utf8')), other, 'whose lock stays');
  },
);

t.test('a used port is exit code 5, with the cure', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const { code, stderr, stdout } = await runHere(t, ['serve', '--port', String(port), '--workspace', testFolder(t)]);
  t.equal(code, 5);
  t.match(stderr, `127.0.0.1:${port} is in use; choose another port with --port or BLOCKHOUSE_PORT`);
  t.equal(stdout, '');
});

t.test('an address beyond loopback needs --allow-remote, and a port must be one', async (t) => {
  const workspace = testFolder(t);
  const remote = await runHere(t, ['serve', '--host', '0.0.0.0', '--port', '0', '--workspace', workspace]);
  t.equal(remote.code, 2);
  t.match(remote.stderr, '--allow-remote');
  t.equal((await runHere(t, ['serve', '--port', '99999', '--workspace', workspace])).code, 2);
  t.equal((await runHere(t, ['serve', '--host', '192.0.2.1', '--allow-remote', '--port', '0', '--workspace', workspace])).code, 5);
});

t.test('a database that does not answer, or is none, ends the start with the reason and without its password', async (t) => {
  const serve = (store: string) => runHere(t, ['serve', '--port', '0', '--workspace', testFolder(t), '--store', store]);
  const away = await serve('postgres://me:secret@127.0.0.1:1/db');
  t.match(away, { code: 5, stderr: /does not answer \(ECONNREFUSED\)/ });
  const wrong = await serve('mysql://me:secret@host/db');
  t.match(wrong, { code: 2, stderr: /postgres:\/\// });
  t.notMatch(away.stderr + wrong.stderr, 'secret');
});

t.test('a person at a terminal sees how to call it, and a log to read', async (t) => {
  // A terminal for the process, as far as it can tell.
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent('process.stderr.isTTY = true;')}` };
  const workspace = testFolder(t);
  const { child, ended } = start(t, ['serve', '--port', '0', '--workspace', workspace], { env });
  let seen = '';
  for await (const chunk of child.stderr) {
    seen += String(chunk);
    if (seen.includes('Ctrl-C stops the server')) break;
  }
  child.kill('SIGTERM');
  t.equal((await ended).code, 0);
  t.match(seen, /listens on http:\/\/127\.0\.0\.1:\d+/);
  t.match(seen, /TOKEN=\$\(.* token --workspace .*\)\n.*curl -s http:\/\/127\.0\.0\.1:\d+\/v1\/chat/);
  t.notMatch(seen, /bh_/);
  t.equal(seen.split('/ui/#code=').length - 1, existsSync(`${ROOT}dist/dashboard/manifest.json`) ? 1 : 0, 'with a link that signs in, if there is a page');
});

t.test('a log that can not be written stops nothing', { skip: process.platform !== 'linux' && 'only Linux has /dev/full' }, async (t) => {
  const full = openSync('/dev/full', 'w');
  t.teardown(() => closeSync(full));
  const env = { PATH: process.env['PATH'], HOME: t.testdirName, BLOCKHOUSE_LOG_LEVEL: 'trace' };
  const child = spawn(process.execPath, [CLI, 'serve', '--json', '--port', '0', '--workspace', testFolder(t)], { env, stdio: ['ignore', 'pipe', full] });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout as Readable, 'data')) as [Buffer];
  const { url } = JSON.parse(String(line)) as { url: string };
  for (let call = 0; call < 3; call += 1) t.equal((await fetch(`${url}/v1/health`)).status, 200);
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [0, null]);
});

/** Each is a line of more than half a KiB: all are far more than the pipes to a reader who has stopped can hold, and than waits in the server. */
const REFUSALS = 2500;
const LONG_PATH = `/api/blocks/${'x'.repeat(1000)}`;

/** A server whose log nobody reads, with more lines of it than find room. */
async function serveWithStalledLog(t: Test, workspace: string): Promise<{ child: ChildProcess; url: string }> {
  const env = { PATH: process.env['PATH'], HOME: t.testdirName };
  const child = spawn(process.execPath, [CLI, 'serve', '--json', '--port', '0', '--workspace', workspace], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout as Readable, 'data')) as [Buffer];
  const { url } = JSON.parse(String(line)) as { url: string };
  const { port, host } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write(`GET ${LONG_PATH} HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(REFUSALS));
  let answers = 0;
  for await (const chunk of socket) {
    answers += String(chunk).split('UNAUTHORIZED').length - 1;
    if (answers >= REFUSALS - 10) break; // some may be torn between two chunks
  }
  return { child, url };
}

t.test('a log that nobody reads any more keeps no server from its work or its end', async (t) => {
  const { child, url } = await serveWithStalledLog(t, testFolder(t));
  t.equal((await fetch(`${url}/v1/health`)).status, 200);
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [0, null]);
});

t.test('nor does it keep one that has lost its workspace', async (t) => {
  const workspace = testFolder(t);
  const { child } = await serveWithStalledLog(t, workspace);
  const other = { pid: process.pid, startedAt: new Date().toISOString(), processStart: await processStart(process.pid), url: null, version: '1' };
  writeFileSync(join(workspace, '.lock'), JSON.stringify(other));
  t.same(await once(child, 'exit'), [5, null]);
});

t.test('at a terminal, nobody sees a link that signs in with --json', { skip: noTerminal }, async (t) => {
  const terminal = openTerminal(t, ['serve', '--json', '--port', '0', '--workspace', testFolder(t)]);
  t.notMatch(await terminal.shows(/blockhouse is listening/), '/ui/#code=');
  terminal.press('C-c');
  await terminal.shows(/ended with 0/);
});

t.test('--gateway-only serves models and keys, says so in its health, and refuses blocks with the cure', async (t) => {
  const workspace = testFolder(t);
  const { url, child, ended } = await serve(t, workspace, {}, ['--gateway-only']);
  t.match(await (await fetch(`${url}/v1/health`)).json(), { status: 'ok', gatewayOnly: true });
  t.match(await (await fetch(`${url}/api/health`)).json(), { gatewayOnly: true, blocks: 0 });
  const headers = { authorization: `Bearer ${readFileSync(join(workspace, '.api-token'), 'utf8').trim()}` };
  for (const path of ['/api/blocks', '/api/halt', '/api/archive', '/api/costs']) {
    const answer = await fetch(`${url}${path}`, { headers });
    t.match({ status: answer.status, ...((await answer.json()) as object) }, { status: 409, code: 'WRONG_STATE', error: /without --gateway-only/ }, path);
  }
  const body = JSON.stringify({ adapter: 'stand-in', model: 'stand-in', messages: [{ role: 'user', content: 'Hello' }] });
  t.equal((await fetch(`${url}/v1/chat`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })).status, 200);
  t.match(await (await fetch(`${url}/api/costs?source=gateway`, { headers })).json(), { total: { calls: 1 } });
  t.match(await runHere(t, ['ls', '--workspace', workspace]), { code: 2, stderr: /has no blocks/ });
  child.kill('SIGINT');
  t.match(await ended, { code: 0 }, 'as SIGTERM does');
  t.notOk(existsSync(join(workspace, 'blocks')), 'nothing of blocks was made');
});
