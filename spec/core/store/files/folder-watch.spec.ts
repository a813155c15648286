import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { replaceFile } from '../../../../core/store/files/atomic-file.ts';
import { fakeTimers } from '../../../support/fake-timers.ts';
import { argsForFile } from '../../../support/node-args.ts';
import { until } from '../../../support/until.ts';
import { openWatch, standing } from '../../../support/watched.ts';

// Many processes, files or looks: more than a busy machine does in the usual time.
t.test('added, changed and removed files are reported', async (t) => {
  const folder = t.testdir({ 'old.json': '{}', logs: {} });
  const watched = openWatch(t, folder);
  const { told, faults } = watched;
  await standing(folder, watched);
  writeFileSync(join(folder, 'old.json'), '{"changed":true}');
  await until('the change is told', () => told.includes('old.json'));
  writeFileSync(join(folder, 'new.json'), '{}');
  await until('the new one is told', () => told.includes('new.json'));
  told.length = 0;
  await replaceFile(join(folder, 'old.json'), '{"replaced":true}');
  await until('the replaced one is told', () => told.includes('old.json'));
  told.length = 0;
  unlinkSync(join(folder, 'new.json'));
  await until('the removed one is told', () => told.includes('new.json'));
  t.notOk(
    told.some((name) => name.endsWith('.tmp')),
    'temporary files are nobody’s business',
  );
  t.notOk(told.includes(''), 'the folder was there all the time');
  t.strictSame(faults, []);
});

t.test('a removed folder is reported, and watched again when it is back', async (t) => {
  const folder = join(t.testdir({}), 'block');
  mkdirSync(folder);
  const watched = openWatch(t, folder);
  const { told, faults } = watched;
  await standing(folder, watched);
  for (let round = 0; round < 2; round += 1) {
    rmSync(folder, { recursive: true });
    await until('its end is told', () => told.includes(''));
    mkdirSync(folder);
    writeFileSync(join(folder, `early-${round}`), '');
    await until('what came before the watch is told', () => told.includes(`early-${round}`));
    told.length = 0;
    await standing(folder, watched);
    writeFileSync(join(folder, `late-${round}`), '');
    await until('what came after is told', () => told.includes(`late-${round}`));
    told.length = 0;
  }
  t.strictSame(faults, []);
});
t.test('a folder that was replaced is watched at once', async (t) => {
  const parent = t.testdir({});
  const folder = join(parent, 'block');
  mkdirSync(folder);
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  renameSync(folder, join(parent, 'archived'));
  mkdirSync(folder);
  writeFileSync(join(folder, 'one'), '');
  await until('the end of the first is told', () => watched.told.includes(''));
  await until('the second one is watched', () => watched.told.includes('one'));
  watched.told.length = 0;
  writeFileSync(join(parent, 'archived', 'standing'), 'moved');
  writeFileSync(join(folder, 'two'), '');
  await until('a file of the second is told', () => watched.told.includes('two'));
  t.notOk(watched.told.includes('standing'), 'the first one is watched no more');
});

t.test('the last of many changes is always reported', async (t) => {
  const folder = t.testdir({ 'chat.json': '[]' });
  const path = join(folder, 'chat.json');
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  for (let n = 0; n < 40; n += 1) {
    writeFileSync(path, String(n));
    // Within the time in which the watcher's own throttling holds back.
    await until(`change ${n} is told`, () => watched.told.includes('chat.json'), 2000);
    watched.told.length = 0;
  }
  t.pass('each one was told');
});

t.test('changes during the setup of the watch are reported', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const folder = t.testdir({ 'changed.json': '{}', 'removed.json': '{}', 'same.json': '{}' });
    const { told, watch } = openWatch(t, folder);
    writeFileSync(join(folder, 'changed.json'), '{"a":1}');
    unlinkSync(join(folder, 'removed.json'));
    writeFileSync(join(folder, 'added.json'), '{}');
    await until('all three are told', () => ['changed.json', 'removed.json', 'added.json'].every((name) => told.includes(name)));
    t.notOk(told.includes('same.json'));
    await watch.close();
  }
});

