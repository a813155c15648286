import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hasOwnFolder } from '../../../../core/store/files/own-folder.ts';

t.test('only a folder is accepted; a link or a file is an error, and a missing one is false', (t) => {
  const folder = t.testdir({ logs: {}, file: '' });
  symlinkSync(join(folder, 'logs'), join(folder, 'link'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
  t.equal(hasOwnFolder(join(folder, 'logs')), true);
  t.equal(hasOwnFolder(join(folder, 'missing')), false);
  for (const name of ['link', 'dangling'])
    t.throws(() => hasOwnFolder(join(folder, name)), { code: 'BLOCK_DAMAGED', message: new RegExp(`^${name} is a link`) });
  t.throws(() => hasOwnFolder(join(folder, 'file')), { code: 'BLOCK_DAMAGED', message: /^file is not a folder/ });
  t.end();
});
