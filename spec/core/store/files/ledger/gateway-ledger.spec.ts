import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { createBus } from '../../../../../core/bus.ts';
import { GatewayLedger, type GatewayLedgerLimits } from '../../../../../core/store/files/ledger/gateway-ledger.ts';
import type { GatewayCall } from '../../../../../core/store/port.ts';
import { until } from '../../../../support/until.ts';

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
  t.match(second.ledger.sums('key', 'app').day, { usd: 0.25, tokens: 30, calls: 2, unpricedCalls: 1 });
  await second.ledger.close();
  const { ledger, clock } = ledgerIn(workspace, NOON + HOUR);
  await ledger.read();
  t.match(ledger.sums('key', 'app').day, { usd: 0.25, tokens: 30 }, 'a new process');
  ledger.record(call('5', { at: new Date(NOON + HOUR).toISOString() }));
  t.match(ledger.sums('key', 'app').day, { usd: 0.5, tokens: 45 });
  t.match(ledger.sums('key', 'other').day, { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0 });
  t.equal(ledger.meanOutput('app'), 5);
  t.equal(ledger.meanOutput('other'), undefined);
  clock.ms += 12 * HOUR;
  t.match(ledger.sums('key', 'app').day, { usd: 0, tokens: 0 }, 'a new day');
  await ledger.close();
});

t.test('a clock that visits another day finds the day as it was, and so does a process that starts earlier than the one before it ended', async (t) => {
  const { workspace } = pathIn(t);
  const { ledger, clock } = ledgerIn(workspace);
  ledger.record(call('1'));
  await ledger.read();
  clock.ms += 24 * HOUR;
  ledger.record(call('2', { at: new Date(clock.ms).toISOString() }));
  t.match(ledger.sums('key', 'app').day, { tokens: 15 });
  clock.ms -= 24 * HOUR;
  t.match(ledger.sums('key', 'app').day, { tokens: 15 });
  await ledger.close();
  const earlier = ledgerIn(workspace, NOON - HOUR).ledger;
  await earlier.read();
  t.match(earlier.sums('key', 'app').day, { tokens: 15 }, 'a clock set back before a restart');
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
  const afterKill = ledgerIn(workspace, NOON, limits).ledger;
  for (const key of ['app', 'other'])
    t.match((await afterKill.spent('key', key)).day, { usd: 5, tokens: 300, calls: 20 }, `${key}, also if the process is killed before it saves its sums`);
  await ledger.close();
  const next = ledgerIn(workspace, NOON, limits).ledger;
  await next.read();
  for (const key of ['app', 'other']) t.match(next.sums('key', key).day, { usd: 5, tokens: 300, calls: 20, unpricedCalls: 0 }, key);
  t.equal(next.meanOutput('app'), 5);
  await next.close();
  t.equal(next.sums('key', 'app').month.tokens, 300);
  // The newest files are gone, by hand.
  rmSync(path);
  rmSync(path.replace('.jsonl', '.1.jsonl'));
  for (const life of [1, 2]) {
    const { ledger } = ledgerIn(workspace, NOON, limits);
    await ledger.read();
    t.match(ledger.sums('key', 'app').day, { tokens: 300 + 15 * (life - 1) }, `life ${life}`);
    ledger.record(call(`life ${life}`));
    await ledger.close();
  }
});

