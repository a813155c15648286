import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  ensureFolder,
  isTemporaryName,
  keepCopy,
  renameDurably,
  replaceFile,
  replaceFileIf,
  setAside,
  storageFailure,
  syncFolder,
  writeNewFile,
} from '../../../../core/store/files/atomic-file.ts';
import { countFlushes } from '../../../support/flushes.ts';
import { refuseToSyncFolders } from '../../../support/unconfirmed-folders.ts';

t.test('the file holds exactly the content', async (t) => {
  const folder = t.testdir({});
  for (const content of ['', 'a', 'é\u{1f600}\0\r\n', 'x'.repeat(3_000_000)]) {
    await replaceFile(join(folder, 'file'), content);
    t.equal(readFileSync(join(folder, 'file'), 'utf8'), content);
  }
  t.same(readdirSync(folder), ['file'], 'and nothing else is left');
});

t.test('a file that need not be durable is replaced as a whole, without a flush', async (t) => {
  const path = join(t.testdir({ file: 'old' }), 'file');
  const count = await countFlushes(t);
  t.equal(await replaceFileIf(path, 'refused', () => false, { durable: false }), undefined);
  t.equal(readFileSync(path, 'utf8'), 'old');
  await replaceFileIf(path, 'new', () => true, { durable: false });
  t.equal(readFileSync(path, 'utf8'), 'new');
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal(count(), 0);
  await replaceFile(path, 'durable');
  t.equal(count(), 2, 'the file and its folder');
});

t.test('the file is private from the first moment, whatever the umask and the old mode', async (t) => {
  const folder = t.testdir({});
  const path = join(folder, 'file');
  const umask = process.umask(0);
  t.teardown(() => process.umask(umask));
  await replaceFile(path, 'one');
  t.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(join(folder, 'open'), 'old', { mode: 0o666 });
  await replaceFile(join(folder, 'open'), 'new');
  t.equal(statSync(join(folder, 'open')).mode & 0o777, 0o600);
});

t.test('a link is replaced, not followed', async (t) => {
  const folder = t.testdir({ victim: 'untouched' });
  symlinkSync(join(folder, 'victim'), join(folder, 'file'));
  await replaceFile(join(folder, 'file'), 'new');
  t.equal(readFileSync(join(folder, 'victim'), 'utf8'), 'untouched');
  t.ok(lstatSync(join(folder, 'file')).isFile());
});

t.test('a dangling link is replaced too', async (t) => {
  const folder = t.testdir({});
  symlinkSync(join(folder, 'nowhere'), join(folder, 'file'));
  await replaceFile(join(folder, 'file'), 'new');
  t.same(readdirSync(folder), ['file']);
});

t.test('a failure leaves the old content and no temporary file', async (t) => {
  const folder = t.testdir({ target: { inner: 'kept' } });
  await t.rejects(replaceFile(join(folder, 'target'), 'new'), { code: /EISDIR|ENOTEMPTY|EEXIST/ });
  t.same(readdirSync(folder), ['target']);
  t.equal(readFileSync(join(folder, 'target', 'inner'), 'utf8'), 'kept');
  await t.rejects(replaceFile(join(folder, 'missing', 'file'), 'new'), { code: 'ENOENT' });
  t.same(readdirSync(folder), ['target'], 'a missing folder is not made');
  await t.rejects(replaceFile(join(folder, 'n'.repeat(250)), 'new'), { code: 'ENAMETOOLONG' });
  t.same(readdirSync(folder), ['target']);
});

t.test('concurrent writes of one file leave the content of one of them', async (t) => {
  const folder = t.testdir({});
  const contents = Array.from({ length: 20 }, (_, n) => String.fromCharCode(97 + n).repeat(50_000));
  await Promise.all(contents.map((content) => replaceFile(join(folder, 'file'), content)));
  t.ok(contents.includes(readFileSync(join(folder, 'file'), 'utf8')));
  t.same(readdirSync(folder), ['file']);
});

t.test('a reader sees the old content or the new one, never a part', async (t) => {
  const folder = t.testdir({ file: 'a'.repeat(200_000) });
  const path = join(folder, 'file');
  let writing = true;
  const writes = (async () => {
    for (let n = 0; n < 20; n += 1) await replaceFile(path, (n % 2 === 0 ? 'b' : 'a').repeat(200_000));
    writing = false;
  })();
  while (writing) {
    const text = readFileSync(path, 'utf8');
    if (text.length !== 200_000 || (text !== 'a'.repeat(200_000) && text !== 'b'.repeat(200_000))) t.fail('a torn read');
    await new Promise(setImmediate);
  }
  await writes;
});

