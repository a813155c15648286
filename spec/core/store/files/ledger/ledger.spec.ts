import { appendFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { createBus } from '../../../../../core/bus.ts';
import { Ledger } from '../../../../../core/store/files/ledger/ledger.ts';
import type { LedgerLine, Spend } from '../../../../../core/store/port.ts';
import { configOf } from '../../../../support/block-files.ts';
import { withSmallDisk } from '../../../../support/small-disk.ts';
import { until } from '../../../../support/until.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const DAY = 24 * 60 * 60 * 1000;

function call(block: string, costUsd: number | null = 1, at = NOW): LedgerLine {
  const usage = { inputTokens: 1, outputTokens: 9, totalTokens: 10 };
  return { at: new Date(at).toISOString(), block, provider: 'p', model: 'm', purpose: 'chat', usage, costUsd, messageId: 'id' };
}

function text(...lines: object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function open(workspace: string): { ledger: Ledger; faults: unknown[] } {
  const bus = createBus();
  const faults: unknown[] = [];
  bus.on('workspace.fault', (fact) => faults.push(fact));
  return { ledger: new Ledger(workspace, bus, () => NOW), faults };
}

async function spend(ledger: Ledger, block: string, sinceMs: number): Promise<Spend> {
  return (await ledger.spend(block, [sinceMs]))[0];
}

async function all(ledger: Ledger): Promise<LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for await (const line of ledger.lines()) lines.push(line);
  return lines;
}

t.test('lines are on disk in order when they resolve, and are read again after a restart', async (t) => {
  const workspace = t.testdir({});
  const { ledger } = open(workspace);
  t.strictSame(await all(ledger), []);
  const lines = Array.from({ length: 500 }, (_, n) => call(`b${n % 3}`, n));
  await Promise.all(lines.map((line) => ledger.append(line)));
  t.equal(readFileSync(join(workspace, 'ledger.jsonl'), 'utf8'), text(...lines));
  t.equal(statSync(join(workspace, 'ledger.jsonl')).mode & 0o777, 0o600);
  await ledger.close();
  t.strictSame(await all(open(workspace).ledger), lines);
});

t.test('lines that wait together cost one write and one fsync, and resolve in order', async (t) => {
  const workspace = t.testdir({});
  const { ledger } = open(workspace);
  await ledger.append(call('a'));
  const file = await openFile(join(workspace, 'ledger.jsonl'));
  const syncs = t.capture(Object.getPrototypeOf(file), 'sync', Object.getPrototypeOf(file).sync);
  const order: number[] = [];
  await Promise.all(Array.from({ length: 100 }, (_, n) => ledger.append(call('a')).then(() => order.push(n))));
  t.strictSame(
    order,
    Array.from({ length: 100 }, (_, n) => n),
  );
  t.equal(syncs().length, 1);
  await file.close();
});

t.test('spend includes the file and later lines, whichever comes first', async (t) => {
  const workspace = t.testdir({ 'ledger.jsonl': text(call('a', 1), call('b', 2), call('a', 4, NOW - DAY)) });
  const { ledger } = open(workspace);
  const [, early] = await Promise.all([ledger.append(call('a', 8)), spend(ledger, 'a', NOW - 2 * DAY), ledger.append(call('a', 16))]);
  t.equal(early.usd, 29);
  t.strictSame(await spend(ledger, 'a', NOW - 2 * DAY), { usd: 29, tokens: 40 });
  t.equal((await spend(ledger, 'a', NOW)).usd, 25);
  await ledger.append(call('a', null));
  t.strictSame(await spend(ledger, 'a', NOW), { usd: 25, tokens: 40 });
  t.equal((await spend(ledger, 'b', 0)).usd, 2);
  await ledger.close();
  t.equal((await spend(open(workspace).ledger, 'a', NOW)).usd, 25);
});

t.test('a renamed block keeps its spend, even after a restart', async (t) => {
  const workspace = t.testdir({});
  const { ledger } = open(workspace);
  await ledger.append(call('a', 1));
  await ledger.carry('a', 'b');
  await ledger.append(call('b', 2));
  await ledger.append(call('a', 4));
  t.equal((await spend(ledger, 'b', 0)).usd, 3);
  await ledger.carry('b', 'a');
  for (const opened of [ledger, open(workspace).ledger]) {
    t.equal((await spend(opened, 'a', 0)).usd, 7);
    t.equal((await spend(opened, 'b', 0)).usd, 3);
  }
  t.equal((await all(ledger)).length, 3, 'that is no call');
});

t.test('a load reads only as much as the last 32 days need', async (t) => {
  const old = Array.from({ length: 4000 }, (_, n) => call('a', 1, NOW - 400 * DAY + n * 60_000));
  const recent = Array.from({ length: 4000 }, (_, n) => call('a', 1, NOW - 31 * DAY + n * 60_000));
  const workspace = t.testdir({ 'ledger.jsonl': `${'not a line\n'.repeat(20_000)}${text(...old, ...recent)}` });
  const { ledger, faults } = open(workspace);
  t.equal((await spend(ledger, 'a', NOW - 32 * DAY)).usd, 4000);
  t.strictSame(faults, [], 'the damaged lines before the old ones were not met');
});

t.test('a clock that was wrong for a while hides no spend', async (t) => {
  const year = 365 * DAY;
  const back = Array.from({ length: 10 }, () => call('a', 100, NOW - 10 * year));
  const workspace = t.testdir({ 'ledger.jsonl': text(call('a', 1, NOW - DAY), ...back, call('a', 2, NOW + 10 * year), call('a', 4)) });
  t.equal((await spend(open(workspace).ledger, 'a', NOW - 2 * DAY)).usd, 7);
  const late = new Ledger(workspace, createBus(), () => NOW + 10 * year);
  t.equal((await spend(late, 'a', NOW - 2 * DAY)).usd, 7, 'a clock that is ahead when the file is read does not make everything old');
});

t.test('damaged lines are skipped, counted and reported; a torn one is closed', async (t) => {
  const workspace = t.testdir({ 'ledger.jsonl': `${text(call('a', 1))}null\n\n{"at"\n${text(call('a', 2))}{"at":"2026` });
  const { ledger, faults } = open(workspace);
  await ledger.append(call('a', 4));
  t.equal((await spend(ledger, 'a', 0)).usd, 7);
  t.match(faults, [{ what: 'ledger.jsonl', error: /^3 damaged lines/ }]);
  const reading = ledger.lines();
  let count = 0;
  for await (const line of reading) count += line.costUsd ?? 0;
  t.equal(count, 7);
  t.equal(reading.damagedLines, 3);
  for await (const _ of reading) break;
  for await (const _ of reading) count += 1;
  t.equal(reading.damagedLines, 3, 'a second reading counts anew');
});

t.test('a report of many lines does not block the event loop', async (t) => {
  const workspace = t.testdir({ 'ledger.jsonl': text(call('a')).repeat(60_000) });
  const { ledger } = open(workspace);
  let turns = 0;
  const ticking = setInterval(() => {
    turns += 1;
  }, 1);
  t.teardown(() => clearInterval(ticking));
  let lines = 0;
  for await (const _ of ledger.lines()) lines += 1;
  t.equal(lines, 60_000);
  t.ok(turns >= 10, `${turns} turns`);
});

t.test('a link is not followed, a failure is reported, and later lines work', async (t) => {
  const workspace = t.testdir({ victim: 'untouched' });
  const path = join(workspace, 'ledger.jsonl');
  symlinkSync(join(workspace, 'victim'), path);
  const { ledger } = open(workspace);
  await t.rejects(ledger.append(call('a')), { code: 'ELOOP' });
  await t.rejects(spend(ledger, 'a', 0), { code: 'WORKSPACE_DAMAGED' });
  await t.rejects(all(ledger), { code: 'WORKSPACE_DAMAGED' });
  t.equal(readFileSync(join(workspace, 'victim'), 'utf8'), 'untouched');
  unlinkSync(path);
  await ledger.append(call('a'));
  t.equal((await spend(ledger, 'a', 0)).usd, 2, 'with the one that failed, which was paid');
});

t.test('a call that did not fit on the disk counts, and is written when there is room again', async (t) => {
  const workspace = t.testdir({});
  const reason = await withSmallDisk(workspace, async () => {
    const { ledger } = open(workspace);
    await ledger.append(call('a', 1));
    t.equal((await spend(ledger, 'a', 0)).usd, 1);
    const filler = join(workspace, 'filler');
    writeFileSync(filler, 'x'.repeat(248 * 1024));
    const many = await Promise.allSettled(Array.from({ length: 100 }, () => ledger.append(call('a', 2))));
    t.ok(many.every((result) => result.status === 'rejected' && (result.reason as { code?: string }).code === 'STORAGE_FULL'));
    t.equal((await spend(ledger, 'a', 0)).usd, 201);
    t.strictSame(await all(ledger), [call('a', 1)]);
    await t.rejects(ledger.ready(), { code: 'STORAGE_FULL' });
    unlinkSync(filler);
    await ledger.append(call('a', 4));
    await ledger.ready();
    t.equal((await spend(ledger, 'a', 0)).usd, 205);
    t.equal((await spend(open(workspace).ledger, 'a', 0)).usd, 205);
  });
  if (reason !== undefined) t.comment(`not tried: ${reason}`);
});

t.test('a call that could not be written is written with the next lines or at the close, and counts once', async (t) => {
  const workspace = t.testdir({});
  const path = join(workspace, 'ledger.jsonl');
  const { ledger, faults } = open(workspace);
  await ledger.ready();
  mkdirSync(path);
  await t.rejects(ledger.append(call('a')), { code: 'EISDIR' });
  await t.rejects(ledger.carry('a', 'b'), { code: 'EISDIR' });
  await t.rejects(ledger.ready(), { code: 'EISDIR' });
  rmdirSync(path);
  t.equal((await spend(ledger, 'a', 0)).usd, 1, 'also where the file was not read before');
  t.equal((await spend(ledger, 'b', 0)).usd, 0, 'what was not carried stays');
  await ledger.ready();
  t.equal(readFileSync(path, 'utf8'), text(call('a')));
  t.equal((await spend(ledger, 'a', 0)).usd, 1);
  unlinkSync(path);
  mkdirSync(path);
  await t.rejects(ledger.append(call('a', 2)), { code: 'EISDIR' });
  const { ledger: lost, faults: told } = open(workspace);
  await t.rejects(lost.append(call('a', 2)), { code: 'EISDIR' });
  await lost.close();
  t.match(told, [{ what: 'ledger.jsonl', error: /^1 calls could not be written/ }]);
  rmdirSync(path);
  await ledger.close();
  t.equal(readFileSync(path, 'utf8'), text(call('a', 2)));
  t.strictSame(faults, []);
});

t.test('what could not be written is written when that is possible again, though no further call comes', async (t) => {
  const workspace = t.testdir({});
  const path = join(workspace, 'ledger.jsonl');
  const { ledger } = open(workspace);
  mkdirSync(path);
  await t.rejects(ledger.append(call('a')), { code: 'EISDIR' });
  rmdirSync(path);
  await until('the line is in the file', () => existsSync(path) && readFileSync(path, 'utf8') === text(call('a')));
});

t.test('close() waits for the appended lines, and later ones are refused', async (t) => {
  const workspace = t.testdir({});
  const { ledger } = open(workspace);
  const appended = ledger.append(call('a'));
  await ledger.close();
  t.equal(readFileSync(join(workspace, 'ledger.jsonl'), 'utf8'), text(call('a')));
  await appended;
  await t.rejects(ledger.append(call('a')), /closed/);
  await t.rejects(ledger.carry('a', 'b'), /closed/);
  t.equal((await spend(ledger, 'a', 0)).usd, 1, 'reading still works');
});

t.test('lines of another process are read with the file', async (t) => {
  const workspace = t.testdir({});
  const { ledger } = open(workspace);
  await ledger.append(call('a'));
  appendFileSync(join(workspace, 'ledger.jsonl'), text(call('a', 2)));
  await ledger.append(call('a', 4));
  t.strictSame(
    (await all(ledger)).map(({ costUsd }) => costUsd),
    [1, 2, 4],
  );
});

t.test('a call is held until its line counts, and a second one that fits only without it waits for that', async (t) => {
  const workspace = t.testdir({});
  const { ledger } = open(workspace);
  const { budget } = configOf({ budget: { dailyTokens: 100 } });
  const { signal } = new AbortController();
  const reserve = (id: string, tokens = 60) => ledger.reserve({ block: 'a', id, budget, worstCase: { usd: null, tokens } }, signal);
  const [first, second] = await Promise.all([reserve('1'), reserve('2')]);
  t.match([first, second], [{ kind: 'ok' }, { kind: 'beside' }]);
  t.match(await reserve('3', 101), { kind: 'exceeded', cap: 'dailyTokens' });
  ledger.release({ block: 'a', id: '2' });
  await ledger.append({ ...call('a'), id: '1' });
  if (second.kind === 'beside') await second.changed;
  t.match(await reserve('2'), { kind: 'ok', stand: { day: { tokens: 10 } } });
  mkdirSync(join(workspace, 'other'));
  const { ledger: other } = open(join(workspace, 'other'));
  mkdirSync(join(workspace, 'other', 'ledger.jsonl'));
  await t.rejects(other.reserve({ block: 'a', id: '1', budget, worstCase: { usd: null, tokens: 1 } }, signal), { code: 'WORKSPACE_DAMAGED' });
});

t.test('a call is held until it counts, even where its line could not be written', async (t) => {
  const workspace = t.testdir({});
  const { ledger } = open(workspace);
  const { budget } = configOf({ budget: { dailyTokens: 100 } });
  const { signal } = new AbortController();
  const reserve = (id: string) => ledger.reserve({ block: 'a', id, budget, worstCase: { usd: null, tokens: 90 } }, signal);
  t.match(await reserve('1'), { kind: 'ok' });
  mkdirSync(join(workspace, 'ledger.jsonl'));
  await t.rejects(ledger.append({ ...call('a'), id: '1' }), { code: 'EISDIR' });
  t.match(await reserve('2'), { kind: 'ok', stand: { day: { tokens: 10 } } });
});

t.test('a line that is appended twice counts once, also where it could not be written at first', async (t) => {
  const workspace = t.testdir({});
  const path = join(workspace, 'ledger.jsonl');
  const { ledger } = open(workspace);
  const line = { ...call('a'), id: '1' };
  await Promise.all([ledger.append(line), ledger.append(line)]);
  await ledger.append(line);
  t.equal(readFileSync(path, 'utf8'), text(line));
  t.equal((await spend(ledger, 'a', 0)).usd, 1);
  unlinkSync(path);
  mkdirSync(path);
  const other = { ...line, id: '2' };
  await t.rejects(ledger.append(other), { code: 'EISDIR' });
  await t.rejects(ledger.append(other), { code: 'EISDIR' });
  rmdirSync(path);
  await ledger.append(other);
  t.equal(readFileSync(path, 'utf8'), text(other));
  t.equal((await spend(ledger, 'a', 0)).usd, 2);
});
