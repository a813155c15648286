import t from 'tap';
import type { Warning } from '../../../../../core/index.ts';
import { readConfig } from '../../../../../transports/http/dialects/ollama/config.ts';

const read = (options: Record<string, unknown>, body: Record<string, unknown> = {}) => readConfig(body, options, []);

t.test('without options there are no settings', async (t) => {
  t.equal(read({}), undefined);
  t.equal(read({ num_ctx: 4096, temperature: null, top_k: 0 }, { format: '', think: null }), undefined);
});

t.test('no limit of the answer is no limit', async (t) => {
  t.same(
    [-2, -1, 0, 1].map((n) => read({ num_predict: n })?.maxTokens),
    [undefined, undefined, undefined, 1],
  );
});

t.test('a temperature above 1 is sent as 1, with a warning', async (t) => {
  const warnings: Warning[] = [];
  t.same(readConfig({}, { temperature: 1.5 }, warnings), { temperature: 1 });
  t.match(warnings, [{ field: 'options.temperature' }]);
});

t.test('thinking is on, off, or has a level', async (t) => {
  const think = (value: unknown) => read({}, { think: value })?.reasoning;
  t.same(
    [think(true), think(false), think('high'), think(undefined)],
    [{ effort: 'medium', summary: true }, { effort: 'none' }, { effort: 'high', summary: true }, undefined],
  );
});

t.test('a level of thinking that is not known is left to the model, with a warning', async (t) => {
  const warnings: Warning[] = [];
  t.equal(readConfig({ think: 'a lot' }, {}, warnings), undefined);
  t.match(warnings, [{ field: 'think' }]);
  t.throws(() => readConfig({ think: 7 }, {}, warnings), { message: /think/ });
});

t.test('the form of an answer is JSON, or has a schema', async (t) => {
  t.same(read({}, { format: 'json' }), { output: { type: 'json' } });
  t.same(read({}, { format: { type: 'object' } }), { output: { type: 'json_schema', schema: { type: 'object' } } });
});

t.test('one text that ends the answer may come without a list', async (t) => {
  t.same(read({ stop: 'END' }), { stop: ['END'] });
  t.same(read({ stop: ['a', '', 'b'] }), { stop: ['a', 'b'] });
});
