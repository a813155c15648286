import t from 'tap';
import { readEmbeddings } from '../../../../../transports/http/dialects/openai-embeddings/request.ts';

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
