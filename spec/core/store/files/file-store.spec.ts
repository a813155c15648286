import t from 'tap';
import { createBus } from '../../../../core/bus.ts';
import { FileStore } from '../../../../core/store/files/file-store.ts';
import { AT, configOf } from '../../../support/block-files.ts';
import { testFolder } from '../../../support/test-folder.ts';

t.test('the list of blocks knows what the archive has moved', async (t) => {
  const { blocks, archive } = new FileStore({ workspace: testFolder(t), bus: createBus(), now: () => Date.parse(AT) });
  await blocks.open();
  t.teardown(() => blocks.close());
  const entry = { name: 'a' } as never;
  const list = blocks.list({ read: async () => ({}) as never, entryOf: () => entry, damagedEntry: () => entry, isOpen: () => false });
  await blocks.create(configOf());
  t.same(await list.list(), [entry]);
  await archive.store('a', { wasRunning: false }, new Date(AT));
  t.same(await list.list(), []);
});
