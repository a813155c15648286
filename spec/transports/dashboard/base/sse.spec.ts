import t from 'tap';
import { EventReader } from '../../../../transports/dashboard/base/sse.ts';

const TEXT = 'event: start\ndata: {"a":1}\n\n: a comment\n\nevent: content\r\ndata: one\r\ndata: two\r\n\r\ndata: bare\n\nevent: cut';

t.test('events are read however the text is cut', async (t) => {
  const whole = new EventReader().add(TEXT);
  t.same(whole, [
    { event: 'start', data: '{"a":1}' },
    { event: 'content', data: 'one\ntwo' },
    { event: 'message', data: 'bare' },
  ]);
  for (let cut = 1; cut < TEXT.length; cut += 1) {
    const reader = new EventReader();
    t.same([...reader.add(TEXT.slice(0, cut)), ...reader.add(TEXT.slice(cut))], whole, String(cut));
  }
});
