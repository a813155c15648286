import { readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { NOTICE_FOLDER, NoticeFolder } from '../../../../core/store/files/notice-folder.ts';
import { argsForText } from '../../../support/node-args.ts';

t.test('small files, for this user alone, in the order of their names', async (t) => {
  const workspace = t.testdir();
  const files = new NoticeFolder(join(workspace, NOTICE_FOLDER));
  t.same(await files.all('pending-a', (name) => t.fail(name)), []);
  await files.write('pending-a', 'b', { n: 2 });
  await files.write('pending-a', 'a', { n: 1 });
  await files.write('pending-b', 'c', {});
  t.same(await files.all('pending-a', (name) => t.fail(name)), [
    ['a', { n: 1 }],
    ['b', { n: 2 }],
  ]);
  t.equal(statSync(join(workspace, 'notify/pending-a/a.json')).mode & 0o777, 0o600);
  for (const folder of ['notify', 'notify/pending-a']) t.equal(statSync(join(workspace, folder)).mode & 0o777, 0o700);
  await files.remove('pending-a', 'a');
  await files.remove('pending-a', 'nothing');
  await files.remove('nowhere', 'nothing');
  t.same(readdirSync(join(workspace, 'notify/pending-a')), ['b.json']);
});

t.test('what a crash has left is removed, and what can not be read is told and left', async (t) => {
  const workspace = t.testdir({ notify: { p: { '.a.json.0123456789abcdef.tmp': '{', 'b.json': '{', 'note.txt': 'x', 'c.json': '{"n":1}' } } });
  symlinkSync('/etc/passwd', join(workspace, 'notify/p/d.json'));
  writeFileSync(join(workspace, 'notify/p/e.json'), 'x'.repeat(70_000));
  const bad: string[] = [];
  t.same(await new NoticeFolder(join(workspace, NOTICE_FOLDER)).all('p', (name) => bad.push(name)), [['c', { n: 1 }]]);
  t.same(bad, ['notify/p/b.json', 'notify/p/d.json', 'notify/p/e.json']);
  t.same(readdirSync(join(workspace, 'notify/p')).sort(), ['b.json', 'c.json', 'd.json', 'e.json', 'note.txt']);
});

t.test('a folder that somebody has removed is made again', async (t) => {
  const workspace = t.testdir();
  const files = new NoticeFolder(join(workspace, NOTICE_FOLDER));
  await files.write('p', 'a', {});
  rmSync(join(workspace, 'notify'), { recursive: true });
  await t.rejects(files.write('p', 'b', {}), { code: 'ENOENT' });
  await files.write('p', 'b', {});
  t.same(readdirSync(join(workspace, 'notify/p')), ['b.json']);
});

t.test('of processes that share a folder, each has a part of its own, which the next one takes over', async (t) => {
  const workspace = t.testdir();
  const script = `import { openNotices } from './core/store/open.ts';
    const files = await openNotices(${JSON.stringify(workspace)}, true);
    await files.write('pending-phone', 'msg_' + process.pid, {});
    process.stdout.write(JSON.stringify((await files.all('pending-phone', () => undefined)).map(([name]) => name)) + '\\n');
    setInterval(() => undefined, 1000);`;
  const begin = async () => {
    const child = spawn(process.execPath, argsForText(script), { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => child.kill('SIGKILL'));
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    return { child, name: `msg_${child.pid}`, seen: JSON.parse(line) as string[] };
  };
  const one = await begin();
  const two = await begin();
  t.same(one.seen, [one.name]);
  t.same(two.seen, [two.name], 'what another process sends is not seen');
  one.child.kill('SIGKILL');
  await once(one.child, 'exit');
  const three = await begin();
  t.same(three.seen.sort(), [one.name, three.name].sort(), 'what it has left is sent by the next one');
});
