import { readdirSync } from 'node:fs';
import t from 'tap';
import { lookAtDisk } from '../../../../core/store/files/disk-look.ts';
import { testFolder } from '../../../support/test-folder.ts';

t.test('a look writes, takes everything away again, and says how much room there is', async (t) => {
  const folder = testFolder(t);
  const { freeBytes, writeMs, error } = await lookAtDisk(folder);
  t.ok(freeBytes !== null && freeBytes > 0);
  t.ok(writeMs !== null && writeMs >= 0);
  t.equal(error, null);
  t.same(readdirSync(folder), []);
});

t.test('a folder that is gone is an error, and no exception', async (t) => {
  t.match(await lookAtDisk(`${testFolder(t)}/gone`), { freeBytes: null, writeMs: null, error: /ENOENT/ });
});
