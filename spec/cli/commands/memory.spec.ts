import t from 'tap';
import { until } from '../../support/server.ts';
import { openDesk } from '../run.ts';

t.test('facts are added, shown and forgotten', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  const added = await on(['memory', 'one', '--fact', 'closed on\x1b[2J Friday']);
  t.match(added, { code: 0, stdout: /^\S+\n$/, stderr: 'Noted.\n' });
  const id = added.stdout.trim();
  t.match((await on(['memory', 'one'])).stdout, new RegExp(`Facts +1 fact\\n {2}${id} {2}closed on Friday\\n`));
  t.match(JSON.parse((await on(['memory', 'one', '--json'])).stdout), { facts: [{ id }], compactionCount: 0 });
  t.match(await on(['memory', 'one', '--forget', id]), { code: 0 });
  t.match(await on(['memory', 'one', '--forget', id]), { code: 2, stderr: /^blockhouse: .*\n$/ });
  t.match(await on(['memory', 'one', '--forget', id, '--compact']), { code: 2, stderr: /Give only one of/ });
});

t.test('memory is summarised by the model, and that is undone', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  await on(['config', 'set', 'one', 'memory.keepMessages=0']);
  t.match(await on(['memory', 'one', '--undo']), { code: 2, stderr: /^blockhouse: .*\n$/ });
  for (const text of ['one', 'two', 'three']) await on(['send', 'one', '--wait', text]);
  await until(async () => (await on(['ls', '--json'])).stdout.includes('"state":"idle"'), 'the monitor has nothing more to do');
  t.match(await on(['memory', 'one', '--compact']), { code: 0, stdout: '' });
  t.match((await on(['memory', 'one'])).stdout, /Compacted 1 time, last .*: summarized[\s\S]*Summary\nHello, you\n/);
  t.equal((await on(['memory', 'one', '--undo'])).code, 0);
  t.notMatch((await on(['memory', 'one'])).stdout, 'Summary');
});
