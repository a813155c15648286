import { renameSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isFresh, MISSING, stampOf, stampOfAll } from '../../../../core/store/files/file-stamp.ts';

t.test('a stamp changes only with the file, even if an edit restores the modification time', (t) => {
  const folder = t.testdir({ file: 'one', other: 'one' });
  const path = join(folder, 'file');
  const first = stampOf(path);
  t.equal(stampOf(path), first);
  const { atime, mtime } = statSync(path);
  writeFileSync(path, 'two');
  utimesSync(path, atime, mtime);
  const second = stampOf(path);
  t.not(second, first, 'same size, same time of modification');
  renameSync(join(folder, 'other'), path);
  t.not(stampOf(path), second);
  unlinkSync(path);
  t.equal(stampOf(path), MISSING);
  t.end();
});

t.test('the stamp of several files changes with each of them, and with their places', (t) => {
  const folder = t.testdir({ one: '1', two: '2' });
  const paths = ['one', 'two', 'three', 'n'.repeat(300)].map((name) => join(folder, name));
  const stamps = [stampOfAll(paths)];
  const changed = (what: string): void => {
    const stamp = stampOfAll(paths);
    t.equal(stampOfAll(paths), stamp);
    t.notOk(stamps.includes(stamp), what);
    stamps.push(stamp);
  };
  const { atime, mtime } = statSync(join(folder, 'two'));
  writeFileSync(join(folder, 'two'), '3');
  utimesSync(join(folder, 'two'), atime, mtime);
  changed('same size, same time of modification');
  writeFileSync(join(folder, 'three'), '');
  changed('a new file');
  unlinkSync(join(folder, 'one'));
  changed('one is gone');
  renameSync(join(folder, 'two'), join(folder, 'one'));
  changed('another place');
  t.end();
});

t.test("a path that can't be read has a stamp too", (t) => {
  const folder = t.testdir({ file: '' });
  t.equal(stampOf(join(folder, 'file', 'inner')), MISSING);
  t.equal(stampOf(join(folder, 'n'.repeat(300))), '!ENAMETOOLONG');
  t.end();
});

t.test('a file that is not the written one has a stamp that no file has', (t) => {
  const folder = t.testdir({ file: 'one' });
  const path = join(folder, 'file');
  const written = statSync(path, { bigint: true });
  t.equal(stampOf(path, written), stampOf(path));
  writeFileSync(path, 'longer');
  t.not(stampOf(path, written), stampOf(path));
  t.end();
});

t.test('a file is fresh only for a moment after it was written', async (t) => {
  const path = join(t.testdir({ a: '1' }), 'a');
  t.ok(isFresh(path));
  utimesSync(path, new Date(), new Date(Date.now() - 60_000));
  t.notOk(isFresh(path));
  t.notOk(isFresh(`${path}-missing`));
});