t.test('sums are saved every ten seconds, and a killed process leaves the later lines in the ledger: together they count once', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const { workspace, path } = pathIn(t);
  const limits = { fileBytes: 500, files: 4 };
  const killed = ledgerIn(workspace, NOON, limits).ledger;
  const month = async () => {
    const { ledger } = ledgerIn(workspace, NOON, { ...limits });
    await ledger.read();
    return [ledger.sums('key', 'app').month.calls, ledger.sums('group', 'team').month.calls];
  };
  for (let id = 1; id <= 6; id += 1) {
    killed.record(call(String(id), { group: 'team' }));
    await idsOf(killed); // writes at once
    t.same(await month(), [id, id], 'nothing is saved yet');
  }
  t.equal(existsSync(join(workspace, 'gateway-spend.json')), false);
  mock.timers.tick(10_000);
  await idsOf(killed); // after what was begun
  t.equal(existsSync(join(workspace, 'gateway-spend.json')), true);
  const saved = readFileSync(join(workspace, 'gateway-spend.json'), 'utf8');
  t.same(await month(), [6, 6]);
  for (let id = 7; id <= 12; id += 1) {
    killed.record(call(String(id), id % 2 === 0 ? { group: 'team' } : {}));
    await idsOf(killed);
    t.same(await month(), [id, 3 + Math.floor(id / 2)], `lines after the saved sums, call ${id}`);
  }
  t.equal(readFileSync(join(workspace, 'gateway-spend.json'), 'utf8'), saved, 'not written again before its time');
  rmSync(path, { force: true });
  t.ok(((await month())[0] ?? 0) >= 6, 'what was saved stays, whatever becomes of the ledger');
});

t.test('a ledger that has lost its end in a power cut goes on, and its later lines count', async (t) => {
  const { workspace, path } = pathIn(t);
  const first = ledgerIn(workspace).ledger;
  for (const id of ['1', '2', '3']) first.record(call(id));
  await first.close();
  truncateSync(path, 300);
  const killed = ledgerIn(workspace).ledger;
  await killed.read();
  t.match(killed.sums('key', 'app').day, { calls: 3 });
  killed.record(call('4'));
  await idsOf(killed); // writes at once
  const { ledger } = ledgerIn(workspace);
  await ledger.read();
  t.match(ledger.sums('key', 'app').day, { calls: 4 });
  await ledger.close();
});

t.test('sums that can not be read keep the book closed, and are left as they are', async (t) => {
  const { workspace } = pathIn(t);
  const spend = join(workspace, 'gateway-spend.json');
  writeFileSync(spend, '{"days":{}}');
  const { ledger, faults } = ledgerIn(workspace);
  await t.rejects(ledger.read(), { code: 'WORKSPACE_DAMAGED' });
  ledger.record(call('1'));
  await ledger.close();
  t.match(faults, [/^gateway-spend\.json can't be used/]);
  t.equal(readFileSync(spend, 'utf8'), '{"days":{}}');
  rmSync(spend);
  t.same(await idsOf(ledger), ['1']);
  await ledger.close();
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
    t.match(ledger.sums('key', 'app').day, { usd: 0.75, tokens: 1025, calls: 2, unpricedCalls: 0 }, `life ${life}`);
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
  t.teardown(() => killed.close()); // its journal would come back while the folder is removed
  await killed.note(open('slow'));
  for (let id = 1; id <= 6; id += 1) {
    await killed.note(open(String(id)));
    killed.record(call(String(id), { id: String(id) }));
    await idsOf(killed); // writes at once
  }
  const { ledger } = ledgerIn(workspace, NOON, { fileBytes: 500, files: 4 });
  t.equal((await idsOf(ledger)).filter((id) => id === 'slow').length, 1, 'the lines have the call that was left, without another question before');
  t.match(ledger.sums('key', 'app').day, { calls: 7, tokens: 7 * 15 });
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
  t.match(ledger.sums('key', 'app').day, { usd: 0.5, tokens: 30 });
});

t.test('a line that can not be written is written when that is possible again, though no other call comes', async (t) => {
  const { workspace, path } = pathIn(t);
  mkdirSync(path);
  const { ledger, faults } = ledgerIn(workspace);
  ledger.record(call('1'));
  await until('that has failed', () => faults.length === 1);
  rmSync(path, { recursive: true });
  await until('the line is in the file', () => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
  await ledger.close();
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
  t.match(second.ledger.sums('key', 'app').day, { calls: 2, usd: 0.5 });
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
  t.match(ledger.sums('key', 'app').day, { calls: 1, tokens: 15 });
  t.match(ledger.sums('key', 'free').day, { calls: flood, tokens: flood * 15 });
  await ledger.close();
});
