// The same where chokidar watches: on other systems than Linux.
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { replaceFile } from '../../../../core/store/files/atomic-file.ts';
import { until } from '../../../support/until.ts';
import { openWatch, standing, type Watched } from '../../../support/watched.ts';

const open = (t: Test, folder: string): Watched => openWatch(t, folder, false, 'darwin');

t.test('the package reports added, changed and removed files, and the last of many changes', async (t) => {
  const folder = t.testdir({ 'old.json': '{}', logs: {} });
  const path = join(folder, 'old.json');
  const watched = open(t, folder);
  const { told, faults } = watched;
  await standing(folder, watched);
  writeFileSync(join(folder, 'new.json'), '{}');
  await until('the new one is told', () => told.includes('new.json'));
  told.length = 0;
  await replaceFile(path, '{"replaced":true}');
  await until('the replaced one is told', () => told.includes('old.json'));
  for (let n = 0; n < 20; n += 1) {
    told.length = 0;
    writeFileSync(path, String(n));
    // Within the time in which the watcher's own throttling holds back.
    await until(`change ${n} is told`, () => told.includes('old.json'), 2000);
  }
  told.length = 0;
  unlinkSync(join(folder, 'new.json'));
  await until('the removed one is told', () => told.includes('new.json'));
  t.notOk(told.some((name) => name.endsWith('.tmp')));
  t.notOk(told.includes(''), 'the folder was there all the time');
  t.strictSame(faults, []);
});

t.test('the package reports a removed and a replaced folder, and watches again', async (t) => {
  const parent = t.testdir({ block: {} });
  const folder = join(parent, 'block');
  const watched = open(t, folder);
  const { told, faults } = watched;
  await standing(folder, watched);
  rmSync(folder, { recursive: true });
  await until('its end is told', () => told.includes(''));
  mkdirSync(folder);
  writeFileSync(join(folder, 'early'), '');
  await until('what came before the watch is told', () => told.includes('early'));
  await standing(folder, watched);
  renameSync(folder, join(parent, 'archived'));
  mkdirSync(folder);
  writeFileSync(join(folder, 'one'), '');
  await until('the second one is watched', () => told.includes('') && told.includes('one'));
  t.strictSame(faults, []);
});

t.test('the package reports changes during the setup of the watch', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const folder = t.testdir({ 'changed.json': '{}', 'removed.json': '{}', 'same.json': '{}' });
    const { told, watch } = open(t, folder);
    writeFileSync(join(folder, 'changed.json'), '{"a":1}');
    unlinkSync(join(folder, 'removed.json'));
    writeFileSync(join(folder, 'added.json'), '{}');
    await until('all three are told', () => ['changed.json', 'removed.json', 'added.json'].every((name) => told.includes(name)));
    t.notOk(told.includes('same.json'));
    await watch.close();
  }
});

t.test('the package reports a link in the folder, and not changes of its target', async (t) => {
  const parent = t.testdir({ outside: 'x', block: {} });
  const folder = join(parent, 'block');
  const watched = open(t, folder);
  await standing(folder, watched);
  symlinkSync(join(parent, 'outside'), join(folder, 'link'));
  await until('the link is told', () => watched.told.includes('link'));
  do {
    watched.told.length = 0;
    await delay(200);
  } while (watched.told.length > 0); // the watcher may tell it twice
  utimesSync(join(parent, 'outside'), 1, 1);
  writeFileSync(join(folder, 'after'), '');
  await until('a later change is told', () => watched.told.includes('after'));
  t.notOk(watched.told.includes('link'));
});

t.test('a watch of the package that is closed while its files go away leaves nothing open', async (t) => {
  const parent = t.testdir({});
  for (let round = 0; round < 16; round += 1) {
    const folder = join(parent, String(round));
    mkdirSync(folder);
    for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, name), '');
    const watched = open(t, folder);
    await standing(folder, watched);
    for (const name of ['a', 'b', 'c', 'standing']) unlinkSync(join(folder, name));
    for (let turns = 0; turns < round % 8; turns += 1) await new Promise(setImmediate);
    await watched.watch.close();
  }
  await until('nothing is open', () => !process.getActiveResourcesInfo().includes('FSEventWrap'));
});
