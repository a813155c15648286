import { readFileSync } from 'node:fs';
import t from 'tap';
import { createAdapters } from '../../adapters/index.ts';
import { schemas } from '../../core/index.ts';
import { fieldsPage } from '../support/fields-page.ts';

const page = readFileSync(new URL('../../docs/fields.md', import.meta.url), 'utf8');

/** The cells of the row that begins with `first`, by the titles of its table. */
function cellsOf(section: string, first: string): Record<string, string> {
  const [, text = ''] = page.split(`## ${section}\n`);
  const rows =
    text
      .split('\n## ')[0]
      ?.split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.slice(2, -2).split(' | ')) ?? [];
  const [titles = []] = rows;
  const row = rows.find(([name]) => name === first) ?? [];
  return Object.fromEntries(titles.map((title, index) => [title, row[index] ?? '']));
}

t.test('docs/fields.md is what the adapters do', async (t) => {
  t.equal(page, await fieldsPage(), 'else run `npm run generate`');
});

t.test('every field of config has a meaning, and a row that says where it goes', async (t) => {
  for (const name of Object.keys(schemas.ChatConfig.properties)) t.ok(page.split(`\n| \`config.${name}`).length > 2, name);
});

t.test('an option that an adapter does not list is left out, and a listed one is not', async (t) => {
  for (const { id, supports } of createAdapters()) {
    for (const name of ['topK', 'seed', 'user', 'cacheKey'] as const) {
      const cells = cellsOf('Options', `\`config.${name}\``);
      for (const [title, cell] of Object.entries(cells).filter(([title]) => title.startsWith(id)))
        t.equal(cell === '–', supports?.options?.includes(name) !== true, `${name}: ${title}`);
    }
  }
});

t.test('the names are those of the provider, and a refused part says so', async (t) => {
  t.match(cellsOf('Options', '`config.topP`'), { google: '`generationConfig.topP`', ollama: '`options.top_p`', 'openai, responses': '`top_p` *' });
  t.match(cellsOf('Parts', 'image with url'), { anthropic: 'yes', bedrock: 'refused', ollama: 'refused' });
  t.match(cellsOf('Credentials and addresses', '`config.region`'), { bedrock: 'yes', google: '–' });
  t.match(page, /### ollama\n(?:\n- .*|\n)*\n- `toolChoice: "required"`: Ollama can not make a model call a tool/);
});
