// How many servers a request has passed.
import t from 'tap';
import { createAdapters } from '../../../adapters/index.ts';
import { assertFewHops, hopsIn, serviceOrigins } from '../../../core/gateway/hops.ts';

t.test('a number is read, and nothing else', (t) => {
  for (const [said, hops] of [
    [undefined, 0],
    ['0', 0],
    ['3', 3],
    ['-1', 0],
    ['1e3', 0],
    ['9999999999', 0],
    [['1', '2'], 0],
  ] as const)
    t.equal(hopsIn({ 'x-blockhouse-hop': said }), hops, String(said));
  t.equal(hopsIn(undefined), 0);
  assertFewHops({ 'x-blockhouse-hop': '4' });
  t.throws(() => assertFewHops({ 'x-blockhouse-hop': '5' }), { code: 'INVALID_REQUEST', message: /more than 4 servers/ });
  t.end();
});

t.test('services are those of providers and presets, and no local server', (t) => {
  const origins = serviceOrigins(createAdapters());
  for (const origin of ['https://api.openai.com', 'https://api.groq.com', 'https://api.anthropic.com']) t.ok(origins.has(origin), origin);
  t.notOk([...origins].some((origin) => origin.includes('127.0.0.1:8000')));
  t.end();
});
