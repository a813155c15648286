import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createBus } from '../../../../core/bus.ts';
import { readLock, WorkspaceLock } from '../../../../core/store/files/lock.ts';
import { FileMembership } from '../../../../core/store/files/membership.ts';
import { testFolder } from '../../../support/test-folder.ts';
import { until } from '../../../support/until.ts';

async function joined(t: Test) {
  const workspace = testFolder(t);
  const bus = createBus();
  const faults: unknown[] = [];
  bus.on('workspace.fault', (fault) => faults.push(fault));
  const lost: number[] = [];
  const membership = new FileMembership({
    lock: await WorkspaceLock.acquire(workspace),
    bus,
    onLost: async ({ pid }) => void lost.push(pid),
    enabled: async () => [{ name: 'a', block: 0 }],
  });
  t.teardown(() => membership.leave());
  return { membership, workspace, path: join(workspace, '.lock'), faults, lost };
}

t.test('it has an address, and is over when it is left', async (t) => {
  const { membership, workspace } = await joined(t);
  await membership.announce('http://x');
  t.match(await readLock(workspace), { pid: process.pid, url: 'http://x' });
  await membership.leave();
  t.equal(await readLock(workspace), undefined);
  await membership.leave();
});

const OTHER = { pid: process.pid, startedAt: '2999-01-01T00:00:00.000Z', processStart: null, version: '1' };

t.test('another server in the lock is told, and again as long as nobody leaves', async (t) => {
  const { membership, path, lost } = await joined(t);
  writeFileSync(path, JSON.stringify({ ...OTHER, url: 'http://y' }));
  await until('it is told twice', () => lost.length > 1);
  t.equal(lost[0], process.pid);
  await membership.leave();
  t.match(JSON.parse(readFileSync(path, 'utf8')), { url: 'http://y' }, 'the lock of the other one stays');
});

t.test('another server without an address is told if it is still there at the second look', async (t) => {
  const { path, lost } = await joined(t);
  writeFileSync(path, JSON.stringify({ ...OTHER, url: null }));
  await until('it is told', () => lost.length > 0);
});

t.test('a lock that can not be looked at is told once', async (t) => {
  const { path, faults } = await joined(t);
  rmSync(path);
  mkdirSync(path);
  await until('it is told', () => faults.length > 0);
  t.match(faults, [{ what: '.lock', error: String }]);
  rmSync(path, { recursive: true });
});
