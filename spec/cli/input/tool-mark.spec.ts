import { mkdirSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { markOf } from '../../../cli/input/tool-mark.ts';
import { testFolder } from '../../support/test-folder.ts';

t.test('the mark is that of the file, and none where there is no file or no mark in it', async (t) => {
  const folder = testFolder(t);
  t.equal(await markOf(folder), undefined);
  for (const [text, mark] of [
    ['{"mark":"abc","servers":[]}', 'abc'],
    ['{"mark":5}', undefined],
    ['broken', undefined],
  ] as const) {
    writeFileSync(`${folder}/.servers.json`, text);
    t.equal(await markOf(folder), mark, text);
  }
  const other = testFolder(t);
  mkdirSync(`${other}/.servers.json`);
  await t.rejects(markOf(other), { code: 'EISDIR' });
});
