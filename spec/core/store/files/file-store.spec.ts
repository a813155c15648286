import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createBus } from '../../../../core/bus.ts';
import { COPY_NOTE, readCopyNote, useCopy } from '../../../../core/store/files/copy-note.ts';
import { FileStore } from '../../../../core/store/files/file-store.ts';
import { readLock, WorkspaceLock } from '../../../../core/store/files/lock.ts';
import { openStore } from '../../../../core/store/open.ts';
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

t.test('a server uses no half copy, and one that uses a whole one makes it a workspace of its own', async (t) => {
  const workspace = testFolder(t);
  await useCopy(workspace);
  const note = { source: 's', from: 'elsewhere', isWhole: false };
  writeFileSync(join(workspace, COPY_NOTE), JSON.stringify(note));
  await t.rejects(useCopy(workspace), { code: 'WORKSPACE_DAMAGED', message: /holds a copy of elsewhere that is not whole/ });
  await t.rejects(openStore({ workspace, bus: createBus(), now: Date.now, onLost: async () => undefined }), { code: 'WORKSPACE_DAMAGED' });
  t.equal(await readLock(workspace), undefined);
  writeFileSync(join(workspace, COPY_NOTE), JSON.stringify({ ...note, isWhole: true }));
  await useCopy(workspace);
  t.equal(await readCopyNote(workspace), undefined);
});