t.test('temporary names differ from the names that people give', async (t) => {
  for (const name of ['.auth.json.0123456789abcdef.tmp', '..api-token.ffffffffffffffff.tmp']) t.ok(isTemporaryName(name), name);
  for (const name of ['auth.json', '.api-token', 'auth.json.0123456789abcdef.tmp', '.a.tmp', '.a.0123456789ABCDEF.tmp', '.a.0123456789abcdef.tmp.bak', ''])
    t.notOk(isTemporaryName(name), name);
});

t.test('the temporary file is beside its target, with a temporary name', { skip: process.platform !== 'linux' && 'needs /proc' }, async (t) => {
  const folder = t.testdir({});
  let temporary: string | undefined;
  const write = replaceFile(join(folder, 'file'), 'x'.repeat(30_000_000));
  const look = (async () => {
    while (temporary === undefined) {
      temporary = readdirSync(folder).find((name) => name !== 'file');
      if (temporary === undefined && readdirSync(folder).includes('file')) return;
      if (temporary !== undefined) t.equal(statSync(join(folder, temporary), { throwIfNoEntry: false })?.mode ?? 0o100600, 0o100600);
      await new Promise(setImmediate);
    }
  })();
  await Promise.all([write, look]);
  t.ok(temporary !== undefined && isTemporaryName(temporary), temporary ?? 'the temporary file was not seen');
});

t.test("a missing folder can't be made durable", async (t) => {
  const folder = t.testdir({});
  await syncFolder(folder);
  await t.rejects(syncFolder(join(folder, 'missing')), { code: 'ENOENT' });
});

/** Runs `use` on a file system of 256 KiB; answers with a reason when this machine does not allow that. */
async function withSmallDisk(folder: string, use: () => Promise<void>): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux may mount a small tmpfs';
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder], { stdio: 'pipe' });
  } catch (error) {
    return `no tmpfs here: ${(error as Error).message.split('\n')[0]}`;
  }
  await use().finally(() => execFileSync('umount', [folder]));
  return undefined;
}

t.test('a full disk is STORAGE_FULL: the old content stays, no temporary file is left, and the next write works', async (t) => {
  const folder = t.testdir({});
  const path = join(folder, 'file');
  const reason = await withSmallDisk(folder, async () => {
    await replaceFile(path, 'old');
    await t.rejects(replaceFile(path, 'x'.repeat(400 * 1024)), { code: 'STORAGE_FULL', status: 507 });
    t.equal(readFileSync(path, 'utf8'), 'old');
    t.same(readdirSync(folder), ['file']);
    await replaceFile(path, 'new');
    t.equal(readFileSync(path, 'utf8'), 'new');
  });
  if (reason !== undefined) t.comment(`not tried: ${reason}`);
});

t.test('a folder is made with its parents and private; an existing one is not changed', async (t) => {
  const folder = join(t.testdir(), 'a', 'b', 'c');
  await ensureFolder(folder);
  await ensureFolder(folder);
  t.equal(statSync(folder).mode & 0o777, 0o700);
});

t.test(
  "a folder that can't be made is an error, even if its existing parent answers ENOENT",
  { skip: process.platform !== 'linux' && 'only Linux has /proc' },
  async (t) => {
    await t.rejects(ensureFolder('/proc/blockhouse/here'), { code: 'ENOENT' });
    await t.rejects(ensureFolder('/dev/null/here'), { code: 'ENOTDIR' });
  },
);

t.test('a write resolves with the metadata of the new file', async (t) => {
  const folder = t.testdir({});
  const written = await replaceFile(join(folder, 'file'), 'é');
  const { ino, size, mtimeNs } = lstatSync(join(folder, 'file'), { bigint: true });
  t.same([written.ino, written.size, written.mtimeNs], [ino, size, mtimeNs]);
});

t.test('a file that somebody else has changed meanwhile is not replaced', async (t) => {
  const folder = t.testdir({ file: 'old' });
  const path = join(folder, 'file');
  t.equal(await replaceFileIf(path, 'new', () => readFileSync(path, 'utf8') === 'other'), undefined);
  t.equal(readFileSync(path, 'utf8'), 'old');
  t.same(readdirSync(folder), ['file']);
  t.ok(await replaceFileIf(path, 'new', () => readFileSync(path, 'utf8') === 'old'));
  t.equal(readFileSync(path, 'utf8'), 'new');
  await t.rejects(
    replaceFileIf(path, 'newer', () => {
      throw new Error('asked in vain');
    }),
    { message: 'asked in vain' },
  );
  t.same(readdirSync(folder), ['file']);
});

