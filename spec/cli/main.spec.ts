import { once } from 'node:events';
import t from 'tap';
import { run, start } from './run.ts';

t.test('the process ends with the exit code of its command, and writes to its own streams', async (t) => {
  const [help, wrong] = await Promise.all([run(t, ['--help']), run(t, ['srve'])]);
  t.match(help, { code: 0, stderr: '', stdout: /Usage: blockhouse <command>/ });
  t.match(wrong, { code: 2, stdout: '', stderr: /did you mean serve/ });
});

t.test('a reader that leaves (| head -c1) is no failure', async (t) => {
  const { child, ended } = start(t, ['--help'], { input: '' });
  child.stdout.destroy();
  await once(child, 'spawn');
  t.match(await ended, { code: 0, stderr: '' });
});
