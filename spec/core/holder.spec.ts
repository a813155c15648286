import t from 'tap';
import { startCore } from '../support/blocks.ts';

t.test('smoke', async (t) => {
  const one = await startCore(t);
  await one.create('ada');
  await one.core.blocks.start('ada');
  t.match(await one.ask('ada', 'hello'), { content: 'You said: hello' });
});
