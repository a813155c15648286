import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createBus } from '../../../../../core/bus.ts';
import { GatewayLedger, type GatewayLedgerLimits } from '../../../../../core/store/files/ledger/gateway-ledger.ts';
import type { GatewayCall } from '../../../../../core/store/port.ts';

const NOON = Date.parse('2026-11-22T12:00:00.000Z');
const HOUR = 3_600_000;

const call = (requestId: string, fields: Partial<GatewayCall> = {}): GatewayCall => ({
  at: new Date(NOON).toISOString(),
  requestId,
  key: 'app',
  provider: 'openai',
  model: 'gpt-5',
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  costUsd: 0.25,
  firstTextMs: 12,
  durationMs: 40,
  error: null,
  ...fields,
});

function ledgerIn(workspace: string, start = NOON, limits?: GatewayLedgerLimits) {
  const bus = createBus();
  const faults: string[] = [];
  bus.on('workspace.fault', ({ error }) => faults.push(error));
  const clock = { ms: start };
  return { ledger: new GatewayLedger({ workspace, bus, now: () => clock.ms, limits }), faults, clock };
}

async function idsOf(ledger: GatewayLedger): Promise<string[]> {
  const ids: string[] = [];
  for await (const { requestId } of ledger.lines()) ids.push(requestId);
  return ids;
}

const pathIn = (t: Test) => {
  const workspace = t.testdir({});
  return { workspace, path: join(workspace, 'gateway-ledger.jsonl') };
};

t.test('each call is one line, in the order of their ends', async (t) => {
  const { workspace, path } = pathIn(t);
  const { ledger } = ledgerIn(workspace);
  for (const id of ['1', '2', '3']) ledger.record(call(id));
  t.same(await idsOf(ledger), ['1', '2', '3']);
  ledger.record(call('4', { usage: null, costUsd: null, firstTextMs: null, error: 'UPSTREAM_FAILED', key: null }));
  await ledger.close();
  t.same(JSON.parse(readFileSync(path, 'utf8').trimEnd().split('\n')[3] ?? ''), {
    ...call('4', { usage: null, costUsd: null, firstTextMs: null, error: 'UPSTREAM_FAILED', key: null }),
  });
});

t.test('a key has spent what it has spent on this day, in this process and before', async (t) => {
  const { workspace } = pathIn(t);
  const first = ledgerIn(workspace);
  first.ledger.record(call('0', { at: new Date(NOON - 24 * HOUR).toISOString() }));
  await first.ledger.close();
  const second = ledgerIn(workspace, NOON);
  second.ledger.record(call('1'));
  second.ledger.record(call('2', { key: null }));
  second.ledger.record(call('3', { costUsd: null, error: 'UPSTREAM_FAILED' }));
  second.ledger.record(call('4', { usage: null, costUsd: null, error: 'QUEUE_FULL' }));
  t.equal(second.ledger.isRead, false);
  await second.ledger.read();
  t.equal(second.ledger.isRead, true);
  t.same(second.ledger.spent('app'), { usd: 0.25, tokens: 30, calls: 2, unpricedCalls: 1 });
  await second.ledger.close();
  const { ledger, clock } = ledgerIn(workspace, NOON + HOUR);
  await ledger.read();
  t.match(ledger.spent('app'), { usd: 0.25, tokens: 30 }, 'a new process');
  ledger.record(call('5', { at: new Date(NOON + HOUR).toISOString() }));
  t.match(ledger.spent('app'), { usd: 0.5, tokens: 45 });
  t.same(ledger.spent('other'), { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0 });
  t.equal(ledger.meanOutput('app'), 5);
  t.equal(ledger.meanOutput('other'), undefined);
  clock.ms += 12 * HOUR;
  t.match(ledger.spent('app'), { usd: 0, tokens: 0 }, 'a new day');
  await ledger.close();
});

t.test('a clock that visits another day finds the day as it was, and so does a process that starts earlier than the one before it ended', async (t) => {
  const { workspace } = pathIn(t);
  const { ledger, clock } = ledgerIn(workspace);
  ledger.record(call('1'));
  await ledger.read();
  clock.ms += 24 * HOUR;
  ledger.record(call('2', { at: new Date(clock.ms).toISOString() }));
  t.match(ledger.spent('app'), { tokens: 15 });
  clock.ms -= 24 * HOUR;
  t.match(ledger.spent('app'), { tokens: 15 });
  await ledger.close();
  const earlier = ledgerIn(workspace, NOON - HOUR).ledger;
  await earlier.read();
  t.match(earlier.spent('app'), { tokens: 15 }, 'a clock set back before a restart');
  await earlier.close();
});

