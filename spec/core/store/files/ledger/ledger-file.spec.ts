import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { appendText, type OpenedLedger, openLedger, readBackward, readForward } from '../../../../../core/store/files/ledger/ledger-file.ts';
import { withSmallDisk } from '../../../../support/small-disk.ts';

async function linesOf(path: string, read: (opened: OpenedLedger) => AsyncIterable<string[]>): Promise<string[]> {
  const opened = await openLedger(path);
  if (opened === undefined) throw new Error('there is no file');
  const lines: string[] = [];
  for await (const some of read(opened)) lines.push(...some);
  await opened.file.close();
  return lines;
}

t.test('text is appended to a private file', async (t) => {
  const path = join(t.testdir({}), 'file');
  t.equal(await openLedger(path), undefined);
  await appendText(path, 'one\n');
  await appendText(path, 'two\n');
  t.equal(readFileSync(path, 'utf8'), 'one\ntwo\n');
  t.equal(statSync(path).mode & 0o777, 0o600);
});

t.test('a torn line is closed before the next one', async (t) => {
  const path = join(t.testdir({ file: 'one\n{"tor' }), 'file');
  await appendText(path, 'two\n');
  await appendText(path, 'three\n');
  t.equal(readFileSync(path, 'utf8'), 'one\n{"tor\ntwo\nthree\n');
});

t.test('a removed file starts again', async (t) => {
  const path = join(t.testdir({}), 'file');
  await appendText(path, 'one\n');
  unlinkSync(path);
  await appendText(path, 'two\n');
  t.equal(readFileSync(path, 'utf8'), 'two\n');
});

t.test('nothing is read or written through a link, or in anything but a regular file', async (t) => {
  const folder = t.testdir({ victim: 'untouched' });
  symlinkSync(join(folder, 'victim'), join(folder, 'link'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
  mkdirSync(join(folder, 'folder'));
  for (const name of ['link', 'dangling']) {
    await t.rejects(appendText(join(folder, name), 'x\n'), { code: 'ELOOP' });
    await t.rejects(openLedger(join(folder, name)), { code: 'WORKSPACE_DAMAGED', message: new RegExp(`^${name} can't be used: it is a link\\. Replace`) });
  }
  t.equal(readFileSync(join(folder, 'victim'), 'utf8'), 'untouched');
  t.notOk(readdirSync(folder).includes('nowhere'));
  await t.rejects(appendText(join(folder, 'folder'), 'x\n'), { code: 'EISDIR' });
  await t.rejects(openLedger(join(folder, 'folder')), { code: 'WORKSPACE_DAMAGED', message: /it is not a regular file/ });
  await t.rejects(appendText(join(folder, 'missing', 'file'), 'x\n'), { code: 'ENOENT' });
});

t.test('a pipe is refused at once', { skip: process.platform === 'win32' && 'no pipes with names' }, async (t) => {
  const path = join(t.testdir({}), 'pipe');
  execFileSync('mkfifo', [path]);
  await t.rejects(appendText(path, 'x\n'), /not a regular file/);
  await t.rejects(openLedger(path), { code: 'WORKSPACE_DAMAGED', message: /it is not a regular file/ });
});

t.test('on a full disk, nothing stays of a write that did not fit, and the next write works', async (t) => {
  const folder = t.testdir({});
  const path = join(folder, 'file');
  const reason = await withSmallDisk(folder, async () => {
    await appendText(path, 'one\n');
    await t.rejects(appendText(path, `${'x'.repeat(400 * 1024)}\n`), { code: 'STORAGE_FULL' });
    t.equal(readFileSync(path, 'utf8'), 'one\n');
    await appendText(path, 'two\n');
    t.equal(readFileSync(path, 'utf8'), 'one\ntwo\n');
    writeFileSync(join(folder, 'filler'), 'x'.repeat(248 * 1024));
    await t.rejects(appendText(path, `${'x'.repeat(8 * 1024)}\n`), { code: 'STORAGE_FULL' });
    t.equal(readFileSync(path, 'utf8'), 'one\ntwo\n');
  });
  if (reason !== undefined) t.comment(`not tried: ${reason}`);
});

t.test('a write that could not be made durable is undone', async (t) => {
  const path = join(t.testdir({ file: 'one\n' }), 'file');
  const file = await open(path);
  t.intercept(Object.getPrototypeOf(file), 'sync', { value: () => Promise.reject(Object.assign(new Error('bad disk'), { code: 'EIO' })) });
  await t.rejects(appendText(path, 'two\n'), { code: 'EIO' });
  t.equal(readFileSync(path, 'utf8'), 'one\n');
  t.intercept(Object.getPrototypeOf(file), 'truncate', { value: () => Promise.reject(Object.assign(new Error('very bad disk'), { code: 'EIO' })) });
  await t.rejects(appendText(path, 'two\n'), { name: 'AggregateError', errors: [{ message: 'bad disk' }, { message: 'very bad disk' }] });
  await file.close();
});

t.test('lines come in order from the beginning, and in reverse from the end', async (t) => {
  const path = join(t.testdir({}), 'file');
  for (const count of [0, 1, 2, 5000]) {
    const lines = Array.from({ length: count }, (_, n) => `${n} ${'é\u{1f600}'.repeat(n % 40)}`);
    for (const end of ['\n', '']) {
      writeFileSync(path, lines.length === 0 ? '' : `${lines.join('\n')}${end}`);
      t.strictSame(await linesOf(path, readForward), lines, `${count} forward`);
      t.strictSame(await linesOf(path, readBackward), lines.toReversed(), `${count} backward`);
    }
  }
});

t.test('lines around the borders of a piece are whole', async (t) => {
  const path = join(t.testdir({}), 'file');
  for (let length = 65_530; length <= 65_536; length += 1) {
    const lines = ['a', 'b'.repeat(length), 'c', 'd'.repeat(length), 'e'];
    writeFileSync(path, `${lines.join('\n')}\n`);
    t.ok((await linesOf(path, readForward)).join() === lines.join(), `${length} forward`);
    t.ok((await linesOf(path, readBackward)).join() === lines.toReversed().join(), `${length} backward`);
  }
});

t.test('an endless line costs no memory and hides no other line', async (t) => {
  const path = join(t.testdir({}), 'file');
  for (const before of ['one\n', 'one\ntwo']) {
    writeFileSync(path, before);
    truncateSync(path, 40 * 1024 * 1024); // a hole of zeros
    await appendText(path, 'last\n');
    const heap = process.memoryUsage().rss;
    for (const lines of [await linesOf(path, readForward), (await linesOf(path, readBackward)).reverse()]) {
      t.equal(lines[0], 'one');
      t.equal(lines.at(-1), 'last');
      t.equal(lines.length, 3);
      t.ok((lines[1] ?? '').length < 400_000);
    }
    t.ok(process.memoryUsage().rss - heap < 80 * 1024 * 1024);
  }
});

t.test('only the bytes that were there at the opening are read', async (t) => {
  const path = join(t.testdir({ file: 'one\n' }), 'file');
  const opened = await openLedger(path);
  await appendText(path, 'two\n');
  const lines: string[] = [];
  if (opened !== undefined) for await (const some of readForward(opened)) lines.push(...some);
  t.strictSame(lines, ['one']);
  truncateSync(path, 0);
  if (opened !== undefined) for await (const some of readForward(opened)) t.strictSame(some, [], 'a file that became shorter just ends');
  await opened?.file.close();
});
