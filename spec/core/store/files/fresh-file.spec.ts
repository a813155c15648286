import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { type FileState, FreshFile } from '../../../../core/store/files/fresh-file.ts';
import { withFewDescriptors } from '../../../support/few-descriptors.ts';

/** A file watched under a clock that the test moves. */
function watched(t: Test, content?: string) {
  const path = join(t.testdir({}), 'file');
  if (content !== undefined) writeFileSync(path, content);
  const seen: FileState[] = [];
  const clock = { ms: 0 };
  const file = new FreshFile(
    path,
    (state) => seen.push(state),
    () => clock.ms,
  );
  return { path, seen, file, later: (ms: number) => (clock.ms += ms) };
}

t.test('the first refresh reports the file, and nothing is reported before it', async (t) => {
  const { file, seen, path } = watched(t, 'one');
  t.equal(seen.length, 0);
  file.refresh();
  t.match(seen, [{ kind: 'text', text: 'one', mode: statSync(path).mode & 0o777 }]);
});

t.test('an unchanged file is reported once', async (t) => {
  const { file, seen, later } = watched(t, 'one');
  for (let look = 0; look < 5; look += 1) {
    file.refresh();
    later(1000);
  }
  file.refresh(true);
  t.equal(seen.length, 1);
});

t.test('a change is seen within a second, without a disk access on every use', async (t) => {
  const { file, seen, later, path } = watched(t, 'one');
  file.refresh();
  writeFileSync(path, 'two!');
  file.refresh();
  t.equal(seen.length, 1, 'at the same moment the file is not looked at again');
  later(1000);
  file.refresh();
  t.match(seen[1], { text: 'two!' });
});

t.test('force checks at once', async (t) => {
  const { file, seen, path } = watched(t, 'one');
  file.refresh();
  writeFileSync(path, 'two!');
  file.refresh(true);
  t.match(seen[1], { text: 'two!' });
});

t.test('every way to change a file is seen', async (t) => {
  const { file, seen, path } = watched(t);
  const step = (what: string, expected: object, change: () => void) => {
    change();
    file.refresh(true);
    t.match(seen.at(-1), expected, what);
  };
  step('missing', { kind: 'missing' }, () => undefined);
  step('created', { kind: 'text', text: 'a' }, () => writeFileSync(path, 'a'));
  step('appended to', { kind: 'text', text: 'ab' }, () => appendFileSync(path, 'b'));
  step('renamed over', { kind: 'text', text: 'cd' }, () => {
    writeFileSync(`${path}.new`, 'cd');
    renameSync(`${path}.new`, path);
  });
  step('closed to others', { kind: 'text', mode: 0o600 }, () => chmodSync(path, 0o600));
  step('rewritten in place with its old length and times', { kind: 'text', text: 'ef' }, () => {
    const { atime, mtime } = statSync(path);
    utimesSync(path, atime, mtime); // leaves whole milliseconds, which the second call can set again exactly
    file.refresh(true);
    writeFileSync(path, 'ef');
    utimesSync(path, atime, mtime);
  });
  step('removed', { kind: 'missing' }, () => rmSync(path));
  step('a folder', { kind: 'unreadable', reason: /not a regular file/ }, () => mkdirSync(path));
  step('a link to itself', { kind: 'unreadable', reason: 'ELOOP' }, () => {
    rmSync(path, { recursive: true });
    symlinkSync(path, path);
  });
  step('created again', { kind: 'text', text: 'g' }, () => {
    rmSync(path);
    writeFileSync(path, 'g');
  });
});

t.test('only a small regular file is opened', async (t) => {
  const { file, seen, path } = watched(t);
  execFileSync('mkfifo', [path]); // to open it would block for ever
  file.refresh();
  t.match(seen.at(-1), { kind: 'unreadable', reason: /not a regular file/ });
  rmSync(path);
  symlinkSync('/dev/zero', path);
  file.refresh(true);
  t.match(seen.at(-1), { kind: 'unreadable', reason: /not a regular file/ });
  rmSync(path);
  writeFileSync(path, Buffer.alloc(10 * 1024 * 1024, 'a'));
  file.refresh(true);
  t.match(seen.at(-1), { kind: 'unreadable', reason: /larger than/ });
});

