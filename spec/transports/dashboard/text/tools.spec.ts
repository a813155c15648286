import t from 'tap';
import { nextText } from '../../../../transports/dashboard/text/tools.ts';

t.test('what comes next names no command that a button stands for', async (t) => {
  const next = 'The message goes on when somebody has decided. `blockhouse deny a3f9` refuses it. If nobody does, the time for it ends at noon.';
  t.equal(nextText(next), 'The message goes on when somebody has decided. If nobody does, the time for it ends at noon.');
  t.equal(nextText('Nothing.'), 'Nothing.');
});
