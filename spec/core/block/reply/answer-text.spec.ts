import t from 'tap';
import { AnswerText } from '../../../../core/block/reply/answer-text.ts';

t.test('the text is all fragments in their order', async (t) => {
  const text = new AnswerText();
  const fragments = Array.from({ length: 5000 }, (_, index) => `${index} `);
  t.same(
    fragments.filter((fragment) => text.append(fragment) !== fragment),
    [],
  );
  const whole = fragments.join('');
  t.equal(text.toString(), whole);
  t.equal(text.length, whole.length);
  t.equal(text.slice(10), whole.slice(10));
  t.equal(text.append('end'), 'end', 'it grows on after it was read');
  t.equal(text.toString(), `${whole}end`);
  t.notOk(text.isCut);
  t.strictSame(text.toParts(), [{ type: 'text', text: `${whole}end` }]);
  t.strictSame(new AnswerText().toParts(), []);
});

t.test('text beyond the limit is cut, and nothing is added after it', async (t) => {
  const text = new AnswerText(5);
  t.equal(text.append('abc'), 'abc');
  t.equal(text.append('de'), 'de');
  t.notOk(text.isCut, 'it is full, and nothing was lost');
  t.equal(text.append(''), '');
  t.notOk(text.isCut);
  t.equal(text.append('f'), '');
  t.ok(text.isCut);
  t.equal(text.toString(), 'abcde');
  const other = new AnswerText(5);
  t.equal(other.append('abcdefg'), 'abcde');
  t.equal(other.append('h'), '');
  t.equal(`${other}`, 'abcde');
});

t.test('a surrogate pair is never split, and nothing is added after one that does not fit', async (t) => {
  const text = new AnswerText(3);
  t.equal(text.append('ab😀'), 'ab');
  t.equal(text.append('c'), '', 'nothing follows what was left out');
  t.equal(text.length, 2);
  t.equal(new AnswerText(4).append('ab😀c'), 'ab😀');
});
