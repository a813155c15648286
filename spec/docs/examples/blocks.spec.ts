import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { ROOT } from '../../cli/run.ts';
import { argsForFile } from '../../support/node-args.ts';
import { friendlyDaemon } from '../../support/server.ts';
import { testFolder } from '../../support/test-folder.ts';
import { startUpstream } from '../../support/upstream.ts';

t.test('the example runs a block in its own process, and shows its reply', async (t) => {
  const upstream = await startUpstream(t, friendlyDaemon);
  const folder = testFolder(t);
  const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, OLLAMA_BASE_URL: upstream.url };
  const child = spawn(process.execPath, argsForFile('docs/examples/blocks.ts'), { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  t.equal(stderr, '');
  t.equal(stdout, 'Hello, you\n(done, 5 tokens)\n');
});
