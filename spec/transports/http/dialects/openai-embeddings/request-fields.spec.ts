import t from 'tap';
import { assertMayAsk, type NamedKey } from '../../../../../core/index.ts';
import { EMBEDDINGS_FIELDS } from '../../../../../transports/http/dialects/openai-embeddings/request-fields.ts';

const KEY: NamedKey = { name: 'app', hash: '', createdAt: '', usdPerDay: 1, tokensPerDay: 1, unpriced: 'allow', models: ['*'], expiresAt: null };

t.test('an address and a secret are refused; the fields of the protocol decide nothing', async (t) => {
  const fields = Object.entries(EMBEDDINGS_FIELDS).filter(([, rule]) => rule === 'answer');
  t.ok(fields.length > 4);
  assertMayAsk(KEY, EMBEDDINGS_FIELDS, Object.fromEntries(fields.map(([name]) => [name, 'x'])));
  for (const name of ['api_base', 'apiKey', 'region'])
    t.throws(() => assertMayAsk(KEY, EMBEDDINGS_FIELDS, { model: 'm', [name]: 'x' }), { code: 'KEY_FORBIDDEN' }, name);
});
