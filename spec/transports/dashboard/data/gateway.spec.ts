import t from 'tap';
import { readable, stretchesOf } from '../../../../transports/dashboard/data/gateway.ts';

t.test('attempts are stretches of the time of their call', async (t) => {
  const attempts = [
    { sentMs: 0, firstTextMs: null, endedMs: 20 },
    { sentMs: 50, firstTextMs: 60, endedMs: 100 },
  ];
  const widths = (durationMs: number, given = attempts) => stretchesOf({ durationMs, attempts: given }).map((each) => each.map(({ width }) => width));
  t.same(widths(100), [
    [0, 20, 0],
    [50, 10, 40],
  ]);
  t.same(widths(200, [{ sentMs: 100, firstTextMs: null, endedMs: null } as never]), [[50, 50, 0]], 'one under way reaches to the end');
  t.same(widths(0), [
    [0, 0, 0],
    [0, 0, 0],
  ]);
});

t.test('JSON has line breaks, and anything else stays as it is', async (t) => {
  t.equal(readable('{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}');
  for (const text of ['', 'data: {}\n\n', '{"a":']) t.equal(readable(text), text);
});
