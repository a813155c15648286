import t from 'tap';
import { CredentialList, SetCredential } from '../../../core/schemas/credentials.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';

t.test('what is stored is a few fields of text', async (t) => {
  const check: Validator<unknown> = compile(SetCredential);
  t.doesNotThrow(() => check({ apiKey: 'k', baseURL: 'https://x' }));
  for (const wrong of [{}, { apiKey: '' }, { apiKey: 1 }, [], null]) t.throws(() => check(wrong), { code: 'INVALID_REQUEST' });
});

t.test('no field of the list can hold a key', async (t) => {
  t.same(Object.keys(CredentialList.properties.credentials.items.properties).sort(), ['adapter', 'baseURL', 'configured', 'hint', 'source', 'variable']);
});