t.test('a ledger that has lost its oldest files keeps what keys have spent', async (t) => {
  const { workspace, path } = pathIn(t);
  const limits = { fileBytes: 600, files: 2 };
  const { ledger } = ledgerIn(workspace, NOON, limits);
  for (let id = 1; id <= 40; id += 1) {
    ledger.record(call(String(id), { key: id % 2 === 0 ? 'app' : 'other' }));
    await idsOf(ledger); // writes at once
  }
  const kept = (await idsOf(ledger)).length;
  t.ok(kept < 20, `${kept} lines are kept`);
  await ledger.close();
  const next = ledgerIn(workspace, NOON, limits).ledger;
  await next.read();
  for (const key of ['app', 'other']) t.same(next.spent(key), { usd: 5, tokens: 300, calls: 20, unpricedCalls: 0 }, key);
  t.equal(next.meanOutput('app'), 5);
  await next.close();
  // A crash between the renaming of a full file and the first line of the next one.
  renameSync(path, path.replace('.jsonl', '.2.jsonl'));
  rmSync(path.replace('.jsonl', '.1.jsonl'), { force: true });
  for (const life of [1, 2]) {
    const { ledger } = ledgerIn(workspace, NOON, limits);
    await ledger.read();
    t.match(ledger.spent('app'), { tokens: 300 + 15 * (life - 1) }, `life ${life}`);
    ledger.record(call(`life ${life}`));
    await ledger.close();
  }
});

t.test('sums at the beginning of a file that a crash has torn count as a whole or not at all', async (t) => {
  const { workspace, path } = pathIn(t);
  const at = new Date(NOON).toISOString();
  const spent = { at, type: 'spent', day: '2026-11-22', key: 'app', usd: 1, tokens: 100, calls: 1, unpricedCalls: 0, output: 5, answers: 1 };
  const lines = (...all: object[]) => all.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(path.replace('.jsonl', '.1.jsonl'), lines(call('1'), call('2')));
  for (const [head, tokens] of [
    [lines(spent, { at, type: 'carried', lines: 1 }), 100 + 15],
    [lines(spent, { at, type: 'carried', lines: 2 }), 30 + 15],
    [lines(spent), 30 + 15],
    [lines({ ...spent, tokens: 'many' }, { at, type: 'carried', lines: 1 }), 30 + 15],
  ] as const) {
    writeFileSync(path, `${head}${lines(call('3'))}`);
    const { ledger } = ledgerIn(workspace);
    await ledger.read();
    t.equal(ledger.spent('app').tokens, tokens);
    await ledger.close();
  }
});

t.test('a call that a killed process has left counts with what it was noted with, once', async (t) => {
  const { workspace } = pathIn(t);
  const open = {
    id: 'a',
    at: new Date(NOON).toISOString(),
    requestId: 'r',
    key: 'app',
    provider: 'openai',
    model: 'gpt-5',
    costUsd: 0.5,
    error: 'SHUTTING_DOWN',
  } as const;
  const usage = { inputTokens: 10, outputTokens: 1000, totalTokens: 1010, estimated: true };
  const killed = ledgerIn(workspace).ledger;
  await killed.note({ ...open, usage: { ...usage, totalTokens: 1 } });
  await killed.note({ ...open, usage });
  await killed.note({ ...open, id: 'b', usage });
  killed.record(call('b', { id: 'b' }));
  t.same(await idsOf(killed), ['b'], 'the end of one of them is written');
  for (const life of [1, 2]) {
    const { ledger } = ledgerIn(workspace);
    await ledger.read();
    t.same(ledger.spent('app'), { usd: 0.75, tokens: 1025, calls: 2, unpricedCalls: 0 }, `life ${life}`);
    t.match(await idsOf(ledger), ['b', 'r']);
    await ledger.close();
  }
});

