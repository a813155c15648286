import t from 'tap';
import { LineBuffer } from '../../../../core/store/files/line-buffer.ts';

const line = (text: string): string => `${text}\n`;

t.test('lines come out as they went in, however many', async (t) => {
  const buffer = new LineBuffer(1024 * 1024);
  const lines = Array.from({ length: 5000 }, (_, n) => line(`${n} Grüße ${'€'.repeat(n % 20)}`));
  for (const each of lines) buffer.add(each);
  t.equal(buffer.size, Buffer.byteLength(lines.join('')));
  t.equal(buffer.take().toString(), lines.join(''));
  t.equal(buffer.size, 0);
  t.equal(buffer.take().length, 0);
});

t.test('what was taken stays as it is when others come', async (t) => {
  const buffer = new LineBuffer(1024);
  buffer.add(line('one'));
  const taken = buffer.take();
  buffer.add(line('two'));
  t.equal(taken.toString(), 'one\n');
  buffer.putBack(taken);
  t.equal(buffer.take().toString(), 'one\ntwo\n');
});

t.test('what finds no room is dropped in whole lines, the newest first', async (t) => {
  const buffer = new LineBuffer(100);
  for (let n = 0; n < 40; n += 1) buffer.add(line(`${n % 10}`.repeat(9)));
  t.match(buffer.take().toString(), /^(?:(\d)\1{8}\n){10}$/);
  buffer.add(line('a'.repeat(29)));
  buffer.add(line('b'.repeat(29)));
  const taken = buffer.take();
  buffer.add(line('c'.repeat(19)));
  buffer.add(line('d'.repeat(24)));
  buffer.putBack(taken);
  t.equal(buffer.take().toString(), line('a'.repeat(29)) + line('b'.repeat(29)) + line('c'.repeat(19)));
  const full = new LineBuffer(10);
  full.add(line('e'));
  full.putBack(Buffer.from(line('f'.repeat(9))));
  t.equal(full.take().toString(), line('f'.repeat(9)));
});
