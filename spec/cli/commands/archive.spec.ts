import t from 'tap';
import { openDesk } from '../run.ts';

t.test('a block goes to the archive and comes back', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--start']);
  const removed = await on(['rm', 'one', '--yes']);
  t.match(removed, { code: 0, stdout: /^one_\S+Z\n$/, stderr: /^Archived one; `.* restore one_\S+ .*` brings it back\.\n$/ });
  const archiveName = removed.stdout.trim();
  t.match((await on(['archive', 'ls'])).stdout, /^ARCHIVE +BLOCK +ARCHIVED +SIZE +WAITING +COST\none_\S+Z +one +/);
  t.equal((await on(['archive', '-q'])).stdout, `${archiveName}\n`);
  t.match(JSON.parse((await on(['archive', 'ls', '--json'])).stdout), { archives: [{ archiveName, originalName: 'one' }] });
  t.match(await on(['restore', archiveName, '--as', 'two']), { code: 0, stdout: 'two\n', stderr: /^Restored\. `.* start two .*`/ });
  t.match(await on(['ls', '-q']), { stdout: 'two\n' });
  t.match(await on(['archive', 'ls']), { code: 0, stdout: '', stderr: 'The archive is empty.\n' });
  t.match(await on(['restore', archiveName]), { code: 2, stderr: /^blockhouse: .*\n$/ });
});

t.test('several go at once, and what fails keeps the others from nothing', async (t) => {
  const { on } = await openDesk(t);
  for (const name of ['one', 'two']) await on(['new', name]);
  const { code, stdout } = await on(['rm', 'one', 'none', 'two', '--yes', '--json']);
  t.equal(code, 2);
  t.match(JSON.parse(stdout), { results: [{ name: 'one', archiveName: /^one_/ }, { code: 'BLOCK_NOT_FOUND' }, { name: 'two' }] });
});

t.test('to delete for good needs --yes where nobody can be asked', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one']);
  await on(['rm', 'one', '--yes']);
  t.match(await on(['purge', 'one']), { code: 2, stderr: /Add --yes/ });
  t.match(await on(['purge', 'one', '--yes']), { code: 0, stdout: '' });
  t.match(await on(['archive', 'ls', '--json']), { stdout: '{"archives":[]}\n' });
});

t.test('a block is renamed, its new name on stdout', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  await on(['new', 'two', '--provider', 'ollama', '--model', 'm']);
  t.same(await on(['rename', 'one', 'first']), { code: 0, stdout: 'first\n', stderr: 'one was renamed to first.\n' });
  t.match(JSON.parse((await on(['rename', 'first', 'one', '--json'])).stdout), { success: true, name: 'one' });
  t.match(await on(['rename', 'one', 'two']), { code: 2, stdout: '', stderr: /A block named two already exists; choose another name/ });
  t.equal((await on(['ls', '-q'])).stdout, 'one\ntwo\n');
});
