import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createBus } from '../../../../../core/bus.ts';
import { BlockFolders } from '../../../../../core/store/files/block/block-folders.ts';
import { FileBlocks } from '../../../../../core/store/files/block/file-blocks.ts';
import { AT, configOf } from '../../../../support/block-files.ts';
import { testFolder } from '../../../../support/test-folder.ts';
import { until } from '../../../../support/until.ts';

async function open(t: Test, files: Parameters<Test['testdir']>[0] = {}) {
  const bus = createBus();
  const faults: unknown[] = [];
  bus.on('workspace.fault', (fault) => faults.push(fault));
  const folders = new BlockFolders(testFolder(t, files));
  const blocks = new FileBlocks({ folders, bus, now: () => Date.parse(AT) });
  await blocks.open();
  t.teardown(() => blocks.close());
  const told: unknown[] = [];
  const listener = { onDamaged: (...fact: unknown[]) => void told.push(fact), onRebuilt: (...fact: unknown[]) => void told.push(fact) };
  return { blocks, folders, faults, told, listener };
}

t.test('the documents of a block that is not open are read, and damage is told', async (t) => {
  const { blocks, folders, told, listener } = await open(t, { blocks: { a: { 'config.json': JSON.stringify(configOf()) } } });
  t.match(await blocks.contents('a', listener), { config: { name: 'a' }, chat: [] });
  writeFileSync(join(folders.folderOf('a'), 'memory.json'), '{');
  writeFileSync(join(folders.folderOf('a'), 'costs.json'), '{');
  await t.rejects(blocks.contents('a', listener), { code: 'BLOCK_DAMAGED' });
  await until('both are told, also the one that is read after the refusal', () => told.length === 2);
  t.match(told.sort(), [
    ['costs', String],
    ['memory', String, /corrupt/],
  ]);
});

t.test('what a crash left in a folder is removed before the first reading, and for a new block of the name again', async (t) => {
  const { blocks, folders, listener } = await open(t);
  await blocks.create(configOf());
  const left = join(folders.folderOf('a'), '.chat.json.0123456789abcdef.tmp');
  writeFileSync(left, '');
  await blocks.contents('a', listener);
  t.notOk(existsSync(left));
  writeFileSync(left, '');
  await blocks.contents('a', listener);
  t.ok(existsSync(left), 'a temporary file of a running server stays');
  rmSync(folders.folderOf('a'), { recursive: true });
  await blocks.create(configOf());
  writeFileSync(left, '');
  await blocks.contents('a', listener);
  t.notOk(existsSync(left));
});

t.test('a new block is in the list at once, and its name is taken', async (t) => {
  const { blocks, listener } = await open(t);
  const entry = { name: 'a' };
  const list = blocks.list({
    read: (name) => blocks.contents(name, listener),
    entryOf: () => entry as never,
    damagedEntry: () => entry as never,
    isOpen: () => false,
    asItStands: (contents) => contents,
    running: () => 0,
  });
  t.same(await list.list(), []);
  await blocks.assertFree('a');
  t.equal(await blocks.create(configOf()), undefined);
  t.same(await list.list(), [entry]);
  await t.rejects(blocks.assertFree('a'), { code: 'NAME_TAKEN' });
  await t.rejects(blocks.create(configOf()), { code: 'NAME_TAKEN' });
});

t.test('a rename that broke off is ended when the blocks are opened, and a fault of that is told', async (t) => {
  const { blocks, folders, faults, listener } = await open(t);
  await blocks.create(configOf());
  const rename = { from: 'a', to: 'b', wasRunning: true, at: AT };
  await blocks.renaming.begin(rename);
  await blocks.open();
  t.match(await blocks.contents('a', listener), { config: { enabled: true } });
  t.same(readdirSync(folders.archive), []);
  await blocks.renaming.begin(rename);
  await blocks.renaming.end();
  t.same(readdirSync(folders.archive), []);
  mkdirSync(join(folders.archive, '.rename.json'));
  await blocks.open();
  t.match(faults, [{ what: 'archive/.rename.json', error: String }]);
});
