import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { fileFault } from '../../../cli/input/file-fault.ts';

t.test('the usual reasons are said in plain words', async (t) => {
  const folder = t.testdir({ 'a.txt': 'a' });
  mkdirSync(join(folder, 'sub'));
  const reason = (name: string): Promise<string> => readFile(join(folder, name), 'utf8').catch(fileFault);
  t.equal(await reason('none'), 'is not there');
  t.equal(await reason('a.txt/b'), 'is not there');
  t.equal(await reason('sub'), 'is a folder and not a file');
  t.equal(fileFault(Object.assign(new Error('x'), { code: 'EACCES' })), 'may not be read by you');
});

t.test("any other reason is the system's own", async (t) => {
  t.equal(fileFault(Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })), "can't be read: EIO: i/o error, read");
  t.equal(fileFault(new Error('odd')), "can't be read: odd");
});
