import t from 'tap';
import { openDesk } from '../run.ts';

t.test('a hook is made with a secret that is shown once, listed, changed and removed', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  t.match(await on(['hook', 'ls', 'one']), { code: 0, stdout: '', stderr: /^one has no hooks\. For example: `.* hook new one issues --style github / });
  const made = await on(['hook', 'new', 'one', 'issues', '--style', 'github', '--message', 'Sort it.', '--window', '0', '--per-hour', '5']);
  t.match(made, { code: 0, stdout: /^whsec_\S+\n$/, stderr: /^Deliveries go to http:\/\/\S+\/api\/hooks\/one\/issues\. The secret is shown this once\.\n$/ });
  t.match(await on(['hook', 'new', 'one', 'issues', '--message', 'x']), { code: 2, stderr: /has a hook issues already\. Add --replace/ });
  t.match(await on(['hook', 'new', 'one', 'issues', '--replace', '--window', 'all']), { code: 0, stdout: '', stderr: /^Deliveries go to/ });
  const listed = await on(['hook', 'ls', 'one']);
  t.match(listed.stdout, /^HOOK +SIGNED +PER HOUR +WINDOW +SECRET +PATH\nissues +github +5 +all +set +\/api\/hooks\/one\/issues\n$/);
  t.match(JSON.parse((await on(['hook', 'ls', 'one', '--json'])).stdout), { hooks: [{ id: 'issues', message: 'Sort it.' }] });
  t.match(await on(['hook', 'new', 'one', 'issues', '--replace', '--new-secret']), { stdout: /^whsec_/ });
  t.match(await on(['hook', 'new', 'one', 'other', '--message', 'x', '--style', 'odd']), { code: 2, stderr: /style/ });
  t.match(await on(['hook', 'new', 'one', 'other', '--message', 'x', '--per-hour', 'many']), { code: 2, stderr: /--per-hour must be a whole number/ });
  t.match(await on(['hook', 'rm', 'one', 'issues']), { code: 2, stderr: /Add --yes/ });
  t.match(await on(['hook', 'rm', 'one', 'issues', '--yes']), { code: 0, stderr: /^The hook is removed/ });
  t.match(await on(['hook', 'rm', 'one', 'issues', '--yes']), { code: 2, stderr: /no hook of this id/ });
});
