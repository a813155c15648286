import t from 'tap';
import { runHere } from '../run.ts';

t.test('a word that only groups commands lists them', async (t) => {
  t.match(await runHere(t, ['config']), { code: 0, stderr: '', stdout: /^blockhouse config get .*\nblockhouse config set .*\nblockhouse config edit .*\n$/ });
  const { commands } = JSON.parse((await runHere(t, ['service', '--json'])).stdout) as { commands: { command: string }[] };
  t.same(
    commands.map(({ command }) => command),
    ['blockhouse service install', 'blockhouse service uninstall', 'blockhouse service status'],
  );
  t.match(await runHere(t, ['auth', '--workspace', t.testdir()]), { code: 0, stderr: /Nothing is stored/ });
});
