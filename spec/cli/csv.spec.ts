import t from 'tap';
import { toCsv } from '../../cli/csv.ts';

t.test('rows end with CR LF, unknown values are empty', async (t) => {
  t.equal(
    toCsv([
      ['a', 'b'],
      ['x', 1.5],
      [null, undefined],
    ]),
    'a,b\r\nx,1.5\r\n,',
  );
});

t.test('what would break a field is quoted', async (t) => {
  t.equal(toCsv([['a,b', 'say "x"', 'two\nlines']]), '"a,b","say ""x""","two\nlines"');
});

t.test('a text is never taken for a formula, a negative number stays one', async (t) => {
  t.equal(toCsv([['=1+1', '@x', '-x', -2]]), "'=1+1,'@x,'-x,-2");
});
