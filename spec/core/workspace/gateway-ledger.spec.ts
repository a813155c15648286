import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createBus } from '../../../core/bus.ts';
import { type GatewayCall, GatewayLedger, type GatewayLedgerLimits } from '../../../core/workspace/gateway-ledger.ts';

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
  t.same(await second.ledger.spentToday('app'), { usd: 0.25, tokens: 30, calls: 2, unpricedCalls: 1 });
  await second.ledger.close();
  const { ledger, clock } = ledgerIn(workspace, NOON + HOUR);
  t.same(await ledger.spentToday('app'), { usd: 0.25, tokens: 30, calls: 2, unpricedCalls: 1 }, 'a new process');
  ledger.record(call('4', { at: new Date(NOON + HOUR).toISOString() }));
  t.same(await ledger.spentToday('app'), { usd: 0.5, tokens: 45, calls: 3, unpricedCalls: 1 });
  t.same(await ledger.spentToday('other'), { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0 });
  clock.ms += 12 * HOUR;
  t.same(await ledger.spentToday('app'), { usd: 0, tokens: 0, calls: 0, unpricedCalls: 0 }, 'a new day');
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
  ledger.record(call('2'));
  await ledger.close();
  t.equal(faults.length, 1);
  t.same(await ledger.spentToday('app').catch((error) => error.code), 'WORKSPACE_DAMAGED');
  rmSync(path, { recursive: true });
  t.same(await idsOf(ledger), ['1', '2']);
  t.same(await ledger.spentToday('app'), { usd: 0.5, tokens: 30, calls: 2, unpricedCalls: 0 });
});

t.test('damaged lines are left out', async (t) => {
  const { workspace, path } = pathIn(t);
  writeFileSync(path, `nonsense\n${JSON.stringify(call('1'))}\n{"at":5}\n{"torn`);
  const { ledger } = ledgerIn(workspace);
  ledger.record(call('2'));
  t.same(await idsOf(ledger), ['1', '2']);
  await ledger.close();
});
