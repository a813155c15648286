import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { shortenSchemas } from '../../cli/shorten-schemas.ts';
import { testFolder } from '../support/test-folder.ts';

t.test('the declaration of a schema says no more than that it is one, unless a type is made of it', async (t) => {
  const folder = join(testFolder(t), 'schemas');
  mkdirSync(folder);
  const long = (name: string): string =>
    `export declare const ${name}: {\n    readonly type: 'object';\n    readonly properties: {\n        readonly a: {};\n    };\n};\n`;
  writeFileSync(join(folder, 'one.d.ts'), `${long('Entry')}export type Entry = types.Entry;\n${long('Made')}`);
  writeFileSync(join(folder, 'other.d.ts'), "export type A = keyof typeof Made;\nexport declare const NAMES: readonly ['a'];\n");
  shortenSchemas(folder);
  t.equal(
    readFileSync(join(folder, 'one.d.ts'), 'utf8'),
    `export declare const Entry: Readonly<Record<string, unknown>>;\nexport type Entry = types.Entry;\n${long('Made')}`,
  );
  t.equal(readFileSync(join(folder, 'other.d.ts'), 'utf8'), "export type A = keyof typeof Made;\nexport declare const NAMES: readonly ['a'];\n");
});
