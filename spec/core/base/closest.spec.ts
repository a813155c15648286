import t from 'tap';
import { nearest } from '../../../core/base/closest.ts';

t.test('the most similar name is found, whatever its case and separators', async (t) => {
  const names = ['apiKey', 'baseURL', 'api'];
  for (const [given, meant] of [
    ['apikey', 'apiKey'],
    ['api_key', 'apiKey'],
    ['apiKye', 'apiKey'],
    ['base-url', 'baseURL'],
    ['apo', 'api'],
    ['key', undefined],
    ['region', undefined],
    ['', undefined],
  ] as const)
    t.equal(nearest(given, names), meant, given);
  t.equal(nearest('a', []), undefined);
});
