import t from 'tap';
import { joined, rangeIn, readingsOf, withoutCutEscape } from '../../../core/base/readings.ts';

t.test('a text is read with its escapes resolved, up to three times over', async (t) => {
  const texts = (text: string) => [...readingsOf(text)].map((reading) => reading.text);
  t.same(texts('plain'), ['plain']);
  t.same(texts('a\\u002db'), ['a\\u002db', 'a-b']);
  t.same(texts('%25252541'), ['%25252541', '%252541', '%2541', '%41']);
  t.same(texts('&amp;#45;'), ['&amp;#45;', '&#45;', '-']);
  t.same(texts('\\x41\\u{42}%u0043&#x0044;&#0069;&LOWBAR;\\/\\n|'), ['\\x41\\u{42}%u0043&#x0044;&#0069;&LOWBAR;\\/\\n|', 'ABCDE_/ |']);
  for (const text of ['\\q', '%zz', '&other;', '\\u12', '\\', '&#;']) t.same(texts(text), [text]);
});

t.test('every character of a reading knows its place', async (t) => {
  const text = 'a\\u0020b%20\n&#67;';
  const [plain, read] = [...readingsOf(text)];
  if (plain === undefined || read === undefined) throw new Error('There are two readings.');
  t.equal(read.text, 'a b \nC');
  t.same(rangeIn(plain, 2, 5), [2, 5]);
  t.same(rangeIn(read, 1, 3), [1, 8]);
  const dense = joined(read);
  t.equal(dense.text, 'abC');
  t.same(rangeIn(dense, 1, 3), [7, text.length]);
  const whole = joined(plain);
  t.equal(whole.text, 'a\\u0020b%20&#67;');
  t.equal(joined(whole), whole, 'without blanks, it is the same');
});

t.test('an escape that was cut goes', async (t) => {
  for (const cut of [
    '\\',
    '\\\\\\',
    '\\u',
    '\\u00',
    '\\\\u002',
    '\\u{2',
    '\\x',
    '\\x2',
    '%',
    '%2',
    '%u',
    '%u00',
    '&',
    '&#',
    '&#x',
    '&#x000',
    '&#00',
    '&lowb',
    '\\'.repeat(99),
  ])
    t.equal(withoutCutEscape(`key${cut}`), 'key', cut);
  for (const text of ['', 'key', 'menu', 'x2', 'a\\u002dkey']) t.equal(withoutCutEscape(text), text);
});
