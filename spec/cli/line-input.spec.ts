import { PassThrough } from 'node:stream';
import t from 'tap';
import { createLineInput } from '../../cli/line-input.ts';

function open(terminal: boolean) {
  const input = new PassThrough();
  const output = new PassThrough();
  let interruptions = 0;
  const lines = createLineInput({ input, output, terminal }, () => {
    interruptions += 1;
  });
  return { input, lines, shown: () => String(output.read() ?? ''), interruptions: () => interruptions };
}

t.test('lines come one at a time, and the end of input is told', async (t) => {
  const { input, lines, shown } = open(false);
  input.end('one\ntwo\n');
  t.same([await lines.next('> '), await lines.next('> '), await lines.next('> '), await lines.next('> ')], ['one', 'two', undefined, undefined]);
  t.equal(shown(), '');
});

t.test('at a terminal the prompt and the typing show while somebody asks', async (t) => {
  const { input, lines, shown } = open(true);
  const first = lines.next('> ');
  input.write('hello\r');
  t.equal(await first, 'hello');
  t.match(shown(), /> [\s\S]*h/);
  input.write('ahead\r');
  await new Promise(setImmediate);
  t.equal(shown(), '', 'what is typed ahead is not shown');
  t.equal(await lines.next('> '), 'ahead');
  lines.close();
});

t.test('Ctrl-C takes a typed line back; on an empty one, or when nobody asks, it is told', async (t) => {
  const { input, lines, interruptions } = open(true);
  input.write('\x03');
  await new Promise(setImmediate);
  t.equal(interruptions(), 1, 'nobody asked');
  const asked = lines.next('> ');
  input.write('draft\x03');
  await new Promise(setImmediate);
  t.equal(interruptions(), 1, 'a line was typed');
  input.write('\x03');
  await new Promise(setImmediate);
  t.equal(interruptions(), 2);
  input.write('rest\r');
  t.equal(await asked, 'rest');
  input.write('\x04');
  t.equal(await lines.next('> '), undefined, 'Ctrl-D');
});
