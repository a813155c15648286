import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { measure } from '../../../../core/store/files/folder-size.ts';

t.test('the size of a block includes its files and follows no link', async (t) => {
  const folder = t.testdir({ a: '12345', inner: { b: '1', deep: { c: '22' } } });
  symlinkSync('/dev', join(folder, 'link'));
  t.same(await measure(folder), { sizeBytes: 8, files: 3 });
  t.same(await measure(join(folder, 'missing')), {});
});
