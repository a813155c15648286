import t from 'tap';
import { candidatesOf } from '../../../../core/block/status/candidates.ts';
import { BlockAdapter } from '../../../../core/schemas/block-config.ts';
import { ChatConfig } from '../../../../core/schemas/chat.ts';
import { configOf } from '../../../support/block-files.ts';

t.test('only the first candidate has the address and region; all have the common settings', async (t) => {
  t.strictSame(candidatesOf(configOf()), []);
  const adapter = { provider: 'p', model: 'm', baseURL: 'http://127.0.0.1:1', region: 'eu', temperature: 0, cacheControl: true };
  t.strictSame(candidatesOf(configOf({ adapter, fallbacks: [{ provider: 'q', model: 'n' }] })), [
    { provider: 'p', model: 'm', config: { maxTokens: 4096, temperature: 0, cacheControl: true, baseURL: 'http://127.0.0.1:1', region: 'eu' } },
    { provider: 'q', model: 'n', config: { maxTokens: 4096, temperature: 0, cacheControl: true } },
  ]);
});

t.test('every setting of a block is sent, and is one of a chat request', async (t) => {
  const settings = { maxTokens: 77, temperature: 0.5, topP: 0.9, topK: 20, reasoning: { effort: 'low' }, cacheControl: true };
  const place = { baseURL: 'http://127.0.0.1:1', region: 'eu' };
  const adapter = { provider: 'p', model: 'm', ...place, ...settings };
  t.strictSame(Object.keys(adapter).sort(), Object.keys(BlockAdapter.properties).sort(), 'a new setting belongs into this test');
  for (const name of Object.keys(settings)) t.ok(Object.hasOwn(ChatConfig.properties, name), name);
  t.strictSame(candidatesOf(configOf({ adapter: { ...adapter, note: 'mine' } }))[0]?.config, { ...settings, ...place });
});
