import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BlockFolders } from '../../../../../core/store/files/block/block-folders.ts';
import { FileArchive } from '../../../../../core/store/files/block/file-archive.ts';
import { packFolder } from '../../../../../core/store/files/bundle/bundle.ts';
import { AT, configOf } from '../../../../support/block-files.ts';
import { ANY_CLAIM } from '../../../../support/owned.ts';
import { testFolder } from '../../../../support/test-folder.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');

async function open(t: Test) {
  const folders = new BlockFolders(testFolder(t));
  await folders.open((what) => t.fail(what));
  await folders.create(configOf());
  const moved: string[] = [];
  return {
    folders,
    moved,
    archive: new FileArchive({ folders, now: () => Date.parse(AT), onMoved: (name) => moved.push(name), onRemoved: async () => void moved.push('removed') }),
  };
}

t.test('a block moves into the archive and back under another name, and each move is told', async (t) => {
  const { archive, moved, folders } = await open(t);
  const { archiveName } = await archive.store({ ...ANY_CLAIM, name: 'a' }, { wasRunning: true }, NOON);
  t.match(await archive.list(), [{ archiveName, originalName: 'a', wasRunning: true }]);
  const info = await archive.find('a');
  const config = await archive.config(info, 'b');
  t.match(config, { name: 'b', enabled: false, rev: 2 });
  t.equal(await archive.restore(info, config), undefined);
  t.same(await archive.list(), []);
  t.throws(() => folders.assertFree('b'), { code: 'NAME_TAKEN' });
  t.same(moved, ['a', 'b']);
  await t.rejects(archive.store({ ...ANY_CLAIM, name: 'nobody' }, { wasRunning: false }, NOON));
  t.same(moved, ['a', 'b'], 'what did not move is not told');
});

t.test('an archived block without a usable configuration is damaged, and can be deleted', async (t) => {
  const { archive, folders } = await open(t);
  await archive.store({ ...ANY_CLAIM, name: 'a' }, { wasRunning: false }, NOON);
  const info = await archive.find('a');
  writeFileSync(join(folders.archivedFolder(info), 'config.json'), '{');
  await t.rejects(archive.config(info, 'a'), { code: 'BLOCK_DAMAGED', message: /^archive\/a_.*\/config\.json can't be used/ });
  t.equal(await archive.remove(info), undefined);
  await t.rejects(archive.find('a'), { code: 'ARCHIVE_NOT_FOUND' });
});

t.test('a bundle becomes a block, unless its configuration is refused', async (t) => {
  const { archive, folders, moved } = await open(t);
  const bundle = await packFolder(folders.folderOf('a'), 'a');
  await t.rejects(
    archive.import(bundle, 'b', ({ name }) => Promise.reject(new Error(`no ${name}`))),
    { message: 'no b' },
  );
  t.same(moved, []);
  t.match(await archive.import(bundle, 'b', async () => undefined), { name: 'b' });
  t.same(moved, ['b']);
  writeFileSync(join(folders.folderOf('a'), 'config.json'), '[]');
  const without = await packFolder(folders.folderOf('a'), 'a');
  await t.rejects(
    archive.import(without, 'c', async () => undefined),
    { code: 'INVALID_REQUEST', message: /config\.json in the archive can't be used: it has no name/ },
  );
});
