import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readLogPart } from '../../../../../core/store/files/logs/log-part.ts';
import { MAX_LOG_PART_BYTES } from '../../../../../core/store/parts/log-text.ts';
import { testFolder } from '../../../../support/test-folder.ts';

const FILE = 'a.log';

function folderWith(t: Test, content: string | Buffer): string {
  const folder = testFolder(t);
  writeFileSync(join(folder, FILE), content);
  return folder;
}

t.test('a whole file is its own last part', async (t) => {
  const folder = folderWith(t, 'one\ntwo\n');
  t.match(await readLogPart(folder, FILE, {}), { file: FILE, from: 0, to: 8, size: 8, content: 'one\ntwo\n' });
});

t.test('an empty file has an empty part', async (t) => {
  t.match(await readLogPart(folderWith(t, ''), FILE, {}), { from: 0, to: 0, size: 0, content: '' });
});

t.test('going back by `from` gives every line once, whatever the size of the parts', async (t) => {
  const lines = Array.from({ length: 300 }, (_, index) => `${index} ${'ä'.repeat(index % 40)}\n`);
  const folder = folderWith(t, lines.join(''));
  for (const maxBytes of [90, 100, 257, 4096, 65_536]) {
    const parts: string[] = [];
    for (let before: number | undefined; before !== 0; ) {
      const part = await readLogPart(folder, FILE, { before, maxBytes });
      t.ok(Buffer.byteLength(part.content) <= maxBytes);
      t.ok(part.content === '' || part.content.endsWith('\n'));
      parts.unshift(part.content);
      before = part.from;
    }
    t.equal(parts.join(''), lines.join(''), `${maxBytes} bytes`);
  }
});

t.test('a part that begins with a line has that line', async (t) => {
  const folder = folderWith(t, 'one\ntwo\nthree\n');
  t.match(await readLogPart(folder, FILE, { maxBytes: 6 }), { from: 8, content: 'three\n' });
  t.match(await readLogPart(folder, FILE, { maxBytes: 7 }), { from: 8, content: 'three\n' });
  t.match(await readLogPart(folder, FILE, { maxBytes: 10 }), { from: 4, content: 'two\nthree\n' });
  t.match(await readLogPart(folder, FILE, { maxBytes: 14 }), { from: 0 });
});

t.test('a line that is longer than a part comes in pieces of whole characters', async (t) => {
  const line = `${'日本'.repeat(500)}\n`;
  const folder = folderWith(t, line);
  let text = '';
  for (let before: number | undefined; before !== 0; ) {
    const part = await readLogPart(folder, FILE, { before, maxBytes: 100 });
    t.ok(part.from < part.to);
    text = part.content + text;
    before = part.from;
  }
  t.equal(text, line);
});

t.test('a place beyond the end is the end', async (t) => {
  t.match(await readLogPart(folderWith(t, 'one\n'), FILE, { before: 4000 }), { from: 0, to: 4, content: 'one\n' });
});

t.test('only a regular file of the folder is read, by its own name', async (t) => {
  const folder = folderWith(t, 'x\n');
  writeFileSync(join(folder, '..', 'outside.log'), 'secret');
  symlinkSync(join(folder, '..', 'outside.log'), join(folder, 'link.log'));
  mkdirSync(join(folder, 'folder.log'));
  for (const name of ['../outside.log', '..', '.', '', 'missing.log', 'link.log', 'folder.log', `./${FILE}`, 'a.log\0', '__proto__']) {
    await t.rejects(readLogPart(folder, name, {}), { message: /^(?!.*secret)/ }, JSON.stringify(name));
  }
  await t.rejects(readLogPart(join(folder, 'nowhere'), FILE, {}), { code: 'INVALID_REQUEST', message: /^file / });
});

t.test('a size out of range is refused by its name', async (t) => {
  const folder = folderWith(t, 'x\n');
  for (const maxBytes of [0, MAX_LOG_PART_BYTES + 1]) await t.rejects(readLogPart(folder, FILE, { maxBytes }), { code: 'INVALID_REQUEST', message: /^max / });
});
