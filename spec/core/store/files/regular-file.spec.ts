import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hasOwnFolder, readFault, readLines, readRegular } from '../../../../core/store/files/regular-file.ts';

const LIMIT = 10_000_000;

/** What is wrong, in the words of `readFault`. */
async function faultOf(path: string): Promise<string> {
  return readRegular(path, LIMIT).then(
    () => 'nothing',
    (error: Error) => readFault(error),
  );
}

t.test('small and large files are read as a whole', async (t) => {
  const folder = t.testdir({ empty: '', small: 'é', large: 'x'.repeat(3_000_000) });
  t.equal((await readRegular(join(folder, 'empty'), LIMIT))?.length, 0);
  t.equal((await readRegular(join(folder, 'small'), LIMIT))?.toString(), 'é');
  t.equal((await readRegular(join(folder, 'large'), LIMIT))?.toString(), 'x'.repeat(3_000_000));
});

t.test('a missing file is undefined, and a path through a file is a fault', async (t) => {
  const folder = t.testdir({ file: '' });
  t.equal(await readRegular(join(folder, 'missing'), LIMIT), undefined);
  t.equal(await faultOf(join(folder, 'file', 'inner')), "it can't be read (ENOTDIR)");
});

t.test('a folder, a pipe without a writer and links are refused at once', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
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

t.test('the fault of an unreadable file does not contain its path', { skip: process.getuid?.() === 0 && 'root may read everything' }, async (t) => {
  const folder = t.testdir({ file: 'x' });
  chmodSync(join(folder, 'file'), 0);
  t.equal(await faultOf(join(folder, 'file')), "it can't be read (EACCES)");
});

t.test('a file of exactly the limit is read', async (t) => {
  const folder = t.testdir({});
  writeFileSync(join(folder, 'file'), 'abc');
  t.equal((await readRegular(join(folder, 'file'), 3))?.toString(), 'abc', 'the limit itself is allowed');
});

async function linesOf(path: string, maxLineBytes = LIMIT): Promise<(string | undefined)[]> {
  const all: (string | undefined)[] = [];
  for await (const lines of readLines(path, { maxBytes: LIMIT, maxLineBytes })) all.push(...lines);
  return all;
}

t.test('lines come in order and whole, even if they are longer than a piece', async (t) => {
  const lines = ['a', '', 'é'.repeat(300_000), ...Array.from({ length: 20_000 }, (_, n) => `line ${n} ${'x'.repeat(n % 100)}`)];
  const folder = t.testdir({ whole: `${lines.join('\n')}\n`, cut: 'a\n{"cut sho', one: 'é', empty: '', blank: '\n\n' });
  t.strictSame(await linesOf(join(folder, 'whole')), lines);
  t.strictSame(await linesOf(join(folder, 'cut')), ['a', '{"cut sho']);
  t.strictSame(await linesOf(join(folder, 'one')), ['é']);
  t.strictSame(await linesOf(join(folder, 'empty')), []);
  t.strictSame(await linesOf(join(folder, 'blank')), ['', '']);
  t.strictSame(await linesOf(join(folder, 'missing')), []);
});

t.test('a line that is too long is undefined, and the lines after it are read', async (t) => {
  const folder = t.testdir({ first: `${'x'.repeat(1_000_000)}\nafter`, last: `before\n${'x'.repeat(1_000_000)}` });
  t.strictSame(await linesOf(join(folder, 'first'), 200_000), [undefined, 'after']);
  t.strictSame(await linesOf(join(folder, 'last'), 200_000), ['before', undefined]);
});

t.test('a large file is read in pieces, with turns for other work between them', async (t) => {
  const folder = t.testdir({ large: 'line\n'.repeat(400_000) });
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  let pieces = 0;
  for await (const lines of readLines(join(folder, 'large'), { maxBytes: LIMIT, maxLineBytes: LIMIT })) {
    t.ok(lines.length < 40_000, 'a piece is small');
    pieces += 1;
  }
  isOver = true;
  t.ok(pieces > 10 && turns > pieces / 2, `${turns} turns for ${pieces} pieces`);
});

t.test('anything but a regular file has no lines', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  const folder = t.testdir({ folder: {}, large: 'x'.repeat(LIMIT + 1) });
  symlinkSync('/dev/zero', join(folder, 'link'));
  await t.rejects(linesOf(join(folder, 'folder')), { message: 'it is not a regular file' });
  await t.rejects(linesOf(join(folder, 'large')), { message: /it is larger than/ });
  await t.rejects(linesOf(join(folder, 'link')), { code: 'ELOOP' });
});

t.test('only a folder is accepted; a link or a file is an error, and a missing one is false', (t) => {
  const folder = t.testdir({ logs: {}, file: '' });
  symlinkSync(join(folder, 'logs'), join(folder, 'link'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
  t.equal(hasOwnFolder(join(folder, 'logs')), true);
  t.equal(hasOwnFolder(join(folder, 'missing')), false);
  for (const name of ['link', 'dangling'])
    t.throws(() => hasOwnFolder(join(folder, name)), { code: 'BLOCK_DAMAGED', message: new RegExp(`^${name} is a link`) });
  t.throws(() => hasOwnFolder(join(folder, 'file')), { code: 'BLOCK_DAMAGED', message: /^file is not a folder/ });
  t.end();
});