t.test('a path through a file is unreadable, not missing', async (t) => {
  const path = join(t.testdir({ folder: 'a file' }), 'folder', 'file');
  let seen: FileState | undefined;
  new FreshFile(path, (state) => {
    seen = state;
  }).refresh();
  t.match(seen, { kind: 'unreadable', reason: 'ENOTDIR' });
});

t.test('a file that may not be read is unreadable', { skip: process.getuid?.() === 0 && 'root reads every file, whatever its mode' }, async (t) => {
  const { file, seen, path } = watched(t, 'secret');
  chmodSync(path, 0);
  file.refresh();
  t.match(seen, [{ kind: 'unreadable', reason: 'EACCES' }]);
});

t.test('a file that could not be read for lack of descriptors is read later', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  const path = join(t.testdir({ a: 'secret' }), 'a');
  const told = withFewDescriptors(
    ['core/store/files/fresh-file.js'],
    [path],
    `
    const states = [];
    const file = new modules[0].FreshFile(args[0], ({ kind, reason }) => states.push([kind, reason]));
    const giveBack = exhaust();
    file.refresh(true);
    file.refresh(true);
    giveBack();
    file.refresh(true);
    file.refresh(true);
    return states;
  `,
  );
  t.strictSame(told, [
    ['unreadable', 'EMFILE'],
    ['text', null],
  ]);
});

t.test('a rewrite is made from the newest content, and made again if the file changes meanwhile', async (t) => {
  const { path, seen, file } = watched(t, 'one');
  const made: string[] = [];
  const make = () => {
    const state = seen.at(-1);
    const text = state?.kind === 'text' ? state.text : '';
    made.push(text);
    if (made.length < 3) writeFileSync(path, `${text} by hand`);
    return `${text}, rewritten`;
  };
  await file.rewrite(make);
  t.same(made, ['one', 'one by hand', 'one by hand by hand']);
  t.match(seen.at(-1), { text: 'one by hand by hand, rewritten', mode: 0o600 });
  t.equal(await file.rewrite(() => undefined), false);
  t.match(readFileSync(path, 'utf8'), 'one by hand by hand, rewritten', 'undefined leaves the file as it is');
  await t.rejects(
    file.rewrite(() => {
      throw new Error('no');
    }),
    /no/,
  );
  t.same(readdirSync(dirname(path)), ['file'], 'no temporary file is left');
});

t.test('what is too large to be read again is not written, and what was there stays', async (t) => {
  const path = join(t.testdir({ file: 'before' }), 'file');
  const seen: FileState[] = [];
  const file = new FreshFile(path, (state) => seen.push(state), undefined, undefined, 10);
  await t.rejects(
    file.rewrite(() => 'é'.repeat(6)),
    { code: 'INVALID_REQUEST', message: 'file would have more than 10 bytes with this change. Remove something from it first.' },
  );
  t.equal(readFileSync(path, 'utf8'), 'before');
  t.equal(await file.rewrite(() => 'é'.repeat(5)), true, 'so much may be in it');
  t.match(seen, [{ text: 'before' }, { kind: 'text', text: 'é'.repeat(5) }]);
});

t.test('a rewrite may remove the file, unless it changes meanwhile', async (t) => {
  const { path, seen, file } = watched(t, 'one');
  let asked = 0;
  const remove = () => {
    asked += 1;
    if (asked === 1) writeFileSync(path, 'by hand');
    return null;
  };
  t.equal(await file.rewrite(remove), true);
  t.equal(asked, 2);
  t.match(seen, [{ text: 'one' }, { text: 'by hand' }, { kind: 'missing' }]);
  t.equal(await file.rewrite(() => null), true, 'there is none');
  mkdirSync(path);
  await t.rejects(
    file.rewrite(() => null),
    { code: /^E/ },
  );
});
