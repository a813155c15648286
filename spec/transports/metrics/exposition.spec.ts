import t from 'tap';
import { Exposition, formatOf } from '../../../transports/metrics/exposition.ts';
import type { Family } from '../../../transports/metrics/families.ts';
import { Counts, Histogram, Shelves } from '../../../transports/metrics/series.ts';
import { readScrape, oneOf } from '../../support/observability/scrape.ts';

const CALLS: Family = { name: 'calls_total', kind: 'counter', help: 'Calls \\ of\nall.', labels: ['model'] };
const SECONDS: Family = { name: 'call_seconds', kind: 'histogram', help: 'Times.', labels: ['model'], edges: [0.1, 1] };

t.test('a counter is named as each format wants it', async (t) => {
  const texts = (['prometheus', 'openmetrics'] as const).map((format) => {
    const text = new Exposition(format);
    text.family(CALLS, [[['m'], 3]]);
    return text.text();
  });
  t.equal(texts[0], '# HELP calls_total Calls \\\\ of\\nall.\n# TYPE calls_total counter\ncalls_total{model="m"} 3\n');
  t.equal(texts[1], '# HELP calls Calls \\\\ of\\nall.\n# TYPE calls counter\ncalls_total{model="m"} 3\n# EOF\n');
});

t.test('whatever a label holds, a reader gets it back, and no line more', async (t) => {
  const odd = ['plain', 'a "b" c', 'back\\slash', 'line\nbreak', 'x"} 1\nfaked 2', 'ü€😀', ''];
  const text = new Exposition('prometheus', { worker: '2' });
  text.family(
    CALLS,
    odd.map((model, index) => [[model], index]),
  );
  const families = readScrape(text.text());
  t.same(
    families.get('calls_total')?.samples.map(({ labels }) => labels),
    odd.map((model) => ({ worker: '2', model })),
  );
});

t.test('a histogram counts each value in all buckets that it fits into', async (t) => {
  const seconds = new Histogram(SECONDS);
  for (const value of [0.05, 0.1, 0.5, 1, 7]) seconds.observe(value);
  for (const format of ['prometheus', 'openmetrics'] as const) {
    const text = new Exposition(format);
    text.family(SECONDS, [[['m'], seconds]]);
    const families = readScrape(text.text(), format);
    const buckets = families.get('call_seconds')?.samples.map(({ name, labels, value }) => [name, labels['le'], value]);
    t.same(buckets, [
      ['call_seconds_bucket', '0.1', 2],
      ['call_seconds_bucket', format === 'openmetrics' ? '1.0' : '1', 4],
      ['call_seconds_bucket', '+Inf', 5],
      ['call_seconds_sum', undefined, 8.65],
      ['call_seconds_count', undefined, 5],
    ]);
  }
});

t.test('a family without a sample is left out', async (t) => {
  const text = new Exposition('prometheus');
  text.family(CALLS, []);
  text.family({ ...CALLS, name: 'others_total', labels: [] }, [[[], 1]]);
  t.same([...readScrape(text.text()).keys()], ['others_total']);
  t.equal(oneOf(readScrape(text.text()), 'others_total'), 1);
});

t.test('OpenMetrics is for who asks for it', async (t) => {
  const prometheus =
    'application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
  for (const [accept, format] of [
    [undefined, 'prometheus'],
    ['*/*', 'prometheus'],
    ['text/plain', 'prometheus'],
    ['application/openmetrics-text;q=0', 'prometheus'],
    ['application/openmetrics-text; version=1.0.0; q=0.0, text/plain', 'prometheus'],
    [prometheus, 'openmetrics'],
  ] as const)
    t.equal(formatOf(accept), format, String(accept));
});

t.test('counts grow by label, and shelves are made once', async (t) => {
  const counts = new Counts();
  for (const label of ['a', 'b', 'a']) counts.add(label);
  t.same(
    [...counts.entries()],
    [
      ['a', 2],
      ['b', 1],
    ],
  );
  const shelves = new Shelves(() => ({ count: 0 }), 1);
  shelves.of('a').count += 1;
  t.equal(shelves.of('a').count, 1);
  t.equal(shelves.isFull, true);
  t.equal(shelves.find('b'), undefined);
});
