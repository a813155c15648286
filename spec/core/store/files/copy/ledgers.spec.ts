import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createBus } from '../../../../../core/bus.ts';
import { ClientCalls, readLedger, writeCalls, writeLedger } from '../../../../../core/store/files/copy/ledgers.ts';
import { GatewayLedger } from '../../../../../core/store/files/ledger/gateway-ledger.ts';
import type { CopiedLine } from '../../../../../core/store/parts/copied.ts';
import type { GatewayCall } from '../../../../../core/store/port.ts';
import { AT } from '../../../../support/block-files.ts';
import { testFolder } from '../../../../support/test-folder.ts';

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const line = { at: AT, block: 'a', provider: 'p', model: 'm', purpose: 'chat', usage, costUsd: 1, messageId: null } as const;
const call = (n: number, fields: Partial<GatewayCall> = {}): GatewayCall => ({
  ...{ at: AT, requestId: `r${n}`, key: 'app', provider: 'p', model: 'm', usage, costUsd: 0.5, firstTextMs: null, durationMs: 1, error: null },
  ...fields,
});
async function* each<T>(...values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}
const all = async <T>(values: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
};

t.test('a ledger is read as servers read it, and written whole', async (t) => {
  const folder = testFolder(t);
  t.same(await all(readLedger(folder)), []);
  const lines: CopiedLine[] = [
    { ...line, id: 'x' },
    { type: 'carried', at: AT, from: 'a', block: 'b' },
    { ...line, id: 'line-4', block: 'b' },
  ];
  const texts = [lines[0], lines[1], lines[0], { ...line, block: 'b' }, { ...lines[1], from: 'b' }].map((one) => JSON.stringify(one));
  writeFileSync(join(folder, 'ledger.jsonl'), `${texts.join('\n')}\n\n{torn`);
  t.strictSame(await all(readLedger(folder)), lines, 'once, with a number in place of an id that is missing');
  await writeLedger(folder, each(...lines));
  t.strictSame(await all(readLedger(folder)), lines);
  t.same(readdirSync(folder), ['ledger.jsonl']);
});

t.test('the calls that a killed server had under way count, and nothing is written where they are read', async (t) => {
  const folder = testFolder(t);
  const open = { id: 'left', at: AT, requestId: 'r', key: 'app', provider: 'p', model: 'm', usage, costUsd: 2, error: 'SHUTTING_DOWN' };
  writeFileSync(join(folder, 'gateway-ledger.jsonl'), `${JSON.stringify({ ...call(1), id: 'known' })}\n`);
  writeFileSync(join(folder, 'gateway-open.jsonl'), `${[open, { ...open, id: 'known' }].map((one) => JSON.stringify(one)).join('\n')}\n`);
  const before = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const calls = new ClientCalls(folder);
  t.match(await all(calls.calls()), [{ requestId: 'r1' }, { id: 'left', costUsd: 2 }]);
  t.match(await calls.spent(), [['2026-11-20', 'app', { usd: 2.5, calls: 2, tokens: 6 }]]);
  t.strictSame(
    readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')),
    before,
  );
});

t.test('the sums stand for the calls of the files, of which the newest are kept', async (t) => {
  const folder = testFolder(t);
  const limits = { fileBytes: 1000, files: 2 };
  async function* calls(): AsyncGenerator<GatewayCall> {
    for (let n = 0; n < 30; n += 1) yield call(n, { id: 'not copied' });
  }
  const sums = { usd: 7, tokens: 8, calls: 9, unpricedCalls: 1, output: 0, answers: 0 };
  await writeCalls(folder, calls(), [['2026-11-20', 'app', sums]], limits);
  t.same(readdirSync(folder).sort(), ['gateway-ledger.1.jsonl', 'gateway-ledger.2.jsonl', 'gateway-ledger.jsonl', 'gateway-spend.json']);
  const ledger = new GatewayLedger({ workspace: folder, bus: createBus(), now: () => Date.parse(AT), limits });
  t.match((await ledger.spent('key', 'app')).day, { usd: 7, tokens: 8, calls: 9 }, 'no line counts a second time');
  const kept = (await all(ledger.lines())).map(({ requestId }) => requestId);
  t.same([kept.at(-1), kept.length > 10, kept.length < 20], ['r29', true, true]);
  await ledger.close();
  await writeCalls(folder, each<GatewayCall>(), [], limits);
  t.same([existsSync(join(folder, 'gateway-ledger.1.jsonl')), await all(new ClientCalls(folder).calls())], [false, []]);
});
