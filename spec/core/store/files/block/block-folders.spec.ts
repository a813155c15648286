import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { completeConfig } from '../../../../../core/block/documents/document-codecs.ts';
import { BlockFolders } from '../../../../../core/store/files/block/block-folders.ts';
import { AT } from '../../../../support/block-files.ts';
import { withoutRights } from '../../../../support/nobody.ts';
import { refuseToSyncFolders } from '../../../../support/unconfirmed-folders.ts';

const config = (name: string, fields: object = {}) => completeConfig({ ...fields }, name, AT);
const NOON = new Date('2026-11-20T12:00:00.000Z');

async function open(t: Test, files: Parameters<Test['testdir']>[0] = {}): Promise<BlockFolders> {
  const folders = new BlockFolders(t.testdir(files));
  await folders.open((what) => t.fail(what));
  return folders;
}

t.test('the folders are made, and temporary folders that a crash left are removed', async (t) => {
  const half = () => ({ 'config.json': '{}', logs: {} });
  const folders = await open(t, {
    blocks: { '.new.0123456789abcdef.tmp': half(), ada: half(), '.git': half() },
    archive: { '.ada_2026-11-20T14-03-22-123Z.0123456789abcdef.tmp': half(), note: '' },
  });
  t.same(readdirSync(folders.blocks).sort(), ['.git', 'ada']);
  t.same(readdirSync(folders.archive), ['note']);
  const fresh = await open(t);
  t.equal(statSync(fresh.blocks).mode & 0o777, 0o700);
});

t.test('a new block exists with all its files or not at all', async (t) => {
  const folders = await open(t);
  await folders.create(config('ada'));
  t.same(readdirSync(folders.folderOf('ada')).sort(), ['chat-archive', 'chat.json', 'config.json', 'costs.json', 'logs', 'memory.json', 'pulse.json']);
  for (const name of readdirSync(folders.folderOf('ada'))) t.equal(statSync(join(folders.folderOf('ada'), name)).mode & 0o077, 0, name);
  await t.rejects(folders.create(config('ada', { description: 'other' })), { code: 'NAME_TAKEN', status: 409 });
  t.notMatch(readFileSync(join(folders.folderOf('ada'), 'config.json'), 'utf8'), /other/);
  writeFileSync(join(folders.blocks, 'file'), '');
  symlinkSync('/nowhere', join(folders.blocks, 'link'));
  for (const name of ['file', 'link']) await t.rejects(folders.create(config(name)), { code: 'NAME_TAKEN' }, 'whatever stands there');
  await t.rejects(folders.create(config('x'.repeat(300))), { code: 'STORAGE_FAILED' });
  t.same(readdirSync(folders.blocks).sort(), ['ada', 'file', 'link'], 'nothing is left half made');
});

t.test('only one of many new blocks with the same name is made', async (t) => {
  const folders = await open(t);
  const empty = (): Promise<void> => Promise.resolve();
  for (let round = 0; round < 20; round += 1) {
    const name = `ada-${round}`;
    // Imports of nothing come to their last step at nearly the same time.
    const imports = Array.from({ length: 20 }, (_, n) => folders.build(empty, async () => config(name, { description: `${n}` })));
    const results = await Promise.allSettled([folders.create(config(name)), ...imports]);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as { code: string }] : []));
    t.strictSame([...new Set(refused.map(({ code }) => code))], ['NAME_TAKEN']);
    t.equal(refused.length, results.length - 1);
    t.same(readdirSync(folders.blocks).length, round + 1, 'and nothing is left half made');
  }
});

t.test('an imported block appears only after it is filled and named', async (t) => {
  const folders = await open(t);
  const imported = await folders.build(
    async (folder) => {
      t.same(readdirSync(folder), []);
      writeFileSync(join(folder, 'chat.json'), '[]');
    },
    async (folder) => {
      t.same(readdirSync(folder), ['chat.json']);
      return config('ada');
    },
  );
  t.same(imported, { name: 'ada', unconfirmed: undefined });
  t.same(readdirSync(folders.folderOf('ada')).sort(), ['chat.json', 'config.json']);
  await t.rejects(
    folders.build(
      () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
      async () => config('bob'),
    ),
    { code: 'STORAGE_FULL' },
  );
  t.same(readdirSync(folders.blocks), ['ada']);
});

