import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { completeConfig } from '../../../core/block/contents.ts';
import { Vault } from '../../../core/block/vault.ts';
import { AT } from '../../support/block-files.ts';
import { withoutRights } from '../../support/nobody.ts';
import { refuseToSyncFolders } from '../../support/unconfirmed-folders.ts';

const config = (name: string, fields: object = {}) => completeConfig({ ...fields }, name, AT);
const NOON = new Date('2026-11-20T12:00:00.000Z');

async function open(t: Test, files: Parameters<Test['testdir']>[0] = {}): Promise<Vault> {
  const vault = new Vault(t.testdir(files));
  await vault.open((what) => t.fail(what));
  return vault;
}

t.test('the folders are made, and what a crash has left half made is swept', async (t) => {
  const half = () => ({ 'config.json': '{}', logs: {} });
  const vault = await open(t, {
    blocks: { '.new.0123456789abcdef.tmp': half(), ada: half(), '.git': half() },
    archive: { '.ada_2026-11-20T14-03-22-123Z.0123456789abcdef.tmp': half(), note: '' },
  });
  t.same(readdirSync(vault.blocks).sort(), ['.git', 'ada']);
  t.same(readdirSync(vault.archive), ['note']);
  const fresh = await open(t);
  t.equal(statSync(fresh.blocks).mode & 0o777, 0o700);
});

t.test('a new block is there whole, or not at all', async (t) => {
  const vault = await open(t);
  await vault.create(config('ada'));
  t.same(readdirSync(vault.folderOf('ada')).sort(), ['chat-archive', 'chat.json', 'config.json', 'costs.json', 'logs', 'memory.json', 'pulse.json']);
  for (const name of readdirSync(vault.folderOf('ada'))) t.equal(statSync(join(vault.folderOf('ada'), name)).mode & 0o077, 0, name);
  await t.rejects(vault.create(config('ada', { description: 'other' })), { code: 'NAME_TAKEN', status: 409 });
  t.notMatch(readFileSync(join(vault.folderOf('ada'), 'config.json'), 'utf8'), /other/);
  writeFileSync(join(vault.blocks, 'file'), '');
  symlinkSync('/nowhere', join(vault.blocks, 'link'));
  for (const name of ['file', 'link']) await t.rejects(vault.create(config(name)), { code: 'NAME_TAKEN' }, 'whatever stands there');
  await t.rejects(vault.create(config('x'.repeat(300))), { code: 'STORAGE_FAILED' });
  t.same(readdirSync(vault.blocks).sort(), ['ada', 'file', 'link'], 'nothing is left half made');
});

t.test('of many that want one name, one gets it', async (t) => {
  const vault = await open(t);
  const empty = (): Promise<void> => Promise.resolve();
  for (let round = 0; round < 20; round += 1) {
    const name = `ada-${round}`;
    // Imports of nothing come to their last step at nearly the same time.
    const imports = Array.from({ length: 20 }, (_, n) => vault.import(empty, async () => config(name, { description: `${n}` })));
    const results = await Promise.allSettled([vault.create(config(name)), ...imports]);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as { code: string }] : []));
    t.strictSame([...new Set(refused.map(({ code }) => code))], ['NAME_TAKEN']);
    t.equal(refused.length, results.length - 1);
    t.same(readdirSync(vault.blocks).length, round + 1, 'and nothing is left half made');
  }
});

