import t from 'tap';
import { readPublished } from '../../../core/gateway/published-prices.ts';

const NOW = new Date('2026-11-27T00:00:00Z');
const read = (json: unknown) => readPublished(Buffer.from(JSON.stringify(json)), (provider) => (provider === 'openai' ? ['openai', 'second'] : []), NOW);
const FLAT = { input_mtok: 2, output_mtok: 8, cache_read_mtok: 0.5 };

t.test('the published data give each connection of a provider the models that it spells out', (t) => {
  const { models, skipped } = read([
    {
      id: 'openai',
      models: [
        { id: 'm', match: { or: [{ equals: 'm' }, { equals: 'm-2026-01-01' }, { starts_with: 'm-' }] }, prices: FLAT },
        { id: 'tiered', match: { equals: 'tiered' }, prices: { input_mtok: { base: 1, tiers: [{ start: 200_000, price: 2 }] }, output_mtok: 1 } },
        { id: 'by-request', match: { equals: 'by-request' }, prices: { ...FLAT, requests_kcount: 5 } },
        { id: 'no-output', prices: { input_mtok: 1 } },
        { id: 'by-hour', prices: [{ prices: FLAT }, { constraint: { type: 'time_of_date', start_time: '00:30:00Z', end_time: '16:30:00Z' }, prices: FLAT }] },
        {
          id: 'dated',
          prices: [
            { prices: { input_mtok: 9, output_mtok: 9 } },
            { constraint: { type: 'start_date', start_date: '2026-01-01' }, prices: FLAT },
            { constraint: { type: 'start_date', start_date: '2027-01-01' }, prices: { input_mtok: 1, output_mtok: 1 } },
          ],
        },
      ],
    },
    { id: 'other', models: [{ id: 'n', prices: FLAT }] },
  ]);
  const rates = { input: 2, output: 8, cacheRead: 0.5 };
  const ids = ['openai', 'second'].flatMap((name) => [`${name}/m`, `${name}/m-2026-01-01`, `${name}/dated`]);
  t.same(models, Object.fromEntries(ids.map((id) => [id, rates])));
  t.equal(skipped, 4);
  t.end();
});

t.test('what one price for all tokens would make cheaper is not taken', (t) => {
  const cached = { ...FLAT, cache_write_mtok: 2.5, cache_write_1h_mtok: 4, web_searches_kcount: 10 };
  const { models, skipped } = read([
    {
      id: 'openai',
      models: [
        { id: 'hears', prices: { ...FLAT, input_audio_mtok: 32 } },
        { id: 'paints', prices: { ...FLAT, output_image_mtok: 30 } },
        { id: 'o9-deep-research', prices: FLAT },
        { id: 'm', match: { or: [{ equals: 'm' }, { equals: 'm-search-preview' }] }, prices: cached },
      ],
    },
  ]);
  const rates = { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 2.5, cacheWrite1h: 4 };
  t.same(models, { 'openai/m': rates, 'second/m': rates });
  t.equal(skipped, 3);
  t.end();
});

t.test('our own form may come with the origin that it was written with', (t) => {
  t.same(read({ source: { file: 'x' }, models: { 'gpu/a': { input: 1, output: 2 } } }), { models: { 'gpu/a': { input: 1, output: 2 } }, skipped: 0 });
  t.end();
});
