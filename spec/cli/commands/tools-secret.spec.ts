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

t.test('the list says which secrets are needed, and the command that stores what is missing', async (t) => {
  const { on, rig } = await desk(t);
  t.match(await on(['tools', 'secret', 'ls']), { code: 0, stdout: '', stderr: 'No server of tools needs a secret.\n' });
  rig.write({ mcpServers: { crm: { command: 'crm', env: { A: '${auth:crm.token}', B: '${auth:crm.other}' } } } });
  await on(['tools', 'secret', 'set', 'crm.token'], 'hunter2hunter2\n');
  const listed = await on(['tools', 'secret', 'ls']);
  t.match(listed, {
    code: 0,
    stdout: /^SECRET +SERVER +STATE\ncrm\.token +crm +stored\ncrm\.other +crm +missing\n$/,
    stderr: /^crm\.other is missing\. `.*tools secret set crm\.other.*` stores it\.\n$/,
  });
  t.strictSame(JSON.parse((await on(['tools', 'secret', 'ls', '--json'])).stdout), {
    secrets: [
      { name: 'crm.token', server: 'crm', isStored: true },
      { name: 'crm.other', server: 'crm', isStored: false },
    ],
  });
  t.match(await on(['tools', 'secret']), { code: 0, stdout: listed.stdout });
});
