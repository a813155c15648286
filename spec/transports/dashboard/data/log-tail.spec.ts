import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BlockLog, newestLogs } from '../../../../core/store/files/logs/block-log.ts';
import { readLogPart } from '../../../../core/store/files/logs/log-part.ts';
import { LogTail, MAX_LINES } from '../../../../transports/dashboard/data/log-tail.ts';
import { testFolder } from '../../../support/test-folder.ts';

/** A real log on disk, and a tail that hears of its lines unless `isDeaf`. */
function open(t: Test, maxFileBytes = 50_000_000) {
  const folder = join(testFolder(t), 'logs');
  mkdirSync(folder);
  const state = { isDeaf: false, reads: 0 };
  let now = Date.UTC(2026, 0, 1);
  const tail = new LogTail('ada', async <T>(query: string): Promise<T> => {
    state.reads += 1;
    await log.flush();
    const asked = new URLSearchParams(query);
    const [file, before, max] = ['file', 'before', 'max'].map((name) => asked.get(name));
    const answer =
      file == null
        ? { logs: await newestLogs(folder) }
        : await readLogPart(folder, file, { before: before == null ? undefined : Number(before), maxBytes: Number(max) });
    return answer as T;
  });
  const log = new BlockLog(folder, {
    limits: () => ({ maxFileBytes, maxFiles: 50 }),
    onFault: (error) => t.fail(error.message),
    onWritten: (file, offset, text) => void (state.isDeaf || tail.take({ type: 'log', block: 'ada', file, offset, text })),
    now: () => now,
  });
  t.teardown(() => log.close());
  const write = async (from: number, to: number): Promise<void> => {
    for (let number = from; number < to; number += 1) {
      now += 1;
      log.write('INFO', 'line', { number, word: 'wört' });
    }
    await log.flush();
  };
  /** As the socket does when it is connected. */
  const connect = async (): Promise<void> => {
    tail.begin();
    tail.take({ type: 'refresh', block: 'ada' });
    await tail.catchUp();
  };
  return { tail, log, folder, state, write, connect };
}

const numbersOf = ({ lines }: LogTail): number[] => lines.value.map(({ rest }) => Number(/number=(\d+)/.exec(rest)?.[1]));
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

t.test('lines that come are added, without a read', async (t) => {
  const { tail, state, write, connect } = open(t);
  await write(0, 10);
  await connect();
  const { reads } = state;
  await write(10, 30);
  t.same(numbersOf(tail), range(0, 30));
  t.equal(state.reads, reads);
});

t.test('lines that were missed are read after the connection is back, and none is there twice', async (t) => {
  const { tail, state, write, connect } = open(t);
  await write(0, 10);
  await connect();
  state.isDeaf = true;
  await write(10, 50);
  state.isDeaf = false;
  await connect();
  await write(50, 60);
  t.same(numbersOf(tail), range(0, 60));
});

t.test('a hole is filled at the next line, and one that is too large leaves only what follows it', async (t) => {
  const { tail, state, write, connect } = open(t);
  await write(0, 10);
  await connect();
  state.isDeaf = true;
  await write(10, 20);
  state.isDeaf = false;
  await write(20, 21);
  await tail.catchUp();
  t.same(numbersOf(tail), range(0, 21));
  state.isDeaf = true;
  await write(21, 5000);
  state.isDeaf = false;
  await write(5000, 5001);
  await tail.catchUp();
  const numbers = numbersOf(tail);
  t.same(numbers, range(numbers[0] ?? 0, 5001));
  t.ok(tail.hasOlder);
});

t.test('a frame without text says how far the log has come, and the rest is read', async (t) => {
  const { tail, state, write, connect, folder } = open(t);
  await write(0, 10);
  await connect();
  state.isDeaf = true;
  await write(10, 20);
  const file = tail.file.value ?? '';
  tail.take({ type: 'log', block: 'ada', file, offset: readFileSync(join(folder, file)).length, text: '' });
  await tail.catchUp();
  t.same(numbersOf(tail), range(0, 20));
});

