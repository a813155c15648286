import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../../support/until.ts';
import { openDesk, runHere } from '../run.ts';

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

t.test('without a name it is the log of the server, which needs none to be read', async (t) => {
  const workspace = t.testdir({
    logs: { '2026-11-20T14-00-00Z-server.log': '2026-11-20T14:00:00.000Z INFO "request served" ms=1\n2026-11-20T14:00:01.000Z ERROR broken\n' },
  });
  const on = (...args: string[]) => runHere(t, ['logs', ...args, '--workspace', workspace]);
  t.match(await on(), { code: 0, stderr: '', stdout: /^2026-11-20T14:00:00.000Z INFO "request served" ms=1\n.* broken\n$/ });
  t.equal((await on('--level', 'error')).stdout, '2026-11-20T14:00:01.000Z ERROR broken\n');
  t.same(JSON.parse((await on('-n', '1', '--json')).stdout), { block: null, line: '2026-11-20T14:00:01.000Z ERROR broken' });
  t.same(await runHere(t, ['logs', '--workspace', t.testdir()]), { code: 0, stdout: '', stderr: 'The server has no log yet.\n' });
});

t.test('--all is every block, by time, each line behind the name of its block', async (t) => {
  const { on, workspace } = await openDesk(t);
  t.match(await on(['logs', '--all']), { code: 0, stdout: '', stderr: 'No block has a log yet.\n' });
  for (const [name, second] of [
    ['one', 2],
    ['other', 1],
  ] as const) {
    await on(['new', name, '--provider', 'ollama', '--model', 'm']);
    mkdirSync(join(workspace, 'blocks', name, 'logs'), { recursive: true });
    writeFileSync(join(workspace, 'blocks', name, 'logs', '2026-11-20T14-00-00Z-block.log'), `2026-11-20T14:00:0${second}.000Z INFO from.${name}\n`);
  }
  const line = (second: number, name: string): string => `2026-11-20T14:00:0${second}.000Z INFO from.${name}`;
  t.equal((await on(['logs', '--all'])).stdout, `other  ${line(1, 'other')}\none    ${line(2, 'one')}\n`);
  t.same(JSON.parse((await on(['logs', '--all', '-n', '1', '--json'])).stdout), { block: 'one', line: line(2, 'one') });
  t.match(await on(['logs', 'one', '--all']), { code: 2, stderr: /either a block or --all/ });
});
