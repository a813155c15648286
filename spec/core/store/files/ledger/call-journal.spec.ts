import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { TURN_MS } from '../../../../../core/store/files/ledger/call-covers.ts';
import { CallJournal } from '../../../../../core/store/files/ledger/call-journal.ts';
import type { GatewayCall, OpenCall } from '../../../../../core/store/port.ts';

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
const ended = (fields: Partial<GatewayCall> = {}): GatewayCall => ({
  at: '2026-11-22T12:00:00.000Z',
  requestId: 'r',
  key: 'app',
  provider: 'openai',
  model: 'gpt-5',
  usage,
  costUsd: null,
  firstTextMs: null,
  durationMs: 1,
  error: null,
  ...fields,
});
const faults: unknown[] = [];
const journalAt = (path: string): CallJournal =>
  new CallJournal(
    path,
    (error) => faults.push(error),
    () => Date.parse('2026-11-22T12:00:00.000Z'),
  );
const idsIn = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).id);

/** Until `restore`, each write leaves so much of itself on the disk, and then the disk is full. */
function fillDisk(t: Test, sizeLeft: (size: number) => number): { restore(): void } {
  const fs = createRequire(import.meta.url)('node:fs') as typeof import('node:fs');
  const write = fs.writeSync;
  fs.writeSync = ((file: number, bytes: Buffer, at: number) => {
    if (at > 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    return write(file, bytes, 0, sizeLeft(bytes.length));
  }) as typeof fs.writeSync;
  syncBuiltinESMExports();
  const restore = (): void => {
    fs.writeSync = write;
    syncBuiltinESMExports();
  };
  t.teardown(restore);
  return { restore };
}

/** What no call uses any more stays for a moment. */
const emptied = async (path: string): Promise<void> => {
  while (readFileSync(path).length > 0) await delay(5);
};

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

t.test('ends are written at once, with what was noted before', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const a = call('a');
  const noted = journal.note(a);
  t.equal(journal.end(a, ended({ costUsd: 1 })), 'a');
  t.same(idsIn(path), ['a', 'a']);
  await noted;
  t.same(idsIn(path), ['a', 'a']);
  journal.close();
  t.same(await journalAt(path).left(), [call('a', { costUsd: 1, error: null })], 'the next process finds the call as it ended');
});

t.test('a call that ended at no cost leaves nothing of the least cost that was noted of it', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const a = call('a', { leastUsd: 0.5 });
  await journal.note(a);
  journal.end(a, ended({ usage: null, error: 'UPSTREAM_REJECTED' }));
  journal.close();
  t.match(await journalAt(path).left(), [{ id: 'a', usage: { totalTokens: 0 }, costUsd: null, leastUsd: null }]);
});

t.test('lines that wait are not written once their calls are forgotten', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const noted = journal.note(call('a'));
  journal.forget(['a']);
  await noted;
  await journal.note(call('b'));
  t.same(idsIn(path), ['b']);
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
  const open = call('open');
  await journal.note(open);
  const long = call('long', { model: 'x'.repeat(200) });
  await journal.note(long);
  await Promise.all(Array.from({ length: 4000 }, () => journal.note(long)));
  journal.forget(['long']);
  t.same(idsIn(path), ['open']);
  journal.end(open, ended());
  await journal.note(open);
  t.same(idsIn(path), ['open', 'open', 'open'], 'and written on');
  journal.close();
});

const tokensIn = (calls: readonly OpenCall[]): number => calls.reduce((sum, { usage: { totalTokens } }) => sum + totalTokens, 0);
/** So many calls at once that they share lines; the first of them have lines of their own. */
const busy = (fields: Partial<OpenCall> = {}): OpenCall[] => Array.from({ length: 200 }, (_, index) => call(`busy-${index}`, fields));
const noteAll = async (journal: CallJournal, calls: readonly OpenCall[]): Promise<void> => void (await Promise.all(calls.map((one) => journal.note(one))));
/** Ends calls, and has their lines in the ledger. */
function settle(journal: CallJournal, calls: readonly OpenCall[]): void {
  const ids = calls.map((one) => journal.end(one, ended())).filter((id) => id !== undefined);
  journal.beginForget();
  journal.forget(ids);
}

