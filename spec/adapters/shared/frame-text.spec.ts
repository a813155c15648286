import t from 'tap';
import { cleanComments, cleanFrame, dataOf, eventOf, hasComment } from '../../../adapters/shared/frame-text.ts';

const SECRET = 'sk-a-key-of-a-provider-0123456789';

t.test('the data of a frame are those of its lines; a bare error counts as data, a comment has none', (t) => {
  t.equal(dataOf('event: x\r\ndata: a\r\ndata:b'), 'a\nb');
  t.equal(dataOf('{"error": "no"}'), '{"error": "no"}');
  t.equal(dataOf(': waiting'), undefined);
  t.end();
});

t.test('the name of a frame is that of its event', (t) => {
  t.equal(eventOf('data: 1\nevent: done'), 'done');
  t.equal(eventOf('event:done\ndata: 1'), 'done');
  t.equal(eventOf('data: event: x'), '');
  t.end();
});

t.test('a frame loses its secrets, also those behind escapes of JSON; one without any stays as it is', (t) => {
  const escaped = SECRET.replace('k', '\\u006b');
  const clean = cleanFrame(`: ${SECRET}\ndata: {"a": "${escaped}"}`, true, [SECRET])?.toString() ?? SECRET;
  t.notMatch(clean, SECRET);
  t.notOk(clean.includes(escaped));
  t.match(clean, /^: .+\ndata: \{"a": ".+"\}$/);
  t.equal(cleanFrame('data: {"a": 1}', true, [SECRET]), undefined);
  t.end();
});

t.test('only comments are searched where a frame has some', (t) => {
  const frame = `data: ${SECRET}\n: ${SECRET}`;
  t.ok(hasComment(frame));
  t.notOk(hasComment('data: a: b'));
  const [data, comment] = cleanComments(frame, [SECRET])?.toString().split('\n') ?? [];
  t.equal(data, `data: ${SECRET}`);
  t.notMatch(comment, SECRET);
  t.equal(cleanComments(': waiting', [SECRET]), undefined);
  t.end();
});
