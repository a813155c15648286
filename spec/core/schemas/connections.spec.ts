import t from 'tap';
import { ConnectionEntry, PresetFields } from '../../../core/schemas/connections.ts';
import { PriceDocument, SetPrice } from '../../../core/schemas/prices.ts';
import { compile, type Validator } from '../../../core/schemas/validate.ts';
import type { ConnectionEntry as Entry, PresetFields as Preset } from '../../../core/types.ts';

const entry: Validator<Entry> = compile(ConnectionEntry);
const preset: Validator<Preset> = compile(PresetFields);

t.test('every field of an entry has its place, and other strings are settings of the adapter', async (t) => {
  t.doesNotThrow(() =>
    entry({
      adapter: 'openai',
      preset: 'groq',
      baseURL: 'https://a.example',
      api: 'chat',
      keys: [{ label: 'a', apiKeyEnv: 'A', weight: 2, inFlight: 4 }],
      headers: { 'x-a': 'b c' },
      models: {
        a: { price: 0 },
        'b*': { price: 'openai/gpt-4o', contextWindow: 1, maxOutput: 1, images: false },
        c: { price: { input: 1, output: 2, cacheRead: 0 } },
      },
      offer: ['a'],
      limits: { inFlight: 1, waiting: 0 },
      timeouts: { firstByteMs: 0 },
      quirks: { maxTokensField: 'max_tokens', costField: 'usage.cost', list: false, sessionHeader: 'x-session', drop: ['store'] },
    }),
  );
});

t.test('a preset has no field that could hold a secret or a command', async (t) => {
  t.doesNotThrow(() => preset({ adapter: 'openai', baseURL: 'https://a.example', variable: 'A_KEY', quirks: { list: '/v2/models' } }));
  for (const field of ['apiKey', 'keys', 'keyCommand', 'headers', 'authToken'])
    t.throws(() => preset({ [field]: 'x' }), { code: 'INVALID_REQUEST', details: [{ path: field }] }, field);
});

t.test('a price is 0, rates of which input and output are needed, or a name; those of prices.json are rates', async (t) => {
  const set: Validator<unknown> = compile<unknown>(SetPrice);
  for (const price of [0, { input: 1, output: 2 }, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, 'openai/gpt-4o']) t.doesNotThrow(() => set({ price }));
  for (const price of [1, { input: 1 }, { input: -1, output: 1 }, { input: 1e7, output: 1 }, 'gpt-4o', null])
    t.throws(() => set({ price }), { code: 'INVALID_REQUEST' });
  const file: Validator<unknown> = compile(PriceDocument);
  t.doesNotThrow(() => file({ models: { 'gpu/a': { input: 1, output: 2 } } }));
  for (const wrong of [{}, { models: { 'gpu/a': 0 } }, { models: {}, other: 1 }]) t.throws(() => file(wrong), { code: 'INVALID_REQUEST' });
});
