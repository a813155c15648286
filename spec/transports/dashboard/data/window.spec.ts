import t from 'tap';
import { capReachedAt, marksOf, seenIn, sinceMidnight, windowOf } from '../../../../transports/dashboard/data/window.ts';

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

const answer = (id: string, at: string, inputTokens?: number) =>
  ({ id, role: 'assistant', timestamp: at, model: 'm', ...(inputTokens !== undefined && { usage: { inputTokens } }) }) as unknown as Parameters<
    typeof seenIn
  >[0][number];

t.test('what a model has seen is in its answers; messages, and answers without a count, say nothing of it', async (t) => {
  const entries = [
    { ...answer('q', '1', 5), role: 'user' as const },
    answer('a', '2', 100),
    answer('b', '3'),
    answer('c', '4', 0),
    { ...answer('d', '5', 200), finishedAt: '6' },
  ];
  t.same(seenIn(entries), [
    { id: 'a', at: '2', tokens: 100, model: 'm' },
    { id: 'd', at: '6', tokens: 200, model: 'm' },
  ]);
});

t.test('a compaction stands before the first answer after it; those before all answers, and those that failed, stand nowhere', async (t) => {
  const answers = seenIn([answer('a', '2026-11-20T10:00:00.000Z', 1), answer('b', '2026-11-20T12:00:00.000Z', 1), answer('c', '2026-11-20T14:00:00.000Z', 1)]);
  const compaction = (hour: number, outcome = 'summarized') =>
    ({ id: `at ${hour}`, at: `2026-11-20T${String(hour).padStart(2, '0')}:00:00.000Z`, outcome }) as Parameters<typeof marksOf>[1][number];
  const marks = marksOf(answers, [compaction(9), compaction(11), compaction(13, 'failed'), compaction(13, 'evicted'), compaction(15)]);
  t.same(
    marks.map(({ index, compaction: { id } }) => [index, id]),
    [
      [1, 'at 11'],
      [2, 'at 13'],
      [3, 'at 15'],
    ],
  );
  t.same(marksOf([], [compaction(11)]), []);
});
