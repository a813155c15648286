import t from 'tap';
import { assertMayAsk, type NamedKey } from '../../../../../core/index.ts';
import { OLLAMA_FIELDS } from '../../../../../transports/http/dialects/ollama/request-fields.ts';

const KEY: NamedKey = { name: 'app', hash: '', createdAt: '', usdPerDay: 1, tokensPerDay: 1, unpriced: 'allow', models: ['*'], expiresAt: null };

t.test('an address and a secret are refused; the fields of the protocol decide nothing', async (t) => {
  const fields = Object.entries(OLLAMA_FIELDS).filter(([, rule]) => rule === 'answer');
  t.ok(fields.length > 4);
  assertMayAsk(KEY, OLLAMA_FIELDS, Object.fromEntries(fields.map(([name]) => [name, 'x'])));
  for (const name of ['api_base', 'apiKey', 'region'])
    t.throws(() => assertMayAsk(KEY, OLLAMA_FIELDS, { model: 'm', [name]: 'x' }), { code: 'KEY_FORBIDDEN' }, name);
});