t.test('the same content is kept once, other content beside it, and no file is overwritten', async (t) => {
  const folder = t.testdir({ file: 'x' });
  const path = join(folder, 'file');
  const time = new Date('2026-11-20T14:03:22.123Z');
  utimesSync(path, time, time);
  const name = 'file.corrupt-2026-11-20T14-03-22-123Z';
  t.equal(await keepCopy(path, Buffer.from('x')), name);
  t.equal(await keepCopy(path, Buffer.from('x')), name);
  t.equal(await keepCopy(path, Buffer.from('xyz')), `${name}-2`);
  writeFileSync(join(folder, `${name}-3`), 'cut sh');
  symlinkSync(path, join(folder, `${name}-4`));
  t.equal(await keepCopy(path, Buffer.from('cut short')), `${name}-5`);
  t.same(readFileSync(join(folder, name), 'utf8'), 'x');
  t.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  t.equal(await setAside(path), `${name}-6`);
  t.same(readdirSync(folder).length, 6);
});

t.test('the number of copies with the same time is limited', async (t) => {
  const folder = t.testdir({ file: 'x' });
  const path = join(folder, 'file');
  const time = new Date('2026-11-20T14:03:22.123Z');
  utimesSync(path, time, time);
  for (let n = 1; n <= 100; n += 1) mkdirSync(join(folder, `file.corrupt-2026-11-20T14-03-22-123Z${n === 1 ? '' : `-${n}`}`));
  await t.rejects(keepCopy(path, Buffer.from('x')), { message: /too many copies/ });
  await t.rejects(setAside(path), { message: /too many copies/ });
  await t.rejects(keepCopy(join(folder, 'missing'), Buffer.from('x')), { code: 'ENOENT' });
});

t.test('a copy that does not fit on the disk is not kept in part', async (t) => {
  const folder = t.testdir({});
  const path = join(folder, 'file');
  const reason = await withSmallDisk(folder, async () => {
    writeFileSync(path, 'x');
    await t.rejects(keepCopy(path, Buffer.alloc(400 * 1024)), { code: 'STORAGE_FULL' });
    t.same(readdirSync(folder), ['file']);
  });
  if (reason !== undefined) t.comment(`not tried: ${reason}`);
});

t.test('a new file is written once, as text or bytes, and private', async (t) => {
  const folder = t.testdir({ there: 'kept' });
  await writeNewFile(join(folder, 'text'), 'é');
  await writeNewFile(join(folder, 'bytes'), new Uint8Array([1, 2, 3]).subarray(1));
  t.equal(readFileSync(join(folder, 'text'), 'utf8'), 'é');
  t.same([...readFileSync(join(folder, 'bytes'))], [2, 3]);
  t.equal(statSync(join(folder, 'text')).mode & 0o777, 0o600);
  await t.rejects(writeNewFile(join(folder, 'there'), 'x'), { code: 'EEXIST' });
  t.equal(readFileSync(join(folder, 'there'), 'utf8'), 'kept');
});

t.test('the code of a disk failure says whether the disk is full', async (t) => {
  const fault = (code: string) => Object.assign(new Error(`${code}: /secret/place`), { code });
  t.match(storageFailure("x can't be written", fault('ENOSPC')), { code: 'STORAGE_FULL' });
  t.match(storageFailure("x can't be written", fault('EDQUOT')), { code: 'STORAGE_FULL' });
  t.match(storageFailure("x can't be written", fault('EROFS')), { code: 'STORAGE_FAILED', message: "x can't be written (EROFS). Nothing was changed." });
  t.match(storageFailure("x can't be written", new Error('odd')), { code: 'STORAGE_FAILED', message: /\(odd\)/ });
  const known = storageFailure('x', fault('ENOSPC'));
  t.equal(storageFailure('y', known), known);
});

t.test('a change that the disk did not confirm is reported as made', async (t) => {
  const folder = t.testdir({ 'a.json': 'old' });
  await refuseToSyncFolders(t);
  const told = { code: 'STORAGE_FAILED', message: /^The change was made, but the disk did not confirm it \(EIO\)/ };
  await t.rejects(replaceFile(join(folder, 'a.json'), 'new'), told);
  t.equal(readFileSync(join(folder, 'a.json'), 'utf8'), 'new');
  await t.rejects(
    renameDurably(join(folder, 'a.json'), join(folder, 'b.json'), () => true),
    told,
  );
  t.strictSame(readdirSync(folder), ['b.json'], 'and no temporary file is left');
});

t.test('the last check and the rename happen in one turn', async (t) => {
  const folder = t.testdir({ file: 'old' });
  const path = join(folder, 'file');
  const seen: string[] = [];
  await replaceFileIf(path, 'new', () => {
    queueMicrotask(() => seen.push(readFileSync(path, 'utf8')));
    return true;
  });
  t.strictSame(seen, ['new']);
});

t.test('a rename is not made if its check fails', async (t) => {
  const folder = t.testdir({ a: 'a' });
  t.equal(await renameDurably(join(folder, 'a'), join(folder, 'b'), () => false), false);
  t.equal(await renameDurably(join(folder, 'a'), join(folder, 'c'), () => true), true);
  t.strictSame(readdirSync(folder), ['c']);
});
