// The calls of a ledger from either end.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { SpendBook } from '../../../../../core/store/files/ledger/ledger-buckets.ts';
import { openLedger } from '../../../../../core/store/files/ledger/ledger-file.ts';
import type { CarriedLine } from '../../../../../core/store/files/ledger/ledger-lines.ts';
import { callsNewestFirst, fillBook, LedgerReading } from '../../../../../core/store/files/ledger/ledger-reading.ts';
import type { LedgerLine } from '../../../../../core/store/port.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const DAY = 24 * 60 * 60 * 1000;

function call(block: string, costUsd: number, at = NOW): LedgerLine {
  const usage = { inputTokens: 1, outputTokens: 9, totalTokens: 10 };
  return { at: new Date(at).toISOString(), block, provider: 'p', model: 'm', purpose: 'chat', usage, costUsd, messageId: 'id' };
}

function carried(from: string, block: string): CarriedLine {
  return { at: new Date(NOW).toISOString(), type: 'carried', from, block };
}

/** A ledger of these lines; text is a damaged line. */
function ledgerOf(t: Test, ...lines: (LedgerLine | CarriedLine | string)[]): () => ReturnType<typeof openLedger> {
  const path = join(t.testdir({}), 'ledger.jsonl');
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return () => openLedger(path);
}

async function costsOf(lines: AsyncIterable<LedgerLine>): Promise<(number | null)[]> {
  const costs: (number | null)[] = [];
  for await (const { costUsd } of lines) costs.push(costUsd);
  return costs;
}

t.test('all calls come oldest first, and damaged lines are counted', async (t) => {
  const reading = new LedgerReading(ledgerOf(t, call('a', 1), '{', '', carried('a', 'b'), 'x', call('b', 2)));
  for (const _ of [1, 2]) {
    t.strictSame(await costsOf(reading), [1, 2]);
    t.match(reading, { damagedLines: 2, firstDamaged: 2 });
  }
  t.strictSame(await costsOf(new LedgerReading(async () => undefined)), []);
});

t.test('a call whose line is in the file twice counts once from either end, and lines without an id are separate calls', async (t) => {
  const [one, two] = [
    { ...call('a', 1), id: 'x1' },
    { ...call('a', 2, NOW + 1), id: 'x2' },
  ];
  const open = ledgerOf(t, one, two, '{"half', one, two, call('a', 4, NOW + 2), call('a', 4, NOW + 2));
  const reading = new LedgerReading(open);
  for (const _ of [1, 2]) t.strictSame(await costsOf(reading), [1, 2, 4, 4]);
  t.match(reading, { damagedLines: 1, firstDamaged: 3 });
  t.strictSame(await costsOf(callsNewestFirst(open, 'a', 0)), [4, 4, 2, 1]);
  const book = new SpendBook();
  const opened = await open();
  if (opened === undefined) throw new Error('there is no ledger');
  t.teardown(() => opened.file.close());
  await fillBook(book, opened, NOW);
  t.match(book.spend('a', 0), { usd: 11, tokens: 40 });
});

t.test('the calls of a block come newest first, including those under an earlier name', async (t) => {
  const open = ledgerOf(t, call('b', 1, NOW), call('a', 2, NOW + 1), carried('a', 'b'), call('a', 3, NOW + 2), '{', call('b', 4, NOW + 3));
  t.strictSame(await costsOf(callsNewestFirst(open, 'b', 0)), [4, 2], 'what another block of that name had spent before is not its own');
  t.strictSame(await costsOf(callsNewestFirst(open, 'a', 0)), [3, 2]);
  t.strictSame(await costsOf(callsNewestFirst(open, 'b', NOW + 1)), [4], 'what is not newer than the instant is left out');
  t.strictSame(await costsOf(callsNewestFirst(async () => undefined, 'b', 0)), []);
});

t.test('reading ends at a piece of old lines, and not at a single line with a wrong time', async (t) => {
  const old = Array.from({ length: 2000 }, (_, n) => call('a', n, NOW - DAY));
  const opened = ledgerOf(t, ...old, call('a', 1, NOW + 1), call('a', 2, NOW - 10 * DAY), call('a', 3, NOW + 2));
  let bytes = 0;
  const counting = async () => {
    const ledger = await opened();
    if (ledger === undefined) return undefined;
    const read = ledger.file.read.bind(ledger.file) as (...args: unknown[]) => Promise<{ bytesRead: number }>;
    const file = Object.assign(Object.create(ledger.file), {
      close: () => ledger.file.close(),
      read: async (...args: unknown[]) => {
        const result = await read(...args);
        bytes += result.bytesRead;
        return result;
      },
    });
    return { ...ledger, file };
  };
  t.strictSame(await costsOf(callsNewestFirst(counting, 'a', NOW)), [3, 1]);
  t.ok(bytes < 300_000, `${bytes} of some 400,000 bytes were read`);
});

t.test('a book takes recent lines, and damaged lines are counted', async (t) => {
  const ledger = await ledgerOf(t, call('a', 1, NOW - DAY), '{', call('a', 2))();
  if (ledger === undefined) throw new Error('it is there');
  const book = new SpendBook();
  t.equal(await fillBook(book, ledger, NOW), 1);
  t.equal(book.spend('a', 0).usd, 3);
  await ledger.file.close();
});
