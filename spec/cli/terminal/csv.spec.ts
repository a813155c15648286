import t from 'tap';
import { toCsv } from '../../../cli/terminal/csv.ts';

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
  t.equal(toCsv([['a,b', 'say "x"', 'two\nlines']]), '"a,b","say ""x""",two lines');
});

t.test('a text is never taken for a formula, a negative number stays one', async (t) => {
  t.equal(toCsv([['=1+1', '@x', '-x', -2]]), "'=1+1,'@x,'-x,-2");
});

t.test('a terminal obeys nothing in a field, neither colours nor line ends', async (t) => {
  t.equal(toCsv([['\x1b[31mred\x1b[0m', 'a\r\nb,1', '\x9b2Jx', 'total\r=1+1', '\x1b[1m=1+1']]), `red,"a b,1",x,total=1+1,'=1+1`);
});
