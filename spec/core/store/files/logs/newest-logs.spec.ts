import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { logName } from '../../../../../core/store/parts/log-lines.ts';
import { newestLogs } from '../../../../../core/store/files/logs/newest-logs.ts';
import { sweep } from '../../../../support/sweep.ts';

// Many processes, files or looks: more than a busy machine does in the usual time.
const NOW = Date.parse('2026-11-20T14:03:22.123Z');

function write(folder: string, name: string | Buffer, content: string | Buffer, seconds: number): void {
  const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]);
  writeFileSync(path, content);
  utimesSync(path, seconds, seconds);
}

t.test('a missing or empty folder has no logs, and an unreadable one is an error', async (t) => {
  const folder = t.testdir({ empty: {}, file: '' });
  t.strictSame(await newestLogs(join(folder, 'missing')), []);
  t.strictSame(await newestLogs(join(folder, 'empty')), []);
  await t.rejects(newestLogs(join(folder, 'file')), { code: 'BLOCK_DAMAGED', message: /^file is not a folder/ });
});

t.test('the newest logs come first, with their content', async (t) => {
  const folder = t.testdir({});
  for (let n = 0; n < 30; n += 1) write(folder, logName(NOW + n * 1000, 'monitor', 0), `line ${n}\n`, NOW / 1000 + n);
  const logs = await newestLogs(folder);
  t.equal(logs.length, 20);
  t.strictSame(logs[0], {
    file: logName(NOW + 29_000, 'monitor', 0),
    content: 'line 29\n',
    size: 8,
    modifiedAt: new Date(NOW + 29_000).toISOString(),
    truncated: false,
  });
  t.strictSame(
    logs.map(({ content }) => content),
    Array.from({ length: 20 }, (_, n) => `line ${29 - n}\n`),
  );
  t.equal((await newestLogs(folder, 3)).length, 3);
});

t.test('the modification time decides the order, not the name; foreign names are shown if there is room', async (t) => {
  const folder = t.testdir({});
  write(folder, logName(NOW, 'monitor', 0), 'old name, new line', 3000);
  write(folder, logName(NOW + 1000, 'web', 0), 'new name, old line', 2000);
  write(folder, 'notes.txt', 'foreign', 4000);
  const shown = async (limit: number): Promise<string[]> => (await newestLogs(folder, limit)).map(({ content }) => content);
  t.strictSame(await shown(20), ['foreign', 'old name, new line', 'new name, old line']);
});

t.test('only the tail is read, cut between characters', async (t) => {
  const folder = t.testdir({});
  for (const character of ['x', 'é', '\u20ac', '\u{1f600}']) {
    for (let shift = 0; shift < 4; shift += 1) {
      write(folder, 'a.log', `${character.repeat(100)}${'y'.repeat(shift)}`, 1);
      const [log] = await newestLogs(folder, 20, 50);
      t.match(log?.content, new RegExp(`^${character}+y{${shift}}$`, 'u'));
      t.ok(Buffer.byteLength(log?.content ?? '') > 46);
      t.equal(log?.truncated, true);
    }
  }
  write(folder, 'a.log', 'x'.repeat(50), 1);
  t.match(await newestLogs(folder, 20, 50), [{ content: 'x'.repeat(50), truncated: false }]);
});

t.test('invalid UTF-8 is shown with replacement characters', async (t) => {
  const folder = t.testdir({});
  write(folder, 'a.log', Buffer.from([0x61, 0xff, 0xc3, 0x62, 0x80, 0x80, 0x80, 0x80]), 1);
  t.match(await newestLogs(folder), [{ content: 'a\ufffd\ufffdb\ufffd\ufffd\ufffd\ufffd' }]);
  t.match(await newestLogs(folder, 20, 4), [{ content: '\ufffd' }], 'at most one character is left out at the cut');
});

t.test('only the tail of a huge file is read', async (t) => {
  const folder = t.testdir({});
  write(folder, 'a.log', 'begin', 1);
  truncateSync(join(folder, 'a.log'), 2 * 1024 ** 3);
  const [log] = await newestLogs(folder);
  t.match(log, { size: 2 * 1024 ** 3, truncated: true });
  t.equal(log?.content.length, 65536);
});

t.test('only regular files are opened, and dangerous names are skipped', { skip: process.platform === 'win32' && 'no such names' }, async (t) => {
  const folder = t.testdir({ victim: 'secret', logs: { 'good.log': 'good' } });
  const logs = join(folder, 'logs');
  symlinkSync(join(folder, 'victim'), join(logs, logName(NOW, 'link', 0)));
  mkdirSync(join(logs, logName(NOW, 'folder', 0)));
  execFileSync('mkfifo', [join(logs, logName(NOW, 'pipe', 0))]);
  for (const name of ['new\nline.log', 'esc\u001b[31m.log', 'csi\u009b.log']) write(logs, name, 'hostile', 1);
  write(logs, Buffer.from([0x61, 0xff, 0x2e, 0x6c, 0x6f, 0x67]), 'hostile', 1);
  write(logs, '<script>.log', 'shown', 1);
  t.strictSame(
    (await newestLogs(logs)).map(({ file }) => file),
    ['good.log', '<script>.log'],
  );
});

t.test('one unreadable file does not hide the others', { skip: process.getuid?.() === 0 && 'root may read all' }, async (t) => {
  const folder = t.testdir({ 'a.log': 'a', 'b.log': 'b' });
  execFileSync('chmod', ['000', join(folder, 'a.log')]);
  t.match(await newestLogs(folder), [{ file: 'b.log' }]);
});

t.test('the newest of very many files are found, with little memory', async (t) => {
  const folder = t.testdir({});
  const count = sweep(100_000, 1000);
  for (let n = 0; n < count; n += 1) writeFileSync(join(folder, n % 10 === 0 ? `foreign-${n}.log` : logName(NOW + n * 1000, 'monitor', 0)), '');
  write(folder, logName(NOW + 2 * count * 1000, 'monitor', 0), 'newest', NOW / 1000 + 1e6);
  global.gc?.();
  const memory = process.memoryUsage().rss;
  const began = performance.now();
  const logs = await newestLogs(folder);
  const took = performance.now() - began;
  t.equal(logs.length, 20);
  t.equal(logs[0]?.content, 'newest');
  const files = logs.map(({ file }) => file).sort();
  t.equal(files[0], logName(NOW + (count - 21) * 1000, 'monitor', 0), 'the newest by name');
  t.comment(`${Math.round(took)} ms, ${Math.round((process.memoryUsage().rss - memory) / 1024 / 1024)} MB`);
  t.ok(process.memoryUsage().rss - memory < 20 * 1024 * 1024 + count * 420);
});