t.test('of very many calls at once, a killed process leaves what they may use, and at most twice as much', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const [calls, more] = [busy({ costUsd: 0.5, group: 'team' }), call('more', { costUsd: 0.5, group: 'team' })];
  await noteAll(journal, calls);
  const left = await journalAt(path).left();
  t.ok(left.length < 50, `${left.length} lines`);
  const cover = left.find(({ id, requestId }) => id === requestId);
  t.match(cover, { key: 'app', group: 'team', provider: 'openai', model: 'gpt-5', error: 'SHUTTING_DOWN', usage: { estimated: true } });
  const tokens = tokensIn(left);
  t.ok(tokens >= 200 * 1001 && tokens <= 2 * 200 * 1001, `${tokens} tokens`);
  t.ok(left.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0) >= 100);
  t.equal(journal.note(more), undefined, 'one more needs no line');
  await journal.note(call('other', { model: 'gpt-5-mini' }));
  t.match((await journalAt(path).left()).at(-1), { model: 'gpt-5-mini', usage: { totalTokens: Number } }, 'another model has a line of its own');
  journal.close();
});

t.test('what calls of many have used is covered until the ledger has it, also if it is more than was expected', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const calls = busy();
  await noteAll(journal, calls);
  const [large, ...others] = [...calls].reverse() as [OpenCall, ...OpenCall[]];
  journal.end(large, ended({ usage: { inputTokens: 1, outputTokens: 1_000_000, totalTokens: 1_000_001 } }));
  await turn();
  t.ok(tokensIn(await journalAt(path).left()) >= 1_000_001 + 199 * 1001);
  journal.beginForget();
  const last = others.pop() as OpenCall;
  t.equal(journal.end(last, ended()), last.id, 'one that had a line of its own');
  for (const one of others) journal.end(one, ended());
  journal.forget([]);
  while (tokensIn(await journalAt(path).left()) >= 1_000_001) await delay(5);
  t.ok(tokensIn(await journalAt(path).left()) >= 199 * 1001, 'those that ended meanwhile still count');
  journal.beginForget();
  journal.forget([last, ...others].map(({ id }) => id));
  await emptied(path);
  journal.close();
});

t.test('a call of many that goes on gets a line of its own', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const calls = busy();
  await noteAll(journal, calls);
  const [slow, ...others] = [...calls].reverse() as [OpenCall, ...OpenCall[]];
  settle(journal, others);
  const notForgotten = async () => (await journalAt(path).left()).filter(({ id }) => others.every((other) => other.id !== id));
  t.match(await notForgotten(), [{ id: /-1$/, requestId: /-1$/ }], 'all together');
  journal.noteAlone(slow);
  while ((await notForgotten())[0]?.id !== slow.id || (await notForgotten()).length > 1) await delay(5);
  t.match(await notForgotten(), [{ id: slow.id, requestId: 'r', usage }]);
  settle(journal, [slow]);
  t.same(idsIn(path), []);
  journal.close();
});

t.test('a call of many that is noted again before it has its own line is counted once, and takes nothing from the others', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const calls = busy();
  await noteAll(journal, calls);
  const [fast, ...others] = [...calls].reverse() as [OpenCall, ...OpenCall[]];
  journal.noteAlone(fast);
  const again = { ...fast, usage: { ...usage, outputTokens: 5000, totalTokens: 5001 } };
  await journal.note(again);
  while (!idsIn(path).includes(again.id)) await delay(5);
  for (let turns = 0; turns < 40; turns += 1) await delay(10);
  t.match(
    (await journalAt(path).left()).filter(({ id }) => id === again.id),
    [{ usage: { totalTokens: 5001 } }],
    'as it was noted last',
  );
  settle(journal, [again]);
  for (let turns = 0; turns < 40; turns += 1) await delay(10);
  const left = await journalAt(path).left();
  t.ok(tokensIn(left) >= others.length * 1001, `${tokensIn(left)} tokens of ${others.length} calls`);
  settle(journal, others);
  await emptied(path);
  journal.close();
});

t.test('what many calls were covered with serves the next ones, and does not stay when the sums are saved or the process ends', async (t) => {
  for (const end of ['compact', 'close'] as const) {
    const path = join(t.testdir({}), `${end}.jsonl`);
    const journal = journalAt(path);
    const calls = busy();
    await noteAll(journal, calls);
    settle(journal, calls);
    await delay(2 * TURN_MS);
    t.ok(idsIn(path).length > 0);
    const [next] = busy();
    t.equal(journal.note(next as OpenCall), undefined, 'no line is written, though calls are few now');
    settle(journal, [next as OpenCall]);
    journal[end]();
    t.same(idsIn(path), [], end);
    journal.close();
  }
});

