// The example of docs/websocket.md as its reader runs it. Needs `npm run build`.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CLI, ROOT } from '../cli/run.ts';
import { createBlock } from '../support/block-calls.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';
import { startWsServer, type WsServer } from '../support/ws.ts';

const page = readFileSync(join(ROOT, 'docs/websocket.md'), 'utf8');
const blockOf = (language: string): string => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';

/** A folder as after `npm install ws`, and a PATH with the command `blockhouse`. */
function readersFolder(t: Test): { folder: string; path: string } {
  const folder = testFolder(t);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(ROOT, 'node_modules/ws'), join(folder, 'node_modules/ws'), 'junction');
  const command = join(folder, 'blockhouse');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  chmodSync(command, 0o755);
  return { folder, path: `${folder}:${process.env['PATH']}` };
}

/** Runs the example as printed, but for the port; returns a function for what it has printed so far. */
function runExample(t: Test, { port, workspace }: WsServer): () => string {
  const { folder, path } = readersFolder(t);
  writeFileSync(join(folder, 'follow.mjs'), blockOf('js').replace(':8420', `:${port}`));
  const env = { PATH: path, HOME: folder, BLOCKHOUSE_WORKSPACE: workspace };
  const child = spawn('bash', ['-c', blockOf('sh')], { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  const closed = new Promise((resolve) => child.once('close', resolve));
  t.teardown(async () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL'); // the shell and the program in it
    await closed;
  });
  return () => text;
}

t.test('the example runs as printed, and shows a reply of the block', async (t) => {
  const server = await startWsServer(t);
  await createBlock(server, 'support');
  await server.call('POST', '/api/blocks/support/start');
  const printed = runExample(t, server);
  await until('the example follows the block', () => printed().startsWith('Following support.\n'));
  await server.call('POST', '/api/blocks/support/chat', { body: { message: 'Who are you?' } });
  await until('the reply is printed', () => printed().includes('Hello, you\n'));
  await server.ws.close();
  await until('the end is printed', () => printed().includes('The connection ended (1001).'));
});

t.test('the example says why it can not follow the block', async (t) => {
  const server = await startWsServer(t);
  const printed = runExample(t, server);
  await until('the refusal is printed', () => printed().includes('There is no block "support"'));
  t.notMatch(printed(), 'Following');
});

t.test('the page names the package that the example needs', async (t) => {
  t.match(page.slice(0, page.indexOf('```js')), '`npm install ws`');
  t.strictSame(
    [...blockOf('js').matchAll(/from '([^']+)'/g)].map(([, name]) => name),
    ['ws'],
  );
});
