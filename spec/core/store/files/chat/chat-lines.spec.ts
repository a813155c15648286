import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { appendLines } from '../../../../../core/store/files/chat/chat-lines.ts';

t.test('values are appended one on each line, and a new file is reported as new', async (t) => {
  const path = join(t.testdir({}), 'lines.jsonl');
  t.equal(await appendLines(path, [{ n: 1 }, { n: 2, text: 'two\nlines' }]), true);
  t.equal(await appendLines(path, [{ n: 3 }]), false);
  t.equal(readFileSync(path, 'utf8'), '{"n":1}\n{"n":2,"text":"two\\nlines"}\n{"n":3}\n');
});

t.test('whole-lines: a line that was cut short is ended before the next one', async (t) => {
  const path = join(t.testdir({ 'lines.jsonl': '{"n":1}\n{"n":' }), 'lines.jsonl');
  await appendLines(path, [{ n: 3 }]);
  t.equal(readFileSync(path, 'utf8'), '{"n":1}\n{"n":\n{"n":3}\n');
});

t.test('many and long values are read back unchanged', async (t) => {
  const path = join(t.testdir({}), 'lines.jsonl');
  const values = Array.from({ length: 1200 }, (_, n) => ({ n, text: 'é'.repeat(n % 100 === 0 ? 300_000 : 3) }));
  await appendLines(path, values);
  t.equal(readFileSync(path, 'utf8'), values.map((value) => `${JSON.stringify(value)}\n`).join(''));
});

t.test('anything but a regular file is refused', async (t) => {
  const folder = t.testdir({});
  mkdirSync(join(folder, 'folder'));
  await t.rejects(appendLines(join(folder, 'folder'), [{}]), { code: 'EISDIR' });
  writeFileSync(join(folder, 'file'), '');
  await t.rejects(appendLines(join(folder, 'file', 'inside'), [{}]), { code: 'ENOTDIR' });
});
