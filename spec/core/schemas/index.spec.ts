import { readdirSync } from 'node:fs';
import t from 'tap';
import * as schemas from '../../../core/schemas/index.ts';
import { addressOf } from '../../support/node-args.ts';

/** Helpers, which describe no resource. */
const APART = new Set(['fields.ts', 'index.ts', 'names.ts', 'secret-fields.ts', 'validate.ts', 'ws.ts']);

t.test('the namespace has every export of its files: a name that two of them export would be in neither', async (t) => {
  const folder = new URL('../../../core/schemas/', import.meta.url);
  for (const file of readdirSync(folder).filter((name) => !APART.has(name))) {
    const module = (await import(addressOf(`core/schemas/${file}`))) as object;
    t.match(schemas, module, file);
  }
  t.ok('PingFrame' in schemas.frames);
});
