import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BlockLog, newestLogs } from '../../../../../core/store/files/logs/block-log.ts';
import { withSmallDisk } from '../../../../support/small-disk.ts';
import { testFolder } from '../../../../support/test-folder.ts';

const NOW = Date.parse('2026-11-20T14:03:22.123Z');
const FIRST = '2026-11-20T14-03-22Z-monitor.log';

interface Opened {
  readonly log: BlockLog;
  readonly folder: string;
  readonly faults: Error[];
  readonly limits: { maxFileBytes: number; maxFiles: number };
  readonly clock: { now: number };
}

function open(t: Test, block = testFolder(t, {})): Opened {
  const folder = join(block, 'logs');
  const faults: Error[] = [];
  const limits = { maxFileBytes: 5_000_000, maxFiles: 50 };
  const clock = { now: NOW };
  const log = new BlockLog(folder, { limits: () => limits, onFault: (error) => faults.push(error), now: () => clock.now });
  t.teardown(() => log.close());
  return { log, folder, faults, limits, clock };
}

function contentOf(folder: string): string {
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

t.test('events are lines of a private file that the first one creates', async (t) => {
  const { log, folder, faults } = open(t);
  log.open('monitor');
  await log.flush();
  t.throws(() => readdirSync(folder), { code: 'ENOENT' });
  log.write('INFO', 'monitor.started');
  log.write('WARN', 'reply.failed', { id: 'a', error: 'no\nway' });
  await log.flush();
  t.strictSame(readdirSync(folder), [FIRST]);
  t.equal(
    readFileSync(join(folder, FIRST), 'utf8'),
    '2026-11-20T14:03:22.123Z INFO monitor.started\n2026-11-20T14:03:22.123Z WARN reply.failed id=a error="no\\nway"\n',
  );
  t.equal(statSync(join(folder, FIRST)).mode & 0o777, 0o600);
  t.equal(statSync(folder).mode & 0o777, 0o700);
  t.strictSame(faults, []);
});

t.test('lines keep their order, even across a new file and a new channel', async (t) => {
  const { log, folder, clock } = open(t);
  log.write('INFO', 'before');
  for (let start = 0; start < 3; start += 1) {
    log.open('monitor');
    for (let n = 0; n < 1000; n += 1) log.write('INFO', 'x', { n: start * 1000 + n });
    if (start === 1) clock.now += 1000;
    if (start === 0) await log.flush();
  }
  log.open('web');
  log.write('INFO', 'x', { n: 3000 });
  await log.flush();
  t.strictSame(
    readdirSync(folder).sort(),
    ['2026-11-20T14-03-22Z-block.log', FIRST, '2026-11-20T14-03-23Z-monitor-2.log', '2026-11-20T14-03-23Z-monitor.log', '2026-11-20T14-03-23Z-web.log'].sort(),
  );
  const numbers = (name: string): number[] => [...readFileSync(join(folder, name), 'utf8').matchAll(/n=(\d+)\n/g)].map(([, n]) => Number(n));
  t.strictSame(
    [FIRST, '2026-11-20T14-03-23Z-monitor.log', '2026-11-20T14-03-23Z-monitor-2.log', '2026-11-20T14-03-23Z-web.log'].flatMap(numbers),
    Array.from({ length: 3001 }, (_, n) => n),
  );
});

t.test('no file grows beyond the limit, and the oldest are deleted', async (t) => {
  const { log, folder, limits, clock, faults } = open(t);
  Object.assign(limits, { maxFileBytes: 1000, maxFiles: 3 });
  mkdirSync(folder);
  writeFileSync(join(folder, 'notes.txt'), 'by hand');
  log.open('monitor');
  for (let n = 0; n < 400; n += 1) {
    clock.now += n % 2 === 0 ? 0 : 1000;
    log.write('INFO', 'x', { n, text: 'y'.repeat(n % 50) });
    if (n % 7 === 0) await log.flush();
  }
  log.write('INFO', 'last', { text: 'z'.repeat(1500) });
  log.write('INFO', 'end');
  await log.flush();
  const names = readdirSync(folder).filter((name) => name !== 'notes.txt');
  t.equal(names.length, 3);
  for (const name of names) {
    const { size } = statSync(join(folder, name));
    t.ok(size <= 1000 || readFileSync(join(folder, name), 'utf8').split('\n').length === 2, `${name} has ${size} bytes`);
  }
  t.match(contentOf(folder), / end\n/);
  t.ok(readdirSync(folder).includes('notes.txt'), 'what we did not make stays');
  t.strictSame(faults, []);
});

t.test('the limits are read at each write', async (t) => {
  const { log, folder, limits } = open(t);
  for (let n = 0; n < 5; n += 1) {
    log.open('monitor');
    log.write('INFO', 'x');
  }
  await log.flush();
  t.equal(readdirSync(folder).length, 5);
  limits.maxFiles = 2;
  log.open('monitor');
  log.write('INFO', 'last');
  await log.flush();
  t.strictSame(readdirSync(folder).sort(), ['2026-11-20T14-03-22Z-monitor-5.log', '2026-11-20T14-03-22Z-monitor-6.log']);
});

t.test('a removed file or folder is created again', async (t) => {
  const { log, folder, faults } = open(t);
  log.open('monitor');
  log.write('INFO', 'one');
  await log.flush();
  unlinkSync(join(folder, FIRST));
  log.write('INFO', 'two');
  await log.flush();
  t.match(contentOf(folder), /^\S+ INFO two\n$/);
  rmSync(folder, { recursive: true });
  log.write('INFO', 'three');
  await log.flush();
  t.match(contentOf(folder), /^\S+ INFO three\n$/);
  t.strictSame(faults, []);
});

t.test('a late line does not recreate a block that was moved away', async (t) => {
  const block = join(testFolder(t, {}), 'block');
  mkdirSync(block);
  const { log, faults } = open(t, block);
  log.write('INFO', 'one');
  await log.flush();
  rmSync(block, { recursive: true });
  log.write('INFO', 'two');
  log.write('INFO', 'three');
  await log.flush();
  log.write('INFO', 'four');
  await log.flush();
  t.throws(() => statSync(block), { code: 'ENOENT' });
  t.match(faults, [{ code: 'ENOENT' }]);
  t.equal(faults.length, 1, 'it is told once');
  mkdirSync(block);
  log.write('INFO', 'five');
  await log.flush();
  t.match(contentOf(join(block, 'logs')), /^\S+ INFO five\n$/);
  rmSync(block, { recursive: true });
  log.write('INFO', 'six');
  await log.flush();
  t.equal(faults.length, 2, 'and again after it had worked');
});

t.test('nothing is written through a link', async (t) => {
  const block = testFolder(t, { victim: 'untouched', logs: {} });
  symlinkSync(join(block, 'victim'), join(block, 'logs', FIRST));
  const { log, folder, faults } = open(t, block);
  log.open('monitor');
  log.write('INFO', 'one');
  await log.flush();
  t.strictSame(readdirSync(folder).sort(), ['2026-11-20T14-03-22Z-monitor-2.log', FIRST]);
  unlinkSync(join(folder, '2026-11-20T14-03-22Z-monitor-2.log'));
  symlinkSync(join(block, 'victim'), join(folder, '2026-11-20T14-03-22Z-monitor-2.log'));
  log.write('INFO', 'two');
  await log.flush();
  t.equal(readFileSync(join(block, 'victim'), 'utf8'), 'untouched');
  t.match(faults, [{ code: 'ELOOP' }]);
});

t.test('a full disk loses lines and nothing else', async (t) => {
  const block = testFolder(t, {});
  const reason = await withSmallDisk(block, async () => {
    const { log, folder, faults } = open(t, block);
    log.open('monitor');
    log.write('INFO', 'before');
    await log.flush();
    writeFileSync(join(block, 'filler'), 'x'.repeat(244 * 1024));
    for (let n = 0; n < 3; n += 1) {
      for (let line = 0; line < 50; line += 1) log.write('INFO', 'lost', { n, text: 'y'.repeat(1000) });
      await log.flush();
    }
    t.match(faults, [{ code: 'ENOSPC' }]);
    t.equal(faults.length, 1);
    unlinkSync(join(block, 'filler'));
    log.write('INFO', 'after');
    await log.flush();
    const lines = contentOf(folder).split('\n');
    t.match(lines[0], / INFO before$/);
    t.match(lines.at(-2), /^\S+ INFO after$/, 'a line that was cut off does not swallow the next one');
    await log.close();
  });
  if (reason !== undefined) t.comment(`not tried: ${reason}`);
});

t.test('events that come faster than they can be written are dropped and counted', async (t) => {
  const { log, folder } = open(t);
  const text = 'y'.repeat(2000);
  for (let n = 0; n < 10_000; n += 1) log.write('DEBUG', 'x', { n, text });
  await log.flush();
  const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  t.ok(size < 5 * 1024 * 1024);
  const [, lost] = / WARN log\.dropped lines=(\d+)\n$/.exec(contentOf(folder)) ?? [];
  t.equal(contentOf(folder).split('\n').length - 2 + Number(lost), 10_000);
});

t.test('clear() deletes and counts all files, and the next line begins a new one', async (t) => {
  const { log, folder, faults } = open(t);
  t.equal(await log.clear(), 0, 'there is no folder yet');
  log.open('monitor');
  for (let n = 0; n < 3; n += 1) {
    log.write('INFO', 'x');
    log.open('monitor');
  }
  log.write('INFO', 'queued when it is cleared');
  writeFileSync(join(folder, '..', 'outside'), '');
  await log.flush();
  writeFileSync(join(folder, 'notes.txt'), '');
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]), '');
  symlinkSync(join(folder, '..', 'outside'), join(folder, 'link'));
  mkdirSync(join(folder, 'folder'));
  log.write('INFO', 'also this one');
  t.equal(await log.clear(), 6);
  t.strictSame(readdirSync(folder).sort(), ['folder', 'link']);
  log.write('INFO', 'again');
  await log.flush();
  t.match(readFileSync(join(folder, FIRST), 'utf8'), /^\S+ INFO again\n$/);
  t.strictSame(faults, []);
  t.equal((await newestLogs(folder)).length, 1);
});

