import t from 'tap';
import { createActor } from 'xstate';
import { ask } from '../../../../core/block/actor/ask.ts';
import { createBlockMachine } from '../../../../core/block/actor/machine.ts';

t.test('a refused command rejects, while other commands go on waiting', async (t) => {
  const actor = createActor(
    createBlockMachine(() => 0),
    { input: { name: 'ada', archiveName: null } },
  ).start();
  const first = t.rejects(ask(actor, { type: 'block.compact' }), { message: 'compact was not provided' });
  await t.rejects(ask(actor, { type: 'block.compact' }), { code: 'WRONG_STATE' });
  await first;
});

t.test('an actor that fails rejects the commands that wait for an answer', async (t) => {
  const fault = new TypeError('a defect');
  const machine = createBlockMachine(() => 0).provide({
    actions: {
      openRun: () => {
        throw fault;
      },
    },
  });
  const actor = createActor(machine, { input: { name: 'ada', archiveName: null } }).start();
  const caught = await ask(actor, { type: 'block.start', cause: 'start', actor: 'user' }).catch((error: unknown) => error);
  t.equal(caught, fault);
});
