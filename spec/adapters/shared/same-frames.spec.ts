import t from 'tap';
import { SameFrames } from '../../../adapters/shared/same-frames.ts';

type Frame = { readonly words?: unknown };

/** Reads the member `words`, as a decoder would. */
function read(data: string): string | undefined {
  const { words } = JSON.parse(data) as Frame;
  return typeof words === 'string' ? words : undefined;
}

const frame = (words: string, id = 1): string => JSON.stringify({ id, words, end: null });

t.test('the text of a frame that is like the last one is cut out, whatever it is', async (t) => {
  const same = new SameFrames();
  t.equal(same.textOf(frame('a')), undefined);
  same.learn(frame('one'), 'one', read);
  for (const text of ['two', '', '"', '\\', '\n', '{"words":"x"}', '","words":"x', 'ü€😀', '\ud800', 'id'.repeat(1000)])
    t.equal(same.textOf(frame(text)), text);
});

t.test('a frame that differs in anything else is left to the parser', async (t) => {
  const same = new SameFrames();
  same.learn(frame('one'), 'one', read);
  const others = [
    frame('two', 2),
    frame('two').replace('null', '"x"'),
    '{"id":1,"words":"two","words":"three","end":null}',
    '{"id":1,"words":"two"x","end":null}',
  ];
  for (const other of [...others, '{"id":1,"words":","end":null}', '{"id":1,"words":"two', '']) t.equal(same.textOf(other), undefined, other);
});

t.test('a text that stands in two places, or in another one than it seems, is not learned', async (t) => {
  const same = new SameFrames();
  same.learn('{"id":"one","words":"one"}', 'one', read);
  t.equal(same.textOf('{"id":"one","words":"two"}'), undefined);
  same.learn('{"id":"one","words":"\\u006fne"}', 'one', read);
  t.equal(same.textOf('{"id":"two","words":"\\u006fne"}'), undefined);
  same.learn('{"words":""}', '', read);
  t.equal(same.textOf('{"words":"x"}'), undefined);
});

t.test('a server that has something new in every frame is soon left alone', async (t) => {
  const same = new SameFrames();
  let reads = 0;
  for (let id = 0; id < 100; id += 1) {
    t.equal(same.textOf(frame('a word', id)), undefined);
    same.learn(frame('a word', id), 'a word', (data) => {
      reads += 1;
      return read(data);
    });
  }
  t.ok(reads > 0 && reads < 10, `${reads}`);
});
