import { PassThrough } from 'node:stream';
import t from 'tap';
import { confirm } from '../../../cli/terminal/confirm.ts';
import { CliError } from '../../../cli/terminal/exit-codes.ts';

function answering(keys: string): Promise<boolean> {
  const input = new PassThrough();
  const asked = confirm('Sure?', { input, output: new PassThrough() });
  input.write(keys);
  return asked;
}

t.test('only a yes is a yes', async (t) => {
  for (const keys of ['y\r', 'Yes\r']) t.equal(await answering(keys), true, keys);
  for (const keys of ['\r', 'n\r', 'yess\r', 'yo\r']) t.equal(await answering(keys), false, keys);
});

t.test('Ctrl-C is an interruption', async (t) => {
  await t.rejects(answering('\x03'), new CliError('interrupted', 'interrupted'));
});