t.test('close() waits for earlier lines, and later lines are dropped', async (t) => {
  const { log, folder, faults } = open(t);
  for (let n = 0; n < 100; n += 1) log.write('INFO', 'x', { n });
  await log.close();
  log.write('INFO', 'late');
  await log.close();
  t.match(contentOf(folder), /n=99\n$/);
  t.strictSame(faults, []);
});

t.test('a reopened log continues', async (t) => {
  const { log, folder } = open(t);
  log.write('INFO', 'before');
  await log.close();
  log.write('INFO', 'meanwhile');
  log.reopen();
  log.write('INFO', 'after');
  await log.flush();
  t.match(contentOf(folder), /^\S+ INFO before\n\S+ INFO after\n$/);
});

t.test('what is told as written stands in the file at that place, over many files', async (t) => {
  const folder = join(testFolder(t, {}), 'logs');
  const told: { file: string; offset: number; text: string }[] = [];
  const log = new BlockLog(folder, {
    limits: () => ({ maxFileBytes: 400, maxFiles: 50 }),
    onFault: (error) => t.fail(error.message),
    onWritten: (file, offset, text) => told.push({ file, offset, text }),
    now: () => NOW,
  });
  t.teardown(() => log.close());
  for (let turn = 0; turn < 30; turn += 1) {
    for (let line = 0; line <= turn % 4; line += 1) log.write('INFO', 'turn', { turn, of: 'tür' });
    if (turn % 3 === 0) await log.flush();
  }
  await log.flush();
  t.ok(new Set(told.map(({ file }) => file)).size > 3);
  for (const { file, offset, text } of told) {
    const bytes = Buffer.from(text);
    t.equal(
      readFileSync(join(folder, file))
        .subarray(offset, offset + bytes.length)
        .toString(),
      text,
    );
  }
  t.equal(
    told.map(({ text }) => text).join(''),
    readdirSync(folder)
      .sort(compareByCount)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join(''),
  );
});

/** Files of the same second have a number. */
function compareByCount(a: string, b: string): number {
  const numberOf = (name: string): number => Number(/-(\d+)\.log$/.exec(name)?.[1] ?? 1);
  return numberOf(a) - numberOf(b);
}
