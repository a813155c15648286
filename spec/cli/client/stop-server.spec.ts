import { spawn } from 'node:child_process';
import t from 'tap';
import { stopServer } from '../../../cli/client/stop-server.ts';
import { DAEMON_END, daemonLine } from '../../support/server.ts';
import { openDeskOfProcess } from '../run.ts';

const { signal } = new AbortController();

t.test('where no server runs, none is stopped', async (t) => {
  t.equal(await stopServer(t.testdir(), signal), undefined);
});

t.test('where nobody knows when the process of the lock has started, it is stopped only if it answers as the server', async (t) => {
  const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  t.teardown(() => stranger.kill('SIGKILL'));
  const holder = { pid: stranger.pid, startedAt: new Date().toISOString(), processStart: null, url: 'http://127.0.0.1:9', version: '0.1.0' };
  const workspace = t.testdir({ '.lock': JSON.stringify(holder), '.api-token': `bh_${'a'.repeat(43)}` });
  await t.rejects(stopServer(workspace, signal), { kind: 'server', message: /can't be reached/ });
  t.equal(stranger.exitCode ?? stranger.signalCode, null);
});

t.test('a server that lets an answer go on is named, with the command that ends it at once', async (t) => {
  let finish = (): void => undefined;
  const { workspace, on, server } = await openDeskOfProcess(t, (_request, res) => {
    res.writeHead(200, { 'content-type': 'application/x-ndjson' }).write(daemonLine('half '));
    finish = () => void res.end(daemonLine('whole') + DAEMON_END);
  });
  const asked = await fetch(`${server.url}/v1/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${(await on(['token'])).stdout.trim()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ adapter: 'ollama', model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true }),
  });
  const { pid } = server.child;
  await t.rejects(stopServer(workspace, signal, 0), {
    kind: 'server',
    message: new RegExp(`^The server \\(process ${pid}\\) has not ended yet; \`kill -9 ${pid}\``),
  });
  finish();
  t.match(await asked.text(), 'whole');
  t.equal((await server.ended).code, 0);
});
