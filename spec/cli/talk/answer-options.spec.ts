import t from 'tap';
import { answerConfig, EFFORTS } from '../../../cli/talk/answer-options.ts';
import { schemas } from '../../../core/index.ts';

const NOTHING = { maxTokens: undefined, temperature: undefined, schema: undefined, effort: undefined };

t.test('only what was given is asked for', async (t) => {
  t.strictSame(await answerConfig(NOTHING), {});
  t.strictSame(await answerConfig({ ...NOTHING, maxTokens: 7, temperature: 0 }), { maxTokens: 7, temperature: 0 });
});

t.test('the efforts are those of the core', async (t) => {
  t.strictSame(EFFORTS, schemas.REASONING_EFFORTS);
  t.strictSame(await answerConfig({ ...NOTHING, effort: 'xhigh' }), { reasoning: { effort: 'xhigh' } });
  await t.rejects(answerConfig({ ...NOTHING, effort: 'High' }), { kind: 'usage', message: /^--effort must be one of none, minimal, low, .* max\.$/ });
});

t.test('a schema comes from its file, and what is none is refused with the reason', async (t) => {
  const folder = t.testdir({ 'good.json': '{"type": "object"}', 'cut.json': '{"type":\n "obj', 'list.json': '[]', 'example.json': '{"river": "Rhine"}' });
  const read = (name: string) => answerConfig({ ...NOTHING, schema: `${folder}/${name}` });
  t.strictSame(await read('good.json'), { output: { type: 'json_schema', schema: { type: 'object' } } });
  await t.rejects(read('none.json'), { kind: 'usage', message: /^--schema: .*none\.json is not there\.$/ });
  await t.rejects(read('cut.json'), { kind: 'usage', message: /^--schema: .*cut\.json is not valid JSON: line 2, column \d+\.$/ });
  await t.rejects(read('list.json'), { kind: 'usage', message: /list\.json is not a JSON object\.$/ });
  await t.rejects(read('example.json'), { kind: 'usage', message: /example\.json is not a JSON Schema, because it has none of type, properties,/ });
});
