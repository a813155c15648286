import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readFault, readRegular } from '../../../core/workspace/regular-file.ts';

const LIMIT = 10_000_000;

/** What is wrong, in the words of `readFault`. */
async function faultOf(path: string): Promise<string> {
  return readRegular(path, LIMIT).then(
    () => 'nothing',
    (error: Error) => readFault(error),
  );
}

t.test('a small file and a large one are read whole', async (t) => {
  const folder = t.testdir({ empty: '', small: 'é', large: 'x'.repeat(3_000_000) });
  t.equal((await readRegular(join(folder, 'empty'), LIMIT))?.length, 0);
  t.equal((await readRegular(join(folder, 'small'), LIMIT))?.toString(), 'é');
  t.equal((await readRegular(join(folder, 'large'), LIMIT))?.toString(), 'x'.repeat(3_000_000));
});

t.test('a missing file is undefined; a folder above it that is none is a fault', async (t) => {
  const folder = t.testdir({ file: '' });
  t.equal(await readRegular(join(folder, 'missing'), LIMIT), undefined);
  t.equal(await faultOf(join(folder, 'file', 'inner')), "it can't be read (ENOTDIR)");
});

t.test('a folder, a pipe that nobody writes, and links are refused at once', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  const folder = t.testdir({ folder: {}, victim: 'secret' });
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  symlinkSync('/dev/zero', join(folder, 'endless'));
  symlinkSync(join(folder, 'victim'), join(folder, 'link'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
  t.equal(await faultOf(join(folder, 'folder')), 'it is not a regular file');
  t.equal(await faultOf(join(folder, 'pipe')), 'it is not a regular file');
  for (const name of ['endless', 'link', 'dangling']) t.equal(await faultOf(join(folder, name)), 'it is a link', name);
  t.equal(await faultOf('/dev/zero'), 'it is not a regular file');
});

t.test('a file above the limit is refused without being read', async (t) => {
  const folder = t.testdir({ sparse: '' });
  truncateSync(join(folder, 'sparse'), 5 * 1024 ** 3);
  t.equal(await faultOf(join(folder, 'sparse')), `it is larger than ${LIMIT} bytes`);
});

t.test('a file that may not be read is a fault without its path', { skip: process.getuid?.() === 0 && 'root may read everything' }, async (t) => {
  const folder = t.testdir({ file: 'x' });
  chmodSync(join(folder, 'file'), 0);
  t.equal(await faultOf(join(folder, 'file')), "it can't be read (EACCES)");
});

t.test('a file of exactly the limit is read', async (t) => {
  const folder = t.testdir({});
  writeFileSync(join(folder, 'file'), 'abc');
  t.equal((await readRegular(join(folder, 'file'), 3))?.toString(), 'abc', 'the limit itself is allowed');
});