t.test('older lines are read from before the first one, down to the beginning', async (t) => {
  const { tail, write, connect } = open(t);
  await write(0, 3000);
  await connect();
  t.ok(tail.hasOlder);
  tail.follow(false);
  const seen = new Set(numbersOf(tail));
  while (tail.hasOlder) {
    await tail.older();
    for (const number of numbersOf(tail)) seen.add(number);
    t.ok(tail.lines.value.length <= MAX_LINES);
  }
  t.equal(seen.size, 3000);
  t.same(numbersOf(tail), range(0, MAX_LINES));
  t.equal(tail.uncounted.value, 3000 - MAX_LINES);
});

t.test('who comes down again gets each line, and then those that come', async (t) => {
  const { tail, write, connect } = open(t);
  await write(0, 5000);
  await connect();
  tail.follow(false);
  while (tail.hasOlder) await tail.older();
  let last = numbersOf(tail).at(-1) ?? 0;
  while (tail.uncounted.value > 0) {
    await tail.newer();
    const numbers = numbersOf(tail);
    t.ok(numbers.includes(last + 1), 'without a gap');
    t.same(numbers, range(numbers[0] ?? 0, (numbers.at(-1) ?? 0) + 1));
    last = numbers.at(-1) ?? 0;
  }
  t.equal(last, 4999);
  tail.follow(true);
  await write(5000, 5010);
  t.same(numbersOf(tail), range(5010 - MAX_LINES, 5010));
});

t.test('while the end is shown there are never more lines than the limit, and older ones can be read again', async (t) => {
  const { tail, write, connect } = open(t);
  await write(0, 10);
  await connect();
  for (let from = 10; from < 5010; from += 100) {
    await write(from, from + 100);
    t.ok(tail.lines.value.length <= MAX_LINES);
  }
  t.same(numbersOf(tail), range(5010 - MAX_LINES, 5010));
  tail.follow(false);
  await tail.older();
  const [first = 0] = numbersOf(tail);
  t.ok(first < 5010 - MAX_LINES);
  t.same(numbersOf(tail), range(first, first + MAX_LINES));
});

t.test('for somebody who reads further up nothing goes away, and what no longer fits is counted', async (t) => {
  const { tail, write, connect } = open(t);
  await write(0, 10);
  await connect();
  tail.follow(false);
  for (let from = 10; from < 10_010; from += 1000) await write(from, from + 1000);
  t.same(numbersOf(tail).slice(0, 10), range(0, 10));
  t.equal(tail.lines.value.length + tail.uncounted.value, 10_010);
  t.ok(tail.lines.value.length < 2 * MAX_LINES, 'a burst more than the limit at most');
  tail.follow(true);
  await tail.catchUp();
  t.equal(tail.uncounted.value, 0);
  t.equal(numbersOf(tail).at(-1), 10_009, 'the end is there again');
});

t.test('the log goes on in the next file for who sees the end, and stays in its file for others', async (t) => {
  const { tail, log, write, connect } = open(t);
  await write(0, 10);
  await connect();
  const first = tail.file.value;
  tail.follow(false);
  log.open('other');
  await write(10, 20);
  t.equal(tail.file.value, first);
  t.equal(tail.files.value.length, 2);
  tail.follow(true);
  await tail.choose(tail.files.value[0] ?? '');
  t.same(numbersOf(tail), range(10, 20));
  log.open('third');
  await write(20, 25);
  t.same(numbersOf(tail), range(20, 25));
  await tail.choose(first ?? '');
  await write(25, 30);
  t.same(numbersOf(tail), range(0, 10), 'a file that somebody has chosen stays');
});

t.test('a download has the whole file', async (t) => {
  const { tail, write, connect, folder } = open(t);
  await write(0, 100);
  await connect();
  const file = tail.file.value ?? '';
  appendFileSync(join(folder, file), `${'x'.repeat(3 * 1024 * 1024)}\n`);
  t.equal(await (await tail.whole(file)).text(), readFileSync(join(folder, file), 'utf8'));
});

t.test('what can not be read is told, and the lines stay', async (t) => {
  const { tail, write, connect, folder } = open(t);
  await write(0, 3);
  await connect();
  writeFileSync(join(folder, '..', 'x'), '');
  const failing = new LogTail('ada', () => Promise.reject(new Error('no answer')));
  await failing.catchUp();
  t.match(failing.error.value, { message: 'no answer' });
  t.same(numbersOf(tail), range(0, 3));
});
