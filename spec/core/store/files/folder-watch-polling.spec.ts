import { mkdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { replaceFile } from '../../../../core/store/files/atomic-file.ts';
import { until } from '../../../support/until.ts';
import { openWatch, standing } from '../../../support/watched.ts';

// Many processes, files or looks: more than a busy machine does in the usual time.
t.test('polling reports added, changed and removed files', async (t) => {
  const folder = t.testdir({ 'old.json': '{}', logs: {} });
  const watched = openWatch(t, folder, true);
  const { told, faults } = watched;
  await standing(folder, watched);
  writeFileSync(join(folder, 'old.json'), '{"changed":true}');
  await until('the change is told', () => told.includes('old.json'));
  writeFileSync(join(folder, 'new.json'), '{}');
  await until('the new one is told', () => told.includes('new.json'));
  told.length = 0;
  await replaceFile(join(folder, 'old.json'), '{"replaced":true}');
  await until('the replaced one is told', () => told.includes('old.json'));
  told.length = 0;
  unlinkSync(join(folder, 'new.json'));
  await until('the removed one is told', () => told.includes('new.json'));
  t.notOk(
    told.some((name) => name.endsWith('.tmp')),
    'temporary files are nobody’s business',
  );
  t.notOk(told.includes(''), 'the folder was there all the time');
  t.strictSame(faults, []);
});

t.test('polling reports a removed folder, and watches it again when it is back', async (t) => {
  const folder = join(t.testdir({}), 'block');
  mkdirSync(folder);
  const watched = openWatch(t, folder, true);
  const { told, faults } = watched;
  await standing(folder, watched);
  for (let round = 0; round < 1; round += 1) {
    rmSync(folder, { recursive: true });
    await until('its end is told', () => told.includes(''));
    mkdirSync(folder);
    writeFileSync(join(folder, `early-${round}`), '');
    await until('what came before the watch is told', () => told.includes(`early-${round}`));
    told.length = 0;
    await standing(folder, watched);
    writeFileSync(join(folder, `late-${round}`), '');
    await until('what came after is told', () => told.includes(`late-${round}`));
    told.length = 0;
  }
  t.strictSame(faults, []);
});
