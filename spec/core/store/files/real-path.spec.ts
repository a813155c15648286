// Where a path really leads.
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { realPathOf } from '../../../../core/store/files/real-path.ts';

t.test('links of existing parents are followed, also for what does not exist yet', async (t) => {
  const folder = realpathSync(t.testdir());
  mkdirSync(`${folder}/real`);
  symlinkSync(`${folder}/real`, `${folder}/link`);
  t.equal(await realPathOf(`${folder}/link`), `${folder}/real`);
  t.equal(await realPathOf(`${folder}/link/new/deep.txt`), `${folder}/real/new/deep.txt`);
  t.equal(await realPathOf('/'), '/');
});

t.test('a link that leads nowhere or in a circle, and a file in place of a folder, lead nowhere', async (t) => {
  const folder = realpathSync(t.testdir());
  symlinkSync(`${folder}/none`, `${folder}/dangling`);
  symlinkSync(`${folder}/circle`, `${folder}/circle`);
  writeFileSync(`${folder}/file`, '');
  for (const path of ['dangling', 'dangling/inside', 'circle', 'file/inside']) t.equal(await realPathOf(`${folder}/${path}`), undefined, path);
});
