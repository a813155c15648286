import t from 'tap';
import { WaitingLine } from '../../../adapters/tools/waiting-line.ts';

t.test('the first who came is called first, and who has left is passed over', async (t) => {
  const line = new WaitingLine();
  const leaving = new AbortController();
  const called: string[] = [];
  const join = (name: string, signal = new AbortController().signal) => line.join(signal).then(() => void called.push(name));
  const waits = [join('one'), join('two', leaving.signal), join('three')];
  leaving.abort(new Error('left'));
  await t.rejects(waits[1] ?? Promise.resolve(), /left/);
  t.equal(line.callNext(), true);
  t.equal(line.callNext(), true);
  t.equal(line.callNext(), false, 'nobody is left');
  await Promise.all([waits[0], waits[2]]);
  t.same(called, ['one', 'three']);
});
