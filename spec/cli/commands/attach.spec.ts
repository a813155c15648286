import t from 'tap';
import { openDesk } from '../run.ts';

t.test('piped lines are answered one after the other', async (t) => {
  const { on } = await openDesk(t);
  await on(['new', 'one', '--provider', 'ollama', '--model', 'm', '--start']);
  t.match(await on(['attach', 'one'], { input: 'hi\nho\n' }), {
    code: 0,
    stdout: /^Hello, you\nHello, you\n$/,
    stderr: /^note: each line of the input is a message; `blockhouse chat one` sends all of it as one\.\n$/,
  });
});

t.test('a block that is not there is 2', async (t) => {
  const { on } = await openDesk(t);
  t.match(await on(['attach', 'none'], { input: 'hi\n' }), { code: 2, stdout: '', stderr: /^blockhouse: .*none.*\n$/ });
});