t.test('lines for many are written again when the file was removed by hand, and kept when it is written anew', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const calls = busy();
  await noteAll(journal, calls);
  settle(journal, calls.slice(0, 32));
  journal.compact();
  t.ok(tokensIn(await journalAt(path).left()) >= 168 * 1001, 'written anew');
  rmSync(path);
  while (!existsSync(path)) await delay(5);
  t.ok(tokensIn(await journalAt(path).left()) >= 168 * 1001, 'removed');
  journal.close();
});

t.test('a journal that was removed or emptied by hand begins again with the calls under way', async (t) => {
  for (const remove of [rmSync, truncateSync] as const) {
    const path = join(t.testdir({}), 'open.jsonl');
    const journal = journalAt(path);
    const a = call('a');
    await journal.note(a);
    await journal.note(call('over'));
    journal.forget(['over']);
    remove(path);
    while (!existsSync(path) || idsIn(path).length === 0) await delay(5);
    t.same(idsIn(path), ['a'], 'though no further call comes');
    remove(path);
    while (!existsSync(path) || idsIn(path).length === 0) await delay(5);
    await journal.note(call('b'));
    journal.end(a, ended({ costUsd: 1 }));
    t.same(await journalAt(path).left(), [call('a', { costUsd: 1, error: null }), call('b')], remove.name);
    journal.close();
  }
});

t.test('a journal that is a link or a folder is not written', async (t) => {
  const folder = t.testdir({});
  const path = join(folder, 'open.jsonl');
  await journalAt(path).note(call('a'));
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

t.test('a journal that has nothing to drop stays the file that it is', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const inode = (): number => statSync(path).ino;
  await journal.note(call('a'));
  const calls = busy();
  await noteAll(journal, calls);
  const before = inode();
  journal.compact();
  t.equal(inode(), before);
  journal.forget(['a']);
  journal.compact();
  t.not(inode(), before);
  settle(journal, calls);
  journal.close();
});

t.test('a line for many that a full disk has cut short, and that may say less than before, covers no further call', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const calls = busy();
  await noteAll(journal, calls);
  const said = async () => tokensIn((await journalAt(path).left()).filter(({ id, requestId }) => id === requestId));
  const before = await said();
  const disk = fillDisk(t, (size) => size - 1); // a line without its newline is read
  settle(journal, calls.slice(0, 190));
  while ((await said()) >= before / 2) await delay(5);
  const others = Array.from({ length: 60 }, (_, index) => call(`other-${index}`));
  const sent = (await Promise.allSettled(others.map(async (one) => journal.note(one)))).filter(({ status }) => status === 'fulfilled').length;
  t.ok((await said()) >= (10 + sent) * 1001, `${await said()} tokens for 10 calls and ${sent} more`);
  disk.restore();
  settle(journal, [...calls.slice(190), ...others]);
  await emptied(path);
  journal.close();
});

t.test('a line of its own that a full disk has let through is dropped with the sums, once its call has ended', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const calls = busy();
  await noteAll(journal, calls);
  const slow = calls.at(-1) as OpenCall;
  const isThere = async (): Promise<boolean> => (await journalAt(path).left()).some(({ id }) => id === slow.id);
  const disk = fillDisk(t, (size) => size - 1); // a line without its newline is read
  journal.noteAlone(slow);
  while (!(await isThere())) await delay(5);
  disk.restore();
  settle(journal, [slow]); // before the next turn writes its line once more
  journal.compact();
  t.notOk(await isThere());
  settle(journal, calls.slice(0, -1));
  await emptied(path);
  journal.close();
});

t.test('lines for many that could not be dropped when the sums were saved are dropped the next time', async (t) => {
  const path = join(t.testdir({}), 'open.jsonl');
  const journal = journalAt(path);
  const [calls, open] = [busy(), call('open', { model: 'gpt-5-mini' })];
  await noteAll(journal, [open, ...calls]);
  settle(journal, calls.slice(0, 31)); // which have lines of their own
  journal.compact();
  settle(journal, calls.slice(31));
  mkdirSync(`${path}.tmp`);
  t.throws(() => journal.compact());
  rmdirSync(`${path}.tmp`);
  journal.compact();
  t.same(idsIn(path), ['open']);
  settle(journal, [open]);
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
  const [before, pending] = [faults.length, call('pending')];
  const refused = Promise.allSettled([journal.note(pending)]);
  journal.end(call('a'), ended());
  t.equal(faults.length, before + 1, 'an end that could not be written is reported');
  t.match(await refused, [{ status: 'rejected', reason: { code: 'STORAGE_FULL' } }], 'and what was noted before it is still refused');
  const answers = await Promise.allSettled(busy().map(async (one) => journal.note(one)));
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
