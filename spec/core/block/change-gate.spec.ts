import t from 'tap';
import { ChangeGate } from '../../../core/block/change-gate.ts';
import { gate as waitPoint } from '../../support/stepped-adapter.ts';

t.test('admitted work runs, and its caller gets its failure', async (t) => {
  const gate = new ChangeGate();
  gate.assertOpen();
  t.equal(await gate.pass(async () => 5), 5);
  await t.rejects(
    gate.pass(() => Promise.reject(new Error('no'))),
    { message: 'no' },
  );
  await gate.emptied();
});

t.test('a shut gate admits nothing', async (t) => {
  const gate = new ChangeGate();
  gate.shut();
  t.throws(() => gate.assertOpen(), { code: 'SHUTTING_DOWN', status: 503 });
  await t.rejects(
    gate.pass(async () => t.fail('nothing is done')),
    { code: 'SHUTTING_DOWN' },
  );
});

t.test('the gate is empty when all admitted work has ended, also by a failure', async (t) => {
  const gate = new ChangeGate();
  const [first, second] = [waitPoint(), waitPoint()];
  const order: string[] = [];
  const failing = gate.pass(async () => {
    await first.opened;
    order.push('first');
    throw new Error('no');
  });
  const going = gate.pass(async () => {
    await second.opened;
    order.push('second');
  });
  gate.shut();
  const emptied = gate.emptied().then(() => order.push('empty'));
  first.open();
  await t.rejects(failing, { message: 'no' });
  second.open();
  await Promise.all([going, emptied]);
  t.same(order, ['first', 'second', 'empty']);
});
