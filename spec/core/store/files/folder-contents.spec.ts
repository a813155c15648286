import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { contentsNow, differences, folderIdentity, readContents } from '../../../../core/store/files/folder-contents.ts';

t.test('both ways of reading see the same, and a missing folder is empty', async (t) => {
  const folder = t.testdir({ a: 'x', b: '', c: {}, file: '' });
  symlinkSync('nowhere', join(folder, 'link'));
  t.strictSame([...contentsNow(folder).keys()].sort(), ['a', 'b', 'c', 'file', 'link']);
  t.strictSame(await readContents(folder), contentsNow(folder));
  for (const path of [join(folder, 'missing'), join(folder, 'file'), join(folder, 'file', 'x'), join(folder, 'link')]) {
    t.equal(contentsNow(path).size, 0);
    t.equal((await readContents(path)).size, 0);
    t.equal(folderIdentity(path), undefined);
  }
  t.throws(() => contentsNow(join(folder, 'x'.repeat(300))), { code: 'ENAMETOOLONG' });
  await t.rejects(readContents(join(folder, 'x'.repeat(300))), { code: 'ENAMETOOLONG' });
  t.throws(() => folderIdentity(join(folder, 'x'.repeat(300))), { code: 'ENAMETOOLONG' });
});

t.test('added, changed, replaced and removed files differ', async (t) => {
  const folder = t.testdir({ same: 'x', grown: 'x', dated: 'x', replaced: 'x', other: 'x', removed: 'x' });
  const before = contentsNow(folder);
  t.strictSame(differences(before, await readContents(folder)), []);
  writeFileSync(join(folder, 'grown'), 'xx');
  renameSync(join(folder, 'other'), join(folder, 'replaced'));
  unlinkSync(join(folder, 'removed'));
  mkdirSync(join(folder, 'added'));
  // A clock of the disk may stand still for some milliseconds.
  while (differences(before, contentsNow(folder)).length < 6) utimesSync(join(folder, 'dated'), 1, 1);
  t.strictSame(differences(before, contentsNow(folder)).sort(), ['added', 'dated', 'grown', 'other', 'removed', 'replaced']);
});

t.test('a folder that was made again has another identity', async (t) => {
  const folder = join(t.testdir({}), 'block');
  mkdirSync(folder);
  const first = folderIdentity(folder);
  writeFileSync(join(folder, 'file'), '');
  t.equal(folderIdentity(folder), first, 'whatever changes in it');
  renameSync(folder, `${folder}-moved`);
  mkdirSync(folder);
  t.not(folderIdentity(folder), first);
  rmSync(folder, { recursive: true });
});

t.test('only a bounded number of names is read, however large the folder', async (t) => {
  const folder = t.testdir({});
  for (let n = 0; n < 1500; n += 1) writeFileSync(join(folder, String(n)), '');
  t.equal(contentsNow(folder).size, 1000);
  t.equal((await readContents(folder)).size, 1000);
});
