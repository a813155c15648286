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

t.test('a long event is looked through once, however many pieces it comes in', async (t) => {
  const { split } = String.prototype;
  let looked = 0;
  const reader = new EventReader();
  String.prototype.split = function (this: string, ...rest: never[]) {
    looked += this.length;
    return (split as (...all: never[]) => string[]).call(this, ...rest);
  } as typeof split;
  const piece = 'x'.repeat(1000);
  const events = [...reader.add('data: '), ...Array.from({ length: 500 }, () => reader.add(piece)).flat(), ...reader.add('\r\n\r'), ...reader.add('\n')];
  String.prototype.split = split;
  t.same(events, [{ event: 'message', data: piece.repeat(500) }]);
  t.ok(looked < 2_000_000, `${looked} characters`);
});