t.test('what is imported is filled and named before it is there', async (t) => {
  const vault = await open(t);
  const imported = await vault.import(
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
  t.same(readdirSync(vault.folderOf('ada')).sort(), ['chat.json', 'config.json']);
  await t.rejects(
    vault.import(
      () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
      async () => config('bob'),
    ),
    { code: 'STORAGE_FULL' },
  );
  t.same(readdirSync(vault.blocks), ['ada']);
});

t.test('a block is stored, listed, found, and brought back', async (t) => {
  const vault = await open(t);
  await vault.create(config('ada'));
  writeFileSync(join(vault.folderOf('ada'), 'logs', 'x.log'), 'line');
  const { archiveName: stored, unconfirmed } = await vault.store('ada', { description: 'd', wasRunning: true, queuedMessages: 2 }, NOON);
  t.same([stored, unconfirmed], ['ada_2026-11-20T12-00-00-000Z', undefined]);
  t.same(readdirSync(vault.blocks), []);
  const info = { archiveName: stored, originalName: 'ada', archivedAt: NOON.toISOString(), description: 'd', wasRunning: true, queuedMessages: 2 };
  t.same(await vault.list(), [info]);
  t.same(await vault.find('ada'), info);
  t.same(await vault.find(stored), info);
  await vault.restore(info, config('bob'));
  t.same(readdirSync(vault.archive), []);
  t.equal(readFileSync(join(vault.folderOf('bob'), 'logs', 'x.log'), 'utf8'), 'line');
  t.notOk(existsSync(join(vault.folderOf('bob'), 'archive.json')));
  t.match(JSON.parse(readFileSync(join(vault.folderOf('bob'), 'config.json'), 'utf8')), { name: 'bob' });
});

t.test('two archives of one moment have two names, and the original name alone is ambiguous', async (t) => {
  const vault = await open(t);
  const names: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    await vault.create(config('ada'));
    names.push((await vault.store('ada', {}, NOON)).archiveName);
  }
  t.equal(new Set(names).size, 3);
  await t.rejects(vault.find('ada'), { code: 'AMBIGUOUS_ARCHIVE', status: 409, message: new RegExp(names.join('|')) });
  for (const name of names) t.match(await vault.find('ada').catch((error: Error) => error.message), new RegExp(name));
  const [info] = await vault.list();
  await vault.remove(await vault.find(names[0] as string));
  await vault.remove(await vault.find(names[1] as string));
  t.equal((await vault.find('ada')).archiveName, names[2]);
  t.ok(info);
});

t.test('the newest archive is the first of the list', async (t) => {
  const vault = await open(t);
  for (const [name, hours] of [
    ['a', 2],
    ['b', 3],
    ['c', 1],
  ] as const) {
    await vault.create(config(name));
    await vault.store(name, {}, new Date(NOON.getTime() + hours * 3_600_000));
  }
  t.same(
    (await vault.list()).map(({ originalName }) => originalName),
    ['b', 'a', 'c'],
  );
});

t.test('names that are none lead nowhere', async (t) => {
  const vault = await open(t, { 'auth.json': 'secret', blocks: { ada: { 'config.json': '{}' } } });
  const names = [
    '../../auth.json',
    '../auth.json',
    '..',
    '.',
    '',
    '/etc/passwd',
    vault.blocks,
    'ada',
    'ada_2026-11-20T12-00-00-000Z',
    '../blocks/ada',
    `ada_${AT}`,
    '__proto__',
  ];
  for (const name of names) await t.rejects(vault.find(name), { code: 'ARCHIVE_NOT_FOUND', status: 404 }, name);
  t.equal(readFileSync(join(vault.archive, '..', 'auth.json'), 'utf8'), 'secret');
});

t.test('an archive whose description is damaged, missing or no file is still one', { skip: process.platform === 'win32' && 'needs POSIX' }, async (t) => {
  const name = (n: number) => `ada_2026-11-20T12-00-0${n}-000Z`;
  const vault = await open(t, {
    archive: {
      [name(1)]: {},
      [name(2)]: { 'archive.json': '{"half' },
      [name(3)]: { 'archive.json': '{"archiveName":5}' },
      [name(4)]: {},
      [name(5)]: {},
      con_file: 'x',
    },
  });
  execFileSync('mkfifo', [join(vault.archive, name(4), 'archive.json')]);
  symlinkSync('/dev/zero', join(vault.archive, name(5), 'archive.json'));
  symlinkSync(vault.blocks, join(vault.archive, name(6)));
  mkdirSync(join(vault.archive, 'con_2026-11-20T12-00-00-000Z'));
  const list = await vault.list();
  t.same(
    list.map(({ archiveName, originalName }) => [archiveName, originalName]).sort(),
    [1, 2, 3, 4, 5].map((n) => [name(n), 'ada']),
  );
});

t.test('a description that claims another name is not believed', async (t) => {
  const lie = { archiveName: '../../auth.json', originalName: '../x', archivedAt: AT, description: 'd' };
  const vault = await open(t, { archive: { 'ada_2026-11-20T12-00-00-000Z': { 'archive.json': JSON.stringify(lie) } } });
  t.match(await vault.find('ada'), { archiveName: 'ada_2026-11-20T12-00-00-000Z', originalName: 'ada', description: 'd' });
});

t.test('nothing is written over when a block comes back', async (t) => {
  const vault = await open(t);
  await vault.create(config('ada'));
  await vault.store('ada', {}, NOON);
  await vault.create(config('ada', { description: 'new' }));
  const info = await vault.find('ada');
  await t.rejects(vault.restore(info, config('ada')), { code: 'NAME_TAKEN' });
  t.match(readFileSync(join(vault.folderOf('ada'), 'config.json'), 'utf8'), /"new"/);
  t.equal((await vault.list()).length, 1);
});

