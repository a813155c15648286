import t from 'tap';
import { visible, visibleLine } from '../../../cli/terminal/unseen.ts';

t.test('what is not seen is shown by its number, and what is seen stays', async (t) => {
  t.equal(visible('a\u202eb\u200bc\u0007'), 'a\\u202eb\\u200bc\\u0007');
  t.equal(visible('x\u{e0041}\ufe0f'), 'x\\u{e0041}\\ufe0f');
  t.equal(visible('Grüße, 世界\n\tnext'), 'Grüße, 世界\n\tnext');
});

t.test('on one line, line ends do not stay', async (t) => {
  t.notMatch(visibleLine('a\nb\u2028c'), /[\n\u2028]/);
});
