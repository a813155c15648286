import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import t from 'tap';
import * as schemas from '../../../core/schemas/index.ts';
import { urlOfSource } from '../../support/node-args.ts';

/** Helpers, which describe no resource. */
const APART = new Set(['fields.ts', 'index.ts', 'names.ts', 'secret-fields.ts', 'validate.ts', 'ws.ts']);

t.test('the namespace has every export of its files: a name that two of them export would be in neither', async (t) => {
  const folder = resolve(import.meta.dirname, '../../../core/schemas');
  for (const file of readdirSync(folder).filter((name) => !APART.has(name))) {
    const module = (await import(urlOfSource(`core/schemas/${file}`))) as object;
    t.match(schemas, module, file);
  }
  t.ok('PingFrame' in schemas.frames);
});
