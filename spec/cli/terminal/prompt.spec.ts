import { PassThrough } from 'node:stream';
import t from 'tap';
import { CliError } from '../../../cli/terminal/exit-codes.ts';
import { createPrompter } from '../../../cli/terminal/prompt.ts';

function terminal() {
  const input = new PassThrough();
  const output = new PassThrough();
  const shown = (): string => String(output.read() ?? '');
  return { input, output, shown };
}

t.test('a hidden value is returned and never shown', async (t) => {
  const { input, output, shown } = terminal();
  const prompter = createPrompter({ input, output });
  const asked = prompter.ask('Key: ', { hidden: true });
  input.write('sk-secret-1\r');
  t.equal(await asked, 'sk-secret-1');
  prompter.close();
  const text = shown();
  t.match(text, 'Key: ');
  t.notMatch(text, 'secret');
});

t.test('a visible value is shown, and pasted lines answer one question each', async (t) => {
  const { input, output, shown } = terminal();
  const prompter = createPrompter({ input, output });
  const asked = prompter.ask('Region: ', { hidden: false });
  input.write('eu-west-1\rsk-hidden\r');
  t.equal(await asked, 'eu-west-1');
  t.equal(await prompter.ask('Key: ', { hidden: true }), 'sk-hidden');
  prompter.close();
  const text = shown();
  t.match(text, /Region: [\s\S]*eu-west-1/);
  t.notMatch(text, 'sk-hidden');
});

t.test('Ctrl-C and the end of input reject as interrupted', async (t) => {
  for (const keys of ['\x03', undefined]) {
    const { input, output } = terminal();
    const prompter = createPrompter({ input, output });
    const asked = prompter.ask('Key: ', { hidden: true });
    if (keys === undefined) input.end();
    else input.write(keys);
    await t.rejects(asked, new CliError('interrupted', 'interrupted'));
  }
});
