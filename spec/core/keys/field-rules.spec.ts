import t from 'tap';
import { folded, type RequestFields, ruleOf } from '../../../core/keys/field-rules.ts';

const FIELDS: RequestFields = {
  api_base: { decides: 'address' },
  'aws_*': { decides: 'address' },
  provider_options: { decides: 'models' },
  aws_free: 'answer',
  apibases: 'answer',
};

t.test('an address is found however its name is divided, other fields in other letters alone', async (t) => {
  for (const name of ['api_base', 'apiBase', 'API-Base', 'apibase', '_api__base', 'aws_role', 'awsRole', 'AWS-ROLE'])
    t.match(ruleOf(FIELDS, name), { decides: 'address' }, name);
  for (const name of ['Provider_Options', 'provider_options']) t.match(ruleOf(FIELDS, name), { decides: 'models' }, name);
  for (const name of ['providerOptions', 'my_api_base', 'api', 'aws', 'aws_', 'aws_free', 'apibases', '', '_', 'constructor', '__proto__'])
    t.equal(ruleOf(FIELDS, name), undefined, name);
});

t.test('letters that parsers take for others are folded', async (t) => {
  t.equal(folded('\u017ferVICE_as\u212a'), 'service_ask');
});
