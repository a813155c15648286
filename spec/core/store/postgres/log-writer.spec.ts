import t from 'tap';
import { LogWriter, type PlacedLine } from '../../../../core/store/postgres/log-writer.ts';
import type { Database } from '../../../../core/store/postgres/pool.ts';

/** A database in which each statement waits until it is let through. */
function slowDatabase() {
  const written: string[][] = [];
  const waiting: (() => void)[] = [];
  const query = async (_: unknown, values: readonly (readonly Buffer[])[]): Promise<unknown[]> => {
    written.push((values.at(-1) ?? []).map(String));
    await new Promise<void>((done) => waiting.push(done));
    return [];
  };
  return { database: { query } as unknown as Database, written, letThrough: (): void => waiting.shift()?.() };
}

const lineOf = (text: string, onEnd: PlacedLine['onEnd'] = () => undefined): PlacedLine => {
  return { block: 1, at: '2026-11-28T12:00:00.000Z', file: 'a', place: 0, text, onEnd };
};
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

t.test('behind the batch that is written waits one more, however many ask: a slow database is not asked for each of them', async (t) => {
  const { database, written, letThrough } = slowDatabase();
  const writer = new LogWriter(database, () => 'me');
  const over: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    t.equal(writer.add(lineOf(String(n))), true);
    void writer.flush().then(() => over.push(n));
    await turn();
  }
  t.same(written, [['0']]);
  letThrough();
  await turn();
  t.same(over, [0]);
  t.same(written, [['0'], ['1', '2', '3', '4', '5', '6', '7', '8', '9']]);
  writer.add(lineOf('later'));
  letThrough();
  await turn();
  t.same(over, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 'nobody waits for what has come since');
  const last = writer.flush();
  await turn();
  letThrough();
  await last;
  t.same(written.at(-1), ['later']);
  await writer.flush();
  t.equal(written.length, 3, 'nothing waits, so nothing is written');
});

t.test('lines that would use up memory are not taken, and each hears what became of it', async (t) => {
  const failing = { query: () => Promise.reject(new Error('away')) } as unknown as Database;
  const writer = new LogWriter(failing, () => 'me');
  const ends: (string | undefined)[] = [];
  t.equal(writer.add(lineOf('x'.repeat(4_000_000), (error) => void ends.push(error?.message))), true);
  t.equal(writer.add(lineOf('x'.repeat(400_000))), false);
  await writer.flush();
  t.same(ends, ['away']);
  t.equal(writer.add(lineOf('x')), true, 'there is room again');
});

t.test('lines of a batch that follow each other in a file are one row, as long as it is short', async (t) => {
  const rows: unknown[][] = [];
  const query = async (_: unknown, [, at, block, file, place, bytes]: readonly (readonly unknown[])[]): Promise<unknown[]> => {
    for (const index of at?.keys() ?? []) rows.push([at?.[index], block?.[index], file?.[index], place?.[index], String(bytes?.[index])]);
    return [];
  };
  const writer = new LogWriter({ query } as unknown as Database, () => 'me');
  const ended: string[] = [];
  const add = (block: number, file: string, place: number, text: string, at = '1') =>
    writer.add({ block, file, place, text, at, onEnd: () => void ended.push(text.slice(0, 6)) });
  const long = `long ${'x'.repeat(1790)}\n`;
  add(1, 'a', 0, 'one é\n');
  add(2, 'a', 0, 'other\n');
  add(1, 'a', 7, 'two\n', '2');
  add(1, 'b', 0, 'next\n');
  add(1, 'b', 5, long);
  add(1, 'b', 5 + long.length, 'more\n');
  add(1, 'b', 9000, 'after a gap\n');
  await writer.flush();
  t.strictSame(rows, [
    ['2', 1, 'a', 0, 'one é\ntwo\n'],
    ['1', 2, 'a', 0, 'other\n'],
    ['1', 1, 'b', 0, 'next\n'],
    ['1', 1, 'b', 5, long],
    ['1', 1, 'b', 5 + long.length, 'more\n'],
    ['1', 1, 'b', 9000, 'after a gap\n'],
  ]);
  t.equal(ended.length, 7, 'each line hears of its end');
});