t.test('a block is archived, listed, found and restored', async (t) => {
  const folders = await open(t);
  await folders.create(config('ada'));
  writeFileSync(join(folders.folderOf('ada'), 'logs', 'x.log'), 'line');
  const { archiveName: stored, unconfirmed } = await folders.store('ada', { description: 'd', wasRunning: true, queuedMessages: 2 }, NOON);
  t.same([stored, unconfirmed], ['ada_2026-11-20T12-00-00-000Z', undefined]);
  t.same(readdirSync(folders.blocks), []);
  const info = { archiveName: stored, originalName: 'ada', archivedAt: NOON.toISOString(), description: 'd', wasRunning: true, queuedMessages: 2 };
  t.same(await folders.list(), [info]);
  t.same(await folders.find('ada'), info);
  t.same(await folders.find(stored), info);
  await folders.restore(info, config('bob'));
  t.same(readdirSync(folders.archive), []);
  t.equal(readFileSync(join(folders.folderOf('bob'), 'logs', 'x.log'), 'utf8'), 'line');
  t.notOk(existsSync(join(folders.folderOf('bob'), 'archive.json')));
  t.match(JSON.parse(readFileSync(join(folders.folderOf('bob'), 'config.json'), 'utf8')), { name: 'bob' });
});

t.test('two archives of the same moment have two names, and the original name is ambiguous', async (t) => {
  const folders = await open(t);
  const names: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    await folders.create(config('ada'));
    names.push((await folders.store('ada', {}, NOON)).archiveName);
  }
  t.equal(new Set(names).size, 3);
  await t.rejects(folders.find('ada'), { code: 'AMBIGUOUS_ARCHIVE', status: 409, message: new RegExp(names.join('|')) });
  for (const name of names) t.match(await folders.find('ada').catch((error: Error) => error.message), new RegExp(name));
  const [info] = await folders.list();
  await folders.remove(await folders.find(names[0] as string));
  await folders.remove(await folders.find(names[1] as string));
  t.equal((await folders.find('ada')).archiveName, names[2]);
  t.ok(info);
});

t.test('the newest archive comes first in the list', async (t) => {
  const folders = await open(t);
  for (const [name, hours] of [
    ['a', 2],
    ['b', 3],
    ['c', 1],
  ] as const) {
    await folders.create(config(name));
    await folders.store(name, {}, new Date(NOON.getTime() + hours * 3_600_000));
  }
  t.same(
    (await folders.list()).map(({ originalName }) => originalName),
    ['b', 'a', 'c'],
  );
});

t.test('a name that is no archive name finds nothing', async (t) => {
  const folders = await open(t, { 'auth.json': 'secret', blocks: { ada: { 'config.json': '{}' } } });
  const names = [
    '../../auth.json',
    '../auth.json',
    '..',
    '.',
    '',
    '/etc/passwd',
    folders.blocks,
    'ada',
    'ada_2026-11-20T12-00-00-000Z',
    '../blocks/ada',
    `ada_${AT}`,
    '__proto__',
  ];
  for (const name of names) await t.rejects(folders.find(name), { code: 'ARCHIVE_NOT_FOUND', status: 404 }, name);
  t.equal(readFileSync(join(folders.archive, '..', 'auth.json'), 'utf8'), 'secret');
});

t.test('an archive whose archive.json is damaged, missing or no file can still be used', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  const name = (n: number) => `ada_2026-11-20T12-00-0${n}-000Z`;
  const folders = await open(t, {
    archive: {
      [name(1)]: {},
      [name(2)]: { 'archive.json': '{"half' },
      [name(3)]: { 'archive.json': '{"archiveName":5}' },
      [name(4)]: {},
      [name(5)]: {},
      con_file: 'x',
    },
  });
  execFileSync('mkfifo', [join(folders.archive, name(4), 'archive.json')]);
  symlinkSync('/dev/zero', join(folders.archive, name(5), 'archive.json'));
  symlinkSync(folders.blocks, join(folders.archive, name(6)));
  mkdirSync(join(folders.archive, 'con_2026-11-20T12-00-00-000Z'));
  const list = await folders.list();
  t.same(
    list.map(({ archiveName, originalName }) => [archiveName, originalName]).sort(),
    [1, 2, 3, 4, 5].map((n) => [name(n), 'ada']),
  );
});

t.test('the name of the folder counts, not the name in archive.json', async (t) => {
  const lie = { archiveName: '../../auth.json', originalName: '../x', archivedAt: AT, description: 'd' };
  const folders = await open(t, { archive: { 'ada_2026-11-20T12-00-00-000Z': { 'archive.json': JSON.stringify(lie) } } });
  t.match(await folders.find('ada'), { archiveName: 'ada_2026-11-20T12-00-00-000Z', originalName: 'ada', description: 'd' });
});

