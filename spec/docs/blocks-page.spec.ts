import { readFileSync } from 'node:fs';
import t from 'tap';
import { isObject } from '../../core/base/json.ts';
import { CONFIG_DEFAULTS } from '../../core/block/documents/document-codecs.ts';
import { BlockAdapter } from '../../core/schemas/block-config.ts';

const written = (value: unknown): string =>
  isObject(value)
    ? `{${Object.entries(value)
        .map(([name, part]) => `${name}: ${JSON.stringify(part)}`)
        .join(', ')}}`
    : JSON.stringify(value);

const page = readFileSync(new URL('../../docs/blocks.md', import.meta.url), 'utf8');
const rowOf = (field: string): string | undefined => page.split('\n').find((line) => line.startsWith(`| \`${field}\` `));

t.test('docs/blocks.md has every field of config.json with its default', async (t) => {
  for (const [field, value] of Object.entries(CONFIG_DEFAULTS)) {
    t.equal(rowOf(field)?.split('|')[2]?.trim(), `\`${written(value)}\``, field);
  }
});

t.test('the row of the model names each of its settings', async (t) => {
  const row = rowOf('adapter') ?? '';
  for (const name of Object.keys(BlockAdapter.properties)) t.match(row, new RegExp(`\\b${name}\\b`));
});
