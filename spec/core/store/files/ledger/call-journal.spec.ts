import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { CallJournal } from '../../../../../core/store/files/ledger/call-journal.ts';
import type { OpenCall } from '../../../../../core/store/port.ts';

const usage = { inputTokens: 1, outputTokens: 1000, totalTokens: 1001, estimated: true };
const call = (id: string, fields: Partial<OpenCall> = {}): OpenCall => ({
  id,
  at: '2026-11-22T12:00:00.000Z',
  requestId: 'r',
  key: 'app',
  provider: 'openai',
  model: 'gpt-5',
  usage,
  costUsd: null,
  error: 'SHUTTING_DOWN',
  ...fields,
});
const faults: unknown[] = [];
const journalAt = (path: string): CallJournal => new CallJournal(path, (error) => faults.push(error));
const idsIn = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).id);

t.test('calls that are noted in one turn are written together, and a call that has ended is forgotten', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const noted = ['a', 'b'].map((id) => journal.note(call(id)));
  t.equal(noted[0], noted[1]);
  t.equal(existsSync(path), false);
  await Promise.all(noted);
  t.same(idsIn(path), ['a', 'b']);
  journal.forget(['a']);
  t.same(idsIn(path), ['a', 'b'], 'the file is small');
  journal.forget(['b']);
  t.same(idsIn(path), []);
  await journal.note(call('c'));
  t.same(idsIn(path), ['c']);
  journal.close();
});

t.test('ends are written with the notes of their turn', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const noted = journal.note(call('a'));
  t.equal(journal.end(call('a', { costUsd: 1, error: null })), noted);
  await noted;
  t.same(idsIn(path), ['a', 'a']);
  journal.close();
  t.same(await journalAt(path).left(), [call('a', { costUsd: 1, error: null })], 'the next process finds the call as it ended');
});

t.test('lines that wait are not written once their calls are forgotten', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  await journal.note(call('a'));
  const ended = journal.end(call('a', { error: null }));
  journal.forget(['a']);
  await ended;
  t.same(idsIn(path), []);
  journal.close();
});

t.test('the next process finds the last note of each call, and no torn line', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  await journal.note(call('a'));
  await journal.note(call('b'));
  await journal.note(call('a', { costUsd: 0.5 }));
  journal.close();
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"id":"c","at":"2026-11`);
  const next = journalAt(path);
  t.same(await next.left(), [call('a', { costUsd: 0.5 }), call('b')]);
  next.forget(['a', 'b']);
  t.same(idsIn(path), []);
  next.close();
});

t.test('a journal that has grown is written anew with the calls under way', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  await journal.note(call('open'));
  await journal.note(call('long'));
  await Promise.all(Array.from({ length: 4000 }, () => journal.note(call('long', { model: 'x'.repeat(200) }))));
  journal.forget(['long']);
  t.same(idsIn(path), ['open']);
  await journal.end(call('open', { error: null }));
  t.same(idsIn(path), ['open', 'open'], 'and written on');
  journal.close();
});

/** So many calls at once that they share lines; without those that have lines of their own. */
const BUSY = Array.from({ length: 200 }, (_, index) => `busy-${index}`);
const tokensIn = (calls: readonly OpenCall[]): number => calls.reduce((sum, { usage: { totalTokens } }) => sum + totalTokens, 0);

t.test('of very many calls at once, a killed process leaves what they may use, and at most twice as much', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  await Promise.all(BUSY.map((id) => journal.note(call(id, { costUsd: 0.5, group: 'team' }))));
  const left = await journalAt(path).left();
  t.ok(left.length < 50, `${left.length} lines`);
  const cover = left.find(({ id, requestId }) => id === requestId);
  t.match(cover, { key: 'app', group: 'team', provider: 'openai', model: 'gpt-5', error: 'SHUTTING_DOWN', usage: { estimated: true } });
  const tokens = tokensIn(left);
  t.ok(tokens >= 200 * 1001 && tokens <= 2 * 200 * 1001, `${tokens} tokens`);
  t.ok(left.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0) >= 100);
  t.equal(journal.note(call('more', { costUsd: 0.5, group: 'team' })), undefined, 'one more needs no line');
  journal.forget(BUSY);
  journal.forget(['more']);
  t.same(idsIn(path), []);
  t.same(await journalAt(path).left(), []);
  journal.close();
});

t.test('a call among many that uses more than was expected is covered when it ends', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  await Promise.all(BUSY.map((id) => journal.note(call(id))));
  const usage = { inputTokens: 1, outputTokens: 1_000_000, totalTokens: 1_000_001 };
  await journal.end(call('busy-199', { usage, error: null }));
  t.ok(tokensIn(await journalAt(path).left()) >= 1_000_001 + 199 * 1001);
  t.equal(
    journal.end(call('busy-198', { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, error: null })),
    undefined,
    'one that used less needs no line',
  );
  journal.forget(BUSY);
  journal.close();
});

