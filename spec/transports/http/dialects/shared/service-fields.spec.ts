import t from 'tap';
import { SERVICE_FIELDS } from '../../../../../transports/http/dialects/shared/service-fields.ts';
import { forbiddenField } from '../../../../support/key-requests.ts';

t.test('names are in lower case, as they are looked up', async (t) => {
  for (const name of Object.keys(SERVICE_FIELDS)) t.equal(name, name.toLowerCase());
});

t.test('no key gives an address or a secret to a proxy, however it is written', async (t) => {
  for (const name of [
    'api_base',
    'base_url',
    'baseURL',
    'api_key',
    'apiKey',
    'user_config',
    'extra_headers',
    'aws_role_name',
    'vertex_credentials',
    'kv_transfer_params',
  ])
    t.equal(forbiddenField(SERVICE_FIELDS, { [name]: 'x' }, {}), name);
});

t.test('no key with a list of models names further ones to a router', async (t) => {
  for (const [name, value] of [
    ['models', ['dear']],
    ['route', 'fallback'],
    ['provider', { order: ['dear'] }],
    ['preset', 'dear'],
    ['transforms', ['middle-out']],
    ['plugins', [{ id: 'web' }]],
    ['fallbacks', [{ model: 'dear' }]],
  ] as const) {
    t.equal(forbiddenField(SERVICE_FIELDS, { [name]: value }, { models: ['*'] }), name);
    t.equal(forbiddenField(SERVICE_FIELDS, { [name]: value }, {}), undefined, name);
  }
});

t.test('how an answer is written is free for every key', async (t) => {
  const body = {
    guided_json: { type: 'object' },
    chat_template_kwargs: { mode: 'x' },
    reasoning: { effort: 'low' },
    min_p: 0.1,
    background: false,
    enable_search: false,
  };
  t.equal(forbiddenField(SERVICE_FIELDS, body), undefined);
});
