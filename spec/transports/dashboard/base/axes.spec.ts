import t from 'tap';
import { markText } from '../../../../transports/dashboard/base/format.ts';
import { pathThrough, stackedSums, timeMarks, topOf, valueMarks } from '../../../../transports/dashboard/base/axes.ts';

t.test('marks of values begin at zero, are round, and are no more than asked for', async (t) => {
  t.same(valueMarks(10, 4), { step: 2.5, marks: [0, 2.5, 5, 7.5, 10] });
  t.same(valueMarks(11, 4), { step: 2.5, marks: [0, 2.5, 5, 7.5, 10] });
  t.same(valueMarks(0.0011, 4).step, 0.00025);
  t.same(valueMarks(1, 1).marks, [0, 1]);
  t.same(valueMarks(1.1, 4, true), { step: 1, marks: [0, 1] }, 'of whole things');
  t.same(valueMarks(0.001, 4, true), { step: 1, marks: [0] });
  t.same(valueMarks(3.3, 4, true).marks, [0, 1, 2, 3]);
  t.same(valueMarks(10, 4, true).marks, [0, 5, 10]);
  t.same(valueMarks(1000, 4, true).marks, valueMarks(1000, 4).marks);
  for (let turn = 1; turn < 200; turn += 1) {
    const top = turn ** 3 / 977;
    const { step, marks } = valueMarks(top, 3.9);
    t.ok(marks.length >= 2 && marks.length <= 5, `${top}: ${marks}`);
    t.ok((marks.at(-1) ?? 0) <= top && (marks.at(-1) ?? 0) + step > top * 0.999, `${top}: ${marks}`);
  }
});

t.test('marks at an axis without a value, or with small ones, have room beside the plot', async (t) => {
  const texts = (values: readonly (number | null)[], isWhole: boolean): readonly string[] => {
    const { step, marks } = valueMarks(topOf(values), 4, isWhole);
    return marks.map((mark) => markText(mark, step));
  };
  t.same(texts([], false), ['0', '0.25', '0.50', '0.75', '1.00']);
  t.same(texts([0, null, 0], true), ['0', '1']);
  for (const value of [1e-7, 0.0004, 0.003, 0.02, 0.4])
    t.ok(
      texts([value], false).every((text) => text.length <= 5),
      texts([value], false).join(),
    );
  t.equal(topOf([10]), 11);
});

t.test('marks of time are at whole steps of this place, between the two times', async (t) => {
  const from = new Date(2026, 10, 3, 14, 10, 20).getTime();
  const { step, marks } = timeMarks(from, from + 15 * 60_000, 4);
  t.equal(step, 300_000);
  t.same(
    marks.map((mark) => new Date(mark).toTimeString().slice(0, 8)),
    ['14:15:00', '14:20:00', '14:25:00'],
  );
  t.equal(timeMarks(from, from + 24 * 3_600_000, 5).step, 6 * 3_600_000);
  t.equal(timeMarks(from, from + 10_000, 3).step, 5000);
  t.ok(timeMarks(from, from + 400 * 86_400_000, 3).marks.length <= 3, 'also of a year');
});

t.test('a path has the gaps of its points, and a point alone is a short stroke', async (t) => {
  const path = pathThrough([null, 1, 2, null, 3, null, 4, 5].map((y, x) => ({ x, y })));
  t.equal(path, 'M1.0 1.0L2.0 2.0M3.0 3.0h2M6.0 4.0L7.0 5.0');
  t.equal(pathThrough([]), '');
  t.equal(pathThrough([{ x: 3, y: 0 }]), 'M2.0 0.0h2');
});

t.test('layers stand on each other, and what is not known adds nothing', async (t) => {
  t.same(
    stackedSums([
      [1, null, 3],
      [1, 2, 3],
    ]),
    [
      [1, 0, 3],
      [2, 2, 6],
    ],
  );
});
