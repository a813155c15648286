import t from 'tap';
import { capReachedAt, sinceMidnight, windowOf } from '../../../../transports/dashboard/data/window.ts';

const HOUR = 3_600_000;

t.test('half of the cap after six hours reaches it after twelve', async (t) => {
  t.equal(capReachedAt(2, 4, 6 * HOUR, 1000), 1000 + 6 * HOUR);
});

t.test('nothing is foretold without a cap, without spending, early in the day, past the cap, or beyond the day', async (t) => {
  t.equal(capReachedAt(2, null, 6 * HOUR, 0), undefined);
  t.equal(capReachedAt(0, 4, 6 * HOUR, 0), undefined);
  t.equal(capReachedAt(2, 4, HOUR / 3, 0), undefined);
  t.equal(capReachedAt(4, 4, 6 * HOUR, 0), undefined);
  t.equal(capReachedAt(1, 40, 6 * HOUR, 0), undefined);
});

t.test('a day begins at midnight of its zone', async (t) => {
  const at = Date.parse('2026-11-23T05:30:00Z');
  t.equal(sinceMidnight(at, 'UTC'), 5.5 * HOUR);
  t.equal(sinceMidnight(at, 'Asia/Tokyo'), 14.5 * HOUR);
  t.equal(sinceMidnight(at, 'No/Where'), 5.5 * HOUR);
});

t.test('the parts of the window add up to what the server says', async (t) => {
  const config = { systemPrompt: 'x'.repeat(400), goals: ['y'.repeat(39)], memory: { thresholdPercent: 70 } };
  const facts = [
    { id: '1', text: 'z'.repeat(80), pinned: true },
    { id: '2', text: 'not sent', pinned: false },
  ];
  const memory = { summary: 's'.repeat(200), facts, window: { tokens: 1000, maxTokens: 5000 } };
  const parts = windowOf({ config, memory } as unknown as Parameters<typeof windowOf>[0]);
  t.match(parts, { instructions: 110, facts: 20, summary: 50, messages: 820, total: 1000, most: 5000, threshold: 70 });
});
