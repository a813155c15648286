import t from 'tap';
import { noCosts } from '../../../core/block/costs/costs.ts';
import { CostsFile } from '../../../core/schemas/block-costs.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('fresh costs are valid', async (t) => {
  t.equal(refusedField(CostsFile, noCosts()), undefined);
});

t.test('counts are whole and not negative, and money may be unknown', async (t) => {
  t.equal(refusedField(CostsFile, { ...noCosts(), calls: -1 }), 'calls');
  t.equal(refusedField(CostsFile, { ...noCosts(), totalInput: 0.5 }), 'totalInput');
  t.equal(refusedField(CostsFile, { ...noCosts(), totalCost: null }), undefined);
});
