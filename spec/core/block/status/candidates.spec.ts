import t from 'tap';
import { candidatesOf } from '../../../../core/block/status/candidates.ts';
import { configOf } from '../../../support/block-files.ts';

t.test('only the first candidate has the address and region; all have the common settings', async (t) => {
  t.strictSame(candidatesOf(configOf()), []);
  const adapter = { provider: 'p', model: 'm', baseURL: 'http://127.0.0.1:1', region: 'eu', temperature: 0, cacheControl: true };
  t.strictSame(candidatesOf(configOf({ adapter, fallbacks: [{ provider: 'q', model: 'n' }] })), [
    { provider: 'p', model: 'm', config: { maxTokens: 4096, temperature: 0, cacheControl: true, baseURL: 'http://127.0.0.1:1', region: 'eu' } },
    { provider: 'q', model: 'n', config: { maxTokens: 4096, temperature: 0, cacheControl: true } },
  ]);
});
