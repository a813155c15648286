import { PassThrough, Readable } from 'node:stream';
import t from 'tap';
import { readAll, readBytes, readMessage } from '../../../cli/input/input.ts';
import { CliError } from '../../../cli/terminal/exit-codes.ts';

t.test('everything is read, and a character may lie across two chunks', async (t) => {
  const bytes = Buffer.from('aé👋');
  t.equal(await readAll(Readable.from([...bytes].map((byte) => Buffer.from([byte])))), 'aé👋');
});

t.test('more than a request may hold is refused', async (t) => {
  const chunk = Buffer.alloc(1024 * 1024);
  await t.rejects(readAll(Readable.from(Array.from({ length: 11 }, () => chunk))), new CliError('usage', 'Standard input is larger than 10 MiB.'));
});

t.test('a signal ends the waiting', async (t) => {
  const controller = new AbortController();
  const reading = readAll(new PassThrough(), controller.signal);
  controller.abort();
  await t.rejects(reading, { name: 'AbortError' });
});

t.test('bytes are read as they are, up to the limit of who asks', async (t) => {
  t.same(await readBytes(Readable.from([Buffer.from([0xff, 0x00])]), 2), Buffer.from([0xff, 0x00]));
  await t.rejects(readBytes(Readable.from([Buffer.alloc(3)]), 2), { kind: 'usage', message: /larger than/ });
});

/** Reads a message, and keeps what was said meanwhile. */
async function message(argument: string | undefined, input: Readable, { isTerminal = false, patienceMs = 60_000, signal = new AbortController().signal } = {}) {
  const said: string[] = [];
  const text = await readMessage(argument, { input, isTerminal, signal, patienceMs, say: async (remark) => void said.push(remark) });
  return { text, said };
}

const piped = (text: string) => Readable.from(text === '' ? [] : [Buffer.from(text)]);

t.test('a message is the argument, a blank line, and what is piped in', async (t) => {
  t.same(await message('explain', piped('one\ntwo\n')), { text: 'explain\n\none\ntwo\n', said: [] });
  for (const nothing of ['', ' \n']) t.equal((await message('hi', piped(nothing))).text, 'hi');
  t.equal((await message(undefined, piped('x'))).text, 'x');
  t.equal((await message('-', piped('one\ntwo'))).text, 'one\ntwo');
  await t.rejects(message(undefined, piped(' \n')), { kind: 'usage', message: /empty/ });
});

t.test('a terminal is read only for -', async (t) => {
  const isTerminal = true;
  t.equal((await message('hi', new PassThrough(), { isTerminal })).text, 'hi');
  t.equal((await message('-', piped('typed'), { isTerminal })).text, 'typed');
  await t.rejects(message(undefined, piped('x'), { isTerminal }), { kind: 'usage', message: /Give a message/ });
});

t.test('a pipe that never begins is left out after a while, with a note, and is closed', async (t) => {
  const input = new PassThrough();
  const { text, said } = await message('hi', input, { patienceMs: 20 });
  t.equal(text, 'hi');
  t.same(said, ['note: standard input gave nothing for 0.02 s, so the message is sent without it; add `< /dev/null` to avoid this wait.']);
  t.ok(input.destroyed);
});

t.test('a pipe that has begun is read to its end, however long that takes', async (t) => {
  const input = new PassThrough();
  const read = message('hi', input, { patienceMs: 50 });
  input.write('late');
  setTimeout(() => input.end('r'), 100);
  t.equal((await read).text, 'hi\n\nlater');
});

t.test('an input that can not be read is a fault of the call, and a signal ends the waiting for it', async (t) => {
  const broken = new PassThrough();
  const reading = message('hi', broken);
  broken.destroy(new Error('EISDIR'));
  await t.rejects(reading, { kind: 'usage', message: /can't be read: EISDIR/ });
  const controller = new AbortController();
  const idle = new PassThrough();
  const waiting = message('hi', idle, { signal: controller.signal });
  controller.abort();
  await t.rejects(waiting, { kind: 'interrupted', message: /./ });
  t.ok(idle.destroyed, 'or the process would not end');
  await t.rejects(message('hi', new PassThrough(), { signal: controller.signal }), { kind: 'interrupted', message: /./ });
});
