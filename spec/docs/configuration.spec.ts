import { readFileSync } from 'node:fs';
import t from 'tap';
import { parseJson } from '../../core/base/json.ts';
import { KEYS } from '../../core/keys/key-store.ts';
import { checkedLimits } from '../../core/keys/named-key.ts';
import { ModelsDocument } from '../../core/routing/model-table.ts';
import { modelsCodec } from '../../core/routing/models-file.ts';

const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
const ADAPTERS = ['bedrock', 'openai', 'google', 'anthropic', 'ollama'];

/** The text of a section, and the JSON in it. */
function section(name: string): { text: string; json: string } {
  const text = page.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
  return { text, json: /```json\n([\s\S]*?)```/.exec(text)?.[1] ?? '' };
}

const named = (text: string): string[] => [...text.matchAll(/^\| (`.+?`(?:, `.+?`)*) \|/gm)].flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));

t.test('the example of models.json is one, and each of its fields is described', async (t) => {
  const { text, json } = section('models.json');
  const { table } = modelsCodec((name) => ADAPTERS.find((id) => id === name), ADAPTERS).parse(json);
  t.equal(table.defaultProvider, 'ollama');
  t.same(table.aliases.get('gpt-4o-mini')?.targets.length, 2);
  t.same(named(text).sort(), Object.keys(ModelsDocument.properties).sort());
  t.same(Object.keys(parseJson(json) as object).sort(), named(text).sort());
});

t.test('the example of keys.json is one, and each of its fields is described', async (t) => {
  const { text, json } = section('keys.json');
  const [key] = KEYS.parse(json.replace('"…"', `"${'A'.repeat(43)}"`)).byName.values();
  t.match(key, { name: 'my-app', usdPerDay: 5, tokensPerDay: null, group: 'team', bounds: [{}, { requestsPerMinute: 300 }] });
  t.same(named(text).sort(), ['name', 'hash', 'createdAt', 'debugUntil', ...Object.keys(checkedLimits({}))].sort());
});
