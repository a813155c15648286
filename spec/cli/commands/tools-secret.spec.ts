import t from 'tap';
import { toolDesk as desk } from '../../support/tools/tool-desk.ts';

t.test('a secret is read from standard input, never shown, and removed', async (t) => {
  const { on, rig } = await desk(t);
  const set = await on(['tools', 'secret', 'set', 'github.token'], 'hunter2hunter2\n');
  t.match(set, { code: 0, stdout: '', stderr: 'The secret is stored.\n' });
  t.match(rig.read('auth.json'), { mcp: { github: { token: 'hunter2hunter2' } } });
  t.match(await on(['tools', 'secret', 'rm', 'github.token']), { code: 0, stderr: 'The secret is removed.\n' });
  t.strictSame(rig.read('auth.json'), {});
  for (const name of ['github', '.token', 'github.']) t.match(await on(['tools', 'secret', 'set', name], 'x'), { code: 2, stderr: /<server>\.<field>/ });
  t.match(await on(['tools', 'secret', 'set', 'github.token'], ''), { code: 2, stderr: /is empty/ });
  const wrong = await on(['tools', 'secret', 'set', 'github.token'], 'hunter2\nhunter3');
  t.match(wrong, { code: 2, stderr: /line breaks/ });
  t.notMatch(wrong.stderr, /hunter2/);
});
