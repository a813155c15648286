import t from 'tap';
import { createActor, getNextSnapshot } from 'xstate';
import { initialContext, setUpMachine } from '../../../../core/block/actor/setup.ts';
import type { Answer } from '../../../../core/block/actor/types.ts';

t.test('a fresh context is JSON and has the archive name', (t) => {
  const context = initialContext({ name: 'ada', archiveName: 'ada_2026' });
  t.match(context, { name: 'ada', archiveName: 'ada_2026', shown: 'stopped', messageId: null, crashes: [] });
  t.strictSame(JSON.parse(JSON.stringify(context)), context);
  t.end();
});

t.test('a refusal goes only to its caller, with a code and a text', (t) => {
  const setup = setUpMachine(() => 0);
  const machine = setup.createMachine({
    context: ({ input }) => initialContext(input),
    on: {
      'block.start': { actions: 'refuseAtEnd' },
      'block.compact': { actions: 'refuseWhileMoving' },
      'block.archive': { actions: 'refuseInArchive' },
    },
  });
  const actor = createActor(machine, { input: { name: 'ada', archiveName: null } }).start();
  const answers: Answer[] = [];
  actor.on('answer', (answer) => answers.push(answer));
  actor.send({ type: 'block.start', cause: 'start', actor: 'user', ticket: 1 });
  actor.send({ type: 'block.compact', ticket: 2 });
  actor.send({ type: 'block.archive', ticket: 3 });
  t.match(answers, [
    { to: 'block.start', ticket: 1, error: { code: 'SHUTTING_DOWN' } },
    { to: 'block.compact', ticket: 2, error: { code: 'WRONG_STATE', message: 'ada is being archived.' } },
    { to: 'block.archive', ticket: 3, error: { code: 'BLOCK_NOT_FOUND' } },
  ]);
  t.end();
});

t.test('five faults within ten minutes count, and each doubles the wait', (t) => {
  let now = 0;
  const setup = setUpMachine(() => now);
  const machine = setup.createMachine({ context: ({ input }) => initialContext(input), on: { 'chat.changed': { actions: ['countCrash', 'holdCrash'] } } });
  let snapshot = createActor(machine, { input: { name: 'ada', archiveName: null } }).getSnapshot();
  const waits: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    snapshot = getNextSnapshot(machine, snapshot, { type: 'chat.changed' });
    waits.push((snapshot.context.wakeUpAt ?? 0) - now);
    now += 1000;
  }
  t.strictSame(waits, [1000, 2000, 4000]);
  now += 600_000;
  t.strictSame(getNextSnapshot(machine, snapshot, { type: 'chat.changed' }).context.crashes, [now]);
  now -= 3_600_000;
  t.strictSame(getNextSnapshot(machine, snapshot, { type: 'chat.changed' }).context.crashes, [now], 'a clock that is set back makes no fault new for ever');
  t.end();
});
