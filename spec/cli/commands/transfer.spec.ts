import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDesk } from '../run.ts';

t.test('a block is written to a file that only its owner can read, and made anew from it', async (t) => {
  const { on, workspace } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--description', 'Mine']);
  const file = join(workspace, 'one.tar.gz');
  t.match(await on(['export', 'one', '-o', file]), { code: 0, stdout: '', stderr: /^Wrote .*one\.tar\.gz \(\d.* .?i?B\)\.\n$/ });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same([...readFileSync(file).subarray(0, 2)], [0x1f, 0x8b]);
  t.match(await on(['export', 'one', '-o', file]), { code: 2, stderr: /exists already/ });
  t.match(await on(['import', file]), { code: 2, stderr: /^blockhouse: a block named one already exists; choose another name with `--as`\.\n$/i });
  t.match(await on(['import', file, '--as', 'two']), { code: 0, stdout: 'two\n' });
  t.equal((await on(['config', 'get', 'two', 'description'])).stdout, 'Mine\n');
  t.match(JSON.parse((await on(['export', 'one', '-o', `${file}2`, '--json'])).stdout), { success: true, file: `${file}2` });
});

t.test('without a file the bytes go through a pipe', async (t) => {
  const { on, begin } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama']);
  const exporting = begin(['export', 'one']);
  const importing = begin(['import', '-', '--as', 'two'], { input: null });
  exporting.child.stdout.pipe(importing.child.stdin);
  t.match(await importing.ended, { code: 0, stdout: 'two\n' });
});

t.test('nothing is made of what fails', async (t) => {
  const { on, workspace } = await openDesk(t);
  t.match(await on(['export', 'none', '-o', join(workspace, 'x')]), { code: 2, stderr: /none/ });
  t.notOk(existsSync(join(workspace, 'x')));
  await on(['new', 'one']);
  t.match(await on(['export', 'one', '-o', join(workspace, 'no', 'x')]), { code: 5, stderr: /can't be created/ });
  t.match(await on(['export', 'one', '--json']), { code: 2, stderr: /-o/ });
  t.match(await on(['import', join(workspace, 'nothing')]), { code: 2, stderr: /nothing is not there/ });
  t.match(await on(['import', '-'], { input: 'no archive' }), { code: 2, stderr: /^blockhouse: .*\n$/ });
});

t.test('a terminal gets no bytes', async (t) => {
  const { begin } = await openDesk(t);
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent('process.stdout.isTTY = true;')}` };
  t.match(await begin(['export', 'one'], { env }).ended, { code: 2, stdout: '', stderr: /-o/ });
});

t.test('a configuration that is imported as a block is refused with the option that takes it', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['import', 'Config.YAML']), {
    code: 2,
    stderr: /^blockhouse: Config\.YAML is no exported block; add --from litellm for a configuration of LiteLLM\.\n$/,
  });
});

t.test('an import says which connections of this machine the block will use, and which are missing', async (t) => {
  const { workspace, on } = await openDesk(t);
  for (const name of ['here', 'away'])
    t.match(await on(['auth', 'set', name, '--adapter', 'openai', '--base-url', 'http://127.0.0.1:9/v1', '--no-key']), { code: 0 });
  t.match(await on(['new', 'one', '-a', 'here', '-m', 'm']), { code: 0 });
  t.match(await on(['config', 'set', 'one', 'fallbacks=[{"provider":"away","model":"m"}]']), { code: 0 });
  const file = join(workspace, 'one.tar.gz');
  t.match(await on(['export', 'one', '-o', file]), { code: 0 });
  t.match(await on(['auth', 'rm', 'away', '--yes']), { code: 0 });
  const imported = await on(['import', file, '--as', 'two']);
  t.match(imported, { code: 0, stdout: 'two\n' });
  t.match(imported.stderr, /note: config\.adapter\.provider: The block will use the connection here of this machine, at http:\/\/127\.0\.0\.1:9\/v1\.\n/);
  t.match(imported.stderr, /note: config\.fallbacks\[0\]\.provider: away is neither a provider nor a connection of this machine\./);
  t.match(JSON.parse((await on(['import', file, '--as', 'three', '--json'])).stdout), { warnings: [{}, { field: 'config.fallbacks[0].provider' }] });
});
