import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { ROOT } from '../../cli/run.ts';
import { argsForFile } from '../../support/node-args.ts';
import { friendlyDaemon } from '../../support/server.ts';
import { testFolder } from '../../support/test-folder.ts';
import { startUpstream } from '../../support/upstream.ts';

t.test('the example chats and streams through the core, without a server', async (t) => {
  const upstream = await startUpstream(t, friendlyDaemon);
  const env = { PATH: process.env['PATH'], HOME: testFolder(t), OLLAMA_BASE_URL: upstream.url };
  const child = spawn(process.execPath, argsForFile('docs/examples/library.ts'), { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  t.equal(stderr, '');
  t.equal(stdout, 'Hello, you\n(5 tokens, end_turn)\n\nHello, you\n(5 tokens, end_turn)\n');
  t.equal(upstream.requests.length, 2);
});

t.test('the example stays short', async (t) => {
  const lines = readFileSync(new URL('../../../docs/examples/library.ts', import.meta.url), 'utf8').split('\n').length;
  t.ok(lines < 40, `${lines} lines`);
});
