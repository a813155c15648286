import t from 'tap';
import { unusedSettings } from '../../../core/auth/unused-settings.ts';

const ADAPTERS: Parameters<typeof unusedSettings>[0] = [
  { id: 'acme', aliases: ['summit'], settings: { apiKey: { secret: true }, baseURL: {} } },
  { id: 'local', aliases: [], settings: {} },
];
const unused = (stored: Record<string, object>) => unusedSettings(ADAPTERS, stored);

t.test('settings that an adapter reads are not reported', async (t) => {
  t.same(unused({}), []);
  t.same(unused({ acme: { apiKey: 'x', baseURL: 'x' }, local: {} }), []);
});

t.test('an entry or a field that no adapter reads is named with its near miss', async (t) => {
  t.same(unused({ akme: { apiKey: 'x', other: 'x' } }), [{ entry: 'akme', meant: 'acme' }]);
  t.same(unused({ summit: {} }), [{ entry: 'summit', meant: 'acme' }], 'an alias is not read');
  t.same(unused({ elsewhere: {} }), [{ entry: 'elsewhere' }]);
  t.same(unused({ acme: { apikey: 'x', constructor: 'x' } }), [
    { entry: 'acme', field: 'apikey', meant: 'acme.apiKey' },
    { entry: 'acme', field: 'constructor' },
  ]);
  t.same(unused({ ['acme'.repeat(9)]: {} }), [{ entry: 'acme'.repeat(9) }], 'a long name may be a pasted key');
});
