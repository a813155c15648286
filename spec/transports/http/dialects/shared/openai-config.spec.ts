import t from 'tap';
import type { Warning } from '../../../../../core/index.ts';
import { definedOf, effortOf, metadataOf, schemaOutput, serviceTierOf } from '../../../../../transports/http/dialects/shared/openai-config.ts';

t.test('a level of effort that is not known is ignored with a warning', async (t) => {
  const warnings: Warning[] = [];
  t.same([effortOf('low', 'reasoning.effort', warnings), effortOf(undefined, 'reasoning.effort', warnings)], ['low', undefined]);
  t.same(warnings, []);
  t.equal(effortOf('ultra', 'reasoning.effort', warnings), undefined);
  t.match(warnings, [{ field: 'reasoning.effort' }]);
});

t.test('the usual service tier is not asked for', async (t) => {
  t.same(
    ['auto', 'default', 'flex', null].map((tier) => serviceTierOf({ service_tier: tier })),
    [undefined, undefined, 'flex', undefined],
  );
});

t.test('metadata is text', async (t) => {
  t.same(metadataOf({ metadata: { a: 'b', c: 1 } }), { a: 'b', c: '1' });
  t.equal(metadataOf({ metadata: {} }), undefined);
});

t.test('the name of a schema has only characters that every provider takes', async (t) => {
  t.same(schemaOutput({ name: 'a b', schema: {}, strict: true }, 'schema'), { type: 'json_schema', schema: {}, name: 'a_b', strict: true });
  t.same(schemaOutput({ name: '', schema: {}, strict: null }, 'schema'), { type: 'json_schema', schema: {} });
  t.throws(() => schemaOutput({}, 'text.format.schema'), /^text\.format\.schema /);
});

t.test('settings without a value are not there', async (t) => {
  t.equal(definedOf({ topP: undefined, user: '' }), undefined);
  t.same(definedOf({ topP: 0, user: undefined }), { topP: 0 });
});
