import t from 'tap';
import { COMPLETION_SCRIPTS } from '../../../cli/complete/completion-scripts.ts';
import { runHere } from '../run.ts';

t.test('the script of a shell is printed, ready to append to its startup file', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    t.same(await runHere(t, ['completion', shell]), { code: 0, stdout: COMPLETION_SCRIPTS[shell], stderr: '' });
  t.same(JSON.parse((await runHere(t, ['completion', 'zsh', '--json'])).stdout), { shell: 'zsh', script: COMPLETION_SCRIPTS.zsh });
});

t.test('another shell is refused, with those that there are', async (t) => {
  t.match(await runHere(t, ['completion', 'tcsh']), {
    code: 2,
    stdout: '',
    stderr: 'blockhouse: There is no completion for this shell; name one of bash, zsh, fish.\n',
  });
  t.match(await runHere(t, ['completion']), { code: 2, stderr: /^blockhouse: completion needs <shell>\.\n/ });
});

t.test('its help has the line for each shell', async (t) => {
  const { stdout } = await runHere(t, ['completion', '--help']);
  for (const line of ['bash >> ~/.bashrc', 'zsh >> ~/.zshrc', 'fish > ~/.config/fish/completions/blockhouse.fish']) t.ok(stdout.includes(line), line);
});
