import t from 'tap';
import { folded, type RequestFields, ruleOf } from '../../../core/keys/field-rules.ts';

const FIELDS: RequestFields = {
  api_base: { decides: 'address' },
  'aws_*': { decides: 'address' },
  '*_base_url': { decides: 'address' },
  provider_options: { decides: 'models' },
  aws_free: 'answer',
  apibases: 'answer',
};

t.test('a field is found however its name is divided and written', async (t) => {
  const plain = [
    'api_base',
    'apiBase',
    'API-Base',
    'apibase',
    '_api__base',
    'api base',
    'api.base',
    'api\u200b_base',
    '\uff41\uff50\uff49_base',
    'API\u00adBASE',
    '\u{1d41a}\u{1f12f}pi\u{1f600}base',
    `api${'\u200b'.repeat(10_000)}base`,
    `AWS-${'x\u{1f600}'.repeat(300)}`,
    `${'\u{1d41a}'.repeat(301)}_BASE_\u{1d42e}rl`,
  ];
  for (const name of [...plain, 'aws_role', 'awsRole', 'AWS-ROLE', 'aws.role', 'openai_base_url', 'OpenAI-baseURL', 'x.base url'])
    t.match(ruleOf(FIELDS, name), { decides: 'address' }, name);
  for (const name of ['Provider_Options', 'provider_options', 'providerOptions', 'provider options'])
    t.match(ruleOf(FIELDS, name), { decides: 'models' }, name);
  for (const name of [
    'my_api_base',
    'api',
    'aws',
    'aws_',
    'aws_free',
    'apibases',
    'base_url',
    '_base_url',
    '',
    '_',
    '*',
    'constructor',
    '__proto__',
    'api\u00e9base',
    '\ufdfa'.repeat(10_000),
  ])
    t.equal(ruleOf(FIELDS, name), undefined, name);
});

t.test('letters that parsers take for others are folded', async (t) => {
  t.equal(folded('\u017ferVICE_as\u212a'), 'service_ask');
});