t.test('calls whose lines are in a full file count once after a kill, although another one is under way', async (t) => {
  const { workspace } = pathIn(t);
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const open = (id: string) =>
    ({ id, at: new Date(NOON).toISOString(), requestId: id, key: 'app', provider: 'openai', model: 'gpt-5', usage, costUsd: 0.25, error: null }) as const;
  const killed = ledgerIn(workspace, NOON, { fileBytes: 500, files: 4 }).ledger;
  await killed.note(open('slow'));
  for (let id = 1; id <= 6; id += 1) {
    await killed.note(open(String(id)));
    killed.record(call(String(id), { id: String(id) }));
    await idsOf(killed); // writes at once
  }
  const { ledger } = ledgerIn(workspace, NOON, { fileBytes: 500, files: 4 });
  t.equal((await idsOf(ledger)).filter((id) => id === 'slow').length, 1, 'the lines have the call that was left, without another question before');
  t.match(ledger.spent('app'), { calls: 7, tokens: 7 * 15 });
  await ledger.close();
});

t.test('full files are kept up to a number, and the oldest is removed', async (t) => {
  const { workspace, path } = pathIn(t);
  const { ledger } = ledgerIn(workspace, NOON, { fileBytes: 500, files: 2 });
  for (let id = 1; id <= 10; id += 1) {
    ledger.record(call(String(id)));
    await idsOf(ledger); // writes at once
  }
  const ids = await idsOf(ledger);
  const all = Array.from({ length: 10 }, (_, index) => String(index + 1));
  t.same(ids, all.slice(-ids.length), 'the newest, in order');
  t.ok(ids.length >= 4 && ids.length < 10, String(ids.length));
  t.equal(existsSync(path.replace('.jsonl', '.3.jsonl')), false);
  await ledger.close();
});

t.test('a line that can not be written is written with the next ones, and the fault is told once', async (t) => {
  const { workspace, path } = pathIn(t);
  mkdirSync(path);
  const { ledger, faults } = ledgerIn(workspace);
  ledger.record(call('1'));
  await ledger.close();
  t.equal(faults.length, 1, 'at once');
  ledger.record(call('2'));
  await ledger.close();
  t.equal(faults.length, 1);
  await t.rejects(ledger.read(), { code: 'WORKSPACE_DAMAGED' });
  rmSync(path, { recursive: true });
  t.same(await idsOf(ledger), ['1', '2']);
  t.match(ledger.spent('app'), { usd: 0.5, tokens: 30 });
});

t.test('damaged lines are left out', async (t) => {
  const { workspace, path } = pathIn(t);
  writeFileSync(path, `nonsense\n${JSON.stringify(call('1'))}\n{"at":5}\n{"torn`);
  const { ledger } = ledgerIn(workspace);
  ledger.record(call('2'));
  t.same(await idsOf(ledger), ['1', '2']);
  await ledger.close();
});

t.test('a call with a name of any length counts after a restart, and costs the ledger no file', async (t) => {
  const { workspace, path } = pathIn(t);
  const first = ledgerIn(workspace);
  first.ledger.record(call('1', { model: 'A'.repeat(70_000) }));
  first.ledger.record(call('2', { model: 'A'.repeat(5_000_000) }));
  await first.ledger.close();
  t.equal(existsSync(path.replace('.jsonl', '.1.jsonl')), false);
  const second = ledgerIn(workspace);
  await second.ledger.read();
  t.match(second.ledger.spent('app'), { calls: 2, usd: 0.5 });
  t.same(await idsOf(second.ledger), ['1', '2']);
});

t.test('calls whose lines found no room count once after a kill, those of keys with limits and those without', async (t) => {
  const { workspace } = pathIn(t);
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const killed = ledgerIn(workspace).ledger;
  await killed.note({
    id: 'last',
    at: new Date(NOON).toISOString(),
    requestId: 'last',
    key: 'app',
    provider: 'openai',
    model: 'gpt-5',
    usage,
    costUsd: 0.25,
    error: null,
  });
  const flood = 20_000; // lines of more than 4 MiB before one is written
  for (let id = 0; id < flood; id += 1) killed.record(call(String(id), { key: 'free' }));
  killed.record(call('last', { id: 'last' }));
  t.ok((await idsOf(killed)).length < flood);
  const { ledger } = ledgerIn(workspace);
  await ledger.read();
  t.match(ledger.spent('app'), { calls: 1, tokens: 15 });
  t.match(ledger.spent('free'), { calls: flood, tokens: flood * 15 });
  await ledger.close();
});
