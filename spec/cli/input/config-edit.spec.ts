import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { changedFields, edit, editable, parseFields, readConfigFile } from '../../../cli/input/config-edit.ts';

const signal = new AbortController().signal;
const POSIX = process.platform === 'win32' ? { skip: 'the editors of these tests are shell commands' } : {};

t.test('what the server keeps by itself is not edited', async (t) => {
  t.same(editable({ name: 'n', description: 'd', rev: 3, createdAt: 'x', updatedAt: 'y', own: 1 }), { description: 'd', own: 1 });
});

t.test('only fields that differ are sent', async (t) => {
  t.same(changedFields({ a: { b: [1] }, c: 1, d: 2 }, { a: { b: [1] }, c: 3 }), { c: 3 });
});

t.test('what is no JSON object is told by its place, never by its content', async (t) => {
  await t.rejects(parseFields('{\n  "apiKey": sk-canary\n}', 'the text'), { message: 'the text is not valid JSON: line 2, column 13.', cause: undefined });
  await t.rejects(parseFields('{"a": 1,}', 'it'), { message: 'it is not valid JSON: line 1, column 9.' });
  await t.rejects(parseFields('{"a": "x', 'it'), { message: 'it is not valid JSON: line 1, column 9.' });
  await t.rejects(parseFields('{"a": tru }', 'it'), { message: /^it is not valid JSON: line 1, column \d+\.$/ });
  await t.rejects(parseFields('[1]', 'the text'), { message: 'the text is not a JSON object.' });
  await t.rejects(parseFields('', 'the text'), { kind: 'usage', message: /line 1/ });
});

t.test('a configuration comes from a file or from standard input', async (t) => {
  const dir = t.testdir({ 'c.json': '{"name":"old","rev":4,"tags":["a"]}' });
  t.same(await readConfigFile(join(dir, 'c.json'), Readable.from([]), signal), { tags: ['a'] });
  t.same(await readConfigFile('-', Readable.from([Buffer.from('{"goals":[]}')]), signal), { goals: [] });
  await t.rejects(readConfigFile(join(dir, 'none'), Readable.from([]), signal), { kind: 'usage', message: /none is not there/ });
});

t.test('the editor gets a file that nobody else can read, and may have arguments', POSIX, async (t) => {
  const dir = t.testdir();
  writeFileSync(join(dir, 'editor.sh'), `[ "$1" = --flag ] || exit 9\nls -l "$2" | cut -c1-10 > ${dir}/mode\necho edited > "$2"\n`);
  const draft = await edit('before\n', { PATH: process.env['PATH'], VISUAL: `sh ${dir}/editor.sh --flag`, EDITOR: 'false' });
  t.equal(await draft.read(), 'edited\n');
  t.equal(readFileSync(join(dir, 'mode'), 'utf8').trim(), '-rw-------');
  t.equal(statSync(join(draft.file, '..')).mode & 0o777, 0o700);
  await draft.remove();
  t.notOk(existsSync(draft.file));
});

t.test('an editor that fails leaves nothing behind', POSIX, async (t) => {
  const dir = t.testdir();
  const env = { PATH: process.env['PATH'], EDITOR: `f() { echo "$1" > ${dir}/file; exit 3; }; f` };
  await t.rejects(edit('x', env), { message: /The editor ended with 3/ });
  t.notOk(existsSync(readFileSync(join(dir, 'file'), 'utf8').trim()));
});