t.test('a move that fails leaves the block where it was, without a description', async (t) => {
  const vault = await open(t);
  await vault.create(config('ada'));
  const before = readdirSync(vault.folderOf('ada'));
  rmSync(vault.archive, { recursive: true });
  await t.rejects(vault.store('ada', {}, NOON), { code: 'STORAGE_FAILED', message: /moved \(ENOENT\); nothing was changed/ });
  t.same(readdirSync(vault.folderOf('ada')), before);
  const gone = { archiveName: 'bob_2026-11-20T12-00-00-000Z', originalName: 'bob', archivedAt: AT };
  await t.rejects(vault.restore(gone, config('bob')), { code: 'STORAGE_FAILED' });
  await t.rejects(vault.remove(gone), { code: 'STORAGE_FAILED' });
  t.equal(vault.archivedFolder(gone), join(vault.archive, gone.archiveName));
});

t.test('a removed archive is gone', async (t) => {
  const vault = await open(t);
  await vault.create(config('ada'));
  await vault.store('ada', {}, NOON);
  await vault.remove(await vault.find('ada'));
  t.same(readdirSync(vault.archive), []);
});

t.test('what the disk does not confirm has moved all the same, and whoever moved it gets the error', async (t) => {
  const vault = await open(t);
  const told = { code: 'STORAGE_FAILED', message: /^The change was made, but the disk did not confirm it \(EIO\)/ };
  const restored = await refuseToSyncFolders(t, vault.blocks);
  t.match(await vault.create(config('bob')), { name: 'bob', unconfirmed: told });
  rmSync(vault.folderOf('bob'), { recursive: true });
  restored();
  for (const [index, left] of [vault.blocks, vault.archive].entries()) {
    await vault.create(config('ada'));
    const restoreDisk = await refuseToSyncFolders(t, left);
    const { archiveName, unconfirmed } = await vault.store('ada', {}, new Date(NOON.getTime() + index));
    t.match(unconfirmed, told);
    t.same([readdirSync(vault.blocks), readdirSync(vault.archive)], [[], [archiveName]]);
    t.match(await vault.restore(await vault.find(archiveName), config('ada')), told);
    t.same([readdirSync(vault.blocks), readdirSync(vault.archive)], [['ada'], []]);
    restoreDisk();
    await vault.store('ada', {}, new Date(NOON.getTime() + index));
    const again = await refuseToSyncFolders(t, vault.archive);
    t.match(await vault.remove(await vault.find('ada')), told);
    t.strictSame(readdirSync(vault.archive), [], 'with nothing left');
    again();
  }
});

t.test('a block does not move when what goes with it is not confirmed, and the text says so', async (t) => {
  const vault = await open(t);
  await vault.create(config('ada'));
  await refuseToSyncFolders(t, vault.folderOf('ada'));
  await t.rejects(vault.store('ada', {}, NOON), { code: 'STORAGE_FAILED', message: /moved \(EIO\); nothing was changed/ });
  t.same([readdirSync(vault.blocks), readdirSync(vault.archive)], [['ada'], []]);
  t.notOk(existsSync(join(vault.folderOf('ada'), 'archive.json')));
});

t.test(
  'remains that can not be removed are told, out of sight, and tried again at each start',
  { skip: process.platform === 'win32' && 'needs POSIX' },
  async (t) => {
    const vault = await open(t);
    await vault.create(config('ada'));
    const { archiveName } = await vault.store('ada', {}, NOON);
    const folder = join(vault.archive, archiveName);
    chmodSync(vault.blocks, 0o755);
    await withoutRights(vault.archive, folder, async () => {
      const message = new RegExp(`^${archiveName} is deleted, but not all of its files could be removed \\(EACCES\\).*lies in archive/\\.${archiveName}`);
      t.match(await vault.remove(await vault.find('ada')), { code: 'STORAGE_FAILED', message });
      t.same(await vault.list(), []);
      const faults: [string, unknown][] = [];
      await vault.open((what, error) => void faults.push([what, error]));
      t.match(faults, [[new RegExp(`^archive/\\.${archiveName}.*\\.tmp$`), { code: 'EACCES' }]]);
      t.equal(readdirSync(vault.archive).length, 1);
    });
    for (const name of readdirSync(vault.archive)) chmodSync(join(vault.archive, name), 0o700);
    await vault.open((what) => t.fail(what));
    t.same(readdirSync(vault.archive), []);
  },
);
