import t from 'tap';
import { damagedEntry } from '../../../core/block/status/list-entry.ts';
import { AddFact, BlockList, CreateBlock, RestoreArchive } from '../../../core/schemas/block-api.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('a body must not have unknown fields, and the error names the wrong field', async (t) => {
  t.equal(refusedField(CreateBlock, { name: 'ada' }), undefined);
  t.equal(refusedField(CreateBlock, { config: {} }), 'name');
  t.equal(refusedField(CreateBlock, { name: 'ada', model: 'm' }), 'model');
  t.equal(refusedField(AddFact, { text: 'x', pinned: 1 }), 'pinned');
  t.equal(refusedField(RestoreArchive, { as: 'x' }), 'as');
});

t.test('an entry of the list fits its schema, a damaged one too', async (t) => {
  t.equal(refusedField(BlockList, { blocks: [damagedEntry('ada', 'chat.json is empty')] }), undefined);
});
