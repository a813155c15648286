import { PassThrough, Readable } from 'node:stream';
import t from 'tap';
import { CliError } from '../../cli/exit-codes.ts';
import { readAll, readBytes, readMessage } from '../../cli/input.ts';

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

t.test('a message is the argument, or what is piped in; a terminal is not read', async (t) => {
  const { signal } = new AbortController();
  const piped = (text: string) => Readable.from([Buffer.from(text)]);
  t.equal(await readMessage('hi', true, piped(''), signal), 'hi');
  t.equal(await readMessage('-', true, piped('one\ntwo'), signal), 'one\ntwo');
  t.equal(await readMessage(undefined, false, piped('x'), signal), 'x');
  await t.rejects(readMessage(undefined, true, piped(''), signal), { kind: 'usage', message: /Give a message/ });
  await t.rejects(readMessage(undefined, false, piped(' \n'), signal), { kind: 'usage', message: /empty/ });
});
