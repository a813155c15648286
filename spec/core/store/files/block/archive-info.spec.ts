import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findArchive, listArchives } from '../../../../../core/store/files/block/archive-info.ts';

const OLD = 'ada_2026-11-20T14-03-22-123Z';
const NEW = 'ada_2026-11-21T14-03-22-123Z';
const info = (archivedAt: string, fields: object = {}) => JSON.stringify({ archiveName: 'x', originalName: 'x', archivedAt, ...fields });

t.test('archived blocks are listed with the facts of their archive.json, newest first, and found by either name', async (t) => {
  const archive = t.testdir({
    [OLD]: { 'archive.json': info('2026-11-20T14:03:22.123Z', { description: 'd' }) },
    [NEW]: { 'archive.json': info('2026-11-21T14:03:22.123Z') },
    'bob_2026-11-19T14-03-22-123Z': { 'archive.json': info('2026-11-19T14:03:22.123Z') },
    'no-archive': {},
    file: '',
  });
  t.match(await listArchives(archive), [{ archiveName: NEW }, { archiveName: OLD, originalName: 'ada', description: 'd' }, { originalName: 'bob' }]);
  t.match(await findArchive(archive, OLD), { archiveName: OLD });
  t.match(await findArchive(archive, 'bob'), { originalName: 'bob' });
  await t.rejects(findArchive(archive, 'ada'), { code: 'AMBIGUOUS_ARCHIVE', message: new RegExp(`${NEW}, ${OLD}`) });
  for (const name of ['eve', 'file', 'no-archive', `../${OLD}`])
    await t.rejects(findArchive(archive, name), { code: 'ARCHIVE_NOT_FOUND', message: /lists them|did you mean/ });
});

t.test('without archive.json, an archive has the time in its name, or the time of its folder if the name has no valid time', async (t) => {
  const NEVER = 'ada_2026-13-40T25-03-22-123Z';
  const archive = t.testdir({ [OLD]: {}, [NEVER]: {} });
  utimesSync(join(archive, OLD), new Date(), new Date());
  utimesSync(join(archive, NEVER), 0, 0);
  t.equal((await findArchive(archive, OLD)).archivedAt, '2026-11-20T14:03:22.123Z');
  t.equal((await findArchive(archive, NEVER)).archivedAt, '1970-01-01T00:00:00.000Z');
});

t.test("a block whose archive.json can't be used is listed without it", async (t) => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  for (const text of ['{', '[]', info('then', { mine: 'DEEP' }).replace('"DEEP"', deep)]) {
    const archive = t.testdir({ [OLD]: { 'archive.json': text } });
    t.strictSame(Object.keys(await findArchive(archive, OLD)), ['archiveName', 'originalName', 'archivedAt'], text.slice(0, 10));
  }
  t.same(await listArchives(t.testdir({ [OLD]: {} })).then((all) => all.map(({ originalName }) => originalName)), ['ada']);
  await t.rejects(listArchives(join(t.testdir({}), 'missing')), { code: 'ENOENT' });
});
