import { PassThrough, Readable } from 'node:stream';
import t from 'tap';
import { CliError } from '../../cli/exit-codes.ts';
import { readAll } from '../../cli/input.ts';

t.test('everything is read, and a character may lie across two chunks', async (t) => {
  const bytes = Buffer.from('aé👋');
  t.equal(await readAll(Readable.from([...bytes].map((byte) => Buffer.from([byte])))), 'aé👋');
});

t.test('more than a request may hold is refused', async (t) => {
  const chunk = Buffer.alloc(1024 * 1024);
  await t.rejects(readAll(Readable.from(Array.from({ length: 11 }, () => chunk))), new CliError('usage', 'standard input is larger than 10 MiB.'));
});

t.test('a signal ends the waiting', async (t) => {
  const controller = new AbortController();
  const reading = readAll(new PassThrough(), controller.signal);
  controller.abort();
  await t.rejects(reading, { name: 'AbortError' });
});
