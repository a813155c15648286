import t from 'tap';
import { openDesk } from '../run.ts';

t.test('several monitors are started, restarted and stopped, each outcome is told', async (t) => {
  const { on } = await openDesk(t);
  for (const name of ['one', 'two']) await on(['new', name, '--provider', 'ollama']);
  t.match(await on(['start', 'one', 'two']), { code: 0, stdout: '', stderr: /^one .*\ntwo .*\n$/ });
  t.match(await on(['start', 'one']), { code: 0 }, 'it runs already');
  const { stdout, stderr, code } = await on(['restart', 'one', 'none', '--json']);
  t.equal(code, 2);
  t.match(JSON.parse(stdout), {
    results: [
      { name: 'one', success: true },
      { name: 'none', success: false, code: 'BLOCK_NOT_FOUND' },
    ],
  });
  t.match(stderr, /^one .*\nblockhouse: .*none.*\n$/);
  t.equal((await on(['stop', 'one', 'two'])).code, 0);
  t.match(await on(['ls']), { stdout: /one +○ stopped[\s\S]*two +○ stopped/ });
});

t.test('reset tells what was done', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama']);
  t.match(JSON.parse((await on(['reset', 'one', '--yes', '--json'])).stdout), {
    results: [{ name: 'one', success: true, cleared: ['memory', 'costs', 'pulse'] }],
  });
  const hard = await on(['reset', 'one', '--hard', '--yes', '--json']);
  t.match(JSON.parse(hard.stdout), { results: [{ cleared: ['memory', 'costs', 'pulse', 'logs'] }] });
});

t.test('--all means every block for start, and those that run for stop and restart', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['start', '--all']), { code: 0, stderr: 'There is no block to start.\n' });
  for (const name of ['one', 'three', 'two']) await on(['new', name, '--provider', 'ollama', '--model', 'm']);
  t.match(await on(['start', '--all']), { code: 0, stderr: /^one .*\nthree .*\ntwo .*\n$/ });
  t.equal((await on(['stop', 'two'])).code, 0);
  t.match(await on(['restart', '--all']), { code: 0, stderr: 'one was restarted.\nthree was restarted.\n' });
  t.match(await on(['stop', '--all']), { code: 0, stderr: 'one is stopped.\nthree is stopped.\n' });
  t.match(await on(['stop', '--all', '--json']), { code: 0, stdout: '{"results":[]}\n' });
  t.match(await on(['stop', '--all', 'one']), { code: 2, stderr: /either names or --all/ });
  t.match(await on(['start']), { code: 2, stderr: /Name a block or give --all/ });
});
