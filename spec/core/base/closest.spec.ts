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

t.test('of names that are not alike few letters are looked at, however many there are', async (t) => {
  let looks = 0;
  const watched = new Proxy(new String('zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz'), {
    get(text, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1;
      const value = Reflect.get(text, key, text) as unknown;
      return typeof value === 'function' ? () => watched : value; // `replace` and `toLowerCase` leave it as it is
    },
  }) as unknown as string;
  const names = Array.from({ length: 1000 }, (_, index) => `support-agent-for-customer-${index}`);
  t.equal(nearest(watched, names), undefined);
  t.ok(looks / names.length < 200, `${looks / names.length} for each`);
});

t.test('letters may be added, left out, changed and swapped, four of them at most', async (t) => {
  const names = ['support-agent-for-customer-17'];
  for (const [given, isMeant] of [
    ['support-agent-for-customer-17', true],
    ['suport-agent-for-custommer-17', true],
    ['uspport-agetn-for-csutomer-71', true],
    ['xxxxort-agent-for-customer-17', true],
    ['xxxxxrt-agent-for-customer-17', false],
    ['support-agent-for-customer-17abcd', true],
    ['support-agent-for-customer-17abcde', false],
    ['ort-agent-for-customer-17', true],
    ['agent-for-customer-17', false],
  ] as const)
    t.equal(nearest(given, names), isMeant ? names[0] : undefined, given);
});