t.test('a restore never replaces a block', async (t) => {
  const folders = await open(t);
  await folders.create(config('ada'));
  await folders.store('ada', {}, NOON);
  await folders.create(config('ada', { description: 'new' }));
  const info = await folders.find('ada');
  await t.rejects(folders.restore(info, config('ada')), { code: 'NAME_TAKEN' });
  t.match(readFileSync(join(folders.folderOf('ada'), 'config.json'), 'utf8'), /"new"/);
  t.equal((await folders.list()).length, 1);
});

t.test('a move that fails leaves the block where it was, without an archive.json', async (t) => {
  const folders = await open(t);
  await folders.create(config('ada'));
  const before = readdirSync(folders.folderOf('ada'));
  rmSync(folders.archive, { recursive: true });
  await t.rejects(folders.store('ada', {}, NOON), { code: 'STORAGE_FAILED', message: /moved \(ENOENT\)\. Nothing was changed/ });
  t.same(readdirSync(folders.folderOf('ada')), before);
  const gone = { archiveName: 'bob_2026-11-20T12-00-00-000Z', originalName: 'bob', archivedAt: AT };
  await t.rejects(folders.restore(gone, config('bob')), { code: 'STORAGE_FAILED' });
  await t.rejects(folders.remove(gone), { code: 'STORAGE_FAILED' });
  t.equal(folders.archivedFolder(gone), join(folders.archive, gone.archiveName));
});

t.test('a removed archive no longer exists', async (t) => {
  const folders = await open(t);
  await folders.create(config('ada'));
  await folders.store('ada', {}, NOON);
  await folders.remove(await folders.find('ada'));
  t.same(readdirSync(folders.archive), []);
});

t.test('a move that the disk does not confirm has happened, and its caller gets the error', async (t) => {
  const folders = await open(t);
  const told = { code: 'STORAGE_FAILED', message: /^The change was made, but the disk did not confirm it \(EIO\)/ };
  const restored = await refuseToSyncFolders(t, folders.blocks);
  t.match(await folders.create(config('bob')), { name: 'bob', unconfirmed: told });
  rmSync(folders.folderOf('bob'), { recursive: true });
  restored();
  for (const [index, left] of [folders.blocks, folders.archive].entries()) {
    await folders.create(config('ada'));
    const restoreDisk = await refuseToSyncFolders(t, left);
    const { archiveName, unconfirmed } = await folders.store('ada', {}, new Date(NOON.getTime() + index));
    t.match(unconfirmed, told);
    t.same([readdirSync(folders.blocks), readdirSync(folders.archive)], [[], [archiveName]]);
    t.match(await folders.restore(await folders.find(archiveName), config('ada')), told);
    t.same([readdirSync(folders.blocks), readdirSync(folders.archive)], [['ada'], []]);
    restoreDisk();
    await folders.store('ada', {}, new Date(NOON.getTime() + index));
    const again = await refuseToSyncFolders(t, folders.archive);
    t.match(await folders.remove(await folders.find('ada')), told);
    t.strictSame(readdirSync(folders.archive), [], 'with nothing left');
    again();
  }
});

t.test('a block does not move when the write of a file before the move is not confirmed', async (t) => {
  const folders = await open(t);
  await folders.create(config('ada'));
  await refuseToSyncFolders(t, folders.folderOf('ada'));
  await t.rejects(folders.store('ada', {}, NOON), { code: 'STORAGE_FAILED', message: /moved \(EIO\). Nothing was changed/ });
  t.same([readdirSync(folders.blocks), readdirSync(folders.archive)], [['ada'], []]);
  t.notOk(existsSync(join(folders.folderOf('ada'), 'archive.json')));
});

t.test(
  'remains that can not be removed are told, out of sight, and tried again at each start',
  { skip: process.platform === 'win32' && 'needs POSIX' },
  async (t) => {
    const folders = await open(t);
    await folders.create(config('ada'));
    const { archiveName } = await folders.store('ada', {}, NOON);
    const folder = join(folders.archive, archiveName);
    chmodSync(folders.blocks, 0o755);
    await withoutRights(folders.archive, folder, async () => {
      const message = new RegExp(`^${archiveName} was deleted, but some of its files could not be removed \\(EACCES\\).*is in archive/\\.${archiveName}`);
      t.match(await folders.remove(await folders.find('ada')), { code: 'STORAGE_FAILED', message });
      t.same(await folders.list(), []);
      const faults: [string, unknown][] = [];
      await folders.open((what, error) => void faults.push([what, error]));
      t.match(faults, [[new RegExp(`^archive/\\.${archiveName}.*\\.tmp$`), { code: 'EACCES' }]]);
      t.equal(readdirSync(folders.archive).length, 1);
    });
    for (const name of readdirSync(folders.archive)) chmodSync(join(folders.archive, name), 0o700);
    await folders.open((what) => t.fail(what));
    t.same(readdirSync(folders.archive), []);
  },
);
