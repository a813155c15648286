import t from 'tap';
import { damagedEntry } from '../../../core/block/summary.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../../core/schemas/block.ts';
import * as schemas from '../../../core/schemas/block-api.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';

const fieldRefused = (schema: object, value: unknown): string | undefined => {
  const check: Validator<object> = compile(schema as { readonly type: 'object' });
  try {
    check(value);
    return undefined;
  } catch (error) {
    return (error as { details: { path: string }[] }).details[0]?.path;
  }
};

t.test('every schema compiles', async (t) => {
  for (const [name, schema] of Object.entries(schemas)) t.doesNotThrow(() => fieldRefused(schema as object, {}), name);
});

t.test('what is sent has no unknown field, and names the one that is wrong', async (t) => {
  t.equal(fieldRefused(schemas.CreateBlock, { name: 'ada' }), undefined);
  t.equal(fieldRefused(schemas.CreateBlock, { config: {} }), 'name');
  t.equal(fieldRefused(schemas.CreateBlock, { name: 'ada', model: 'm' }), 'model');
  t.equal(fieldRefused(schemas.PostMessage, { message: 'hi', clientId: '1' }), undefined);
  t.equal(fieldRefused(schemas.PostMessage, { message: '' }), 'message');
  t.equal(fieldRefused(schemas.PostMessage, { message: 'x'.repeat(MAX_MESSAGE_CHARACTERS + 1) }), 'message');
  t.equal(fieldRefused(schemas.AddFact, { text: 'x', pinned: 1 }), 'pinned');
  t.equal(fieldRefused(schemas.RestoreArchive, { as: 'x' }), 'as');
  t.equal(fieldRefused(schemas.SetHalt, { reason: 1 }), 'reason');
});

t.test('an entry of the list fits its schema, a damaged one too', async (t) => {
  t.equal(fieldRefused(schemas.BlockList, { blocks: [damagedEntry('ada', 'chat.json is empty')] }), undefined);
});
