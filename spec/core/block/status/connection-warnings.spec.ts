import t from 'tap';
import { connectionWarnings } from '../../../../core/block/status/connection-warnings.ts';
import type { ShownConnection } from '../../../../core/types.ts';
import { configOf } from '../../../support/block-files.ts';

const list = [
  { name: 'gpu', baseURL: 'http://10.0.0.7:8000/v1', ready: true, detail: null },
  { name: 'groq', baseURL: null, ready: false, detail: 'groq needs a key.' },
] as ShownConnection[];
const ids: Readonly<Record<string, string>> = { openai: 'openai', chatgpt: 'openai', gpu: 'gpu', groq: 'groq' };
const gateway = { adapterIds: () => ['openai'], adapterIdOf: (name: string) => ids[name], connectionStore: { list: () => list } } as never;
const warningsOf = (provider: string, ...others: string[]) =>
  connectionWarnings(gateway, configOf({ adapter: { provider, model: 'm' }, fallbacks: others.map((other) => ({ provider: other, model: 'm' })) }));

t.test('a block from elsewhere says which connections of this machine it will use, and which are missing', async (t) => {
  t.same(warningsOf('gpu', 'openai', 'gone', 'groq', 'gpu'), [
    { field: 'config.adapter.provider', message: 'The block will use the connection gpu of this machine, at http://10.0.0.7:8000/v1.' },
    {
      field: 'config.fallbacks[1].provider',
      message:
        'gone is neither a provider nor a connection of this machine. `blockhouse auth set gone` adds a connection of this name; or choose another provider in the configuration of the block.',
    },
    { field: 'config.fallbacks[2].provider', message: 'The block will use the connection groq of this machine. It is not ready: groq needs a key.' },
  ]);
});

t.test('providers are the same everywhere, and a key in place of a name is not repeated', async (t) => {
  t.same(warningsOf('openai', 'chatgpt'), []);
  t.same(connectionWarnings(gateway, configOf()), []);
  const [warning] = warningsOf('SK-CANARY_0123456789');
  t.match(warning?.message, /^This is neither a provider nor a connection/);
  t.notMatch(warning?.message, /CANARY/);
});
