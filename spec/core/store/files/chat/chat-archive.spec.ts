import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ChatArchive } from '../../../../../core/store/files/chat/chat-archive.ts';
import { AT, userEntry } from '../../../../support/block-files.ts';
import { countFlushes } from '../../../../support/flushes.ts';

const folderIn = (t: Test): string => join(t.testdir({}), 'chat-archive');
const many = (count: number, from = 0) => Array.from({ length: count }, (_, n) => userEntry(`${from + n}`));

async function linesOf(archive: ChatArchive, month: string): Promise<string[]> {
  const lines: string[] = [];
  await archive.read(month, (line) => lines.push(line) === 3);
  return lines;
}

t.test('entries are lines in the file of the month in which they left', async (t) => {
  const folder = folderIn(t);
  const archive = new ChatArchive(folder);
  t.same(archive.months(), [], 'before there is any');
  await archive.append(many(2), AT);
  await archive.append(many(1, 2), '2026-12-01T00:00:00.000Z');
  await archive.append(many(2, 3), '2026-12-31T00:00:00.000Z');
  t.same(archive.months(), ['2026-11.jsonl', '2026-12.jsonl']);
  t.same(
    readFileSync(join(folder, '2026-12.jsonl'), 'utf8'),
    many(3, 2)
      .map((entry) => `${JSON.stringify(entry)}\n`)
      .join(''),
  );
  t.same((await linesOf(archive, '2026-12.jsonl')).length, 3, 'reading ends when it has enough');
  t.same(readdirSync(folder).sort(), ['2026-11.jsonl', '2026-12.jsonl'], 'no index without a clientId');
});

t.test('once-written: the same entries are not appended again', async (t) => {
  const archive = new ChatArchive(folderIn(t));
  const entries = many(3);
  await archive.append(entries, AT);
  await archive.append([...entries, ...many(1, 3)], AT);
  let count = 0;
  await archive.read('2026-11.jsonl', () => {
    count += 1;
    return false;
  });
  t.equal(count, 4);
});

t.test('very many entries are written in slices, with one flush', async (t) => {
  const folder = folderIn(t);
  const archive = new ChatArchive(folder);
  await archive.append(many(1), AT);
  const count = await countFlushes(t);
  let turns = 0;
  const beat = setInterval(() => {
    turns += 1;
  }, 0);
  t.teardown(() => clearInterval(beat));
  await archive.append(many(20_000, 1), AT);
  t.equal(count(), 1);
  t.ok(turns >= 5, `others had ${turns} turns`);
  t.equal(readFileSync(join(folder, '2026-11.jsonl'), 'utf8').split('\n').length, 20_002);
});

t.test('clientIds are on disk beside the entries', async (t) => {
  const folder = folderIn(t);
  await new ChatArchive(folder).append([userEntry('1', { clientId: 'mine' })], AT);
  const { clientIds } = new ChatArchive(folder);
  await clientIds.load();
  t.equal(clientIds.get('mine'), '1');
  t.same(new ChatArchive(folder).months(), ['2026-11.jsonl'], 'which is no month');
});

t.test('no-links: only a real folder and real files are read and written', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  const outside = t.testdir({ elsewhere: { '2026-11.jsonl': '{}\n' }, block: {} });
  const folder = join(outside, 'block', 'chat-archive');
  symlinkSync(join(outside, 'elsewhere'), folder);
  const archive = new ChatArchive(folder);
  t.throws(() => archive.months(), { code: 'BLOCK_DAMAGED', message: /^chat-archive can't be read: it is not a folder/ });
  await t.rejects(archive.append(many(1), AT), { message: /not a folder/ });
  t.equal(readFileSync(join(outside, 'elsewhere', '2026-11.jsonl'), 'utf8'), '{}\n');
  const other = folderIn(t);
  mkdirSync(other);
  writeFileSync(join(other, 'target'), '');
  symlinkSync(join(other, 'target'), join(other, '2026-11.jsonl'));
  await t.rejects(new ChatArchive(other).append(many(1), AT), { code: 'ELOOP' });
  await t.rejects(linesOf(new ChatArchive(other), '2026-11.jsonl'), { code: 'BLOCK_DAMAGED', message: /2026-11\.jsonl: it is a link/ });
});

t.test('a removed block folder does not come back', async (t) => {
  const folder = join(t.testdir({}), 'gone', 'chat-archive');
  await t.rejects(new ChatArchive(folder).append(many(1), AT), { code: 'ENOENT' });
  t.notOk(existsSync(folder));
});
