// docs/blocks.md names every field of config.json with its default.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { BlockAdapter } from '../../core/schemas/block-config.ts';
import { CONFIG_DEFAULTS } from '../../core/store/files/block/document-codecs.ts';

const page = readFileSync(new URL('../../docs/blocks.md', import.meta.url), 'utf8');
const table = page.slice(page.indexOf('## config.json')).split('\n\n')[1] ?? '';
const rows = [...table.matchAll(/^\| `(\w+)` +\| `([^`]+)` +\| (.+) \|$/gm)].map(([, field = '', value = '', meaning = '']) => ({ field, value, meaning }));

t.test('every field has a row with its default', async (t) => {
  const written = Object.fromEntries(rows.map(({ field, value }) => [field, JSON.parse(value.replace(/(\w+):/g, '"$1":'))]));
  t.strictSame(written, JSON.parse(JSON.stringify(CONFIG_DEFAULTS)));
});

t.test('the row of the model names each of its settings', async (t) => {
  const meaning = rows.find(({ field }) => field === 'adapter')?.meaning ?? '';
  for (const name of Object.keys(BlockAdapter.properties)) t.match(meaning, new RegExp(`\\b${name}\\b`));
});
