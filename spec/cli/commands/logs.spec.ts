import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../../support/until.ts';
import { openDesk } from '../run.ts';

t.test('the last lines are printed, by level too, made harmless', async (t) => {
  const { on, workspace } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm']);
  t.match(await on(['logs', 'one']), { code: 0, stdout: '', stderr: 'one has no log yet.\n' });
  await on(['start', 'one']);
  const folder = join(workspace, 'blocks', 'one', 'logs');
  let file: string | undefined;
  await until('its start is in the log', () => {
    file = readdirSync(folder)
      .map((name) => join(folder, name))
      .find((path) => readFileSync(path, 'utf8').includes('state.idle'));
    return file !== undefined;
  });
  appendFileSync(file ?? '', '2026-11-20T14:00:00.000Z WARN by.hand \x1b[2Jx\n2026-11-20T14:00:01.000Z INFO last\n');
  t.equal((await on(['logs', 'one', '-n', '2'])).stdout, '2026-11-20T14:00:00.000Z WARN by.hand x\n2026-11-20T14:00:01.000Z INFO last\n');
  t.equal((await on(['logs', 'one', '--level', 'warn'])).stdout, '2026-11-20T14:00:00.000Z WARN by.hand x\n');
  t.same(JSON.parse((await on(['logs', 'one', '-n', '1', '--json'])).stdout), { block: 'one', line: '2026-11-20T14:00:01.000Z INFO last' });
  t.match(await on(['logs', 'one', '--level', 'loud']), { code: 2, stderr: /debug, info, warn, error/ });
  t.equal((await on(['logs', 'one', '-n', '-1'])).code, 2);
});

t.test('-f prints new lines only, until Ctrl-C', async (t) => {
  const { on, begin } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  const { child, printed, ended } = begin(['logs', 'one', '-f']);
  await printed('\n');
  await on(['send', 'one', '--wait', 'hi']);
  await printed('reply.done');
  child.kill('SIGINT');
  const { code, stdout } = await ended;
  t.equal(code, 130);
  const lines = stdout.trim().split('\n');
  t.equal(new Set(lines).size, lines.length, 'no line came twice');
});
