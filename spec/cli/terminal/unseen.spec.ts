import t from 'tap';
import { visible, visibleLine } from '../../../cli/terminal/unseen.ts';

t.test('what a person does not see is shown as an escape; lines and tabs stay', async (t) => {
  t.equal(visible('Reads\u200b a file.\u{e0041}\u202e\u0007'), 'Reads\\u200b a file.\\u{e0041}\\u202e\\u0007');
  t.equal(visible('one\n\ttwo é 日本'), 'one\n\ttwo é 日本');
  t.notMatch(visibleLine('one\ntwo'), /\n/);
});
