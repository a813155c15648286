import { PassThrough } from 'node:stream';
import t from 'tap';
import { createLineInput } from '../../../cli/terminal/line-input.ts';

const PROMPTS = { first: '> ', more: '.. ' };

function open(terminal: boolean, history?: { entries: string[]; add(message: string): void }) {
  const input = new PassThrough();
  const output = new PassThrough();
  let interruptions = 0;
  const lines = createLineInput({ input, output, terminal, ...(history !== undefined && { history }) }, () => {
    interruptions += 1;
  });
  return { input, lines, shown: () => String(output.read() ?? ''), interruptions: () => interruptions };
}

t.test('lines come one at a time, and the end of input is told', async (t) => {
  const { input, lines, shown } = open(false);
  input.end('one\ntwo\n');
  t.same([await lines.next(PROMPTS), await lines.next(PROMPTS), await lines.next(PROMPTS), await lines.next(PROMPTS)], ['one', 'two', undefined, undefined]);
  t.equal(shown(), '');
});

t.test('at a terminal the prompt and the typing show while somebody asks', async (t) => {
  const { input, lines, shown } = open(true);
  const first = lines.next(PROMPTS);
  input.write('hello\r');
  t.equal(await first, 'hello');
  t.match(shown(), /> [\s\S]*h/);
  input.write('ahead\r');
  await new Promise(setImmediate);
  t.equal(shown(), '', 'what is typed ahead would appear in the middle of a reply');
  t.equal(await lines.next(PROMPTS), 'ahead');
  t.equal(shown(), '> ahead\n', 'so it is shown when it is taken');
  lines.close();
});

t.test('never-while-typing: lines come above the question, and not while something is typed or nobody asks', async (t) => {
  const { input, lines, shown } = open(true);
  t.equal(lines.above(['early']), false, 'nobody asks');
  const first = lines.next(PROMPTS);
  shown();
  t.equal(lines.above(['one', 'two']), true);
  t.match(shown().split('\n'), ['\r\x1b[Kone', 'two', /> /]);
  input.write('dra');
  await new Promise(setImmediate);
  shown();
  t.equal(lines.above(['three']), false, 'a line is begun');
  input.write('ft\\\r');
  await new Promise(setImmediate);
  t.equal(lines.above(['three']), false, 'a message goes on');
  input.write('\r');
  await first;
  t.notMatch(shown(), 'three');
  const piped = open(false);
  t.equal(piped.lines.above(['x']), false);
  lines.close();
});

t.test('Ctrl-C takes a typed line back; on an empty one, or when nobody asks, it is told', async (t) => {
  const { input, lines, interruptions } = open(true);
  input.write('\x03');
  await new Promise(setImmediate);
  t.equal(interruptions(), 1, 'nobody asked');
  const asked = lines.next(PROMPTS);
  input.write('draft\x03');
  await new Promise(setImmediate);
  t.equal(interruptions(), 1, 'a line was typed');
  input.write('\x03');
  await new Promise(setImmediate);
  t.equal(interruptions(), 2);
  input.write('rest\r');
  t.equal(await asked, 'rest');
  input.write('\x04');
  t.equal(await lines.next(PROMPTS), undefined, 'Ctrl-D');
});

t.test('pasted lines are one message, which Enter sends; the last line can still be changed', async (t) => {
  const { input, lines, shown } = open(true);
  const first = lines.next(PROMPTS);
  input.write('see: \x1b[200~one\r\rthree\r\x1b[201~');
  await new Promise(setImmediate);
  t.match(shown(), /> [\s\S]*see: one[\s\S]*\.\. [\s\S]*three/);
  input.write('!\r');
  t.equal(await first, 'see: one\n\nthree!');
  lines.close();
});

t.test('Ctrl-C forgets the lines of an open message and asks anew', async (t) => {
  const { input, lines, interruptions } = open(true);
  const first = lines.next(PROMPTS);
  input.write('"""\ra\r\x03');
  await new Promise(setImmediate);
  t.equal(interruptions(), 0);
  input.write('b\r');
  t.equal(await first, 'b');
  lines.close();
});

t.test('the up arrow brings back whole messages, of earlier conversations too, and a piped line is none', async (t) => {
  const kept: string[] = ['earlier'];
  const history = { entries: kept, add: (message: string) => void kept.unshift(message) };
  const { input, lines } = open(true, history);
  const [up, messages] = ['\x1b[A', [] as (string | undefined)[]];
  for (const keys of ['"""a\rb"""\r', `${up}\r`, `${up}${up}\r`]) {
    const next = lines.next(PROMPTS);
    input.write(keys);
    messages.push(await next);
  }
  t.same(messages, ['a\nb', 'a\nb', 'earlier']);
  lines.close();
  const piped = open(false, history);
  piped.input.end('x\n');
  await piped.lines.next(PROMPTS);
  t.same(kept, ['earlier', 'a\nb', 'a\nb', 'earlier']);
});

t.test('without a history of its own, the up arrow brings back what was typed in this conversation', async (t) => {
  const { input, lines } = open(true);
  for (const [keys, message] of [
    ['one\r', 'one'],
    ['two\r', 'two'],
    ['\x1b[A\x1b[A\r', 'one'],
  ] as const) {
    const next = lines.next(PROMPTS);
    input.write(keys);
    t.equal(await next, message);
  }
  lines.close();
});
