import t from 'tap';
import { CreateKey, SetAlias, SetDefaultProvider } from '../../../core/schemas/gateway-api.ts';
import { refusedField } from '../../support/refused-field.ts';

t.test('a key needs a name, and its limits may be null', async (t) => {
  t.equal(refusedField(CreateKey, { name: 'app', usdPerDay: null, tokensPerDay: 5, models: ['a*'], expiresAt: null }), undefined);
  t.equal(refusedField(CreateKey, {}), 'name');
  t.equal(refusedField(CreateKey, { name: 'app', usdPerDay: '5' }), 'usdPerDay');
  t.equal(refusedField(CreateKey, { name: 'app', unpriced: 'refuse' }), undefined);
  t.equal(refusedField(CreateKey, { name: 'app', unpriced: 'never' }), 'unpriced');
  t.equal(refusedField(CreateKey, { name: 'app', cap: 5 }), 'cap');
});

t.test('an alias has one to eight targets, and there may be no default provider', async (t) => {
  t.equal(refusedField(SetAlias, { targets: ['a/b'] }), undefined);
  t.equal(refusedField(SetAlias, { targets: [] }), 'targets');
  t.equal(refusedField(SetAlias, { targets: Array.from({ length: 9 }, () => 'a/b') }), 'targets');
  t.equal(refusedField(SetDefaultProvider, { defaultProvider: null }), undefined);
  t.equal(refusedField(SetDefaultProvider, {}), 'defaultProvider');
});