t.test('calls of many that go on get lines of their own, and what the others have used is no longer covered once the ledger has it', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  await Promise.all(BUSY.map((id) => journal.note(call(id))));
  const [slow = '', ...others] = [...BUSY].reverse();
  for (const id of others) void journal.end(call(id, { error: null }));
  journal.forget(others);
  const notForgotten = async () => (await journalAt(path).left()).filter(({ id }) => !others.includes(id));
  t.match(await notForgotten(), [{ id: /-1$/, requestId: /-1$/ }], 'all together');
  while ((await notForgotten())[0]?.id !== slow || (await notForgotten()).length > 1) await delay(5);
  t.match(await notForgotten(), [{ id: slow, requestId: 'r', usage }]);
  journal.close();
});

t.test('lines for many are written again when the file was removed by hand, and kept when it is written anew', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  await Promise.all(BUSY.map((id) => journal.note(call(id))));
  journal.forget(BUSY.slice(0, 32));
  journal.compact();
  t.ok(tokensIn(await journalAt(path).left()) >= 168 * 1001, 'written anew');
  rmSync(path);
  while (!existsSync(path)) await delay(5);
  t.ok(tokensIn(await journalAt(path).left()) >= 168 * 1001, 'removed');
  journal.close();
});

t.test('a journal that was removed by hand begins again, and one that is a link or a folder is not written', async (t) => {
  const folder = t.testdir({});
  const path = join(folder, 'open.jsonl');
  const journal = journalAt(path);
  await journal.note(call('a'));
  rmSync(path);
  await journal.note(call('b'));
  t.same(idsIn(path), ['b']);
  journal.close();
  rmSync(path);
  symlinkSync(join(folder, 'elsewhere'), path);
  await t.rejects(async () => journalAt(path).note(call('c')), { code: 'ELOOP' });
  t.equal(existsSync(join(folder, 'elsewhere')), false);
  rmSync(path);
  mkdirSync(path);
  await t.rejects(journalAt(path).left());
});

t.test('of a long name, the beginning is written', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  await journal.note(call('a', { model: 'A'.repeat(1_000_000) }));
  journal.close();
  t.ok(readFileSync(path).length < 5000);
  t.match(await journalAt(path).left(), [{ id: 'a', usage }]);
});

t.test('a line after a torn one is read, in the next process, too', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  writeFileSync(path, '{"id":"torn","at":"2026-11');
  const journal = journalAt(path);
  await journal.note(call('a'));
  await journal.note(call('b'));
  journal.close();
  t.same(await journalAt(path).left(), [call('a'), call('b')]);
});

t.test('a compacted journal has only the calls under way', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  journal.compact();
  t.equal(existsSync(path), false);
  await journal.note(call('a'));
  await journal.note(call('b'));
  journal.forget(['a']);
  journal.compact();
  t.same(idsIn(path), ['b']);
  await journal.note(call('c'));
  t.same(idsIn(path), ['b', 'c']);
  journal.close();
});

t.test('a write that a full disk cuts short does not swallow the next line', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const fs = createRequire(import.meta.url)('node:fs') as typeof import('node:fs');
  const write = fs.writeSync;
  let isFull = false;
  fs.writeSync = ((file: number, bytes: Buffer, at: number) => {
    if (!isFull) return write(file, bytes, at);
    if (at > 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    return write(file, bytes, 0, 20);
  }) as typeof fs.writeSync;
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.writeSync = write;
    syncBuiltinESMExports();
  });
  const journal = journalAt(path);
  await journal.note(call('a'));
  isFull = true;
  await t.rejects(async () => journal.note(call('b')), { code: 'STORAGE_FULL' });
  isFull = false;
  await journal.note(call('c'));
  t.same(await journalAt(path).left(), [call('a'), call('c')]);
  isFull = true;
  const answers = await Promise.allSettled(BUSY.map(async (id) => journal.note(call(id))));
  t.ok(
    answers.every(({ status }) => status === 'rejected'),
    'no call of many is sent without its line',
  );
  await t.rejects(async () => journal.note(call('d')), { code: 'STORAGE_FULL' }, 'nor the next one');
  while (!faults.some((error) => (error as { code?: string }).code === 'STORAGE_FULL')) await delay(5);
  isFull = false;
  await journal.note(call('e'));
  t.ok(tokensIn(await journalAt(path).left()) > 170 * 1001);
  journal.close();
});
