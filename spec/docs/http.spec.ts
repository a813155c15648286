import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { ROOT } from '../cli/run.ts';
import { friendlyDaemon } from '../support/server.ts';
import { testFolder } from '../support/test-folder.ts';
import { startUpstream } from '../support/upstream.ts';

/** The first block of JavaScript below a heading, with a free port for the server. */
function exampleBelow(heading: string): string {
  const text = readFileSync(join(ROOT, 'docs/http.md'), 'utf8');
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(text.slice(text.indexOf(heading))) ?? [];
  return code.replace('listen(8420,', 'listen(0,');
}

/** Runs the example as the program of a user who has installed Blockhouse (spec/e2e does that); resolves with the address that it prints. */
async function runExample(t: Test, heading: string): Promise<{ address: string; folder: string }> {
  const upstream = await startUpstream(t, friendlyDaemon);
  const folder = testFolder(t);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/blockhouse'));
  writeFileSync(join(folder, 'example.mjs'), exampleBelow(heading));
  const env = { PATH: process.env['PATH'], HOME: folder, OLLAMA_BASE_URL: upstream.url };
  const child = spawn(process.execPath, ['example.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = new Promise((resolve) => child.once('close', resolve));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  for await (const line of child.stdout) return { address: String(line).trim(), folder };
  throw new Error('The example ended before it printed its address.');
}

/** Runs the script of a page with the few parts of a browser that it uses, submits its form, and returns what it shows. */
async function submit(script: string, origin: string, fields: Record<string, string>): Promise<string> {
  const [form, pre] = [{} as { onsubmit?: (event: object) => Promise<void> }, { textContent: '' }];
  runInNewContext(script, {
    document: { forms: [form], querySelector: () => pre },
    FormData: class {
      [Symbol.iterator] = () => Object.entries(fields)[Symbol.iterator]();
    },
    fetch: (path: string, init: RequestInit) => fetch(origin + path, init),
  });
  await form.onsubmit?.({ preventDefault: () => undefined, target: form });
  return pre.textContent;
}

t.test('the page of a mount runs as printed: the browser may run its script, and the script asks a model', async (t) => {
  const { address, folder } = await runExample(t, '## Your own routes');
  const response = await fetch(address);
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  const html = await response.text();
  const [, nonce = '', script = ''] = /<script nonce="([^"]+)">([\s\S]*)<\/script>/.exec(html) ?? [];
  t.match(response.headers.get('content-security-policy'), `script-src 'nonce-${nonce}'; connect-src 'self'`);
  t.notMatch(await (await fetch(address)).text(), nonce, 'a nonce is used once');

  const token = readFileSync(join(folder, 'workspace/.api-token'), 'utf8').trim();
  const { origin } = new URL(address);
  t.match(await submit(script, origin, { token, question: 'hi' }), 'Hello');
  t.match(await submit(script, origin, { token: 'wrong', question: 'hi' }), /token/i, 'an error is shown');
  t.equal((await fetch(`${address}/other`)).status, 401, 'only the page itself is public');
});
