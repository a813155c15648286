// Compactions that are under way.
import t from 'tap';
import { Compactions } from '../../../core/monitor/compactions.ts';
import { gate } from '../../support/stepped-adapter.ts';

const never = new AbortController().signal;

t.test('one at a time for each block, whatever becomes of it', async (t) => {
  const compactions = new Compactions();
  const held = gate();
  const first = compactions.run('a', never, () => held.opened.then(() => 'first'));
  await t.rejects(
    compactions.run('a', never, async () => 'second'),
    { code: 'WRONG_STATE' },
  );
  t.equal(await compactions.run('b', never, async () => 'other'), 'other');
  held.open();
  t.equal(await first, 'first');
  await t.rejects(
    compactions.run('a', never, () => Promise.reject(new Error('no'))),
    /no/,
  );
  t.equal(await compactions.run('a', never, async () => 'third'), 'third');
});

t.test('each can be ended, and that waits until it is over', async (t) => {
  const compactions = new Compactions();
  const over: string[] = [];
  const run = (name: string, signal: AbortSignal): Promise<void> =>
    compactions.run(name, signal, async (ending) => {
      if (!ending.aborted) await new Promise((resolve) => ending.addEventListener('abort', resolve));
      over.push(name);
    });
  const leaving = new AbortController();
  const all = [run('a', never), run('b', never), run('c', leaving.signal), run('d', AbortSignal.abort())];
  await all[3];
  await compactions.end('a');
  await compactions.end('nobody');
  leaving.abort();
  await all[2];
  t.strictSame(over, ['d', 'a', 'c']);
  await compactions.endAll();
  t.strictSame(over, ['d', 'a', 'c', 'b']);
  await Promise.all(all);
});
