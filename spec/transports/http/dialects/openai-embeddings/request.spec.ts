import t from 'tap';
import { assertMayAsk } from '../../../../../core/index.ts';
import { EMBEDDINGS_FIELDS } from '../../../../../transports/http/dialects/openai-embeddings/request-fields.ts';
import { readEmbeddings } from '../../../../../transports/http/dialects/openai-embeddings/request.ts';
import { keyWith } from '../../../../support/key-requests.ts';

const read = (fields: object) => readEmbeddings({ model: 'm', input: 'hi', ...fields });

t.test('settings are taken, and what is unknown is ignored with a warning', async (t) => {
  t.match(read({ dimensions: 8, user: 'u', next: 1, other: null }), {
    model: 'm',
    embed: { inputs: ['hi'], dimensions: 8, user: 'u' },
    warnings: [{ field: 'next' }],
  });
});

t.test('what is wrong is refused by the name of the field', async (t) => {
  for (const [fields, message] of [
    [{ model: undefined }, /^model is required/],
    [{ input: undefined }, /^input must be/],
    [{ encoding_format: 'hex' }, /^encoding_format must be/],
    [{ dimensions: 0 }, /^dimensions must be/],
  ] as const) {
    t.throws(() => read(fields), { code: 'INVALID_REQUEST', message });
  }
  const { field } = read({});
  t.same([field('inputs[3]'), field('adapter'), field('model')], ['input[3]', 'model', 'model']);
});

const KEY = keyWith({ usdPerDay: 1, tokensPerDay: 1, models: ['*'] });

t.test('an address and a secret are refused; the fields of the protocol decide nothing', async (t) => {
  const fields = Object.entries(EMBEDDINGS_FIELDS).filter(([, rule]) => rule === 'answer');
  t.ok(fields.length > 4);
  assertMayAsk(KEY, EMBEDDINGS_FIELDS, Object.fromEntries(fields.map(([name]) => [name, 'x'])));
  for (const name of ['api_base', 'apiKey', 'region'])
    t.throws(() => assertMayAsk(KEY, EMBEDDINGS_FIELDS, { model: 'm', [name]: 'x' }), { code: 'KEY_FORBIDDEN' }, name);
});
