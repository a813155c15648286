import t from 'tap';
import { type Column, displayWidth, fit, table } from '../../../cli/terminal/layout.ts';
import { styleFor } from '../../../cli/terminal/output.ts';

const style = styleFor(false);

t.test('a width counts what a terminal shows', async (t) => {
  for (const [text, width] of [
    ['plain', 5],
    ['Grüße', 5],
    ['日本', 4],
    ['é', 1],
    ['👩‍👩‍👧 ok', 5],
    ['a\u200bb', 2],
    ['● idle', 6],
    ['', 0],
  ] as const)
    t.equal(displayWidth(text), width, JSON.stringify(text));
});

t.test('a text that is cut says so and is never wider than its room', async (t) => {
  t.equal(fit('abcdef', 6), 'abcdef');
  t.equal(fit('abcdef', 4), 'abc…');
  t.equal(fit('日本語', 4), '日…');
  t.equal(fit('abc', 1), '…');
  t.equal(fit('abc', 0), '');
});

const COLUMNS: readonly Column[] = [
  { title: 'NAME', min: 8 },
  { title: 'N', align: 'right' },
  { title: 'MODEL', min: 6, drop: 1 },
  { title: 'LAST', drop: 2 },
];
const ROWS = [
  ['one', '1', 'vendor/model-a', '3m ago'],
  ['two-is-longer', '12', 'x', 'now'],
];

t.test('with room enough every column has its natural width', async (t) => {
  t.same(table(COLUMNS, ROWS, { width: Number.POSITIVE_INFINITY, style }), [
    'NAME            N  MODEL           LAST',
    'one             1  vendor/model-a  3m ago',
    'two-is-longer  12  x               now',
  ]);
});

t.test('on a narrow terminal texts are cut first, then columns go, then anything is cut', async (t) => {
  t.same(table(COLUMNS, ROWS, { width: 35, style }), [
    'NAME            N  MODEL     LAST',
    'one             1  vendor/…  3m ago',
    'two-is-longer  12  x         now',
  ]);
  t.same(table(COLUMNS, ROWS, { width: 25, style }), ['NAME            N  MODEL', 'one             1  vendo…', 'two-is-longer  12  x']);
  t.same(table(COLUMNS, ROWS, { width: 14, style }), ['NAME         N', 'one          1', 'two-is-lo…  12']);
  t.same(table(COLUMNS, ROWS, { width: 6, style }).map(displayWidth), [6, 6, 6]);
});

t.test('whatever the width, no line is wider', async (t) => {
  for (let width = 8; width < 50; width += 1) for (const line of table(COLUMNS, ROWS, { width, style })) t.ok(displayWidth(line) <= width, `${width}: ${line}`);
});

t.test('cells are made harmless, and painted after they were padded', async (t) => {
  const red = (text: string): string => `<${text}>`;
  t.same(table([{ title: 'A' }, { title: 'B' }], [[{ text: 'x\x1b[2J\ny', paint: red }, 'b']], { width: 80, style }), ['A    B', '<x y>  b']);
});
