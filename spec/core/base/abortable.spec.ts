import t from 'tap';
import { createActor, toPromise } from 'xstate';
import { fromAbortable } from '../../../core/base/abortable.ts';
import { gate } from '../../support/stepped-adapter.ts';

t.test('aborted work learns the cause, and its outcome still counts', async (t) => {
  const saved = gate();
  const reasons: unknown[] = [];
  const logic = fromAbortable<string, string>(async ({ input, signal }) => {
    signal.addEventListener('abort', () => reasons.push(signal.reason));
    await saved.opened;
    return `${input} saved`;
  });
  const actor = createActor(logic, { input: 'text' }).start();
  const over = toPromise(actor);
  actor.send({ type: 'abort', cause: 'cancel' });
  actor.send({ type: 'abort', cause: 'stop' });
  t.strictSame(reasons, ['cancel'], 'the first cause');
  saved.open();
  t.equal(await over, 'text saved');
});

t.test('an actor that is stopped aborts its work as a stop does', async (t) => {
  let reason: unknown;
  const logic = fromAbortable<void>(({ signal }) => {
    signal.addEventListener('abort', () => {
      reason = signal.reason;
    });
    return new Promise(() => undefined);
  });
  const actor = createActor(logic).start();
  actor.stop();
  t.equal(reason, 'stop');
});
