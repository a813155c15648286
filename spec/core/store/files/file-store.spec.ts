import t from 'tap';
import { createBus } from '../../../../core/bus.ts';
import { FileStore } from '../../../../core/store/files/file-store.ts';
import { readLock, WorkspaceLock } from '../../../../core/store/files/lock.ts';
import { AT, configOf } from '../../../support/block-files.ts';
import { ANY_CLAIM } from '../../../support/owned.ts';
import { testFolder } from '../../../support/test-folder.ts';

t.test('the list of blocks knows what the archive has moved, and the lock is given back', async (t) => {
  const workspace = testFolder(t);
  const onLost = (): Promise<never> => Promise.reject(new Error('not lost'));
  const lock = await WorkspaceLock.acquire(workspace);
  const store = new FileStore({ workspace, lock, bus: createBus(), now: () => Date.parse(AT), onLost });
  const { blocks, archive } = store;
  await blocks.open();
  t.teardown(() => blocks.close());
  const entry = { name: 'a' } as never;
  const list = blocks.list({
    read: async () => ({}) as never,
    entryOf: () => entry,
    damagedEntry: () => entry,
    isOpen: () => false,
    asItStands: (contents) => contents,
    running: () => 0,
  });
  await blocks.create(configOf());
  t.same(await list.list(), [entry]);
  await archive.store(ANY_CLAIM, { wasRunning: false }, new Date(AT));
  t.same(await list.list(), []);
  await store.announce('http://x');
  t.match(await readLock(workspace), { url: 'http://x' });
  await store.close();
  t.equal(await readLock(workspace), undefined);
});
