import t from 'tap';
import { visible, visibleLine } from '../../../cli/terminal/unseen.ts';

t.test('what a person does not see is an escape; other letters stay', async (t) => {
  t.equal(visible('pay\u200b\u202e €\u{e0041}\ufe0f'), 'pay\\u200b\\u202e €\\u{e0041}\\ufe0f');
  t.equal(visible('two\nlines'), 'two\nlines');
  t.notMatch(visibleLine('two\nlines'), /\n/);
});
