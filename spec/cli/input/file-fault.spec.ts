import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { fileFault } from '../../../cli/input/file-fault.ts';
import { parseYaml } from '../../../cli/input/yaml.ts';

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

t.test('bounded and no-quotes: YAML is read with its aliases and merges, and an error names the line alone', async (t) => {
  const read = (text: string) => parseYaml(Buffer.from(text));
  t.same(await read('a: &a { x: 1 }\nb: { <<: *a, z: 1e-6 }\n'), { a: { x: 1 }, b: { x: 1, z: 1e-6 } });
  t.equal(await read(''), null);
  for (const [text, problem] of [
    ['a: 1\nb: [secret', /^line \d is no valid YAML \(\w+\)$/],
    ['a: 1\na: secret', /^line 2 is no valid YAML \(DUPLICATE_KEY\)$/],
    ['a: *secret', /^it uses more than 100 aliases, or one that is not there$/],
  ] as const)
    await t.rejects(read(text), { message: problem });
});
