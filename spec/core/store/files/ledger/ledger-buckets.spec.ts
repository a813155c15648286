import t from 'tap';
import { SpendBook } from '../../../../../core/store/files/ledger/ledger-buckets.ts';
import type { CarriedLine } from '../../../../../core/store/files/ledger/ledger-lines.ts';
import type { LedgerLine } from '../../../../../core/store/port.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

function call(block: string, costUsd: number | null, at = NOON): LedgerLine {
  const usage = costUsd === null ? null : { inputTokens: 1, outputTokens: 9, totalTokens: 10 };
  return { at: new Date(at).toISOString(), block, provider: 'p', model: 'm', purpose: 'chat', usage, costUsd, messageId: null };
}

function carried(from: string, block: string): CarriedLine {
  return { at: new Date(NOON).toISOString(), type: 'carried', from, block };
}

/** The same lines taken forwards and backwards. */
function books(...lines: (LedgerLine | CarriedLine)[]): SpendBook[] {
  const [forward, backward] = [new SpendBook(), new SpendBook()];
  for (const line of lines) forward.add(line);
  for (const line of lines.toReversed()) backward.addOlder(line);
  return [forward, backward];
}

t.test('the spend of a block is the cost of its calls; a call without a price costs nothing', async (t) => {
  for (const book of books(call('a', 1), call('b', 4), call('a', 2), call('a', null))) {
    t.strictSame(book.spend('a', 0), { usd: 3, tokens: 20 });
    t.strictSame(book.spend('b', 0), { usd: 4, tokens: 10 });
    t.strictSame(book.spend('c', 0), { usd: 0, tokens: 0 });
  }
});

t.test('a sum begins with the quarter of an hour that holds the instant', async (t) => {
  for (const book of books(call('a', 1, NOON - 1), call('a', 2, NOON), call('a', 4, NOON + 15 * MINUTE))) {
    t.equal(book.spend('a', NOON - 1).usd, 7);
    t.equal(book.spend('a', NOON).usd, 6);
    t.equal(book.spend('a', NOON + 14 * MINUTE).usd, 6);
    t.equal(book.spend('a', NOON + 15 * MINUTE).usd, 4);
    t.equal(book.spend('a', NOON + DAY).usd, 0);
  }
});

t.test('a renamed block keeps its spend, without what its old name spends later', async (t) => {
  for (const book of books(call('a', 1), carried('a', 'b'), call('b', 2), call('a', 4))) {
    t.equal(book.spend('b', 0).usd, 3);
    t.equal(book.spend('a', 0).usd, 5);
  }
});

t.test('a name keeps its own spend when another block takes it', async (t) => {
  for (const book of books(call('a', 1), call('b', 2), carried('a', 'b'))) t.equal(book.spend('b', 0).usd, 3);
});

t.test('spend counts once, even after renames back and forth', async (t) => {
  for (const book of books(call('a', 1), carried('a', 'b'), call('b', 2), carried('b', 'a'), carried('a', 'b'), carried('b', 'a'), call('a', 4))) {
    t.equal(book.spend('a', 0).usd, 7);
    t.equal(book.spend('b', 0).usd, 3);
  }
});

t.test('a chain of renames keeps all the spend before each step', async (t) => {
  for (const book of books(call('a', 1), carried('a', 'b'), call('a', 8), call('b', 2), carried('b', 'c'), call('b', 16), call('c', 4))) {
    t.equal(book.spend('c', 0).usd, 7);
    t.equal(book.spend('b', 0).usd, 19);
    t.equal(book.spend('a', 0).usd, 9);
  }
});

t.test('a name that moves to itself changes nothing', async (t) => {
  for (const book of books(call('a', 1), carried('a', 'a'), call('a', 2))) t.equal(book.spend('a', 0).usd, 3);
});

t.test('lines can be added after a load from the end', async (t) => {
  const [, book = new SpendBook()] = books(call('a', 1), carried('a', 'b'));
  book.add(call('b', 2));
  book.add(carried('b', 'c'));
  book.add(call('a', 4));
  t.equal(book.spend('c', 0).usd, 3);
  t.equal(book.spend('a', 0).usd, 5);
});

t.test('the last 32 days stay in memory, and older ones are dropped', async (t) => {
  const book = new SpendBook();
  const quarters = 3 * 365 * 96;
  for (let quarter = 0; quarter < quarters; quarter += 1) book.add(call('a', 1, NOON + quarter * 15 * MINUTE));
  const end = NOON + quarters * 15 * MINUTE;
  t.equal(book.spend('a', end - 32 * DAY).usd, 32 * 96);
  t.ok(book.spend('a', 0).usd < 4 * 32 * 96);
});

t.test('the newest call of a block is known, even under an earlier name', async (t) => {
  for (const book of books(call('a', 1, NOON + DAY), call('a', 1), call('c', 1, NOON), carried('a', 'b'), call('a', 1, NOON + 2 * DAY))) {
    t.equal(book.newest('b'), NOON + DAY);
    t.equal(book.newest('a'), NOON + 2 * DAY);
    t.equal(book.newest('c'), NOON);
    t.equal(book.newest('d'), undefined);
  }
});
