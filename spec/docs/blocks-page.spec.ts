import { readFileSync } from 'node:fs';
import t from 'tap';
import { isObject } from '../../core/base/json.ts';
import { CONFIG_DEFAULTS } from '../../core/store/files/block/document-codecs.ts';

const written = (value: unknown): string =>
  isObject(value)
    ? `{${Object.entries(value)
        .map(([name, part]) => `${name}: ${JSON.stringify(part)}`)
        .join(', ')}}`
    : JSON.stringify(value);

t.test('docs/blocks.md has every field of config.json with its default', async (t) => {
  const page = readFileSync(new URL('../../docs/blocks.md', import.meta.url), 'utf8');
  for (const [field, value] of Object.entries(CONFIG_DEFAULTS)) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${field}\` `));
    t.equal(row?.split('|')[2]?.trim(), `\`${written(value)}\``, field);
  }
});
