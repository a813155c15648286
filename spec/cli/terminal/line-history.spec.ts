import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { historyPath, LineHistory } from '../../../cli/terminal/line-history.ts';

/** The history of a workspace that does not exist yet. */
async function open(t: Test, workspace = join(t.testdir(), 'new')) {
  const path = historyPath(workspace);
  const said: string[] = [];
  const again = () => LineHistory.open(path, async (text) => void said.push(text));
  return { path, said, again, history: await again() };
}

t.test('messages are there in the next conversation, newest first, also those of several lines', async (t) => {
  const { history, again, said } = await open(t);
  for (const message of ['one', 'two\nlines']) history.add(message);
  await history.settle();
  t.same((await again()).entries, ['two\nlines', 'one']);
  t.same(said, []);
});

t.test('only the owner can read the file', { skip: process.platform === 'win32' && 'no modes' }, async (t) => {
  const { history, path } = await open(t);
  history.add('one');
  await history.settle();
  t.equal(statSync(path).mode & 0o777, 0o600);
});

t.test('blank, repeated and long messages are not kept, nor those that begin with a space', async (t) => {
  const { history, path } = await open(t);
  for (const message of ['one', '', ' \n', 'one', ' quiet', 'x'.repeat(4001)]) history.add(message);
  await history.settle();
  t.equal(readFileSync(path, 'utf8'), '"one"\n');
});

t.test('the file is bounded, and two conversations at once lose nothing of each other', async (t) => {
  const { history, again, path } = await open(t);
  for (let index = 0; index < 999; index += 1) history.add(`m${index}`);
  await history.settle();
  const other = await again();
  other.add('of the other');
  await other.settle();
  for (const message of ['a', 'b']) history.add(message);
  await history.settle();
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  t.equal(lines.length, 500);
  t.same(lines.slice(-3), ['"of the other"', '"a"', '"b"']);
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal((await again()).entries.length, 500);
});

t.test('a damaged line is left out', async (t) => {
  const { path, again } = await open(t, t.testdir());
  writeFileSync(path, '"one"\n{"a":1}\n"half');
  t.same((await again()).entries, ['one']);
});

t.test('a history that can not be read or written is said once, and the conversation goes on', async (t) => {
  const workspace = t.testdir();
  mkdirSync(historyPath(workspace));
  const { history, said } = await open(t, workspace);
  for (const message of ['one', 'two']) history.add(message);
  await history.settle();
  t.same(history.entries, ['two', 'one']);
  t.match(said, [/^note: the history of what you typed can't be read: EISDIR/]);
  t.equal(said.length, 1);
  const nowhere = await open(t, join(t.testdir(), 'no', 'such'));
  for (const message of ['one', 'two']) nowhere.history.add(message);
  await nowhere.history.settle();
  t.match(nowhere.said, [/can't be written: ENOENT/]);
  t.equal(nowhere.said.length, 1);
});