t.test('a missing folder is watched as soon as it exists, and a link is not a folder', async (t) => {
  const parent = t.testdir({ outside: { secret: '' } });
  const folder = join(parent, 'block');
  symlinkSync(join(parent, 'outside'), folder);
  const { told, faults } = openWatch(t, folder);
  const outside = openWatch(t, join(parent, 'outside'));
  await standing(join(parent, 'outside'), outside);
  writeFileSync(join(parent, 'outside', 'secret'), 'changed');
  await until('a watch that began later tells it', () => outside.told.includes('secret'));
  t.strictSame(told, [], 'nothing is told from outside');
  unlinkSync(folder);
  mkdirSync(folder);
  writeFileSync(join(folder, 'one'), '');
  await until('the folder is watched', () => told.includes('one'));
  t.strictSame(faults, []);
});

t.test('a file with the name of its folder is reported too', async (t) => {
  const folder = join(t.testdir({}), 'block');
  mkdirSync(folder);
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  writeFileSync(join(folder, 'block'), '');
  await until('it is told', () => watched.told.includes('block'));
  await standing(folder, watched);
  t.notOk(watched.told.includes(''));
});

t.test('a watch that is closed while its files go away leaves nothing open', async (t) => {
  const parent = t.testdir({});
  for (let round = 0; round < 40; round += 1) {
    const folder = join(parent, String(round));
    mkdirSync(folder);
    for (const name of ['a', 'b', 'c', 'd', 'e']) writeFileSync(join(folder, name), '');
    const watched = openWatch(t, folder);
    await standing(folder, watched);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'standing']) unlinkSync(join(folder, name));
    for (let turns = 0; turns < round % 8; turns += 1) await new Promise(setImmediate);
    await watched.watch.close();
  }
  await until('nothing is open', () => !process.getActiveResourcesInfo().includes('FSEventWrap'));
});

t.test('a link in the folder is reported, and changes of its target are not', async (t) => {
  const parent = t.testdir({ outside: 'x', block: {} });
  const folder = join(parent, 'block');
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  symlinkSync(join(parent, 'outside'), join(folder, 'link'));
  await until('the link is told', () => watched.told.includes('link'));
  do {
    watched.told.length = 0;
    await delay(200);
  } while (watched.told.length > 0); // the watcher may tell it twice
  utimesSync(join(parent, 'outside'), 1, 1);
  writeFileSync(join(parent, 'outside'), 'changed');
  writeFileSync(join(folder, 'after'), '');
  await until('a later change is told', () => watched.told.includes('after'));
  t.notOk(watched.told.includes('link'));
});

t.test('an impossible folder name is reported once, and not thrown', async (t) => {
  const pass = fakeTimers(t);
  const { faults, told } = openWatch(t, join(t.testdir({}), 'x'.repeat(300)));
  for (let look = 0; look < 3; look += 1) await pass(1000);
  t.match(faults, [{ code: 'ENAMETOOLONG' }]);
  t.equal(faults.length, 1);
  t.strictSame(told, []);
});

t.test('if the system has no watches left, the folder is polled instead, and that is reported once', async (t) => {
  const run = 'echo 0 > /proc/sys/user/max_inotify_watches && exec "$@"';
  try {
    await promisify(execFile)('unshare', ['-Ur', 'sh', '-c', 'echo 0 > /proc/sys/user/max_inotify_watches']);
  } catch (error) {
    t.comment(`not tried: ${(error as Error).message}`);
    return;
  }
  const { stdout } = await promisify(execFile)('unshare', ['-Ur', 'sh', '-c', run, 'sh', process.execPath, ...argsForFile('spec/support/watch-exhausted.ts')]);
  const { faults, told } = JSON.parse(stdout) as { faults: string[]; told: string[] };
  t.strictSame(faults, ['ENOSPC']);
  t.ok(told.includes('new.json') && told.includes('old.json'));
});

t.test('a watcher that its environment variable makes poll reports the same changes', async (t) => {
  process.env['CHOKIDAR_USEPOLLING'] = '1';
  t.teardown(() => delete process.env['CHOKIDAR_USEPOLLING']);
  const folder = t.testdir({ 'old.json': '' });
  const watched = openWatch(t, folder);
  await standing(folder, watched);
  writeFileSync(join(folder, 'old.json'), 'changed');
  await until('the change is told', () => watched.told.includes('old.json'));
  rmSync(folder, { recursive: true });
  await until('its end is told', () => watched.told.includes(''));
  t.strictSame(watched.faults, []);
});
