import t from 'tap';
import { openDesk } from '../run.ts';

const ADD = ['schedule', 'add', 'one', '--id', 'brief', '--cron', '0 8 * * 1-5', '--timezone', 'Europe/Berlin', '--message', 'Write the brief.'];

t.test('a schedule is added, listed, paused, resumed, run and removed', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  t.match(await on(['schedule', 'ls', 'one']), { code: 0, stdout: '', stderr: /^one has no schedules\. For example: `\S+ .*schedule add one --id brief / });
  t.match(await on(ADD), {
    code: 0,
    stdout:
      /^The monitor is stopped[^\n]*\n\nbrief {2}active {2}0 8 \* \* 1-5 Europe\/Berlin\n {2}Write the brief\.\n {2}next {2}\d{4}-\d\d-\d\d 08:00 Europe\/Berlin = /,
  });
  t.match(await on(ADD), { code: 2, stderr: /has a schedule brief already\. Add --replace/ });
  t.match(await on([...ADD, '--replace', '--window', 'all', '--max-per-day', '2', '--grace', '5', '--catch-up', 'none']), { code: 0 });
  const listed = JSON.parse((await on(['schedule', 'ls', 'one', '--json'])).stdout) as object;
  t.match(listed, { schedules: [{ id: 'brief', window: 'all', maxPerDay: 2, graceMinutes: 5, catchUp: 'none', state: 'active' }] });
  t.match(await on(['schedule', 'pause', 'one', 'brief']), { code: 0, stderr: /is paused\. `.* schedule resume one brief/ });
  t.match(await on(['schedule', 'two']), { code: 2 });
  t.match((await on(['schedule', 'ls', 'one'])).stdout, /brief {2}paused[^\n]*\n {2}Write the brief\.\n {2}Somebody has paused it\.\n {2}last {2}never\n/);
  t.match(await on(['schedule', 'resume', 'one', 'brief']), { code: 0, stdout: /^brief {2}active/ });
  t.match(await on(['schedule', 'run', 'one', 'brief']), { code: 0, stdout: /^m\S+\n$/, stderr: /stopped/ });
  t.match((await on(['schedule', 'ls', 'one'])).stdout, /last {2}.*queued/);
  t.match(await on(['schedule', 'rm', 'one', 'brief']), { code: 2, stderr: /Add --yes to confirm/ });
  t.match(await on(['schedule', 'rm', 'one', 'brief', '--yes']), { code: 0, stderr: 'The schedule brief is removed.\n' });
  t.match(await on(['schedule', 'rm', 'one', 'brief', '--yes']), { code: 2, stderr: /one has no schedule brief/ });
});

t.test('what is wrong with a schedule is said before it is added', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  const add = (...more: string[]) => on(['schedule', 'add', 'one', '--id', 'x', '--message', 'y', ...more]);
  t.match(await add(), { code: 2, stderr: /one of cron, every and at/ });
  t.match(await add('--cron', '0 0 30 2 *'), { code: 2, stderr: /no such day/ });
  t.match(await add('--every', '10s'), { code: 2, stderr: /between 1m/ });
  t.match(await add('--at', '2020-01-01T00:00:00Z'), { code: 2, stderr: /must lie in the future/ });
  t.match(await add('--every', '1h', '--window', 'few'), { code: 2, stderr: /--window must be a whole number/ });
  t.match(await on(['schedule', 'run', 'one', 'x']), { code: 2, stderr: /no schedule of this id/ });
});
