import t from 'tap';
import { styleFor } from '../../../cli/terminal/output.ts';
import { runLines } from '../../../cli/views/run-text.ts';
import { AT } from '../../support/tools/records.ts';

const VIEW = { now: Date.parse(AT), style: styleFor(false), width: 120 };

t.test('what no person has decided is not shown as a decision', (t) => {
  const decided = (decision: 'expire' | 'cancel', name: string) =>
    runLines({ messageId: 'm1', records: [{ t: 'decision', approval: 'a1', decision, by: { channel: 'clock', name }, at: AT }] }, VIEW);
  t.match(decided('expire', 'deadline'), [/: nobody has decided in time$/]);
  t.match(decided('cancel', 'cancelled'), [/: its message ended before anybody has decided$/]);
  t.end();
});
