import t from 'tap';
import { endOf, keptResult } from '../../../../../core/block/reply/run/kept-result.ts';

t.test('a result that could not be kept is none, and the log says so', async (t) => {
  const logged: unknown[] = [];
  const contextWith = (keepResult: () => Promise<void>) =>
    ({ files: { conversation: { keepResult } }, log: { write: (...line: unknown[]) => logged.push(line) } }) as never;
  const what = { messageId: 'm1', place: '1.1', bytes: Buffer.from('{}') };
  t.equal(
    await keptResult(
      contextWith(async () => undefined),
      {} as never,
      what,
    ),
    true,
  );
  t.strictSame(logged, []);
  t.equal(
    await keptResult(
      contextWith(() => Promise.reject(new Error('full'))),
      {} as never,
      what,
    ),
    false,
  );
  t.match(logged, [['WARN', 'tool.result-not-kept', { id: 'm1', call: '1.1' }]]);
});

t.test('a call that the kill switch ends is cancelled, another one has the reason of its end', async (t) => {
  const outer = new AbortController();
  const stopped = endOf(outer.signal, () => true);
  const halted = endOf(outer.signal, () => false);
  outer.abort('stop');
  t.strictSame([stopped.reason, halted.reason], ['stop', 'cancel']);
  t.equal(endOf(outer.signal, () => false).reason, 'cancel');
});
