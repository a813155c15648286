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
